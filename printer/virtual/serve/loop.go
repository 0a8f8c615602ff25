package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"chit/printer/virtual"
)

// loop owns the printer and the client. Only its goroutine touches what is in it.
type loop struct {
	s       *Server
	printer *virtual.Printer
	client  *client
	waiting []newcomer
	ghosts  []*client // connections of before a power cut
	held    []byte    // read from the client and not yet accepted by the buffer
	busy    bool      // the writer has answers under way
	touched time.Time // the last byte or hand, for tearing by hand
	shown   glance    // what the page was last told of
}

// glance is all that the page shows, as far as a comparison needs it.
type glance struct {
	on, connected, idle            bool
	buffered, head, errors, events int
	feeds, cuts                    uint64
	wrong                          string
}

// tell wakes the page where anything it shows has changed.
func (l *loop) tell() {
	p := l.printer
	g := glance{on: p.On(), connected: p.Connected(), idle: p.Idle(), buffered: p.Buffered(),
		head: p.Head(), errors: len(p.Errors()), events: len(p.Events()), wrong: fmt.Sprint(p.Wrong())}
	g.feeds, g.cuts = p.Counters()
	if g != l.shown {
		l.shown = g
		l.s.mu.Lock()
		l.s.tell()
		l.s.mu.Unlock()
	}
}

func newLoop(s *Server) *loop {
	conf, now := s.conf.Printer, time.Now()
	faults := conf.Faults
	conf.Faults = nil
	l := &loop{s: s, printer: virtual.New(conf), touched: now}
	for _, f := range faults {
		l.printer.Raise(now, f)
	}
	return l
}

func (l *loop) run(ctx context.Context) {
	defer l.end()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		now := time.Now()
		l.settle(now)
		if l.s.control != nil {
			l.tell()
		}
		var wake <-chan time.Time
		if at, ok := l.wake(now); ok {
			timer.Reset(at.Sub(now))
			wake = timer.C
		}
		var arrived <-chan []byte
		var wrote <-chan written
		if l.client != nil {
			wrote = l.client.wrote
			if len(l.held) == 0 && l.printer.Plugged() {
				arrived = l.client.arrived
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case c := <-l.s.calls:
			l.touched = time.Now()
			c.do(l.printer, l.touched)
			close(c.done)
		case n := <-l.s.newcomers:
			l.admit(n)
		case chunk, open := <-arrived:
			l.touched = time.Now()
			if !open {
				l.leave("client left")
				break
			}
			l.held = chunk
		case w := <-wrote:
			l.busy = false
			switch {
			case w.err == nil:
			case errors.Is(w.err, os.ErrDeadlineExceeded):
				l.s.log.Warn("client does not read its answers", "bytes_lost", len(w.rest))
			default:
				l.printer.Undelivered(w.rest)
				l.leave("client gone")
			}
		}
	}
}

// settle lets the printer work until now and carries out what came of it.
func (l *loop) settle(now time.Time) {
	l.printer.Advance(now)
	for len(l.held) > 0 && l.client != nil {
		n := l.printer.Receive(now, l.held)
		l.held = l.held[n:]
		if l.printer.HungUp() {
			l.held = nil
			break
		}
		if n == 0 {
			break
		}
	}
	if l.client != nil && l.printer.HungUp() {
		l.cutOff()
	}
	l.bury()
	if l.idleWithoutCutter() && !l.tearAt().After(now) {
		l.printer.Tear(now)
	}
	for _, sheet := range l.printer.Sheets() {
		l.s.saving <- sheet
	}
	if l.client == nil && len(l.waiting) > 0 && l.printer.On() && l.printer.Plugged() {
		next := l.waiting[0]
		l.waiting = l.waiting[1:]
		l.adopt(next)
	}
	l.dismiss(now)
	if l.client != nil && !l.busy {
		if answers := l.printer.Answers(); len(answers) > 0 {
			l.client.answers <- answers // Never blocks: the writer is idle.
			l.busy = true
		}
	}
}

// wake is when the loop must go round without being asked.
func (l *loop) wake(now time.Time) (time.Time, bool) {
	at, ok := l.printer.Wake()
	if ok && l.busy && !at.After(now) {
		ok = false // Answers are due and the writer is busy: its end wakes the loop.
	}
	if l.idleWithoutCutter() && (!ok || l.tearAt().Before(at)) {
		at, ok = l.tearAt(), true
	}
	for _, n := range l.waiting {
		if !n.until.IsZero() && (!ok || n.until.Before(at)) {
			at, ok = n.until, true
		}
	}
	return at, ok
}

func (l *loop) tearAt() time.Time { return l.touched.Add(l.s.conf.TearAfter) }

// idleWithoutCutter is true where only a hand can separate the paper that hangs out.
func (l *loop) idleWithoutCutter() bool {
	return !l.s.conf.Printer.Can.Cutter && l.printer.Idle() && l.printer.Hanging()
}

// admit decides about somebody who wants to be the client.
func (l *loop) admit(n newcomer) {
	switch {
	case !l.printer.On():
		refuse(n, ErrOff)
	case !l.printer.Plugged() && len(l.waiting) < WaitingMax:
		l.waiting = append(l.waiting, n) // Nobody hears the knock until the cable is back.
	case l.client == nil && l.printer.Plugged():
		l.adopt(n)
	case l.s.conf.SecondWaits && len(l.waiting) < WaitingMax:
		n.tell(nil)
		n.answer = nil
		l.waiting = append(l.waiting, n)
	case len(l.waiting) < WaitingMax:
		n.until = time.Now().Add(grace)
		l.waiting = append(l.waiting, n)
	default:
		refuse(n, ErrBusy)
	}
}

// dismiss refuses those whose grace is over while somebody else is still there.
func (l *loop) dismiss(now time.Time) {
	kept := l.waiting[:0]
	for _, n := range l.waiting {
		if !n.until.IsZero() && !n.until.After(now) {
			l.s.log.Info("second client refused")
			refuse(n, ErrBusy)
			continue
		}
		kept = append(kept, n)
	}
	l.waiting = kept
}

func (l *loop) adopt(n newcomer) {
	now := time.Now()
	l.client, l.busy, l.held = newClient(n.conn), false, nil
	l.printer.Connect(now)
	n.tell(nil)
	l.s.log.Info("client connected")
}

// leave ends the client's connection in order.
func (l *loop) leave(why string) {
	c := l.client
	l.client, l.held, l.busy = nil, nil, false
	l.printer.Undelivered(c.close())
	l.printer.Disconnect(time.Now())
	l.s.log.Info(why)
}

// cutOff ends the connection from the printer's side. Without power nobody says goodbye: the client
// becomes a ghost, whose next bytes vanish.
func (l *loop) cutOff() {
	if l.printer.On() {
		l.leave("printer hung up")
		return
	}
	c := l.client
	l.client, l.held, l.busy = nil, nil, false
	l.printer.Disconnect(time.Now())
	c.haunt()
	l.ghosts = append(l.ghosts, c)
	l.s.log.Info("power off")
}

// bury lets ghosts be reset by their next bytes once the power is back, and forgets those gone.
func (l *loop) bury() {
	kept := l.ghosts[:0]
	for _, g := range l.ghosts {
		if l.printer.On() {
			g.awaken()
		}
		if g.gone() {
			g.close()
			continue
		}
		kept = append(kept, g)
	}
	l.ghosts = kept
}

func (l *loop) end() {
	if l.client != nil {
		l.leave("virtual printer closed")
	}
	for _, g := range l.ghosts {
		g.close()
	}
	for _, n := range l.waiting {
		refuse(n, ErrClosed)
	}
	for _, sheet := range l.printer.Sheets() {
		l.s.saving <- sheet
	}
}

// tell gives the verdict to whoever waits for it.
func (n newcomer) tell(err error) {
	if n.answer != nil {
		n.answer <- err
	}
}

func refuse(n newcomer, err error) {
	n.conn.Close()
	n.tell(err)
}
