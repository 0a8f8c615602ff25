package simulate

import (
	"fmt"
	"math/rand/v2"
	"time"

	"chit/device/core"
	"chit/device/wire"
)

// The waits of device/link, and what its MQTT library (paho) makes of the keep-alive: it looks
// four times in each whether something was sent and received within it, which is never quite so at
// the fourth look after a ping. The engine (mochi, and MQTT 3.1.1 of any) waits for one and a half.
const (
	waitFirst   = 10 * time.Second
	waitMax     = 120 * time.Second
	stableAfter = 5 * time.Minute
	greetWithin = 5 * time.Second
	keepAlive   = 6 * time.Second
	pingLook    = keepAlive / 4
	pingEvery   = keepAlive + pingLook
	pingTimeout = 10 * time.Second
	silentMax   = 3 * keepAlive / 2
)

// pingLost is how long after a ping without an answer the device gives the connection up: at the
// first look past the timeout.
const pingLost = (pingTimeout + pingLook - 1) / pingLook * pingLook

// link is device/link: it connects, greets, and comes back with full jitter.
type link struct {
	d        *device
	luck     *rand.Rand
	sessions int
	conn     *conn
	since    time.Duration
	limit    time.Duration // of the next wait
	dialling bool
	planned  bool // a greeting is
	epoch    string
	heard    bool
}

func newLink(d *device) *link {
	return &link{d: d, luck: d.w.chance("link " + d.unit), limit: waitFirst}
}

func (l *link) jitter(n time.Duration) time.Duration {
	return time.Duration(l.luck.Float64() * float64(n))
}

// dial opens a connection some time from now.
func (l *link) dial(wait time.Duration) {
	if l.dialling || l.conn != nil {
		return
	}
	l.dialling = true
	l.d.mine(wait, func() {
		l.dialling = false
		if l.d.loop.starting && l.d.openings == 0 { // The first hello waits for the journal.
			l.dial(50 * time.Millisecond)
			return
		}
		if l.d.w.lasts(Partition, l.d.kitchen) || !l.d.w.engine.up {
			l.limit = min(2*l.limit, waitMax)
			l.dial(time.Second + l.jitter(l.limit))
			return
		}
		l.connect()
	})
}

func (l *link) connect() {
	l.sessions++
	session := fmt.Sprintf("%s-s%d", l.d.unit, l.sessions)
	will, err := wire.EncodeStatus(wire.Status{State: "offline", Session: session})
	if err != nil {
		panic("simulate: encoding a will: " + err.Error())
	}
	engine := l.d.w.engine
	l.conn = engine.accept(l.d, session, will)
	l.heard, l.since = false, l.d.w.now
	l.d.w.sessions[session] = l.d.w.now
	l.d.w.note(l.d.kitchen, "connects", session)
	if status := engine.retained[l.d.id]; status != nil {
		engine.deliver(l.conn, wire.LeafStatus, status, true)
	}
	if host := engine.hosts[l.d.tenant]; host != nil {
		engine.deliver(l.conn, wire.LeafHost, host, true)
	}
	l.greet()
	l.d.send(core.Connected{Session: session}, "")
}

// greet publishes birth and hello as they are now.
func (l *link) greet() {
	status, hello := l.d.status, l.d.hello
	if l.d.w.options.Bug == BugBootPerOpening {
		hello.Boot += uint64(l.d.openings)
	}
	status.State, status.Session, hello.Session = "online", l.conn.session, l.conn.session
	l.d.send(core.Greeted{Session: l.conn.session}, "")
	birth, err := wire.EncodeStatus(status)
	if err == nil {
		l.publish(wire.LeafStatus, birth)
		birth, err = l.d.signer.SignHello(hello)
	}
	if err != nil {
		panic("simulate: greeting: " + err.Error())
	}
	l.publish(wire.LeafAck, birth)
}

// greetSoon says hello again after jitter; calls in between are one.
func (l *link) greetSoon() {
	if l.planned || l.conn == nil {
		return
	}
	l.planned = true
	c := l.conn
	l.d.mine(l.jitter(greetWithin), func() {
		l.planned = false
		if l.conn == c && c != nil {
			l.greet()
		}
	})
}

func (l *link) publish(leaf wire.Leaf, payload []byte) {
	if l.conn != nil {
		l.d.w.engine.fromDevice(l.conn, leaf, payload)
	}
}

// arrived is one message, in order.
func (l *link) arrived(c *conn, leaf wire.Leaf, payload []byte, retained bool) {
	if c != l.conn || !l.d.alive {
		return
	}
	switch leaf {
	case wire.LeafStatus:
		status, err := wire.DecodeStatus(payload)
		if err == nil && status.State == "offline" && status.Session == c.session {
			l.greetSoon()
		}
	case wire.LeafHost:
		host, err := l.d.broker.OpenHost(payload)
		if err != nil {
			return
		}
		if l.heard && host.Epoch != l.epoch || !l.heard && !retained {
			l.greetSoon()
		}
		l.epoch, l.heard = host.Epoch, true
	default:
		l.d.deliver(leaf, payload, retained)
	}
}

// partitioned is the start of a partition: both ends notice in their own time, if it lasts.
func (l *link) partitioned() {
	c := l.conn
	if c == nil {
		return
	}
	ping := pingEvery - (l.d.w.now-l.since)%pingEvery
	l.d.w.after(ping+pingLost, func() {
		if l.d.w.lasts(Partition, l.d.kitchen) {
			l.lost(c)
		}
	})
	l.d.w.after(l.d.w.engine.silence(c), func() {
		if l.d.w.lasts(Partition, l.d.kitchen) {
			l.d.w.engine.closed(c)
		}
	})
}

// drops breaks the connection, with whatever is under way in it. What had left may still arrive.
func (l *link) drops(f Fault) {
	c := l.conn
	if c == nil {
		return
	}
	if f.Pick%2 == 0 {
		l.d.w.engine.closed(c)
		l.d.w.after(l.jitter(2*time.Second), func() { l.lost(c) })
		return
	}
	l.lost(c)
}

// lost is the device's end of a connection that broke.
func (l *link) lost(c *conn) {
	if !c.deviceEnd {
		return
	}
	c.deviceEnd = false
	if l.conn != c || !l.d.alive {
		return
	}
	l.conn, l.planned = nil, false
	l.d.w.engine.broke(c, l.d.w.lasts(Partition, l.d.kitchen))
	l.d.w.note(l.d.kitchen, "loses session", c.session)
	if l.d.w.now-l.since >= stableAfter {
		l.limit = waitFirst
	}
	l.d.send(core.Disconnected{}, "")
	l.dial(l.jitter(l.limit))
	l.limit = min(2*l.limit, waitMax)
}

// dies is the end of the process. Without power the engine hears of it late.
func (l *link) dies(silent bool) {
	if c := l.conn; c != nil {
		c.deviceEnd = false
		l.d.w.engine.broke(c, silent || l.d.w.lasts(Partition, l.d.kitchen))
	}
	l.conn, l.dialling, l.planned, l.limit = nil, false, false, waitFirst
}
