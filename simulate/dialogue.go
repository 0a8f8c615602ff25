package simulate

import (
	"errors"
	"iter"
	"time"

	"chit/device/core"
	"chit/printer/escpos"
	"chit/printer/session"
	"chit/printer/status"
)

// The waits of printer/session (its Timing).
const (
	helloWait  = time.Second
	answerWait = 2 * time.Second
	fenceWait  = 90 * time.Second
	pollEvery  = 5 * time.Second
	keepalive  = 45 * time.Second
	redialMin  = 500 * time.Millisecond
	redialMax  = 5 * time.Second
	clearWait  = 3 * time.Second
	eagerPolls = 12
	pollsLost  = 3
	never      = 1e6 * time.Hour
)

var (
	errNoAnswer = errors.New("no answer")
	errEnded    = errors.New("process ended")
	errAfresh   = errors.New("the printer must be asked afresh")
)

// dialogue is printer/session's talk with one printer, told in order by a coroutine: it waits by
// yielding until the world resumes it. What it judges by are that package's own rules.
type dialogue struct {
	p      *press
	next   func() (time.Duration, bool)
	cancel func()
	inside bool
	over   bool
	yield  func(time.Duration) bool
	wake   time.Duration // when it must be resumed at the latest

	unit, former session.Unit
	state        session.State
	heard        session.Heard
	asks         uint64
	opened       bool

	// Of one connection.
	stream       status.Stream
	out          []byte // not accepted yet
	fences       []session.Proof
	inbox        []status.Event
	health       session.Health
	touched      bool
	holdAnswered bool
	holdPolls    int
	heardAt      time.Duration
	askedAt      time.Duration
	inOrder      bool
	clearing     bool
	afresh       bool         // the printer forgot what it was asked
	document     escpos.Token // the last one that was written
	cleared      escpos.Token // the one whose rest it dropped
}

func newDialogue(p *press, known session.Unit) *dialogue {
	t := &dialogue{p: p, unit: known, former: known,
		asks: uint64(p.d.life) * 7, state: session.State{Hold: session.HoldAbsent, Unit: known}}
	t.next, t.cancel = iter.Pull(t.run)
	return t
}

// run is the coroutine. The end of the process unwinds it by a panic of its own.
func (t *dialogue) run(yield func(time.Duration) bool) {
	t.yield = yield
	defer func() {
		if r := recover(); r != nil && r != errEnded {
			panic(r)
		}
	}()
	for tries := 1; ; tries++ {
		served, err := t.connect()
		if served {
			tries = 1
		}
		hold := session.HoldAbsent
		if errors.Is(err, errNoAnswer) {
			hold = session.HoldSilent
		}
		t.publish(session.State{Hold: hold, Unit: t.unit})
		pause := redialMin
		for n := 1; n < tries && pause < redialMax; n++ {
			pause *= 2
		}
		t.absent(hold, min(pause, redialMax))
	}
}

// resume lets the coroutine go on until it waits again.
func (t *dialogue) resume() {
	if t.inside || t.over {
		return
	}
	t.inside = true
	wake, ok := t.next()
	t.inside = false
	t.wake, t.over = wake, !ok
}

// stop unwinds it.
func (t *dialogue) stop() {
	t.cancel()
	t.over = true
}

func (t *dialogue) now() time.Duration { return t.p.d.w.now }

// wait yields until something happens, or at the latest at.
func (t *dialogue) wait(at time.Duration) {
	if !t.yield(at) {
		panic(errEnded)
	}
}

// push offers the printer what it has not accepted, and tells whether it took something.
func (t *dialogue) push() bool {
	if len(t.out) == 0 || !t.p.machine.Connected() {
		return false
	}
	n := t.p.machine.Receive(t.p.d.w.wall(), t.out)
	t.out = t.out[n:]
	return n > 0
}

// say begins a write.
func (t *dialogue) say(b []byte) {
	t.out = append(t.out, b...)
	t.askedAt = t.now()
	t.push()
}

// hears notes what the printer says.
func (t *dialogue) hears(b []byte) {
	if len(b) == 0 {
		return
	}
	t.heardAt = t.now()
	for i := range b {
		for _, e := range t.stream.Write(b[i : i+1]) {
			t.note(e)
		}
	}
}

func (t *dialogue) note(e status.Event) {
	held := t.health.Hold() != session.HoldNone
	t.health = t.health.After(e)
	t.touched = t.touched || session.Touches(e)
	switch e := e.(type) {
	case status.ProcessID:
		t.heard.ProcessID(e.Token)
	case status.Fence:
		for len(t.fences) > t.stream.Awaits(status.ExpectFence)+1 {
			t.fences = t.fences[1:]
		}
		if len(t.fences) > 0 {
			t.heard.Fence(t.fences[0])
			t.fences = t.fences[1:]
		}
	case status.Printer, status.Offline, status.Error, status.Paper:
		t.holdAnswered = t.holdAnswered || held
	}
	if t.health.Hold() == session.HoldNone {
		t.holdAnswered, t.holdPolls = false, 0
	}
	t.inbox = append(t.inbox, e)
}

// down is true where the link is seen to be over.
func (t *dialogue) down() bool {
	m := t.p.machine
	return m.HungUp() && (t.p.cabled || m.On())
}

// publish tells the loop of a new state.
func (t *dialogue) publish(s session.State) {
	if s == t.state {
		return
	}
	if s.Hold != t.state.Hold {
		t.p.d.w.note(t.p.d.kitchen, "session of", t.p.name+":", s.Hold)
	}
	t.state = s
	t.p.d.state(t.p.name, s)
}

func (t *dialogue) publishHealth() {
	if hold := t.health.Hold(); t.opened || hold != session.HoldNone {
		t.publish(session.State{Hold: hold, Unit: t.unit, PaperLow: t.health.PaperLow()})
	}
}

// order is what the worker wants now.
func (t *dialogue) order() core.Effect {
	if len(t.p.orders) == 0 {
		return nil
	}
	return t.p.orders[0]
}

// refuse answers a document while the printer cannot print. A question waits.
func (t *dialogue) refuse(hold session.Hold) {
	if e, ok := t.order().(core.Print); ok {
		t.p.done(core.PrintDone{Printer: t.p.name, Token: e.Job.Token,
			Result: session.Result{Err: session.ErrHeld, Hold: hold}})
	}
}

func (t *dialogue) absent(hold session.Hold, pause time.Duration) {
	until := t.now() + pause/2 + time.Duration(t.p.luck.Float64()*float64(pause/2))
	for {
		t.refuse(hold)
		if t.p.recalled != nil {
			t.p.cleared(session.ErrHeld)
		}
		if t.now() >= until {
			return
		}
		t.wait(until)
	}
}

// connect dials once and serves the connection until it ends.
func (t *dialogue) connect() (served bool, err error) {
	m := t.p.machine
	if !m.On() || t.p.unplugged {
		return false, session.ErrLink
	}
	m.Connect(t.p.d.w.wall())
	t.stream, t.out, t.fences, t.inbox = status.Stream{}, nil, nil, nil
	t.health, t.touched, t.holdAnswered, t.holdPolls = session.Health{}, false, false, 0
	t.heardAt, t.askedAt = t.now(), t.now()
	t.document, t.cleared = escpos.Token{}, escpos.Token{}
	defer func() {
		t.opened = false
		m.Disconnect(t.p.d.w.wall())
	}()
	for {
		t.afresh, t.opened = false, false
		if err = t.open(); err == nil {
			t.p.d.w.note(t.p.d.kitchen, "printer", t.p.name, "connected", t.unit.Fingerprint)
			served = true
			err = t.serve()
		}
		if !errors.Is(err, errAfresh) {
			return served, err
		}
	}
}

// serve carries out orders and watches the link.
func (t *dialogue) serve() error {
	for {
		t.publishHealth()
		held := t.health.Hold() != session.HoldNone
		switch {
		case t.down():
			return session.ErrLink
		case t.afresh:
			return errAfresh
		case t.p.recalled != nil:
			t.clear()
		case !t.unit.TwoWay && len(t.inbox) > 0:
			return session.ErrLink // It has spoken: ask it afresh.
		case t.order() != nil:
			if err := t.carryOut(); err != nil {
				return err
			}
		case t.touched && t.unit.Odometer && !held:
			if err := t.readCounters(true); err != nil {
				return err
			}
		case held && t.now() >= t.askedAt+t.rhythm():
			t.holdPolls++
			if err := t.examine(); err != nil {
				return err
			}
		case held:
			t.wait(t.askedAt + t.rhythm())
		default:
			t.wait(never) // An idle printer is asked before the next document.
		}
	}
}

// carryOut does one order. The error ends the link.
func (t *dialogue) carryOut() error {
	t.inbox, t.inOrder = nil, true
	defer func() { t.inOrder = false }()
	switch e := t.order().(type) {
	case core.Print:
		r, err := session.Result{Err: session.ErrWithdrawn}, error(nil)
		if t.p.withdrawn != e.Job.Token {
			r, err = t.print(e.Job)
		}
		if err == nil {
			t.publishHealth()
		}
		t.p.d.w.judge.result(t.p, e, r)
		t.p.done(core.PrintDone{Printer: t.p.name, Token: e.Job.Token, Result: r})
		return err
	case core.Resolve:
		r, err := t.resolve(e.Intent)
		if errors.Is(err, session.ErrWithdrawn) {
			return nil // It is asked again behind the clearing.
		}
		if err != nil {
			return err // The next connection is asked again.
		}
		t.publishHealth()
		t.p.d.w.note(t.p.d.kitchen, "resolved on", t.p.name, r.Evidence, "torn", r.Torn)
		t.p.done(core.Resolved{Printer: t.p.name, Token: e.Token, Resolution: r})
	}
	return nil
}

func (t *dialogue) resolve(intent session.Intent) (session.Resolution, error) {
	if t.p.d.w.options.Bug == BugGuess {
		return session.Resolution{Evidence: session.Confirmed}, nil
	}
	if !t.unit.TwoWay {
		return session.Decide(intent, t.unit, &t.heard, session.Counters{}), nil
	}
	if err := t.sync(fenceWait); err != nil {
		return session.Resolution{}, err
	}
	if err := t.readCounters(true); err != nil {
		return session.Resolution{}, err
	}
	r := session.Decide(intent, t.unit, &t.heard, t.unit.Counters)
	r.Untouched = t.cleared == intent.Token && r.Evidence == session.None &&
		session.Untouched(intent, t.unit, t.unit.Counters)
	return r, nil
}

// print brings one document to paper. The error ends the link.
func (t *dialogue) print(job session.Job) (session.Result, error) {
	t.heard.Forget(job.Token)
	if r, err := t.preflight(job); r.Err != nil {
		return r, err
	}
	before := t.unit.Counters
	t.document = job.Token
	r := session.Result{Started: true}
	for _, step := range session.Plan(t.unit, job) {
		var err error
		if r.Evidence, r.CutFault, err = t.take(step); err != nil {
			r.Evidence, r.Err = session.None, session.ErrSilence
			if errors.Is(err, session.ErrLink) {
				r.Err = session.ErrLink
			}
			if errors.Is(err, session.ErrWithdrawn) {
				r.Err = err
			}
			if len(t.out) > 0 {
				return r, session.ErrLink // Stuck in the write itself.
			}
			if !errors.Is(err, session.ErrLink) {
				err = nil // The link is kept for a late answer.
			}
			return r, err
		}
		if r.CutFault {
			break
		}
	}
	if t.unit.TwoWay {
		t.finish(job, before, &r)
	}
	return r, nil
}

func (t *dialogue) preflight(job session.Job) (session.Result, error) {
	if !t.unit.TwoWay {
		if len(t.out) > 0 {
			return session.Result{Err: session.ErrHeld, Hold: session.HoldSilent}, session.ErrLink
		}
		return session.Result{}, nil
	}
	err := t.examine()
	if hold := t.health.Hold(); err == nil && hold != session.HoldNone {
		return session.Result{Err: session.ErrHeld, Hold: hold, Counters: t.unit.Counters}, nil
	}
	if err == nil && len(t.fences) > 0 {
		err = t.sync(fenceWait)
	}
	if err == nil && t.touched {
		err = t.readCounters(false)
	}
	if err == nil && len(t.out) > 0 {
		err = errNoAnswer
	}
	if errors.Is(err, session.ErrWithdrawn) {
		return session.Result{Err: err}, nil
	}
	if err != nil {
		hold := session.HoldSilent
		if errors.Is(err, session.ErrLink) {
			hold = session.HoldAbsent
		}
		return session.Result{Err: session.ErrHeld, Hold: hold}, err
	}
	if now := t.unit.Counters; job.Before.Known && now.Known && now != job.Before {
		return session.Result{Err: session.ErrMoved, Counters: now}, nil
	}
	return session.Result{}, nil
}

// take writes one step and waits for its proof.
func (t *dialogue) take(step session.Step) (e session.Evidence, cutFault bool, err error) {
	if step.Fenced {
		t.stream.Expect(status.ExpectFence)
		t.fences = append(t.fences, step.Fence)
	}
	t.say(step.Bytes)
	written := func() bool { return len(t.out) == 0 }
	if step.Blind() || t.p.d.w.options.Bug == BugFenceIgnored {
		e = session.Sent
		if !step.Blind() {
			e = session.Fenced
		}
		return e, false, t.await(fenceWait, true, written)
	}
	err = t.await(fenceWait, true, func() bool {
		var done bool
		done, e, cutFault = step.Proven(&t.heard, t.health)
		return written() && done
	})
	return e, cutFault, err
}

// finish asks what cannot change the document's evidence any more.
func (t *dialogue) finish(job session.Job, before session.Counters, r *session.Result) {
	if t.unit.Realtime&(1<<3) != 0 && len(job.Paper.Cut) > 0 && !r.CutFault &&
		r.Evidence > session.Sent {
		if _, err := ask[status.Error](t, status.ExpectError, escpos.RealtimeStatus(3), answerWait,
			false); err == nil {
			r.CutFault = t.health.Hold() == session.HoldCutter
		}
	}
	if !t.unit.Odometer || r.CutFault || r.Evidence <= session.Sent || t.down() {
		t.touched = t.touched || t.unit.Odometer
		t.unit.Counters = session.Counters{}
		return
	}
	moved := t.touched
	if err := t.readCounters(false); err != nil {
		return
	}
	r.Counters = t.unit.Counters
	if !moved {
		t.unit.Trust = t.unit.Trust.After(job.Paper.Raster, before, r.Counters, job.Paper.LineFeeds,
			job.Paper.Cuts)
		t.former = t.unit
	}
}
