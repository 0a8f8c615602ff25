package service

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"chit/device/core"
	"chit/device/health"
	"chit/device/journal"
	"chit/device/wire"
	"chit/printer/session"
)

// Bounds of the loop.
const (
	batchMax   = 64               // events that share one commit
	inMax      = 256              // events that wait
	stopGrace  = 10 * time.Second // for documents at the printers when the daemon ends
	reopenMin  = time.Second
	reopenMax  = time.Minute
	feedAtMost = 2 * time.Second
)

// item is one event for the loop, with the PUBACK or the person that waits for it.
type item struct {
	event core.Event
	ack   func()
	told  func(core.Pressed) // of a press; it must not block
}

// loop owns the machine and the journal. Everything else sends it events.
type loop struct {
	conf    Config
	machine *core.Machine
	journal *journal.Journal
	in      chan item
	states  *states
	workers map[string]*worker
	perform func(core.Effect, *loop)
	publish func(*core.Machine) // the snapshot for others
	greet   func()
	apply   func(*journal.Journal, []core.Change) error
	feed    func()
	beat    *time.Ticker
	count   func(name, label string)
	log     *slog.Logger

	handles  map[core.Handle]func()
	handle   core.Handle
	presses  map[core.Handle]func(core.Pressed)
	kept     []item // results that came while there was no memory
	lost     error  // why there is no memory
	reopenAt time.Time
	pause    time.Duration
	boot     string
	tenant   string
	options  journal.Options
}

// states holds the newest state of each printer until the loop takes it.
type states struct {
	mu    sync.Mutex
	dirty map[string]session.State
	wake  chan struct{}
}

func newStates() *states {
	return &states{dirty: map[string]session.State{}, wake: make(chan struct{}, 1)}
}

// put is called by a session's own goroutine and never blocks.
func (s *states) put(printer string, state session.State) {
	s.mu.Lock()
	s.dirty[printer] = state
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *states) take() []item {
	s.mu.Lock()
	defer s.mu.Unlock()
	var items []item
	for name, state := range s.dirty {
		items = append(items, item{event: core.PrinterState{Printer: name, State: state}})
	}
	clear(s.dirty)
	return items
}

func now() core.Now {
	return core.Now{Up: health.Up(), Wall: time.Now(), Trusted: health.ClockSynced()}
}

// run works until ctx ends, then waits for what is at the printers.
func (l *loop) run(ctx context.Context, first func(), ready func()) error {
	defer l.close()
	first()
	ready()
	for ctx.Err() == nil {
		if batch := l.wait(ctx); len(batch) > 0 {
			l.process(batch)
		}
		l.maybeReopen()
	}
	l.process([]item{{event: core.Stopping{}}})
	end, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	for l.busy() && end.Err() == nil {
		if batch := l.wait(end); len(batch) > 0 {
			l.process(batch)
		}
	}
	return nil
}

func (l *loop) busy() bool {
	for _, w := range l.workers {
		if w.session.State().Ready() && w.busy.Load() > 0 {
			return true // A held printer is not waited for: its intent is on disk.
		}
	}
	return len(l.in) > 0
}

func (l *loop) close() {
	if l.journal == nil {
		return
	}
	if err := l.journal.Close(); err != nil {
		l.log.Error("journal did not close", "err", err)
	}
	l.journal = nil
}

// wait gathers all events that wait, at least one unless time is up. It feeds the watchdog: this is
// the loop that systemd watches.
func (l *loop) wait(ctx context.Context) []item {
	l.feed()
	timer := time.NewTimer(l.sleep())
	defer timer.Stop()
	var batch []item
	select {
	case <-ctx.Done():
		return nil
	case it := <-l.in:
		batch = append(batch, it)
	case <-l.states.wake:
		batch = append(batch, l.states.take()...)
	case <-timer.C:
		batch = append(batch, item{event: core.Tick{}})
	case <-l.beat.C:
		return nil
	}
	for len(batch) < batchMax {
		select {
		case it := <-l.in:
			batch = append(batch, it)
			continue
		default:
		}
		break
	}
	return batch
}

// sleep is until the machine or the reopening must be looked at.
func (l *loop) sleep() time.Duration {
	pause := time.Hour
	t := now()
	if next, ok := l.machine.Next(t); ok {
		pause = max(next-t.Up, 0)
	}
	if l.lost != nil {
		pause = min(pause, max(time.Until(l.reopenAt), 0))
	}
	return pause
}

// process decides about a batch, commits once, and only then lets the effects leave (I1).
func (l *loop) process(batch []item) {
	if l.lost != nil {
		batch = l.keep(batch)
	}
	var write []core.Change
	var then []core.Effect
	for i := range batch {
		e, err := l.complete(&batch[i])
		if err != nil {
			l.lose(err, batch)
			return
		}
		d := l.machine.Step(now(), e)
		write, then = append(write, d.Write...), append(then, d.Then...)
	}
	if len(write) > 0 {
		beforeCommit(batch)
		if err := l.commit(write); err != nil {
			l.lose(err, batch)
			return
		}
		l.machine.Committed()
		l.count("commits", "")
		afterCommit(batch)
	}
	l.leave(then)
}

func (l *loop) leave(then []core.Effect) {
	l.publish(l.machine)
	for _, e := range then {
		l.perform(e, l)
	}
}

// complete gives an event its handle and what the journal knows.
func (l *loop) complete(it *item) (core.Event, error) {
	var handle core.Handle
	if it.ack != nil || it.told != nil {
		l.handle++
		handle = l.handle
	}
	if it.ack != nil {
		l.handles[handle] = it.ack
	}
	switch e := it.event.(type) {
	case core.TicketArrived:
		e.Handle = handle
		known, err := l.lookup(e.Ticket.ID)
		if err != nil {
			return nil, err
		}
		pred, err := l.lookup(e.Ticket.Pred)
		if err != nil {
			return nil, err
		}
		e.Known, e.PredKnown = known, onPaper(pred)
		if e.Higher, err = l.higher(e.Ticket.ID); err != nil {
			return nil, err
		}
		l.count("tickets", "")
		return e, nil
	case core.TicketUnusable:
		e.Handle = handle
		return e, nil
	case core.Recalled:
		e.Handle = handle
		known, err := l.lookup(e.Recall.Ticket)
		e.Known = known
		return e, err
	case core.Button:
		if e.Handle = handle; it.told != nil {
			l.presses[handle] = it.told
		}
		return e, nil
	case core.CommandArrived:
		e.Handle = handle
		return e, nil
	case core.Welcomed:
		e.Handle = handle
		return e, nil
	}
	return it.event, nil
}

func onPaper(k core.Known) bool {
	o := k.Record.Outcome
	return k.Found && (o == wire.OutcomeStored || o == wire.OutcomePrinted)
}

// higher is the highest mutation of id's order that is on paper at its station, or waits to be.
func (l *loop) higher(id string) (highest int, err error) {
	for _, later := range core.Later(id) {
		known, err := l.lookup(later.String())
		if err != nil {
			return 0, err
		}
		if onPaper(known) {
			highest = later.Seq
		}
	}
	return highest, nil
}

func (l *loop) lookup(id string) (core.Known, error) {
	if l.journal == nil {
		return core.Known{}, nil // Without memory every ticket is refused anyway.
	}
	return l.journal.Lookup(id)
}

// commit runs the flush beside the loop, so that the watchdog watches the loop and not the card.
func (l *loop) commit(write []core.Change) error {
	j := l.journal
	if j == nil {
		return fmt.Errorf("service: %d changes and no journal", len(write))
	}
	return l.aside(func() error { return l.apply(j, write) })
}

func (l *loop) aside(f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	for {
		select {
		case err := <-done:
			return err
		case <-l.beat.C:
			l.feed()
		}
	}
}
