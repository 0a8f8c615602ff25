package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"chit/printer/escpos"
	"chit/printer/status"
)

// errNoAnswer says that a question was not answered in its time.
var errNoAnswer = errors.New("no answer")

// wait says how to wait for the printer.
type wait struct {
	// limit is how long. With patient it runs only while the printer reports no hold.
	limit   time.Duration
	patient bool
}

// await pumps until done. It answers errNoAnswer at the limit, an error wrapping ErrLink where the
// link is over, or ctx's cause. A patient wait polls a quiet printer. Outside of an order, orders
// are let in meanwhile: documents are refused and ClearBuffers is obeyed.
func (s *Session) await(ctx context.Context, l *link, w wait, done func() bool) error {
	deadline := time.Now().Add(w.limit)
	var orders <-chan *order
	if !s.inOrder {
		orders = s.orders
	}
	for {
		now := time.Now()
		switch {
		case done():
			return nil
		case l.err != nil:
			return l.err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case l.afresh && !s.inOrder:
			return errAfresh
		}
		if w.patient && l.health.hold() != HoldNone {
			deadline = l.extended(now, deadline, w.limit, pollsMissed*s.pace(l))
		}
		if !now.Before(deadline) {
			return errNoAnswer
		}
		wake := deadline
		if w.patient {
			wake = s.watch(l, now, deadline)
		}
		if err := s.publishHealth(l); err != nil {
			return err
		}
		o, err := l.pump(ctx, wake, orders, nil)
		switch {
		case o != nil:
			s.meanwhile(ctx, l, o)
		case err != nil && !errors.Is(err, errElapsed):
			return err
		}
	}
}

// pollsMissed is how many polls in a row a held printer may leave unanswered.
const pollsMissed = 3

// extended is the deadline of a patient wait during a hold: the clock stands still. Where the
// printer answered polls in this hold, it stands only as long as they are still answered, so that a
// printer switched off meanwhile is not waited for.
func (l *link) extended(now, deadline time.Time, limit, missed time.Duration) time.Time {
	until := now.Add(limit)
	if l.holdAnswered {
		until = l.heard.Add(max(limit, missed))
	}
	if until.After(deadline) {
		return until
	}
	return deadline
}

// eagerPolls is how many polls of a hold come at the pace of a working printer. What is asked of a
// printer that stands still stays in its buffer of perhaps 4 KB, so later ones are rare and short:
// they fill it in over 12 hours.
const eagerPolls = 12

// pace is the pause between two polls. Behind a GS r nothing is to be sent until it is answered
// (Epson, GS r). A unit that pushes its status tells of a hold by itself, so there it is only asked
// when the answer is long overdue; of another, asking is the only way to hear, and a real-time
// command does not enter the buffer that the GS r stands in.
func (s *Session) pace(l *link) time.Duration {
	switch {
	case l.holdPolls > eagerPolls:
		return s.config.Timing.Keepalive
	case len(l.fences) > 0 && s.unit.Pushes && l.hold() == HoldNone:
		return max(fenceQuiet, s.config.Timing.Poll)
	}
	return s.config.Timing.Poll
}

// short is true where DLE EOT 1 is enough for now: a long hold that goes on.
func (s *Session) short(l *link) bool {
	const every = 4 // the reason may have changed, which a unit that pushes tells by itself
	return l.holdPolls > eagerPolls && l.health.offline &&
		(s.unit.Pushes || l.holdPolls%every > 0)
}

// poll asks a quiet printer how it is, one DLE EOT at a time, and answers when to wake next.
func (s *Session) poll(l *link, now, deadline time.Time) time.Time {
	if s.unit.Realtime == 0 {
		return deadline
	}
	last := l.heard
	if l.asked.After(last) {
		last = l.asked
	}
	due := last.Add(s.pace(l))
	switch {
	case l.chain == 1 && s.short(l):
		l.chain = 0
	case l.chain > 0 || !now.Before(due):
		if l.chain == 0 {
			l.countPoll()
		}
		l.chain = s.unit.nextRealtime(l.chain)
		if l.chain > 0 {
			l.stream.Expect(realtimeKinds[l.chain])
			l.start(escpos.RealtimeStatus(l.chain))
			return deadline
		}
	}
	if due.Before(deadline) {
		return due
	}
	return deadline
}

// countPoll counts the polls of a hold.
func (l *link) countPoll() {
	l.holdPolls++
	if l.health.hold() == HoldNone {
		l.holdPolls = 0
	}
}

// nextRealtime is the next n after the given one that this unit answers, 0 after the last.
func (u Unit) nextRealtime(n byte) byte {
	for n++; int(n) < len(realtimeKinds); n++ {
		if u.Realtime&(1<<n) != 0 {
			return n
		}
	}
	return 0
}

// ask sends one question and waits for its own answer. An unanswered question stays announced, so
// that its late answer is not taken for another's.
func ask[E status.Event](
	ctx context.Context, s *Session, l *link, w wait, k status.Kind, question []byte,
) (E, error) {
	var answer E
	// A question of this kind that was given up earlier comes first; so does a write under way.
	clear := func() bool { return !l.writing && (k == 0 || l.stream.Awaits(k) == 0) }
	if err := s.await(ctx, l, w, clear); err != nil {
		return answer, err
	}
	l.inbox = l.inbox[:0]
	if k != 0 {
		l.stream.Expect(k)
	}
	l.start(question)
	err := s.await(ctx, l, w, func() bool {
		for _, e := range l.inbox {
			if a, ok := e.(E); ok {
				answer = a
				return !l.writing
			}
		}
		return false
	})
	if err != nil {
		err = fmt.Errorf("asking %T: %w", answer, err)
	}
	return answer, err
}

// askRealtime asks DLE EOT n and waits for its byte.
func (s *Session) askRealtime(ctx context.Context, l *link, n byte, w wait) error {
	var err error
	question, kind := escpos.RealtimeStatus(n), realtimeKinds[n]
	switch n {
	case 1:
		_, err = ask[status.Printer](ctx, s, l, w, kind, question)
	case 2:
		_, err = ask[status.Offline](ctx, s, l, w, kind, question)
	case 3:
		_, err = ask[status.Error](ctx, s, l, w, kind, question)
	case 4:
		_, err = ask[status.Paper](ctx, s, l, w, kind, question)
	}
	return err
}

// examine asks every DLE EOT that the unit answers, one at a time.
func (s *Session) examine(ctx context.Context, l *link) error {
	l.chain = 0
	w := wait{limit: s.config.Timing.Answer}
	if err := s.await(ctx, l, w, func() bool { return !l.realtimePending() }); err != nil {
		return err
	}
	l.chain = 1 // What one answer alone says is not published.
	defer func() { l.chain = 0 }()
	for n := s.unit.nextRealtime(0); n > 0; n = s.unit.nextRealtime(n) {
		if err := s.askRealtime(ctx, l, n, w); err != nil {
			return err
		}
	}
	return nil
}

// askProcessID sends GS ( H with a token that belongs to no document.
func (s *Session) askProcessID(ctx context.Context, l *link, w wait) error {
	if err := s.await(ctx, l, w, func() bool { return !l.writing }); err != nil {
		return err
	}
	s.asks++
	token := askToken(s.asks)
	s.proofs = s.proofs.without(token)
	l.start(escpos.ProcessID(token))
	return s.await(ctx, l, w, func() bool { return !l.writing && s.proofs.has(token) })
}

// askFence sends GS r 1 for no document and waits until it and all before it are answered.
func (s *Session) askFence(ctx context.Context, l *link, w wait) error {
	if err := s.await(ctx, l, w, func() bool { return !l.writing }); err != nil {
		return err
	}
	l.expectFence(proof{})
	l.start(escpos.FencePaper())
	return s.await(ctx, l, w, func() bool {
		return !l.writing && l.stream.Awaits(status.ExpectFence) == 0
	})
}

// sync waits until the printer has worked off all that was sent before. It waits out a hold. Where
// the unit answers no queued question, it waits for quiet.
func (s *Session) sync(ctx context.Context, l *link) error {
	return s.syncWithin(ctx, l, s.config.Timing.Fence)
}

func (s *Session) syncWithin(ctx context.Context, l *link, limit time.Duration) error {
	w := wait{limit: limit, patient: true}
	var err error
	switch {
	case s.unit.Odometer:
		_, err = ask[status.Counter](ctx, s, l, w, status.ExpectCounter, s.unit.askLineFeeds())
	case s.unit.Identity:
		_, err = ask[status.Identity](ctx, s, l, w, status.ExpectIdentity, escpos.Identity(askModel))
	case s.unit.ProcessID:
		// Last of the framed ones: a newer id replaces a document's own that is still unsent.
		err = s.askProcessID(ctx, l, w)
	case s.unit.Fence:
		return s.askFence(ctx, l, w)
	default:
		return s.quiet(ctx, l)
	}
	if err == nil {
		l.forgetFences()
	}
	return err
}

// quiet waits until nothing was heard for Timing.Hello.
func (s *Session) quiet(ctx context.Context, l *link) error {
	for {
		heard := l.heard
		err := s.await(ctx, l, wait{limit: s.config.Timing.Hello}, func() bool {
			return l.heard != heard
		})
		switch {
		case errors.Is(err, errNoAnswer):
			return nil
		case err != nil:
			return err
		}
	}
}

func (u Unit) askLineFeeds() []byte {
	if u.Cumulative {
		return escpos.Counter(escpos.CounterLineFeedsCumulative)
	}
	return escpos.Counter(escpos.CounterLineFeeds)
}

func (u Unit) askCuts() []byte {
	if u.Cumulative {
		return escpos.Counter(escpos.CounterCutsCumulative)
	}
	return escpos.Counter(escpos.CounterCuts)
}

// readCounters reads the odometer into s.unit. A patient reading waits out a hold; another leaves
// the counters unknown where they do not come within Timing.Answer, which is no error.
func (s *Session) readCounters(ctx context.Context, l *link, patient bool) error {
	l.touched = false
	if !s.unit.Odometer {
		s.unit.Counters = Counters{}
		return nil
	}
	w := wait{limit: s.config.Timing.Answer}
	if patient {
		w = wait{limit: s.config.Timing.Fence, patient: true}
	}
	lines, err := ask[status.Counter](ctx, s, l, w, status.ExpectCounter, s.unit.askLineFeeds())
	if err == nil {
		var cuts status.Counter
		cuts, err = ask[status.Counter](ctx, s, l, w, status.ExpectCounter, s.unit.askCuts())
		if err == nil {
			s.unit.Counters = Counters{Known: true, LineFeeds: lines.Value, Cuts: cuts.Value}
			return nil
		}
	}
	s.unit.Counters, l.touched = Counters{}, true // They are still to be read.
	if !patient && errors.Is(err, errNoAnswer) {
		return nil
	}
	return err
}
