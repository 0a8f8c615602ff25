package simulate

import (
	"math/rand/v2"
	"time"

	"chit/device/wire"
)

// engine is the MQTT engine between broker and devices: clean sessions, one retained status for
// each device, wills. It is part of the broker's process, or a program of its own that outlives it.
// Its PUBACK proves nothing, so that nobody here waits for one.
type engine struct {
	w        *world
	outside  bool
	up       bool
	listens  bool             // the broker has subscribed
	conns    map[string]*conn // the newest of each device
	retained map[string][]byte
	hosts    map[string][]byte // retained too, by tenant
	luck     []*rand.Rand      // by kitchen
}

// conn is one MQTT connection. The two ends learn of its end at different times.
type conn struct {
	d       *device
	session string
	will    []byte
	// engineEnd and deviceEnd are true while that end takes it for open.
	engineEnd, deviceEnd bool
	up, down             time.Duration // when the last message in this direction arrives
	heard                time.Duration // when the engine heard it last, pings left out
	held                 []func()      // what waits for a partition to end
}

func newEngine(w *world) *engine {
	e := &engine{w: w, conns: map[string]*conn{}, retained: map[string][]byte{},
		hosts: map[string][]byte{}}
	e.outside = w.chance("engine").IntN(2) == 0
	e.up = e.outside
	for k := range w.plan.Kitchens {
		e.luck = append(e.luck, w.chance("net "+deviceOf(k)))
	}
	return e
}

// brokerUp is a broker that subscribes and says that it is alive.
func (e *engine) brokerUp() {
	e.up, e.listens = true, true
	b := e.w.broker
	for k := range e.w.devices {
		id := deviceOf(k)
		if status := e.retained[id]; status != nil {
			b.mine(10*time.Millisecond, func() {
				b.heard(e.w.tenant(k), id, wire.LeafStatus, status, true)
			})
		}
	}
	told := map[string]bool{}
	for k := range e.w.devices {
		tenant := e.w.tenant(k)
		if told[tenant] {
			continue
		}
		told[tenant] = true
		host, err := e.w.signer(tenant).SignHost(wire.Host{State: "alive", Epoch: b.host})
		if err != nil {
			panic("simulate: signing host: " + err.Error())
		}
		e.toHost(tenant, host)
	}
}

// toHost retains a host message and takes it to the tenant's devices.
func (e *engine) toHost(tenant string, payload []byte) {
	e.hosts[tenant] = payload
	for _, d := range e.w.devices {
		if d.tenant == tenant {
			e.toDevice(d.id, wire.LeafHost, payload)
		}
	}
}

// brokerDown is the end of the broker's process, and with it that of an embedded engine.
func (e *engine) brokerDown() {
	e.listens = false
	if e.outside {
		return
	}
	e.up = false
	clear(e.retained)
	for k := range e.w.devices {
		if c := e.conns[deviceOf(k)]; c != nil {
			c.engineEnd, c.will = false, nil
			e.w.after(e.delay(k), func() { c.d.link.lost(c) })
		}
	}
	clear(e.conns)
}

// accept opens a connection; an older one of the same client id is closed and its will published.
func (e *engine) accept(d *device, session string, will []byte) *conn {
	old := e.conns[d.id]
	c := &conn{d: d, session: session, will: will, engineEnd: true, deviceEnd: true,
		heard: e.w.now}
	e.conns[d.id] = c
	if old != nil {
		e.closed(old)
		e.w.after(e.delay(d.kitchen), func() { old.d.link.lost(old) })
	}
	return c
}

// closed is the engine's end of a connection that broke: the will is published.
func (e *engine) closed(c *conn) {
	if !c.engineEnd {
		return
	}
	c.engineEnd, c.held = false, nil
	if e.conns[c.d.id] == c {
		delete(e.conns, c.d.id)
	}
	k := c.d.kitchen
	late := e.delay(k)
	if e.w.lasts(OldWill, k) {
		late += time.Duration(e.luck[k].IntN(40)) * time.Second
	}
	will := c.will
	e.w.after(late, func() { e.published(c.d, wire.LeafStatus, will) })
}

// broke is a socket that the device's end closed: the engine hears of it at once, or, silent, when
// nothing came for one and a half keep-alives.
func (e *engine) broke(c *conn, silent bool) {
	wait := e.delay(c.d.kitchen)
	if silent {
		wait = e.silence(c)
	}
	e.w.after(wait, func() { e.closed(c) })
}

// silence is how long the engine still waits for a connection from which nothing comes any more:
// one and a half keep-alives from the last ping or message.
func (e *engine) silence(c *conn) time.Duration {
	return silentMax - (e.w.now-c.heard)%pingEvery
}

// published is a message at the engine, on its way to whoever subscribed.
func (e *engine) published(d *device, leaf wire.Leaf, payload []byte) {
	if !e.up || payload == nil {
		return
	}
	if leaf == wire.LeafStatus {
		e.retained[d.id] = payload
		if c := e.conns[d.id]; c != nil {
			e.deliver(c, wire.LeafStatus, payload, false)
		}
	}
	if !e.listens {
		return // Acknowledged, and dropped.
	}
	for _, at := range e.copies(d.kitchen) {
		e.w.after(at, func() { e.w.broker.heard(d.tenant, d.id, leaf, payload, false) })
	}
}

// fromDevice carries a message from a device to the engine.
func (e *engine) fromDevice(c *conn, leaf wire.Leaf, payload []byte) {
	arrive := func() {
		if c.engineEnd {
			c.heard = e.w.now
			e.published(c.d, leaf, payload)
		}
	}
	e.carry(c, &c.up, arrive)
}

// toDevice takes a message of the broker.
func (e *engine) toDevice(device string, leaf wire.Leaf, payload []byte) {
	if c := e.conns[device]; c != nil && e.up {
		for _, at := range e.copies(c.d.kitchen) {
			if at == 0 {
				e.deliver(c, leaf, payload, false)
				continue
			}
			e.w.after(at, func() { e.deliver(c, leaf, payload, false) })
		}
	}
}

// deliver carries a message from the engine to a device.
func (e *engine) deliver(c *conn, leaf wire.Leaf, payload []byte, retained bool) {
	if !c.engineEnd {
		return
	}
	e.carry(c, &c.down, func() {
		if c.deviceEnd {
			c.d.link.arrived(c, leaf, payload, retained)
		}
	})
}

// carry moves a message over the kitchen's network: in order, and held back by a partition, as TCP
// does.
func (e *engine) carry(c *conn, last *time.Duration, arrive func()) {
	k := c.d.kitchen
	if e.w.lasts(Partition, k) {
		c.held = append(c.held, arrive)
		return
	}
	at := max(e.w.now+e.delay(k), *last)
	*last = at
	e.w.at(at, arrive)
}

// heals lets go what a partition held back, where the connection still stands.
func (e *engine) heals(k int) {
	ends := []*conn{e.conns[deviceOf(k)], e.w.devices[k].link.conn}
	if t := e.w.twins[k]; t != nil {
		ends = append(ends, t.link.conn)
	}
	for _, c := range ends {
		if c == nil {
			continue
		}
		held := c.held
		c.held = nil
		for _, arrive := range held {
			e.carry(c, &c.down, arrive)
		}
		if !c.engineEnd { // What the device sends is answered with a reset.
			e.w.after(e.delay(k), func() { c.d.link.lost(c) })
		}
	}
}

// delay is one way through a network.
func (e *engine) delay(k int) time.Duration {
	d := time.Duration(5+e.luck[k].IntN(40)) * time.Millisecond
	if e.w.lasts(Delay, k) {
		d += time.Duration(e.luck[k].IntN(8000)) * time.Millisecond
	}
	return d
}

// copies says when a message leaves the engine: once and at once, or as its faults want.
func (e *engine) copies(k int) []time.Duration {
	r := e.luck[k]
	if e.w.lasts(Loss, k) && r.IntN(5) == 0 {
		return nil
	}
	first := time.Duration(0)
	if e.w.lasts(Reorder, k) && r.IntN(3) == 0 {
		first = time.Duration(1+r.IntN(4000)) * time.Millisecond
	}
	copies := []time.Duration{first}
	if e.w.lasts(Duplicate, k) && r.IntN(4) == 0 {
		again := time.Duration(1+r.IntN(2000)) * time.Millisecond
		if r.IntN(3) == 0 {
			again = time.Duration(1+r.IntN(600)) * time.Second
		}
		copies = append(copies, again)
	}
	return copies
}
