package delivery

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"chit/broker/entity"
	"chit/device/wire"
)

// life drives machine and judge alike.
type life struct {
	*rapid.T
	d       Delivery
	judge   naive
	now     time.Time
	boot    map[string]int
	memory  map[string]int // how often a device lost it
	n       uint64
	taken   map[string]bool
	asked   []wire.Ack // what was said before, to replay it
	settled bool
}

func (l *life) journal(device string) string { return fmt.Sprint("j", l.memory[device], device) }

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
	if (d.State.Open() || len(d.Recalls) > 0) == d.Ends().IsZero() {
		l.Fatalf("%s with %d recalls ends %v: what is owed has an end, what is not none (I5, I9)",
			d.State, len(d.Recalls), d.Ends())
	}
	if d.MovedTo != map[bool]string{true: "bar"}[m.moved] || d.Moves != m.moves {
		l.Fatalf("%q has it after %d moves, judge: %v, %d", d.MovedTo, d.Moves, m.moved, m.moves)
	}
	open := map[string]int{}
	for _, r := range d.Recalls {
		if open[r.Device] != 0 {
			l.Fatalf("two recalls of %s", r.Device)
		}
		open[r.Device] = r.Attempt
	}
	if !maps.Equal(open, m.asked) {
		l.Fatalf("open recalls %v, judge %v\n%+v", open, m.asked, d.Timeline)
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
	handed := rapid.SampledFrom(l.d.Handed).Draw(t, "handed")
	device := handed.Device
	a := wire.Ack{Device: device, Ticket: l.d.Ticket, Digest: l.d.Digest,
		Boot: uint64(l.boot[device]), N: l.n, Journal: l.journal(device),
		Attempt: rapid.IntRange(max(handed.First, handed.Last-2), handed.Last).Draw(t, "attempt"),
		Outcome: rapid.SampledFrom([]wire.Outcome{wire.OutcomeStored, wire.OutcomeHeld,
			wire.OutcomeStored, wire.OutcomeRefused, wire.OutcomeRefused, wire.OutcomeExpired,
			wire.OutcomePrinted, wire.OutcomeDuplicate}).Draw(t, "outcome")}
	if rapid.IntRange(0, 3).Draw(t, "old journal") == 0 {
		a.Journal = "old-" + device
	}
	switch a.Outcome {
	case wire.OutcomeRefused:
		a.Reason = rapid.SampledFrom([]string{"storage", "busy", "busy"}).Draw(t, "reason")
		a.Permanent = rapid.IntRange(0, 5).Draw(t, "permanent") == 0
	case wire.OutcomePrinted, wire.OutcomeDuplicate:
		a.Evidence = rapid.SampledFrom([]wire.Evidence{wire.EvidenceSent, wire.EvidenceConfirmed,
			wire.EvidenceUnknown}).Draw(t, "evidence")
	}
	l.asked = append(l.asked, a)
	current := l.d.Lease != nil && device == l.d.Lease.Device && a.Attempt == l.d.Attempt &&
		a.Journal == l.d.Lease.Journal
	l.judge.answer(l.now, a, current, l.remembers(handed, a))
	l.say(a, rapid.Float64Range(0, 0.999).Draw(t, "chance"))
}

// remembers tells whether the ack is of the memory that the ticket was handed to.
func (l *life) remembers(h Handed, a wire.Ack) bool {
	return h.Memory == uint64(l.memory[h.Device]) && a.Journal == l.journal(h.Device)
}

func (l *life) say(a wire.Ack, chance float64) {
	l.do(Say{Device: a.Device, Memory: uint64(l.memory[a.Device]), Ack: a, Chance: chance})
}

// recalled is an answer to the recall of a device, or to one that was never made.
func (l *life) recalled(t *rapid.T) {
	if len(l.d.Handed) == 0 {
		return
	}
	h := rapid.SampledFrom(l.d.Handed).Draw(t, "handed")
	attempt := rapid.IntRange(max(h.First, h.Last-1), h.Last).Draw(t, "attempt")
	l.n++
	a := wire.Ack{Device: h.Device, Ticket: l.d.Ticket, Boot: uint64(l.boot[h.Device]), N: l.n,
		Attempt: attempt, Outcome: wire.OutcomeRecalled, Journal: l.journal(h.Device),
		Reason: fmt.Sprintf("%d-%s", attempt, h.Device)}
	l.judge.recalled(h.Device, attempt, !h.Doubt && h.Memory == uint64(l.memory[h.Device]))
	l.say(a, 0)
}

func (l *life) forged(t *rapid.T) {
	if len(l.asked) == 0 {
		return
	}
	a := rapid.SampledFrom(l.asked).Draw(t, "old")
	device := a.Device
	switch rapid.SampledFrom([]string{"replay", "digest", "device", "attempt"}).Draw(t, "how") {
	case "replay":
		// Only a late one, which counts; or one that came too late to end the delivery, and says now
		// that the device does not start what it is recalled.
		r, open := l.d.recallOf(a.Device)
		if a.Outcome.OnPaper() && l.d.State != Settled || open && r.Attempt == a.Attempt {
			return
		}
	case "digest":
		a.Digest, a.N = wire.Digest([]byte("other")), 1000
	case "device":
		device, a.Device, a.N = "d3", "d3", 1000
	case "attempt":
		a.Attempt, a.N = l.d.Attempt+1, 1000
	}
	before := l.d
	l.do(Say{Device: device, Memory: uint64(l.memory[device]), Ack: a})
	if !reflect.DeepEqual(before, l.d) {
		l.Fatalf("a forged or replayed ack changed the delivery: %+v", a)
	}
}

func (l *life) hand(t *rapid.T) {
	if l.d.State != Waiting || l.now.Before(l.d.Due) {
		return
	}
	device := map[bool]string{true: "d2", false: "d1"}[l.judge.moved]
	lease := Lease{Device: device, Journal: l.journal(device), Boot: uint64(l.boot[device]),
		For: LeaseFor, Until: l.now.Add(LeaseFor)}
	// Paper without a mark is only for a device that remembers, where no other may have any.
	told := Device{Memory: uint64(l.memory[device])}
	marks := Dispatch{Device: device}.marks(l.d, told, Generation{}, l.now)
	for other, attempt := range l.judge.maybe {
		forgot := slices.ContainsFunc(l.d.Handed, func(h Handed) bool {
			return h.Device == device && h.Memory != uint64(l.memory[device])
		})
		if (other != device || forgot) && attempt > 0 &&
			!slices.Contains(marks, wire.MarkPossibleDuplicate) {
			l.Fatalf("%s gets it unmarked, %s may have paper of attempt %d: %v\n%+v", device, other,
				attempt, marks, l.d.Timeline)
		}
	}
	if len(l.judge.maybe) == 0 && slices.Contains(marks, wire.MarkPossibleDuplicate) {
		l.Fatalf("%s gets it marked, and it is proven that nobody has paper\n%+v", device,
			l.d.Timeline)
	}
	l.judge.hand(l.now, l.boot[device], device)
	l.do(Hand{Epoch: l.d.Epoch, Handing: Handing{Number: "7", Lease: lease, Marks: marks,
		Memory: uint64(l.memory[device]), Place: Place{Station: l.d.at()}}})
}

func (l *life) move(t *rapid.T) {
	m := Move{Epoch: l.d.Epoch, To: Place{Station: "bar"}, Device: "d2", Chance: 0.5,
		Here:   rapid.Bool().Draw(t, "here"),
		Reason: rapid.SampledFrom([]string{"silent", "held", "away"}).Draw(t, "why")}
	if l.judge.moved {
		m.To, m.Device, m.Home = Place{Station: "grill"}, "d1", true
	}
	l.judge.move(l.now, m.Reason == "silent")
	l.do(m)
}

// forget is a device with a new journal.
func (l *life) forget(t *rapid.T) {
	if rapid.IntRange(0, 5).Draw(t, "really") == 0 {
		device := rapid.SampledFrom([]string{"d1", "d2"}).Draw(t, "device")
		l.memory[device]++
		l.judge.lost = l.judge.lost || l.judge.device == device
	}
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
	device := rapid.SampledFrom([]string{"d1", "d2"}).Draw(t, "device")
	if rapid.IntRange(0, 2).Draw(t, "restarts") == 0 {
		l.boot[device]++
	}
	l.judge.birth(l.now, l.boot[device], device)
	l.do(Birth{Device: device, Journal: l.journal(device), Boot: uint64(l.boot[device]), Chance: 0.5})
}

func live(rt *rapid.T, taken map[string]bool) {
	l := &life{T: rt, d: fresh(), now: day, boot: map[string]int{"d1": 1, "d2": 1}, taken: taken,
		memory: map[string]int{},
		judge: naive{state: Waiting, windowEnd: day.Add(Window), papers: map[string]bool{},
			maybe: map[string]int{}, asked: map[string]int{}, stops: map[string]int{}}}
	rt.Repeat(map[string]func(*rapid.T){
		"":       l.check,
		"hand":   l.hand,
		"hand 2": l.hand,
		"move":   l.move,
		"recall": l.recalled,
		"forget": l.forget,
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
				l.judge.over("")
			}
			l.do(End{Who: "ana", Reason: "refund"})
		},
	})
	// I5: when nobody does anything any more, time alone ends the delivery, after a bounded number
	// of timers.
	for range 4 {
		ends := l.d.Ends()
		if ends.IsZero() {
			break
		}
		if ends.After(l.now) {
			l.now = ends
		}
		l.do(Elapse{Chance: 0.5})
	}
	if l.d.State.Open() || len(l.d.Recalls) > 0 {
		l.Fatalf("still %s with %d recalls after its ends", l.d.State, len(l.d.Recalls))
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
