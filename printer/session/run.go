package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"chit/printer/escpos"
	"chit/printer/transport"
)

// Reasons to end the service of a link or of a unit.
var (
	// errSilent says that a unit that once answered does not answer now.
	errSilent = errors.New("printer does not answer")
	// errAfresh says that what is known about the unit must be asked again on the same link.
	errAfresh = errors.New("printer must be asked afresh")
)

// Session is one printer and its only owner. Make it with [New].
type Session struct {
	config Config

	orders    chan *order   // documents and clearing: refused while the printer is absent
	questions chan *order   // resolving: waits for the printer
	ended     chan struct{} // closed when Run has returned

	mu        sync.Mutex
	state     State
	printing  escpos.Token            // the document at the printer, or asked about
	cancel    context.CancelCauseFunc // ends the wait for it, nil where there is none
	withdrawn escpos.Token            // the last one that was taken back
	clearing  chan struct{}           // while one is being taken back; closed when that is over

	// The rest belongs to Run's goroutine.
	unit     Unit
	former   Unit // the last one that was probed to the end, or Config.Known
	proofs   proofs
	asks     uint64 // tokens used for queries that belong to no document
	opened   bool   // the unit on the open link is known
	inOrder  bool   // an order is being carried out, so no other is let in
	deferred []*order

	otherwise int // connections in a row that found it away in another way than was told
}

// order is what a caller wants done on the open link.
type order struct {
	ctx    context.Context
	do     func(context.Context, *link) error
	urgent bool        // may be done while the session waits for a held printer
	taken  atomic.Bool // by Run's goroutine, to be done, or by its caller, to be given up
	done   chan error
}

// heldError is ErrHeld with the hold that a refused order is told.
type heldError struct{ hold Hold }

func (e heldError) Error() string { return fmt.Sprintf("%v: %s", ErrHeld, e.hold) }
func (e heldError) Unwrap() error { return ErrHeld }

// New makes a session that does nothing until Run.
func New(config Config) *Session {
	s := &Session{
		config:    config.withDefaults(),
		orders:    make(chan *order),
		questions: make(chan *order),
		ended:     make(chan struct{}),
		state:     State{Hold: HoldAbsent, Unit: config.Known, Err: "not connected yet"},
		unit:      config.Known,
		former:    config.Known,
		otherwise: awayTries, // The first word is told at once.
	}
	s.asks = uint64(time.Now().UnixNano()) // A late answer to an earlier process's query fits none.
	return s
}

// State is the newest state.
func (s *Session) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Run owns the connection until ctx ends: it dials, probes, polls, and carries out orders. An
// absent printer is a state and is dialled again; Run returns only ctx's cause. It may be called
// once.
func (s *Session) Run(ctx context.Context) error {
	defer close(s.ended)
	for tries := 1; ; tries++ {
		served, err := s.connect(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if served {
			tries = 1
		}
		hold := s.away(err)
		s.publish(State{Hold: hold, Unit: s.unit, Err: err.Error()})
		pause := s.config.Jitter(s.config.Timing.redial(tries))
		if err := s.absent(ctx, hold, pause); err != nil {
			return err
		}
	}
}

// absent refuses documents until the pause is over.
func (s *Session) absent(ctx context.Context, hold Hold, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	s.refuseDeferred()
	for {
		select {
		case o := <-s.orders:
			o.done <- heldError{hold}
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// connect dials once and serves the connection until it ends. It tells whether the printer was
// there and answered what it is known to answer.
func (s *Session) connect(ctx context.Context) (served bool, err error) {
	conn, err := s.dial(ctx)
	if err != nil {
		return false, err
	}
	l := newLink(conn, s.config.Dialer.TwoWay(), &s.proofs)
	defer func() {
		s.opened = false
		err = errors.Join(err, l.close())
	}()
	for {
		err := s.open(ctx, l)
		if err == nil {
			served = true
			err = s.serve(ctx, l)
		}
		// After clearing, or when a unit taken for mute has spoken, it is asked afresh what it can
		// do.
		if !errors.Is(err, errAfresh) {
			return served, err
		}
		l.afresh = false
	}
}

// dial opens the connection and refuses documents meanwhile.
func (s *Session) dial(ctx context.Context) (transport.Conn, error) {
	type answer struct {
		conn transport.Conn
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		conn, err := s.config.Dialer.Dial(ctx)
		answers <- answer{conn, err}
	}()
	s.refuseDeferred()
	for {
		select {
		case o := <-s.orders:
			o.done <- heldError{s.state.Hold}
		case a := <-answers:
			return a.conn, a.err
		}
	}
}

// serve carries out orders and watches the idle link.
func (s *Session) serve(ctx context.Context, l *link) error {
	for {
		if err := s.publishHealth(l); err != nil {
			return err
		}
		switch {
		case l.err != nil:
			return l.err
		case l.afresh, !s.unit.TwoWay && len(l.inbox) > 0:
			return errAfresh
		case len(s.deferred) > 0:
			o := s.deferred[0]
			s.deferred = s.deferred[1:]
			s.carryOut(ctx, l, o)
			continue
		case l.touched && s.unit.Odometer && l.health.hold() == HoldNone:
			if err := s.readCounters(ctx, l, true); err != nil {
				return silence(err)
			}
			continue
		}
		o, err := l.pump(ctx, s.nextCheck(l), s.orders, s.questions)
		switch {
		case o != nil:
			s.carryOut(ctx, l, o)
		case errors.Is(err, errElapsed):
			if err := s.keepalive(ctx, l); err != nil {
				return err
			}
		case err != nil:
			return err
		}
	}
}

// nextCheck is when an idle printer must be asked how it is: a held one often, so that its recovery
// is seen; another often enough that neither end of the link takes it for dead. Only what we send
// counts, since boards close after minutes without data from the host (Epson UB-E02).
func (s *Session) nextCheck(l *link) time.Time {
	const never = 24 * time.Hour
	switch {
	case !s.config.Dialer.TwoWay():
		return l.asked.Add(never)
	case l.hold() != HoldNone:
		return l.asked.Add(s.pace(l))
	}
	return l.asked.Add(s.config.Timing.Keepalive)
}

// keepalive asks an idle printer how it is. A unit taken for mute is asked too: any answer makes
// the session find out anew what it can do.
func (s *Session) keepalive(ctx context.Context, l *link) error {
	if s.unit.TwoWay {
		l.countPoll()
		if l.holdPolls > eagerPolls {
			err := s.askRealtime(ctx, l, 1, wait{limit: s.config.Timing.Answer})
			if err != nil || s.short(l) {
				return silence(err)
			}
		}
		return silence(s.examine(ctx, l))
	}
	l.asked = time.Now()
	if s.config.Dialer.TwoWay() && !l.writing {
		l.start(escpos.RealtimeStatus(1))
	}
	return nil
}

// carryOut does one order. What ends the link is noted in l.err.
func (s *Session) carryOut(ctx context.Context, l *link, o *order) {
	if !o.taken.CompareAndSwap(false, true) {
		return
	}
	s.inOrder = true
	defer func() { s.inOrder = false }()
	doing, cancel := context.WithCancelCause(o.ctx)
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
	l.inbox = l.inbox[:0]
	err := o.do(doing, l)
	l.inbox, l.chain = l.inbox[:0], 0 // A poll that the order left half answered is over.
	if l.err == nil {
		// The state comes before the result, so that the next intent has the newest counters.
		if err := s.publishHealth(l); err != nil {
			l.fail(err)
		}
	}
	o.done <- err
}

// meanwhile takes an order that came while the session itself waits for the printer. A document is
// refused where the printer is held, else it is carried out when the wait is over.
func (s *Session) meanwhile(ctx context.Context, l *link, o *order) {
	if o.urgent {
		s.carryOut(ctx, l, o)
		return
	}
	s.deferred = append(s.deferred, o)
}

// refuseDeferred answers the orders that waited for a printer which now cannot print.
func (s *Session) refuseDeferred() {
	for _, o := range s.deferred {
		o.done <- heldError{s.state.Hold}
	}
	s.deferred = nil
}

// submit has one order carried out by Run's goroutine.
func (s *Session) submit(ctx context.Context, to chan *order, o *order) error {
	o.ctx, o.done = ctx, make(chan error, 1)
	select {
	case to <- o:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.ended:
		return ErrEnded
	}
	select {
	case err := <-o.done:
		return err
	case <-ctx.Done():
		if o.taken.CompareAndSwap(false, true) {
			return context.Cause(ctx)
		}
	case <-s.ended:
	}
	// It is being carried out, which obeys ctx and says how far it came, or Run is over.
	select {
	case err := <-o.done:
		return err
	case <-s.ended:
	}
	select {
	case err := <-o.done:
		return err
	default:
		return ErrEnded
	}
}

// publishHealth tells the owner of the printer's condition, unless a poll is only half answered.
func (s *Session) publishHealth(l *link) error {
	hold := l.hold()
	if (l.chain == 0 || l.silent()) && (s.opened || hold != HoldNone) {
		state := State{Hold: hold, Unit: s.unit, PaperLow: l.health.paperLow}
		if hold == HoldSilent {
			state.Err = errSilent.Error()
		}
		s.publish(state)
		if hold != HoldNone {
			s.refuseDeferred()
		}
	}
	if err := l.setPatient(); err != nil {
		return fmt.Errorf("%w: %w", ErrLink, err)
	}
	return nil
}

// publish tells the owner of a new state. Only Run's goroutine writes the state, so that it may
// read it without the lock.
func (s *Session) publish(state State) {
	old := s.state
	if old == state {
		return
	}
	s.mu.Lock()
	s.state = state
	s.mu.Unlock()
	if old.Hold != state.Hold || old.Err != state.Err {
		s.config.Log.Info("printer state", "printer", s.config.Dialer.Name(),
			"hold", string(state.Hold), "was", string(old.Hold), "err", state.Err)
	}
	s.config.Changed(state)
}
