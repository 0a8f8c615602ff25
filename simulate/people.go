package simulate

import (
	"errors"
	"fmt"
	"time"

	"chit/broker/delivery"
	"chit/broker/desk"
	"chit/device/wire"
	"chit/printer/virtual"
)

// redrivesMax bounds how often a person goes on with one dead letter.
const redrivesMax = 2

// content is what a post says; other is other content under the same id.
func (w *world) content(p Post, other bool) (wire.Content, []byte) {
	c := wire.Content{ID: fmt.Sprintf("%s/%d", p.Order, p.Seq), Kitchen: "k1", Station: p.Station,
		Kind: p.Kind, Order: p.Name(), Type: "dine-in", Table: "5", Items: p.Items,
		PlacedAt: base.Add(p.At).Format(time.RFC3339)}
	if p.Release > 0 {
		c.ReleaseAt = base.Add(p.At + p.Release).Format(time.RFC3339)
	}
	if p.Kind == wire.KindNotice {
		c.Items, c.Note = nil, "the table moved"
	}
	if other {
		c.Note = "and nobody said so"
	}
	data, err := wire.CanonicalContent(c)
	if err != nil {
		panic("simulate: a content of ours is refused: " + err.Error())
	}
	return c, data
}

// post is a shop at the door. It says the same again until it is answered.
func (w *world) post(p Post, again bool) {
	c, data := w.content(p, again && p.Other)
	id := w.key(p)
	if again && p.Other && !w.accepted[id] {
		return // It would be the first.
	}
	retry := func() {
		w.after(time.Second+time.Duration(p.Seq)*700*time.Millisecond, func() { w.post(p, again) })
	}
	life := w.broker.life
	answered := false
	ok := w.broker.do(delivery.Accept{Tenant: w.tenant(p.Kitchen), Content: c, Data: data},
		func(a desk.Answer, err error) {
			answered = true
			w.answered(p, again, id, err, retry)
		})
	if !ok {
		retry()
		return
	}
	if w.options.Bug == BugPromiseEarly {
		w.accepted[id] = true
		w.after(time.Microsecond, func() { w.judge.stored(p) })
	}
	w.after(10*time.Second, func() {
		// The process ended and took the connection with it.
		if !answered && w.broker.life != life {
			answered = true
			retry()
		}
	})
}

func (w *world) answered(p Post, again bool, id string, err error, retry func()) {
	switch {
	case again && p.Other:
		if w.options.Bug == BugMerged && errors.Is(err, delivery.ErrConflict) {
			err = nil
		}
		if err == nil && w.accepted[id] {
			w.judge.broke("I2", p.Kitchen, p.Ticket()+" is accepted with other content")
		}
	case errors.Is(err, desk.ErrStopped):
		retry()
	case err != nil:
		w.judge.broke("I2", p.Kitchen, "the door refuses "+p.Ticket()+": "+err.Error())
	default:
		if !w.accepted[id] {
			w.note(p.Kitchen, "accepted", p.Ticket(), p.Kind)
		}
		w.accepted[id] = true
		w.judge.stored(p)
		if !again {
			w.posting--
		}
	}
}

// people look after dead letters.
func (w *world) people(e delivery.Changed) {
	d := e.Delivery
	key := e.Key.Tenant + "/" + e.Key.ID
	if d.State != delivery.Dead || w.healing || w.redriven[key] >= redrivesMax ||
		d.Epoch%2 == 0 {
		return
	}
	w.redriven[key]++
	w.after(time.Duration(5+d.Epoch%20)*time.Minute, func() {
		w.broker.do(delivery.Redrive{Tenant: d.Tenant, Ticket: d.Ticket, Who: "ana", Why: "again"},
			func(desk.Answer, error) {})
	})
}

func (w *world) cancel(p Post) {
	w.broker.do(delivery.Withdraw{Tenant: w.tenant(p.Kitchen), Order: p.Order, Seq: p.Seq,
		Station: p.Station, Who: "ana", Why: "guest left"}, func(_ desk.Answer, err error) {
		if err == nil && p.Kind != wire.KindNotice {
			w.note(p.Kitchen, "a person cancels", p.Ticket())
			w.judge.ended[w.key(p)] = true
		}
	})
}

// begins lets a fault happen.
func (w *world) begins(f Fault) {
	if w.healing {
		return
	}
	w.note(f.Kitchen, "FAULT", f.Name, f.For)
	end := w.now + f.For
	if f.Kitchen >= 0 {
		w.fault[f.Kitchen] = max(w.fault[f.Kitchen], end)
	} else {
		for k := range w.fault {
			w.fault[k] = max(w.fault[k], end)
		}
	}
	lasting := window{f.Name, f.Kitchen}
	switch f.Name {
	case Loss, Duplicate, Delay, Reorder, OldWill, DiskFull:
		w.until[lasting] = max(w.until[lasting], end)
	case Partition:
		w.until[lasting] = max(w.until[lasting], end)
		w.devices[f.Kitchen].link.partitioned()
		if t := w.twins[f.Kitchen]; t != nil {
			t.link.partitioned()
		}
		w.at(end, func() { w.reconnects(f.Kitchen) })
	case Drop:
		w.devices[f.Kitchen].link.drops(f)
	case BrokerCrash:
		w.brokerCrashes(f)
	case ClockJump:
		w.clockJumps(f)
	case CommitUnknown:
		if f.Kitchen < 0 {
			w.broker.unknown = true
			return
		}
		w.devices[f.Kitchen].loop.unknown = true
	case DeviceCrash, PowerCut, SDSwap:
		w.deviceDies(f)
	case SDClone:
		w.clones(f)
	default:
		w.printerFails(f)
	}
}

func (w *world) reconnects(k int) {
	if !w.lasts(Partition, k) {
		w.engine.heals(k)
	}
}

// brokerCrashes ends the broker's process. It is back at once, as systemd has it, or after minutes,
// in which leases end and tickets should have moved.
func (w *world) brokerCrashes(f Fault) {
	w.broker.down = f.For
	switch f.Pick % 3 {
	case 0:
		w.broker.crash(f.For)
	case 1:
		w.broker.dying = diesBefore
	default:
		w.broker.dying = diesAfter
	}
}

func (w *world) clockJumps(f Fault) {
	if f.Kitchen < 0 {
		w.broker.skew += time.Duration(1+f.Pick%240) * time.Second
		w.judge.steps[w.now] = true
		return
	}
	d := w.devices[f.Kitchen]
	d.skew = time.Duration(int64(f.Pick%2000)-1000) * time.Hour
	d.trusted = false
}

func (w *world) deviceDies(f Fault) {
	d := w.devices[f.Kitchen]
	if f.Name == DeviceCrash && f.Pick%3 > 0 && d.alive {
		d.loop.fuse = 1 + int(f.Pick/3%6)
		return
	}
	if !d.alive {
		return
	}
	d.dies(string(f.Name), f.Name != DeviceCrash)
	w.after(f.For, func() {
		switch {
		case d.alive:
			return
		case f.Name == SDSwap:
			d.newCard()
			d.newKernel()
		case f.Name == PowerCut:
			d.newKernel()
		}
		d.start()
	})
}

// printerFails is something at a printer, and the person that puts it right.
func (w *world) printerFails(f Fault) {
	d := w.devices[f.Kitchen]
	p := d.presses[f.Pick%uint64(len(d.presses))]
	var bad, good func(m *virtual.Printer, now time.Time)
	switch f.Name {
	case PaperOut:
		bad, good = (*virtual.Printer).RemovePaper, (*virtual.Printer).LoadPaper
	case Cover:
		bad, good = (*virtual.Printer).OpenCover, (*virtual.Printer).CloseCover
	case Jam:
		bad, good = (*virtual.Printer).JamCutter, (*virtual.Printer).ClearJam
	case Silent:
		bad, good = (*virtual.Printer).Silence, (*virtual.Printer).Speak
		if p.mute {
			return
		}
	case PowerOff:
		bad, good = (*virtual.Printer).PowerOff, (*virtual.Printer).PowerOn
	case ForgetBuffer:
		bad = (*virtual.Printer).ForgetBuffer
	case Cable:
		bad = (*virtual.Printer).HangUp
		p.unplugged = true
		w.at(w.now+f.For, func() { p.unplugged = false })
	case LateAnswer:
		bad = raised(virtual.Fault{Name: virtual.LateAnswers,
			Wait: time.Duration(f.Pick%20) * time.Second})
		good = cleared(virtual.LateAnswers)
	case Slow:
		w.until[window{Slow, f.Kitchen}] = w.now + f.For
		bad = raised(virtual.Fault{Name: virtual.Slow, LinesPerSecond: 2})
		good = cleared(virtual.Slow)
	default:
		return
	}
	if p.mute && (f.Name == PowerOff || f.Name == ForgetBuffer || f.Name == Cable) {
		return // Nobody can know what a mute printer loses: evidence "sent" promises no more.
	}
	p.hand(string(f.Name), bad)
	if good != nil {
		w.at(w.now+f.For, func() { p.hand("put right: "+string(f.Name), good) })
	}
}

func raised(f virtual.Fault) func(*virtual.Printer, time.Time) {
	return func(m *virtual.Printer, now time.Time) { m.Raise(now, f) }
}

func cleared(name virtual.FaultName) func(*virtual.Printer, time.Time) {
	return func(m *virtual.Printer, now time.Time) { m.Clear(now, name) }
}
