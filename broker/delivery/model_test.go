package delivery

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"chit/broker/entity"
	"chit/device/wire"
)

// naive is the machine's judge: the rules of DESIGN.md section 5 again, told as a few counters by
// somebody who knows nothing of events, tries and rows.
type naive struct {
	state     State
	failed    int
	attempt   int
	leaseEnd  time.Time
	stored    bool
	boot      int // of the lease, 0 for none to be judged
	windowEnd time.Time
	papers    map[string]bool // journals that printed
}

func (m *naive) fail(now time.Time) {
	m.state, m.boot = Waiting, 0
	m.failed++
	m.judge(now)
}

func (m *naive) judge(now time.Time) {
	if m.failed == 10 || !now.Before(m.windowEnd) {
		m.state = Dead
	}
}

func (m *naive) hand(now time.Time, boot int) {
	if !now.Before(m.windowEnd) {
		m.state = Dead
		return
	}
	m.state, m.attempt, m.leaseEnd, m.stored, m.boot = Leased, m.attempt+1, now.Add(30*time.Second),
		false, boot
}

func (m *naive) elapse(now time.Time) {
	switch {
	case m.state == Leased && !now.Before(m.leaseEnd) && m.stored:
		m.state, m.boot = Waiting, 0
		m.judge(now)
	case m.state == Leased && !now.Before(m.leaseEnd):
		m.fail(now)
	case (m.state == Waiting || m.state == Parked) && !now.Before(m.windowEnd):
		m.state = Dead
	}
}

func (m *naive) birth(now time.Time, boot int) {
	switch {
	case m.state != Parked && m.state != Leased:
	case m.boot != 0 && m.boot != boot && !m.stored:
		m.fail(now)
	default:
		m.state, m.boot = Waiting, 0
		m.judge(now)
	}
}

func (m *naive) answer(now time.Time, outcome wire.Outcome, reason string, permanent, current bool,
	journal string) {
	if outcome.OnPaper() {
		m.papers[journal] = true
		m.state = Settled
		return
	}
	if m.state != Leased || !current {
		return
	}
	switch {
	case outcome == wire.OutcomeStored || outcome == wire.OutcomeHeld:
		m.stored = true
		if end := now.Add(30 * time.Second); end.After(m.leaseEnd) {
			m.leaseEnd = end
			if end.After(m.windowEnd) {
				m.leaseEnd = m.windowEnd
			}
		}
	case outcome == wire.OutcomeExpired || permanent:
		m.state = Dead
	case reason == "storage":
		m.state, m.boot = Waiting, 0
		m.judge(now)
	default:
		m.fail(now)
	}
}

// life drives machine and judge alike.
type life struct {
	*rapid.T
	d       Delivery
	judge   naive
	now     time.Time
	boot    int
	n       uint64
	taken   map[string]bool
	asked   []wire.Ack // what was said before, to replay it
	settled bool
}

func (l *life) do(a Action) {
	before := l.d
	copied, err := json.Marshal(before)
	if err != nil {
		l.Fatal(err)
	}
	events, err := Machine{}.Decide(l.d, a, l.now)
	var ignored Ignored
	if err != nil && !errors.As(err, &ignored) && !errors.Is(err, ErrNotDue) {
		l.Fatalf("%T: %v", a, err)
	}
	for _, e := range events {
		from := l.d.State
		l.d = Machine{}.Evolve(l.d, e)
		l.taken[fmt.Sprintf("%s --%s--> %s", from, e.What, l.d.State)] = true
	}
	after, err := json.Marshal(before)
	if err != nil || string(after) != string(copied) {
		l.Fatalf("%T changed its argument", a)
	}
}

func (l *life) check(*rapid.T) {
	d, m := l.d, l.judge
	if d.State != m.state || d.Failed != m.failed || d.Attempt != m.attempt {
		l.Fatalf("machine: %s, %d failed, attempt %d; judge: %s, %d, %d\n%+v", d.State, d.Failed,
			d.Attempt, m.state, m.failed, m.attempt, d.Timeline)
	}
	if d.State == Leased && !d.Lease.Until.Equal(m.leaseEnd) {
		l.Fatalf("leased until %v, judge %v", d.Lease.Until, m.leaseEnd)
	}
	if d.State.Open() == d.Ends().IsZero() {
		l.Fatalf("%s ends %v: an open delivery has an end, a closed one none (I5, I9)", d.State, d.Ends())
	}
	if d.Failed > AttemptsMax {
		l.Fatalf("%d failed attempts", d.Failed)
	}
	if papers := len(m.papers); papers > 0 && 1+len(d.Doubled) != papers {
		l.Fatalf("%d journals printed, %d are recorded", papers, 1+len(d.Doubled))
	}
	if l.settled && d.State != Settled {
		l.Fatal("a settled delivery moved")
	}
	l.settled = d.State == Settled
	var again Delivery
	data, err := json.Marshal(d)
	if err == nil {
		err = json.Unmarshal(data, &again)
	}
	if err != nil || !reflect.DeepEqual(d, again) {
		l.Fatalf("stored and read again it is another (%v)\n%+v\n%+v", err, d, again)
	}
}

func (l *life) ack(t *rapid.T) {
	if l.d.Attempt == 0 {
		return
	}
	l.n++
	a := wire.Ack{Device: "d1", Ticket: l.d.Ticket, Digest: l.d.Digest, Boot: uint64(l.boot), N: l.n,
		Journal: rapid.SampledFrom([]string{"j1", "j1", "j1", "j2"}).Draw(t, "journal"),
		Attempt: rapid.IntRange(max(1, l.d.Attempt-2), l.d.Attempt).Draw(t, "attempt"),
		Outcome: rapid.SampledFrom([]wire.Outcome{wire.OutcomeStored, wire.OutcomeHeld,
			wire.OutcomeStored, wire.OutcomeRefused, wire.OutcomeRefused, wire.OutcomeExpired,
			wire.OutcomePrinted, wire.OutcomeDuplicate}).Draw(t, "outcome")}
	switch a.Outcome {
	case wire.OutcomeRefused:
		a.Reason = rapid.SampledFrom([]string{"storage", "busy", "busy"}).Draw(t, "reason")
		a.Permanent = rapid.IntRange(0, 5).Draw(t, "permanent") == 0
	case wire.OutcomePrinted, wire.OutcomeDuplicate:
		a.Evidence = rapid.SampledFrom([]wire.Evidence{wire.EvidenceSent, wire.EvidenceConfirmed,
			wire.EvidenceUnknown}).Draw(t, "evidence")
	}
	l.asked = append(l.asked, a)
	l.judge.answer(l.now, a.Outcome, a.Reason, a.Permanent,
		a.Attempt == l.d.Attempt && a.Journal == "j1", a.Journal)
	l.do(Say{Device: "d1", Ack: a, Chance: rapid.Float64Range(0, 0.999).Draw(t, "chance")})
}

func (l *life) forged(t *rapid.T) {
	if len(l.asked) == 0 {
		return
	}
	a := rapid.SampledFrom(l.asked).Draw(t, "old")
	device := "d1"
	switch rapid.SampledFrom([]string{"replay", "digest", "device", "attempt"}).Draw(t, "how") {
	case "replay":
		if a.Outcome.OnPaper() && l.d.State != Settled {
			return // Only a late one, which counts.
		}
	case "digest":
		a.Digest, a.N = wire.Digest([]byte("other")), 1000
	case "device":
		device, a.Device, a.N = "d2", "d2", 1000
	case "attempt":
		a.Attempt, a.N = l.d.Attempt+1, 1000
	}
	before := l.d
	l.do(Say{Device: device, Ack: a})
	if !reflect.DeepEqual(before, l.d) {
		l.Fatalf("a forged or replayed ack changed the delivery: %+v", a)
	}
}

func (l *life) hand(t *rapid.T) {
	if l.d.State != Waiting || l.now.Before(l.d.Due) {
		return
	}
	l.judge.hand(l.now, l.boot)
	l.do(Hand{Epoch: l.d.Epoch, Handing: Handing{Number: "7", Lease: Lease{Device: "d1",
		Journal: "j1", Boot: uint64(l.boot), For: LeaseFor, Until: l.now.Add(LeaseFor)}}})
}

func (l *life) leave(t *rapid.T) {
	judge := rapid.Bool().Draw(t, "judge")
	if l.judge.state == Leased || l.judge.state == Waiting {
		l.judge.state = Parked
		if !judge {
			l.judge.boot = 0
		}
	}
	l.do(Leave{Epoch: l.d.Epoch, Reason: "away", Judge: judge})
}

func (l *life) birth(t *rapid.T) {
	if rapid.IntRange(0, 2).Draw(t, "restarts") == 0 {
		l.boot++
	}
	l.judge.birth(l.now, l.boot)
	l.do(Birth{Device: "d1", Journal: "j1", Boot: uint64(l.boot), Chance: 0.5})
}

func live(rt *rapid.T, taken map[string]bool) {
	l := &life{T: rt, d: fresh(), now: day, boot: 1, taken: taken,
		judge: naive{state: Waiting, windowEnd: day.Add(Window), papers: map[string]bool{}}}
	rt.Repeat(map[string]func(*rapid.T){
		"":       l.check,
		"hand":   l.hand,
		"hand 2": l.hand,
		"ack":    l.ack,
		"forged": l.forged,
		"leave":  l.leave,
		"birth":  l.birth,
		"elapse": func(*rapid.T) {
			l.judge.elapse(l.now)
			l.do(Elapse{Chance: 0.5})
		},
		"time": func(t *rapid.T) {
			steps := []time.Duration{time.Millisecond, 29 * time.Second, 30 * time.Second, 5 * time.Minute,
				90 * time.Minute}
			l.now = l.now.Add(rapid.SampledFrom(steps).Draw(t, "step"))
		},
		"redrive": func(*rapid.T) {
			if l.judge.state == Dead && l.now.Before(l.d.Expires) {
				l.judge.state, l.judge.failed = Waiting, 0
				l.judge.boot, l.judge.windowEnd = 0, l.now.Add(Window)
			}
			l.do(Again{Who: "ana", Why: "try again"})
		},
		"cancel": func(t *rapid.T) {
			if rapid.IntRange(0, 9).Draw(t, "really") > 0 {
				return
			}
			if l.judge.state != Settled {
				l.judge.state = Cancelled
			}
			l.do(End{Who: "ana", Reason: "refund"})
		},
	})
	// I5: when nobody does anything any more, time alone ends the delivery, after a bounded number
	// of timers.
	for range 3 {
		ends := l.d.Ends()
		if ends.IsZero() {
			break
		}
		if ends.After(l.now) {
			l.now = ends
		}
		l.do(Elapse{Chance: 0.5})
	}
	if l.d.State.Open() {
		l.Fatalf("still %s after its ends", l.d.State)
	}
}

func TestRandomLivesFollowTheNaiveRules(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) { live(rt, map[string]bool{}) })
}

// TestTheJitterIsUniform draws the nine waits of 20 000 poisoned tickets with a fixed seed and
// compares mean and spread with those of research/queue-ledger.md 2.1: 511 s ± 171 s.
func TestTheJitterIsUniform(t *testing.T) {
	const runs = 20000
	random := rand.New(rand.NewPCG(1, 2))
	var sum, squares float64
	for range runs {
		total := 0.0
		for n := 1; n <= 9; n++ {
			pause := Pause(n, random.Float64())
			if pause < 0 || pause > PauseLimit(n) {
				t.Fatalf("pause %d of %v", n, pause)
			}
			total += pause.Seconds()
		}
		sum, squares = sum+total, squares+total*total
	}
	mean := sum / runs
	spread := math.Sqrt(squares/runs - mean*mean)
	// Five standard errors of the mean are 6 s.
	if math.Abs(mean-511) > 6 || math.Abs(spread-171) > 6 {
		t.Errorf("mean %.1f s, spread %.1f s; want 511 and 171", mean, spread)
	}
	// One wait alone: ten equal parts of the range hold a tenth each, within five sigma.
	var parts [10]int
	for range runs {
		parts[int(float64(Pause(10, random.Float64()))/float64(PauseMax)*10)]++
	}
	for i, count := range parts {
		if math.Abs(float64(count)-runs/10) > 5*math.Sqrt(runs*0.09) {
			t.Errorf("part %d of the range was drawn %d times of %d", i, count, runs)
		}
	}
}

var _ entity.Machine[Delivery, Action, Event] = Machine{}
