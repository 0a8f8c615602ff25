package delivery

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"chit/broker/entity"
	"chit/device/wire"
)

// under asks for a dispatch under a kitchen's stale policy.
func (s *shelf) under(policy wire.OnStale, ticket string) (wire.Ticket, error) {
	s.t.Helper()
	_, err := s.do(Dispatch{Tenant: "t1", Ticket: ticket, Epoch: s.delivery(ticket).Epoch,
		Device: "d1", Printer: "p1", Session: "s1", OnStale: policy})
	if err != nil {
		return wire.Ticket{}, err
	}
	for _, effect := range s.effects {
		if send, ok := effect.(Send); ok {
			return send.Message, nil
		}
	}
	return wire.Ticket{}, nil
}

// answers gives a person's word and tells whether it changed anything.
func (s *shelf) answers(ticket string, print bool) bool {
	s.t.Helper()
	return s.result(s.must(AnswerStale{Tenant: "t1", Ticket: ticket, Answer: Answer{Print: print,
		Who: "ana", Why: "they called", Policy: wire.OnStaleAsk, After: StaleAfter}})).Changed
}

// old is a shelf with a device and a ticket of the kind that is just stale.
func old(t testing.TB, kind wire.Kind) *shelf {
	s := newShelf(t)
	s.hello("d1", "s1")
	s.accept(content("o1/1", kind))
	s.now = s.now.Add(StaleAfter)
	return s
}

func TestAStaleTicketIsNotHandedOverWithoutAPersonsWord(t *testing.T) {
	s := old(t, wire.KindNew)
	for range 3 {
		if m, _ := s.under(wire.OnStaleAsk, id("o1", 1)); m.ID != "" {
			t.Fatalf("handed over: %+v", m)
		}
		s.want(id("o1", 1), Stale)
		s.now = s.now.Add(time.Hour)
	}
	if d := s.delivery(id("o1", 1)); d.Attempt != 0 || d.Number != "" {
		t.Errorf("attempt %d, number %q: it was never given to anybody", d.Attempt, d.Number)
	}
	if !s.answers(id("o1", 1), true) {
		t.Fatal("the word changed nothing")
	}
	s.want(id("o1", 1), Waiting)
	t.Logf("# approved, it is not asked about a second time, its paper says late")
	m, err := s.under(wire.OnStaleAsk, id("o1", 1))
	if err != nil || m.ID == "" || !slices.Contains(m.Marks, wire.MarkLate) {
		t.Fatalf("%+v, %v", m, err)
	}
	if m.Stale != StaleAfter.Milliseconds() || m.OnStale != wire.OnStaleAsk {
		t.Errorf("stale in %d ms, then %s: the clock begins again with the word", m.Stale, m.OnStale)
	}
	last := s.delivery(id("o1", 1)).Timeline
	word := last[len(last)-2]
	if word.What != "approved" || word.Who != "ana" || word.Why != "they called" {
		t.Errorf("audit %+v", word)
	}
}

func TestJustBeforeItsTimeATicketIsHandedOverAndTheDeviceIsToldWhatToDoThen(t *testing.T) {
	for _, policy := range []wire.OnStale{wire.OnStaleAsk, wire.OnStaleDrop, wire.OnStalePrint, ""} {
		s := old(t, wire.KindNew)
		s.now = s.now.Add(-time.Second)
		m, err := s.under(policy, id("o1", 1))
		want := policy
		if policy == wire.OnStalePrint {
			want = "" // Absent means print.
		}
		if err != nil || m.Stale != 1000 || m.OnStale != want || len(m.Marks) != 0 {
			t.Errorf("%s: %+v, %v", policy, m, err)
		}
	}
}

func TestARepeatedAnswerChangesNothing(t *testing.T) {
	s := old(t, wire.KindNew)
	if _, err := s.under(wire.OnStaleAsk, id("o1", 1)); err != nil {
		t.Fatal(err)
	}
	s.answers(id("o1", 1), true)
	before := s.delivery(id("o1", 1))
	for _, print := range []bool{true, false} {
		if s.answers(id("o1", 1), print) {
			t.Errorf("answer print %v changed something", print)
		}
	}
	if after := s.delivery(id("o1", 1)); !reflect.DeepEqual(before, after) {
		t.Errorf("%+v became %+v", before, after)
	}
	_, err := s.do(AnswerStale{Tenant: "t1", Ticket: id("o9", 1)})
	if !errors.Is(err, ErrUnknown) {
		t.Errorf("unknown ticket: %v", err)
	}
}

func TestAnUnwantedTicketIsADeadLetterThatARedriveWantsAgain(t *testing.T) {
	s := old(t, wire.KindNew)
	if _, err := s.under(wire.OnStaleAsk, id("o1", 1)); err != nil {
		t.Fatal(err)
	}
	if !s.answers(id("o1", 1), false) || s.answers(id("o1", 1), false) {
		t.Fatal("the first word counts, and once")
	}
	s.want(id("o1", 1), Dead)
	d := s.delivery(id("o1", 1))
	if last := d.Timeline[len(d.Timeline)-1]; d.Reason != ReasonNotWanted || last.Who != "ana" ||
		last.Why != "they called" {
		t.Errorf("%s, %+v", d.Reason, last)
	}
	s.now = s.now.Add(time.Hour)
	s.must(Redrive{Tenant: "t1", Ticket: id("o1", 1), Who: "bob", Why: "they wait"})
	m, err := s.under(wire.OnStaleAsk, id("o1", 1))
	if err != nil || m.ID == "" || m.Stale != StaleAfter.Milliseconds() {
		t.Errorf("%+v, %v: a redrive starts the clock anew", m, err)
	}
}

func TestTheWindowsEndBuriesAStaleTicket(t *testing.T) {
	s := old(t, wire.KindNew)
	if _, err := s.under(wire.OnStaleAsk, id("o1", 1)); err != nil {
		t.Fatal(err)
	}
	s.now = s.delivery(id("o1", 1)).WindowEnd
	s.must(Advance{"t1", id("o1", 1), Elapse{}})
	s.want(id("o1", 1), Dead)
	if d := s.delivery(id("o1", 1)); d.Reason != "window" {
		t.Errorf("reason %s", d.Reason)
	}
	if s.answers(id("o1", 1), true) {
		t.Error("a word too late woke it; that is a redrive's")
	}
}

func TestAWordGivesAWindowOfItsOwn(t *testing.T) {
	s := old(t, wire.KindNew)
	if _, err := s.under(wire.OnStaleAsk, id("o1", 1)); err != nil {
		t.Fatal(err)
	}
	s.now = s.delivery(id("o1", 1)).WindowEnd.Add(-time.Second)
	s.answers(id("o1", 1), true)
	if d := s.delivery(id("o1", 1)); !d.WindowEnd.Equal(s.now.Add(Window)) {
		t.Errorf("window ends %s", d.WindowEnd)
	}
}

func TestDropBuriesAStaleTicketByItself(t *testing.T) {
	s := old(t, wire.KindNew)
	if m, err := s.under(wire.OnStaleDrop, id("o1", 1)); err != nil || m.ID != "" {
		t.Fatalf("%+v, %v", m, err)
	}
	s.want(id("o1", 1), Dead)
	if d := s.delivery(id("o1", 1)); d.Reason != ReasonStale {
		t.Errorf("reason %s", d.Reason)
	}
}

// A void that is held back lets the kitchen go on with what nobody wants, so it never asks.
func TestAVoidAndANoticePrintLateUnderEveryPolicy(t *testing.T) {
	for _, kind := range []wire.Kind{wire.KindVoid, wire.KindNotice} {
		for _, policy := range []wire.OnStale{wire.OnStaleAsk, wire.OnStaleDrop} {
			s := newShelf(t)
			s.hello("d1", "s1")
			s.accept(content("o1/1", wire.KindNew))
			s.mustDispatch(id("o1", 1), "d1", "s1")
			s.ack(id("o1", 1), "d1", wire.OutcomePrinted)
			s.accept(content("o1/2", kind))
			s.now = s.now.Add(StaleAfter)
			m, err := s.under(policy, id("o1", 2))
			if err != nil || !slices.Contains(m.Marks, wire.MarkLate) || m.OnStale != "" {
				t.Errorf("%s under %s: %+v, %v", kind, policy, m, err)
			}
		}
	}
}

func TestATicketThatBecomesStaleAtTheDeviceGivesItsRoomBackAndBlocksNothing(t *testing.T) {
	s := old(t, wire.KindNew)
	s.now = s.now.Add(-time.Minute)
	if _, err := s.under(wire.OnStaleAsk, id("o1", 1)); err != nil {
		t.Fatal(err)
	}
	s.ack(id("o1", 1), "d1", wire.OutcomeHeld, func(a *wire.Ack) { a.Reason = "paper_out" })
	s.now = s.now.Add(time.Minute)
	s.ack(id("o1", 1), "d1", wire.OutcomeHeld, func(a *wire.Ack) { a.Reason = "stale" })
	s.want(id("o1", 1), Stale)
	if d := s.delivery(id("o1", 1)); d.Lease != nil || d.Failed != 0 || d.State.Blocks() {
		t.Errorf("%+v", d)
	}
	if word := s.ack(id("o1", 1), "d1", wire.OutcomeHeld,
		func(a *wire.Ack) { a.Reason = "stale" }); word != "old-attempt" {
		t.Errorf("said again: %s", word)
	}
	t.Logf("# the cook prints it at the device: the paper settles it whatever the broker believes")
	s.ack(id("o1", 1), "d1", wire.OutcomePrinted)
	s.want(id("o1", 1), Settled)
}

func TestWhatTheDeviceDropsIsDeadByTheSameWord(t *testing.T) {
	for _, reason := range []string{ReasonStale, ReasonNotWanted} {
		s := old(t, wire.KindNew)
		s.now = s.now.Add(-time.Minute)
		if _, err := s.under(wire.OnStaleDrop, id("o1", 1)); err != nil {
			t.Fatal(err)
		}
		s.ack(id("o1", 1), "d1", wire.OutcomeRefused, refuse(reason, true))
		s.want(id("o1", 1), Dead)
		if d := s.delivery(id("o1", 1)); d.Reason != reason {
			t.Errorf("reason %s", d.Reason)
		}
	}
}

func TestAPersonMayAnswerWhileTheDeviceIsStillAway(t *testing.T) {
	park := func(s *shelf) {
		s.must(Advance{"t1", id("o1", 1), Leave{Epoch: s.delivery(id("o1", 1)).Epoch, Reason: "away"}})
	}
	s := old(t, wire.KindNew)
	park(s)
	if !s.answers(id("o1", 1), true) || s.answers(id("o1", 1), true) {
		t.Fatal("the first word counts, and once")
	}
	s.want(id("o1", 1), Parked)
	s.must(Advance{"t1", id("o1", 1), Birth{Device: "d1", Journal: "j-d1", Boot: 1}})
	if m, err := s.under(wire.OnStaleAsk, id("o1", 1)); err != nil || m.ID == "" {
		t.Errorf("asked again: %+v, %v", m, err)
	}
	s = old(t, wire.KindNew)
	park(s)
	if !s.answers(id("o1", 1), false) {
		t.Fatal("not dropped")
	}
	s.want(id("o1", 1), Dead)
	s = old(t, wire.KindNew)
	s.now = s.now.Add(-time.Second)
	if park(s); s.answers(id("o1", 1), false) || s.answers(id("o1", 1), true) {
		t.Error("a ticket that is not stale yet was answered about")
	}
}

// liveStale lives a delivery under the policy ask and checks by its own count of the last wish that
// no handing-over comes too late after it.
func liveStale(rt *rapid.T, taken map[string]bool) {
	const after = 40 * time.Minute
	l := &life{T: rt, d: fresh(), now: day, boot: map[string]int{"d1": 1}, taken: taken}
	wish := day
	answer := func(print bool) func(*rapid.T) {
		return func(*rapid.T) {
			was := l.d
			l.do(Answer{Print: print, Who: "ana", Policy: wire.OnStaleAsk, After: after})
			moved := l.d.Epoch != was.Epoch
			due := was.State == Stale ||
				(was.State == Waiting || was.State == Parked) && !l.now.Before(wish.Add(after))
			if moved != due {
				rt.Fatalf("%s at %v after the wish: answered %v", was.State, l.now.Sub(wish), moved)
			}
			if moved && print && l.d.State.Open() {
				wish = l.now
			}
		}
	}
	rt.Repeat(map[string]func(*rapid.T){
		"": func(*rapid.T) {
			if (l.d.State.Open() || len(l.d.Recalls) > 0) == l.d.Ends().IsZero() {
				rt.Fatalf("%s ends %v", l.d.State, l.d.Ends())
			}
		},
		"turn": func(*rapid.T) {
			if l.d.State != Waiting || l.now.Before(l.d.Due) {
				return
			}
			if now := l.now; !now.Before(l.d.StaleAt(after)) {
				l.do(Outdate{Epoch: l.d.Epoch, Policy: wire.OnStaleAsk})
				return
			}
			l.do(Hand{Epoch: l.d.Epoch, Handing: Handing{Number: "7", Lease: Lease{Device: "d1",
				Journal: "j1", Boot: 1, For: LeaseFor, Until: l.now.Add(LeaseFor)}}})
			if l.d.State == Leased && !l.now.Before(wish.Add(after)) {
				rt.Fatalf("handed over %v after the last wish", l.now.Sub(wish))
			}
		},
		"held": func(t *rapid.T) {
			if l.d.Attempt == 0 {
				return
			}
			l.n++
			l.do(Say{Device: "d1", Ack: wire.Ack{Device: "d1", Ticket: l.d.Ticket, Digest: l.d.Digest,
				Journal: "j1", Boot: 1, N: l.n, Attempt: l.d.Attempt, Outcome: wire.OutcomeHeld,
				Reason: rapid.SampledFrom([]string{"stale", "paper_out"}).Draw(t, "reason")}})
		},
		"paper": func(t *rapid.T) {
			if l.d.Attempt == 0 || rapid.IntRange(0, 9).Draw(t, "really") > 0 {
				return
			}
			l.n++
			l.do(Say{Device: "d1", Ack: wire.Ack{Device: "d1", Ticket: l.d.Ticket, Digest: l.d.Digest,
				Journal: "j1", Boot: 1, N: l.n, Attempt: l.d.Attempt, Outcome: wire.OutcomePrinted,
				Evidence: wire.EvidenceSent}})
		},
		"move": func(t *rapid.T) {
			to := Move{Epoch: l.d.Epoch, To: Place{Station: "bar"}, Device: "d2", Reason: "held"}
			if l.d.MovedTo != "" {
				to.To, to.Device, to.Home = Place{Station: "grill"}, "d1", true
			}
			l.do(to)
		},
		"recalled": func(t *rapid.T) {
			if len(l.d.Recalls) == 0 {
				return
			}
			l.n++
			ack := wire.Ack{Device: "d1", Ticket: l.d.Ticket, Digest: l.d.Digest, Journal: "j1",
				Boot: 1, N: l.n, Attempt: l.d.Recalls[0].Attempt, Outcome: wire.OutcomeRecalled,
				Reason: l.d.Recalls[0].ID}
			if rapid.Bool().Draw(t, "doubtful") {
				ack.Outcome, ack.Reason, ack.Permanent = wire.OutcomeRefused, "doubtful", true
			}
			l.do(Say{Device: "d1", Ack: ack})
		},
		"leave":  func(*rapid.T) { l.do(Leave{Epoch: l.d.Epoch, Reason: "away"}) },
		"birth":  func(*rapid.T) { l.do(Birth{Device: "d1", Journal: "j1", Boot: 1}) },
		"elapse": func(*rapid.T) { l.do(Elapse{}) },
		"print":  answer(true),
		"drop":   answer(false),
		"redrive": func(*rapid.T) {
			if l.d.State == Dead {
				wish = l.now
			}
			l.do(Again{Who: "ana"})
		},
		"cancel": func(t *rapid.T) {
			if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
				l.do(End{Who: "ana", Reason: "refund"})
			}
		},
		"time": func(t *rapid.T) {
			l.now = l.now.Add(rapid.SampledFrom([]time.Duration{time.Second, time.Minute,
				20 * time.Minute, 3 * time.Hour}).Draw(t, "step"))
		},
	})
}

func TestUnderAskNoHandingOverComesTooLateAfterTheLastWish(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) { liveStale(rt, map[string]bool{}) })
}

func TestAStaleDecisionNeedsTheDeliveryAsItWasRead(t *testing.T) {
	d := fresh()
	for _, o := range []Outdate{{Epoch: d.Epoch + 1, Policy: wire.OnStaleAsk}} {
		_, _, err := entity.Step[Delivery, Action, Event](Machine{}, d, o, day.Add(time.Hour))
		if !errors.Is(err, ErrMoved) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	d.Due = day.Add(2 * time.Hour)
	_, _, err := entity.Step[Delivery, Action, Event](Machine{}, d,
		Outdate{Epoch: d.Epoch, Policy: wire.OnStaleAsk}, day.Add(time.Hour))
	if !errors.Is(err, ErrNotDue) {
		t.Error(fmt.Errorf("before its turn: %w", err))
	}
}

func TestADropIsTakenOnceTheTimeIsOverAndOfNothingElse(t *testing.T) {
	for _, kind := range []wire.Kind{wire.KindNew, wire.KindVoid} {
		s := old(t, kind)
		one := id("o1", 1)
		s.must(Advance{"t1", one, Leave{Epoch: s.delivery(one).Epoch, Reason: "away"}})
		age := s.now.Sub(s.delivery(one).Release)
		epoch := s.delivery(one).Epoch
		s.must(Advance{"t1", one, Drop{Epoch: epoch, Policy: wire.OnStaleAsk, After: age}})
		s.must(Advance{"t1", one, Drop{Epoch: epoch, Policy: wire.OnStaleDrop, After: age + 1}})
		s.want(one, Parked)
		s.must(Advance{"t1", one, Drop{Epoch: epoch, Policy: wire.OnStaleDrop, After: age}})
		if kind == wire.KindVoid { // It says what not to make, and prints however late.
			s.want(one, Parked)
			continue
		}
		s.want(one, Dead)
	}
}
