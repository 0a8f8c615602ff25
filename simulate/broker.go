package simulate

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"chit/broker/delivery"
	"chit/broker/desk"
	"chit/broker/entity"
	"chit/broker/relay"
	"chit/device/wire"
)

var errDisk = errors.New("simulate: the disk failed")

// broker is the cloud broker: a disk that stays, and a process that comes and goes.
type broker struct {
	w     *world
	disk  *disk
	luck  *rand.Rand
	skew  time.Duration // of its clock, only forward
	alive bool
	life  int // number of the process
	since time.Duration
	host  string

	desk     *desk.Stepped
	relay    *relay.Stepped
	flight   []entity.Commit
	flushing bool
	turning  bool
	wake     time.Duration // when its loop turns by itself
	// unknown and dying say what the next flush will come to.
	unknown bool
	dying   death
	down    time.Duration // how long it is away after that
}

// death is where around a flush the process ends.
type death uint8

const (
	lives death = iota
	diesBefore
	diesAfter
)

func newBroker(w *world) *broker {
	return &broker{w: w, disk: newDisk(), luck: w.chance("broker")}
}

// clock is the store's clock.
func (b *broker) clock() time.Time {
	if b.w.options.Bug == BugWallClockLease {
		return b.w.wall().Add(b.w.rawSkew())
	}
	return b.w.wall().Add(b.skew)
}

// start is a new process on the same disk.
func (b *broker) start() {
	b.life++
	b.alive, b.flushing, b.turning, b.wake, b.since = true, false, false, 0, b.w.now
	b.host = fmt.Sprintf("host-%d", b.life)
	b.relay = relay.NewStepped(relay.Config{Store: b.disk, Devices: b, Publisher: b, Host: b.host,
		Now: b.clock, Rand: b.luck.Float64, Rate: b.w.limits.Rate,
		Burst: b.w.limits.Burst, Total: b.w.limits.Total, TotalBurst: b.w.limits.TotalBurst})
	b.desk = desk.NewStepped(desk.Config{Store: b.disk, Now: b.clock, QueueMax: 1024,
		Effects: b.effects})
	b.relay.Relay().Attach(b)
	if err := b.relay.Open(); err != nil {
		b.w.judge.broke("I5", -1, "the broker cannot load what is open: "+err.Error())
		return
	}
	b.w.note(-1, "starts", b.host)
	b.w.judge.reads()
	b.w.engine.brokerUp()
	b.turn()
}

// crash ends the process. A batch in flight is on disk or is not.
func (b *broker) crash(down time.Duration) {
	if !b.alive {
		return
	}
	if b.flushing && b.luck.IntN(2) == 0 {
		b.store(b.flight)
	}
	b.w.note(-1, "crashes, down for", down)
	for k := range b.w.fault {
		b.w.fault[k] = max(b.w.fault[k], b.w.now+down)
	}
	b.alive, b.flight, b.flushing, b.dying, b.unknown = false, nil, false, lives, false
	b.desk.Stop()
	b.w.engine.brokerDown()
	b.w.after(down, b.start)
}

// Submit implements relay.Desk.
func (b *broker) Submit(c entity.Command, done func(desk.Answer, error)) error {
	err := b.desk.Desk().Submit(b.misheard(c), done)
	b.soon()
	return err
}

// soon turns the process's loops once, after what happens now.
func (b *broker) soon() {
	if b.alive && !b.turning {
		b.turning = true
		b.mine(0, b.turn)
	}
}

// mine plans something that ends with this process.
func (b *broker) mine(d time.Duration, do func()) {
	life := b.life
	b.w.after(d, func() {
		if b.alive && b.life == life {
			do()
		}
	})
}

// turn lets desk and relay do all they can now.
func (b *broker) turn() {
	b.turning = false
	if err := b.desk.Decide(); err != nil {
		b.w.judge.broke("I1", -1, "the desk stops: "+err.Error())
		return
	}
	b.flush()
	sleep, err := b.relay.Turn(context.Background())
	if err != nil {
		b.w.judge.broke("I5", -1, "the relay stops: "+err.Error())
		return
	}
	at := b.w.now + max(sleep, time.Millisecond)
	if b.wake > b.w.now && b.wake <= at {
		return
	}
	b.wake = at
	b.mine(at-b.w.now, func() {
		if b.wake == at {
			b.soon()
		}
	})
}

// flush begins to make the next batch durable.
func (b *broker) flush() {
	if b.flushing {
		return
	}
	commits, ok := b.desk.Begin()
	if !ok {
		return
	}
	if len(commits) == 0 {
		b.desk.End(nil)
		b.soon()
		return
	}
	b.flight, b.flushing = commits, true
	if b.w.options.Bug == BugSendBeforeCommit {
		for _, c := range commits {
			b.effects(c.Effects)
		}
	}
	took := time.Duration(1500+b.luck.IntN(6000)) * time.Microsecond
	if b.w.lasts(Slow, -1) {
		took *= 40
	}
	b.mine(took, b.flushed)
}

func (b *broker) flushed() {
	switch {
	case b.w.lasts(DiskFull, -1):
		b.fail(false)
		return
	case b.unknown:
		b.fail(b.luck.IntN(2) == 0)
		return
	case b.dying == diesBefore:
		b.crash(b.down)
		return
	}
	b.store(b.flight)
	if b.dying == diesAfter {
		b.flushing = false
		b.crash(b.down)
		return
	}
	b.flight, b.flushing = nil, false
	b.desk.End(nil)
	b.soon()
}

// fail is a commit that returned an error: the program stops and starts again (DESIGN section 7).
func (b *broker) fail(stored bool) {
	if stored {
		b.store(b.flight)
	}
	b.flight, b.flushing = nil, false
	b.desk.End(errDisk)
	b.crash(5 * time.Second)
}

func (b *broker) store(batch []entity.Commit) {
	if err := b.disk.Commit(b.misstored(batch)); err != nil {
		b.w.judge.broke("I7", -1, "the store refuses a batch of the desk: "+err.Error())
	}
}

// effects takes what is durable from the desk.
func (b *broker) effects(effects []entity.Effect) {
	effects = b.w.options.Bug.mistold(effects)
	for _, effect := range effects {
		switch e := effect.(type) {
		case delivery.Changed:
			b.w.judge.changed(e)
			b.w.people(e)
			b.w.outdated(e)
		case delivery.Send:
			b.w.judge.sends(e)
		case delivery.Greeted:
			b.w.greeted(e)
			b.w.storm.greeted(e)
		}
	}
	b.relay.Relay().Effects(effects)
}

// heard is a message of a device that reached the broker.
func (b *broker) heard(tenant, device string, leaf wire.Leaf, payload []byte, retained bool) {
	if !b.alive {
		return
	}
	if b.w.options.Bug == BugOldWill && leaf == wire.LeafStatus {
		payload = b.forgeWill(tenant, device, payload)
	}
	if b.w.options.Bug == BugHostOnce && leaf == wire.LeafTelemetry {
		return
	}
	b.relay.Relay().Heard(tenant, device, string(leaf), payload, retained)
	b.soon()
}

// Publish implements relay.Publisher: a nil error proves nothing.
func (b *broker) Publish(_ context.Context, topic string, payload []byte, _ bool) error {
	t, err := wire.ParseTopic(topic)
	if err != nil {
		return err
	}
	if t.Leaf == wire.LeafHost {
		b.w.engine.toHost(t.Tenant, payload)
		return nil
	}
	b.w.engine.toDevice(t.Device, t.Leaf, payload)
	return nil
}

// Keys implements relay.Devices.
func (b *broker) Keys(device string) (map[string]ed25519.PublicKey, string, bool) {
	k, ok := b.kitchen(device)
	if !ok {
		return nil, "", false
	}
	return b.w.devices[k].public, b.w.tenant(k), true
}

// Station implements relay.Devices.
func (b *broker) Station(tenant, station string) (relay.Station, bool) {
	s, ok := b.w.stations[[2]string{tenant, station}]
	if b.w.options.Bug == BugStaleUnasked {
		s.OnStale = wire.OnStalePrint
	}
	return s, ok
}

// Signer implements relay.Devices.
func (b *broker) Signer(tenant string) (*wire.Signer, error) { return b.w.signer(tenant), nil }

func (b *broker) kitchen(device string) (int, bool) {
	k, err := strconv.Atoi(strings.TrimPrefix(device, "d"))
	return k, err == nil && k >= 0 && k < len(b.w.devices)
}

// do submits a command from outside, such as the door; done may hear desk.ErrStopped, or nothing
// at all where the process ends.
func (b *broker) do(c entity.Command, done func(desk.Answer, error)) bool {
	if !b.alive {
		return false
	}
	return b.Submit(c, done) == nil
}
