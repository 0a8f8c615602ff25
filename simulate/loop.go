package simulate

import (
	"time"

	"chit/device/core"
	"chit/device/wire"
	"chit/printer/session"
)

// Bounds of device/service's loop.
const (
	batchMax  = 64
	reopenMin = time.Second
	reopenMax = time.Minute
)

// item is one event for the loop; ticket names what its PUBACK speaks of, "" for none.
type item struct {
	event  core.Event
	ticket string
}

// loop is device/service's loop: all that waits becomes one batch, one commit, and then its effects
// leave.
type loop struct {
	d       *device
	machine *core.Machine
	inbox   []item
	dirty   map[string]session.State
	turning bool
	ticks   int

	// The batch whose commit is under way.
	flying bool
	batch  []item
	write  []core.Change
	then   []core.Effect

	handles  map[core.Handle]string
	calls    map[core.Handle]wire.Recall
	handle   core.Handle
	kept     []item
	lost     bool
	pause    time.Duration
	unknown  bool // the next commit fails and may be on disk
	fuse     int  // effects until the process dies, 0 for never
	starting bool
	openings int             // of the journal, after the first
	refused  map[string]bool // tickets that were told no
}

func newLoop(d *device, m *core.Machine) loop {
	return loop{d: d, machine: m, dirty: map[string]session.State{},
		handles: map[core.Handle]string{}, calls: map[core.Handle]wire.Recall{},
		refused: map[string]bool{}}
}

// send queues an event.
func (d *device) send(e core.Event, ticket string) {
	if !d.alive {
		return
	}
	d.inbox = append(d.inbox, item{e, ticket})
	d.loop.soon()
}

// state keeps the newest state of a printer until the loop takes it.
func (d *device) state(printer string, s session.State) {
	if d.alive {
		d.dirty[printer] = s
		d.loop.soon()
	}
}

func (l *loop) soon() {
	if !l.turning && !l.flying {
		l.turning = true
		l.d.mine(0, l.turn)
	}
}

// begin starts the machine on the journal.
func (l *loop) begin() {
	l.starting = true
	again := l.lost
	if again {
		l.openings++
	}
	l.lost = false
	state := l.d.journal.Load()
	if l.d.w.options.Bug == BugForgetIntent {
		state.Intents = nil
	}
	l.process([]item{{event: core.Started{State: state, KernelBoot: l.d.kernel}}}, func() {
		l.starting = false
		if kept := l.kept; len(kept) > 0 {
			l.kept = nil
			l.inbox = append(kept, l.inbox...)
		}
		if again {
			l.d.link.greetSoon()
		}
	})
}

func (l *loop) turn() {
	l.turning = false
	if l.flying {
		return
	}
	var batch []item
	for _, p := range l.d.presses {
		if state, ok := l.dirty[p.name]; ok {
			delete(l.dirty, p.name)
			batch = append(batch, item{event: core.PrinterState{Printer: p.name, State: state}})
		}
	}
	n := min(len(l.inbox), max(0, batchMax-len(batch)))
	batch = append(batch, l.inbox[:n]...)
	l.inbox = append([]item(nil), l.inbox[n:]...)
	if len(batch) > 0 {
		l.process(batch, nil)
	}
}

// process decides about a batch, commits once, and only then lets the effects leave (I1).
func (l *loop) process(batch []item, after func()) {
	if l.lost {
		batch = l.keep(batch)
	}
	l.write, l.then, l.batch = nil, nil, batch
	for i := range batch {
		e := l.complete(batch[i])
		d := l.machine.Step(l.d.clock(), e)
		l.write, l.then = append(l.write, d.Write...), append(l.then, d.Then...)
	}
	if len(l.write) == 0 {
		l.finish(after)
		return
	}
	l.flying = true
	if bug := l.d.w.options.Bug; bug == BugAckBeforeCommit || bug == BugPubackFirst {
		l.early()
	}
	took := time.Duration(2+l.d.luck.IntN(20)) * time.Millisecond
	if l.d.w.lasts(Slow, l.d.kitchen) {
		took *= 20
	}
	l.d.mine(took, func() { l.committed(after) })
}

func (l *loop) committed(after func()) {
	l.flying = false
	switch {
	case l.d.w.lasts(DiskFull, l.d.kitchen):
		l.lose()
		return
	case l.unknown:
		l.unknown = false
		if l.d.luck.IntN(2) == 0 {
			l.d.apply(l.write)
		}
		l.lose()
		return
	}
	l.d.apply(l.write)
	l.machine.Committed()
	l.finish(after)
}

func (l *loop) finish(after func()) {
	then := l.then
	l.then, l.write, l.batch = nil, nil, nil
	if !l.leave(then) {
		return
	}
	if after != nil {
		after()
	}
	l.rest()
}

// rest plans the next turn.
func (l *loop) rest() {
	if len(l.inbox) > 0 || len(l.dirty) > 0 {
		l.soon()
	}
	l.ticks++
	tick := l.ticks
	now := l.d.clock()
	if next, ok := l.machine.Next(now); ok {
		l.d.mine(next-now.Up, func() {
			if l.ticks == tick && !l.flying {
				l.d.send(core.Tick{}, "")
			}
		})
	}
}

// leave lets effects out. It is false where the process died among them.
func (l *loop) leave(then []core.Effect) bool {
	d := l.d
	d.publish()
	for _, e := range then {
		if l.fuse > 0 {
			if l.fuse--; l.fuse == 0 {
				d.dies("between two effects", false)
				d.w.after(3*time.Second, d.start) // systemd
				return false
			}
		}
		l.perform(e)
	}
	return true
}

// complete gives an event its handle and what the journal knows.
func (l *loop) complete(it item) core.Event {
	handle := core.Handle(0)
	switch it.event.(type) {
	case core.TicketArrived, core.Recalled, core.Welcomed, core.CommandArrived:
		l.handle++
		handle = l.handle
		l.handles[handle] = it.ticket
	}
	switch e := it.event.(type) {
	case core.TicketArrived:
		e.Handle = handle
		e.Known = l.lookup(e.Ticket.ID)
		e.PredKnown = onPaper(l.lookup(e.Ticket.Pred))
		if bug := l.d.w.options.Bug; bug == BugOlderUnsaid || bug == BugForgetEarly {
			e.Ticket.Above = 0 // The broker's word would hide what the journal should have known.
		}
		for _, later := range core.Later(e.Ticket.ID) {
			if onPaper(l.lookup(later.String())) && l.d.w.options.Bug != BugOlderUnsaid {
				e.Higher = later.Seq
			}
		}
		return e
	case core.Recalled:
		e.Handle, e.Known = handle, l.lookup(e.Recall.Ticket)
		l.calls[handle] = e.Recall
		return e
	case core.Welcomed:
		e.Handle = handle
		return e
	case core.CommandArrived:
		e.Handle = handle
		return e
	}
	return it.event
}

func onPaper(k core.Known) bool {
	return k.Found && (k.Record.Outcome == wire.OutcomeStored ||
		k.Record.Outcome == wire.OutcomePrinted)
}

func (l *loop) lookup(id string) core.Known {
	if l.lost || l.d.w.options.Bug == BugForgetEarly {
		return core.Known{}
	}
	return l.d.journal.Lookup(id)
}

// lose is what follows a failed commit: the machine forgets the batch, its messages are refused,
// and the journal is opened again.
func (l *loop) lose() {
	d := l.d
	d.w.note(d.kitchen, "journal fails")
	l.lost, l.starting = true, false
	l.pause = min(max(2*l.pause, reopenMin), reopenMax)
	clear(l.handles)
	clear(l.calls)
	then := l.machine.Step(d.clock(), core.StorageLost{}).Then
	for _, it := range l.keep(l.batch) {
		if _, start := it.event.(core.Started); !start {
			then = append(then, l.machine.Step(d.clock(), l.complete(it)).Then...)
		}
	}
	l.write, l.batch, l.then = nil, nil, nil
	d.mine(l.pause, l.reopen)
	if l.leave(then) {
		l.rest()
	}
}

func (l *loop) reopen() {
	if l.flying { // Nothing is committed without a journal.
		l.d.w.judge.broke("I1", l.d.kitchen, "a commit is under way without a journal")
		return
	}
	l.begin()
}

// keep sets results aside: they are recorded when there is a journal again.
func (l *loop) keep(batch []item) []item {
	var rest []item
	for _, it := range batch {
		switch it.event.(type) {
		case core.PrintDone, core.Resolved:
			l.kept = append(l.kept, it)
		default:
			rest = append(rest, it)
		}
	}
	return rest
}

// apply makes changes durable.
func (d *device) apply(changes []core.Change) {
	switch bug := d.w.options.Bug; bug {
	case BugNone:
	case BugSharedIntent:
		changes = d.shareReading(changes)
	default:
		changes = bug.changes(changes)
	}
	d.journal.Apply(changes)
}

// perform carries out one effect and checks it against what is on disk.
func (l *loop) perform(effect core.Effect) {
	d := l.d
	switch e := effect.(type) {
	case core.Puback:
		ticket := l.handles[e.Handle]
		delete(l.handles, e.Handle)
		d.w.judge.puback(d, ticket)
		if r, ok := l.calls[e.Handle]; ok && !l.lost {
			d.w.judge.called(d, r)
		}
		delete(l.calls, e.Handle)
	case core.Answer:
		l.answer(e.Ack)
	case core.Reply:
		if signed, err := d.signer.SignReply(e.Reply); err == nil {
			d.speak(wire.LeafAck, signed)
		}
	case core.Print:
		d.w.judge.prints(d, e)
		if p := d.press(e.Printer); p != nil {
			p.order(e)
		}
	case core.Resolve:
		if p := d.press(e.Printer); p != nil {
			p.order(e)
		}
	case core.ClearPrinter:
		if p := d.press(e.Printer); p != nil {
			p.clear(e)
		}
	case core.Greet:
		switch {
		case d.w.options.Bug == BugHelloOnce:
		case e.Renew && d.link.conn != nil:
			d.link.lost(d.link.conn)
		default:
			d.link.greetSoon()
		}
	case core.StatusChanged:
		if payload, err := wire.EncodeStatus(e.Status); err == nil {
			d.speak(wire.LeafStatus, payload)
		}
	}
}

func (l *loop) answer(a wire.Ack) {
	d := l.d
	if a = d.w.options.Bug.ack(a); d.w.options.Bug == BugRecalledWrongly {
		a = d.recalledWrongly(a)
	}
	d.w.judge.answers(d, a)
	d.w.note(d.kitchen, "says", a.Outcome, a.Ticket, "attempt", a.Attempt, a.Evidence, a.Reason)
	signed, err := d.signer.SignAck(a)
	if err != nil {
		d.w.judge.broke("wire", d.kitchen, "an ack cannot be signed: "+err.Error())
		return
	}
	d.speak(wire.LeafAck, signed)
}

// speak sends in the session that the machine means, if it still stands.
func (d *device) speak(leaf wire.Leaf, payload []byte) {
	if c := d.link.conn; c != nil && c.session == d.loop.machine.Status().Session {
		d.link.publish(leaf, payload)
	}
}
