package simulate

import (
	"errors"
	"strings"
	"time"

	"chit/printer/escpos"
	"chit/printer/session"
	"chit/printer/status"
)

// realtime is indexed by the n of DLE EOT n.
var realtime = [...]status.Kind{
	1: status.ExpectPrinter, 2: status.ExpectOffline, 3: status.ExpectError, 4: status.ExpectPaper,
}

// rhythm is the pause between two polls.
func (t *dialogue) rhythm() time.Duration {
	if t.holdPolls > eagerPolls {
		return keepalive
	}
	return pollEvery
}

// await waits until done: errNoAnswer at the limit, ErrLink where the link is over. A patient wait
// stands still while the printer reports a hold, and polls a quiet printer.
func (t *dialogue) await(limit time.Duration, patient bool, done func() bool) error {
	deadline := t.now() + limit
	for {
		switch {
		case done():
			return nil
		case t.down():
			return session.ErrLink
		case t.takenBack() && !t.clearing:
			return session.ErrWithdrawn
		case !t.inOrder && t.afresh:
			return errAfresh
		case !t.inOrder && t.p.recalled != nil:
			t.clear()
			return errAfresh
		}
		if patient && t.health.Hold() != session.HoldNone {
			until := t.now() + limit
			if t.holdAnswered {
				until = t.heardAt + max(limit, pollsLost*t.rhythm())
			}
			deadline = max(deadline, until)
		}
		if t.now() >= deadline {
			return errNoAnswer
		}
		wake := deadline
		if patient {
			wake = min(wake, t.poll())
		}
		t.publishHealth()
		t.wait(wake)
	}
}

// poll asks a quiet printer how it is, and says when to wake next.
func (t *dialogue) poll() time.Duration {
	if len(t.out) > 0 || t.unit.Realtime == 0 {
		return never
	}
	for _, kind := range realtime[1:] {
		if t.stream.Awaits(kind) > 0 {
			return never
		}
	}
	due := max(t.heardAt, t.askedAt) + t.rhythm()
	if t.now() < due {
		return due
	}
	t.holdPolls++
	for n := byte(1); int(n) < len(realtime); n++ {
		if t.unit.Realtime&(1<<n) != 0 {
			t.stream.Expect(realtime[n])
			t.say(escpos.RealtimeStatus(n))
		}
	}
	return t.now() + t.rhythm()
}

// ask sends one question and waits for its own answer.
func ask[E status.Event](t *dialogue, k status.Kind, question []byte, limit time.Duration,
	patient bool) (answer E, err error) {
	clear := func() bool { return len(t.out) == 0 && (k == 0 || t.stream.Awaits(k) == 0) }
	if err := t.await(limit, patient, clear); err != nil {
		return answer, err
	}
	t.inbox = nil
	if k != 0 {
		t.stream.Expect(k)
	}
	t.say(question)
	return answer, t.await(limit, patient, func() bool {
		for _, e := range t.inbox {
			if a, ok := e.(E); ok {
				answer = a
				return len(t.out) == 0
			}
		}
		return false
	})
}

func (t *dialogue) askRealtime(n byte, limit time.Duration) (err error) {
	question := escpos.RealtimeStatus(n)
	switch n {
	case 1:
		_, err = ask[status.Printer](t, realtime[n], question, limit, false)
	case 2:
		_, err = ask[status.Offline](t, realtime[n], question, limit, false)
	case 3:
		_, err = ask[status.Error](t, realtime[n], question, limit, false)
	case 4:
		_, err = ask[status.Paper](t, realtime[n], question, limit, false)
	}
	return err
}

// examine asks every DLE EOT that the unit answers.
func (t *dialogue) examine() error {
	for n := byte(1); int(n) < len(realtime); n++ {
		if t.unit.Realtime&(1<<n) != 0 {
			if err := t.askRealtime(n, answerWait); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *dialogue) forgetFences() {
	for t.stream.Cancel(status.ExpectFence) {
	}
	t.fences = nil
}

func (t *dialogue) askProcessID(limit time.Duration) error {
	t.asks++
	token := escpos.TokenOf(escpos.Tokens - 95 + t.asks%95)
	t.heard.Forget(token)
	t.say(escpos.ProcessID(token))
	return t.await(limit, true, func() bool { return len(t.out) == 0 && t.heard.Has(token) })
}

func (t *dialogue) askFence(limit time.Duration) error {
	t.stream.Expect(status.ExpectFence)
	t.fences = append(t.fences, session.Proof{})
	t.say(escpos.FencePaper())
	return t.await(limit, true, func() bool {
		return len(t.out) == 0 && t.stream.Awaits(status.ExpectFence) == 0
	})
}

// sync waits until the printer has worked off all that was sent before.
func (t *dialogue) sync(limit time.Duration) (err error) {
	switch {
	case t.unit.Odometer:
		feeds, _ := t.counters()
		_, err = ask[status.Counter](t, status.ExpectCounter, feeds, limit, true)
	case t.unit.Identity:
		_, err = ask[status.Identity](t, status.ExpectIdentity, escpos.Identity(67), limit, true)
	case t.unit.ProcessID:
		err = t.askProcessID(limit)
	case t.unit.Fence:
		return t.askFence(limit)
	default:
		return t.quiet()
	}
	if err == nil {
		t.forgetFences()
	}
	return err
}

// quiet waits until nothing was heard for a while.
func (t *dialogue) quiet() error {
	for {
		heard := t.heardAt
		err := t.await(helloWait, false, func() bool { return t.heardAt != heard })
		if errors.Is(err, errNoAnswer) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (t *dialogue) counters() (feeds, cuts []byte) {
	if t.unit.Cumulative {
		return escpos.Counter(escpos.CounterLineFeedsCumulative),
			escpos.Counter(escpos.CounterCutsCumulative)
	}
	return escpos.Counter(escpos.CounterLineFeeds), escpos.Counter(escpos.CounterCuts)
}

// readCounters reads the odometer. One that is not patient leaves the counters unknown where they
// do not come.
func (t *dialogue) readCounters(patient bool) error {
	t.touched = false
	t.unit.Counters = session.Counters{}
	if !t.unit.Odometer {
		return nil
	}
	limit := answerWait
	if patient {
		limit = fenceWait
	}
	feeds, cuts := t.counters()
	a, err := ask[status.Counter](t, status.ExpectCounter, feeds, limit, patient)
	if err == nil {
		var b status.Counter
		if b, err = ask[status.Counter](t, status.ExpectCounter, cuts, limit, patient); err == nil {
			t.unit.Counters = session.Counters{Known: true, LineFeeds: a.Value, Cuts: b.Value}
			return nil
		}
	}
	t.touched = true
	if !patient && errors.Is(err, errNoAnswer) {
		return nil
	}
	return err
}

// open finds out who is at the other end and brings the stream to a known point.
func (t *dialogue) open() error {
	spoke, err := t.greets()
	switch {
	case err != nil:
		return err
	case !spoke && t.unit.TwoWay:
		return errNoAnswer
	case !spoke:
		t.unit, t.inbox, t.opened = session.Unit{}, nil, true
		return nil
	}
	known, err := t.recognise()
	if err != nil {
		return err
	}
	if !known {
		if err := t.probe(); err != nil {
			return err
		}
	}
	if t.unit.Pushes {
		t.say(escpos.EnableASB())
	}
	if err := t.examine(); err != nil {
		return err
	}
	if err := t.readCounters(true); err != nil {
		return err
	}
	t.opened, t.former = true, t.unit
	return nil
}

// greets asks DLE EOT 1, and once more after the NULs that end a strip.
func (t *dialogue) greets() (bool, error) {
	err := t.askRealtime(1, helloWait)
	if !errors.Is(err, errNoAnswer) {
		return err == nil, err
	}
	t.stream.Cancel(status.ExpectPrinter)
	if len(t.out) > 0 {
		return false, nil
	}
	t.say(escpos.NULs(session.StripBytes))
	err = t.await(answerWait, false, func() bool { return len(t.out) == 0 })
	if err == nil {
		err = t.askRealtime(1, helloWait)
	}
	switch {
	case errors.Is(err, errNoAnswer):
		t.stream.Cancel(status.ExpectPrinter)
		return false, nil
	case err != nil:
		return false, err
	}
	return true, t.quiet()
}

func (t *dialogue) recognise() (bool, error) {
	if !strings.Contains(t.unit.Fingerprint, "#") || t.unit.Realtime == 0 {
		return false, nil
	}
	err := t.examine()
	if err == nil {
		err = t.sync(answerWait)
	}
	if errors.Is(err, errNoAnswer) {
		t.say(escpos.NULs(session.StripBytes))
		if err = t.await(fenceWait, true, func() bool { return len(t.out) == 0 }); err == nil {
			err = t.sync(fenceWait)
		}
	}
	if errors.Is(err, errNoAnswer) {
		t.stream.Reset()
		t.forgetFences()
		return false, nil
	}
	return err == nil, err
}

// probe finds out what the unit answers.
func (t *dialogue) probe() error {
	t.unit = session.Unit{TwoWay: true, Realtime: 1 << 1}
	unanswered := func(err error, k status.Kind) (bool, error) {
		if errors.Is(err, errNoAnswer) {
			t.stream.Cancel(k)
			return true, nil
		}
		return false, err
	}
	for n := byte(2); int(n) < len(realtime); n++ {
		no, err := unanswered(t.askRealtime(n, helloWait), realtime[n])
		if err != nil {
			return err
		}
		if !no {
			t.unit.Realtime |= 1 << n
		}
	}
	id, err := ask[status.Identity](t, status.ExpectIdentity, escpos.Identity(67), answerWait, true)
	no, err := unanswered(err, status.ExpectIdentity)
	if err != nil {
		return err
	}
	t.unit.Identity = !no
	t.unit.Cumulative = true
	feeds, _ := t.counters()
	_, err = ask[status.Counter](t, status.ExpectCounter, feeds, answerWait, true)
	if no, err = unanswered(err, status.ExpectCounter); err != nil {
		return err
	}
	t.unit.Odometer, t.unit.Cumulative = !no, !no
	if no, err = unanswered(t.askFence(answerWait), status.ExpectFence); err != nil {
		return err
	}
	if t.unit.Fence = !no; no {
		t.forgetFences()
	}
	if no, err = unanswered(t.askProcessID(answerWait), 0); err != nil {
		return err
	}
	t.unit.ProcessID = !no
	_, err = ask[status.ASB](t, 0, escpos.EnableASB(), answerWait, false)
	if no, err = unanswered(err, 0); err != nil {
		return err
	}
	t.unit.Pushes = !no
	t.unit.Fingerprint = id.Text + "#" + letters(t.unit)
	if t.unit.Fingerprint == t.former.Fingerprint {
		t.unit.Trust, t.unit.Clears = t.former.Trust, t.former.Clears
	}
	t.say(escpos.Initialise())
	return nil
}

// letters says in short what a unit answers.
func letters(u session.Unit) string {
	text := ""
	for _, x := range []struct {
		has    bool
		letter string
	}{{u.ProcessID, "h"}, {u.Fence, "r"}, {u.Odometer, "g"}, {u.Cumulative, "c"}, {u.Pushes, "a"}} {
		if x.has {
			text += x.letter
		}
	}
	return text
}
