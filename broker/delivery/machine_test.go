package delivery

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"chit/broker/entity"
	"chit/device/wire"
)

var day = time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)

func fresh() Delivery {
	return Delivery{Format: Format, Tenant: "t1", Ticket: "17-4711/1@grill", Station: "grill",
		Kitchen: "main", Kind: wire.KindNew, Digest: wire.Digest([]byte("x")), Accepted: day,
		Release: day, Due: day, WindowEnd: day.Add(Window), Expires: day.Add(ExpiresAfter),
		State: Waiting}
}

// story is one delivery's life, told step by step.
type story struct {
	t   testing.TB
	d   Delivery
	now time.Time
	n   uint64
}

func tell(t testing.TB) *story { return &story{t: t, d: fresh(), now: day} }

func (s *story) do(a Action) error {
	s.t.Helper()
	after, _, err := entity.Step[Delivery, Action, Event](Machine{}, s.d, a, s.now)
	s.d = after
	return err
}

func (s *story) advance(d time.Duration) { s.now = s.now.Add(d) }

func (s *story) hand(device string) {
	s.t.Helper()
	if s.now.Before(s.d.Due) {
		s.now = s.d.Due
	}
	err := s.do(Hand{Epoch: s.d.Epoch, Handing: Handing{Number: "41", Lease: Lease{Device: device,
		Printer: "p1", Session: "s1", Epoch: 1, Journal: "j-" + device, Boot: 1,
		Until: s.now.Add(LeaseFor), For: LeaseFor}}})
	if err != nil {
		s.t.Fatalf("hand: %v", err)
	}
}

// ack is a genuine answer of device about the newest attempt.
func (s *story) ack(device string, outcome wire.Outcome) wire.Ack {
	s.n++
	a := wire.Ack{Device: device, Ticket: s.d.Ticket, Attempt: s.d.Attempt, Outcome: outcome,
		Digest: s.d.Digest, Journal: "j-" + device, Boot: 1, N: s.n}
	if outcome.OnPaper() {
		a.Evidence = wire.EvidenceSent
	}
	return a
}

func (s *story) say(device string, outcome wire.Outcome, set ...func(*wire.Ack)) string {
	s.t.Helper()
	a := s.ack(device, outcome)
	for _, f := range set {
		f(&a)
	}
	return s.sayAck(device, a)
}

// sayAck returns the word of an ignored ack.
func (s *story) sayAck(device string, a wire.Ack) string {
	s.t.Helper()
	err := s.do(Say{Device: device, Ack: a, Chance: 0.5})
	var ignored Ignored
	if errors.As(err, &ignored) {
		return ignored.Reason
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return ""
}

func (s *story) want(state State, failed int) {
	s.t.Helper()
	if s.d.State != state || s.d.Failed != failed {
		s.t.Fatalf("%s with %d failed (%s), want %s with %d\n%+v", s.d.State, s.d.Failed, s.d.Reason,
			state, failed, s.d.Timeline)
	}
}

func refuse(reason string, permanent bool) func(*wire.Ack) {
	return func(a *wire.Ack) { a.Reason, a.Permanent = reason, permanent }
}

func TestTenUnansweredAttemptsAreThePoisonBound(t *testing.T) {
	s := tell(t)
	for i := range AttemptsMax {
		s.want(Waiting, i)
		s.hand("d1")
		s.advance(LeaseFor - time.Millisecond)
		if err := s.do(Elapse{0.999}); err != nil || s.d.State != Leased {
			t.Fatalf("the lease ended early: %s, %v", s.d.State, err)
		}
		s.advance(time.Millisecond)
		_ = s.do(Elapse{0.999})
	}
	s.want(Dead, AttemptsMax)
	if s.d.Reason != "attempts" || len(s.d.Tries) != 10 || s.d.Attempt != 10 {
		t.Errorf("%s, %d tries", s.d.Reason, len(s.d.Tries))
	}
	// All but the last were followed by a wait: 17 min 2 s at most (research/queue-ledger.md 2.1).
	var total, limit time.Duration
	for _, try := range s.d.Tries[:9] {
		total, limit = total+try.Pause, limit+try.Limit
		if !try.Counted || try.Error != "unanswered" || try.Ended.IsZero() {
			t.Errorf("%+v", try)
		}
	}
	if limit != 1022*time.Second || total > limit {
		t.Errorf("waits of %v below %v", total, limit)
	}
}

func TestARedriveIsANewBudgetOfTheSameRow(t *testing.T) {
	s := tell(t)
	s.hand("d1")
	s.say("d1", wire.OutcomeRefused, refuse("poison", true))
	s.want(Dead, 0)
	died := s.d
	s.advance(8 * time.Hour)
	if err := s.do(Again{Who: "ana", Why: "printer fixed"}); err != nil {
		t.Fatal(err)
	}
	s.want(Waiting, 0)
	if !s.d.WindowEnd.Equal(s.now.Add(Window)) || s.d.Ticket != died.Ticket || s.d.Attempt != 1 {
		t.Errorf("%+v", s.d)
	}
	want := []Redriving{{At: s.now, Who: "ana", Why: "printer fixed", Reason: "refused:poison"}}
	if !reflect.DeepEqual(s.d.Redrives, want) {
		t.Errorf("audit %+v", s.d.Redrives)
	}
	before := s.d
	if err := s.do(Again{Who: "bob", Why: "again"}); err != nil || !reflect.DeepEqual(before, s.d) {
		t.Errorf("a repeated redrive changed something (%v)", err)
	}
	s.hand("d1")
	if s.d.Attempt != 2 || s.d.Number != "41" {
		t.Errorf("attempt %d, number %s", s.d.Attempt, s.d.Number)
	}
}

func TestNothingIsHandedOverPastItsEnds(t *testing.T) {
	for _, test := range []struct {
		name   string
		at     time.Duration
		reason string
	}{{"window", Window, "window"}, {"memory", ExpiresAfter, "expired"}} {
		s := tell(t)
		s.advance(test.at)
		s.d.WindowEnd = day.Add(Window)
		if err := s.do(Hand{Epoch: s.d.Epoch}); err != nil {
			t.Fatal(err)
		}
		s.want(Dead, 0)
		if s.d.Reason != test.reason {
			t.Errorf("%s: %s", test.name, s.d.Reason)
		}
	}
	s := tell(t)
	s.hand("d1")
	s.say("d1", wire.OutcomeRefused, refuse("poison", true))
	s.advance(ExpiresAfter)
	if err := s.do(Again{Who: "ana"}); !errors.Is(err, ErrExpired) {
		t.Errorf("redrive past expires: %v", err)
	}
}

func TestBeforeItsReleaseATicketOwesNothing(t *testing.T) {
	s := tell(t)
	s.d.Release = day.Add(10 * time.Hour)
	s.d.Due, s.d.WindowEnd = s.d.Release, s.d.Release.Add(Window)
	s.advance(9 * time.Hour)
	if err := s.do(Hand{Epoch: s.d.Epoch}); !errors.Is(err, ErrNotDue) {
		t.Errorf("got %v", err)
	}
	_ = s.do(Elapse{})
	s.want(Waiting, 0)
	s.advance(time.Hour)
	s.hand("d1")
	s.want(Leased, 0)
}

func TestAParkedDeliveryIsWokenByTheBirthAndEndedByTheWindow(t *testing.T) {
	s := tell(t)
	_ = s.do(Leave{Epoch: s.d.Epoch, Reason: "away"})
	if s.d.State != Parked || !s.d.Ends().Equal(s.d.WindowEnd) || !s.d.Due.IsZero() {
		t.Fatalf("%s ends %v, due %v", s.d.State, s.d.Ends(), s.d.Due)
	}
	s.advance(5 * time.Hour)
	_ = s.do(Elapse{})
	s.want(Parked, 0)
	_ = s.do(Birth{Device: "d1", Journal: "j-d1", Boot: 1})
	s.want(Waiting, 0)
	_ = s.do(Leave{Epoch: s.d.Epoch, Reason: "away"})
	s.advance(time.Hour)
	_ = s.do(Elapse{})
	s.want(Dead, 0)
	if s.d.Reason != "window" {
		t.Error(s.d.Reason)
	}
}

func TestTheNextBirthTellsWhatASessionsEndWas(t *testing.T) {
	for _, test := range []struct {
		name    string
		journal string
		boot    uint64
		failed  int
	}{
		{"the same process: it was the link", "j-d1", 1, 0},
		{"another process: it was an attempt", "j-d1", 2, 1},
		{"another journal: it was an attempt", "j-new", 1, 1},
	} {
		for _, parked := range []bool{true, false} {
			s := tell(t)
			s.hand("d1")
			if parked {
				_ = s.do(Leave{Epoch: s.d.Epoch, Reason: "session", Judge: true})
				s.want(Parked, 0)
			}
			_ = s.do(Birth{Device: "d1", Journal: test.journal, Boot: test.boot, Chance: 0.5})
			s.want(Waiting, test.failed)
			if test.failed == 0 && !s.d.Due.Equal(s.now) {
				t.Errorf("%s: due %v", test.name, s.d.Due)
			}
			if test.failed == 0 && s.d.Deferrals["link"].Count != 1 {
				t.Errorf("%s: deferrals %v", test.name, s.d.Deferrals)
			}
		}
	}
}

func TestALeaseLostByTheBrokersRestartIsADeferral(t *testing.T) {
	s := tell(t)
	s.hand("d1")
	_ = s.do(Leave{Epoch: s.d.Epoch, Reason: "restart"})
	s.want(Parked, 0)
	_ = s.do(Birth{Device: "d1", Journal: "j-d1", Boot: 2, Chance: 0.5})
	s.want(Waiting, 0)
	if s.d.Deferrals["restart"].Count != 1 || s.d.Tries[0].Counted {
		t.Errorf("%v, %+v", s.d.Deferrals, s.d.Tries)
	}
}

func TestAMessageThatNeverLeftIsADeferral(t *testing.T) {
	s := tell(t)
	s.hand("d1")
	leased := s.d.Epoch
	_ = s.do(Unsend{Epoch: leased, Reason: "unsent", Chance: 0.5})
	s.want(Waiting, 0)
	if !s.d.Due.Equal(s.now.Add(time.Second)) || s.d.Deferrals["unsent"].Count != 1 {
		t.Errorf("due %v, %v", s.d.Due, s.d.Deferrals)
	}
	s.hand("d1")
	_ = s.do(Unsend{Epoch: leased, Reason: "unsent"})
	s.want(Leased, 0)
	_ = s.do(Unsend{Epoch: s.d.Epoch, Reason: "unsendable", Final: true})
	s.want(Dead, 0)
}

func TestALeaseIsNotProlongedPastTheWindow(t *testing.T) {
	s := tell(t)
	s.advance(Window - 40*time.Second)
	s.hand("d1")
	s.advance(20 * time.Second)
	s.say("d1", wire.OutcomeHeld, refuse("paper_out", false))
	if !s.d.Lease.Until.Equal(s.d.WindowEnd) {
		t.Errorf("until %v", s.d.Lease.Until)
	}
	s.advance(20 * time.Second)
	_ = s.do(Elapse{0.5})
	s.want(Dead, 0)
}

func TestChangesAreConditionalOnTheEpoch(t *testing.T) {
	s := tell(t)
	s.hand("d1")
	for _, action := range []Action{Hand{Epoch: s.d.Epoch - 1}, Hand{Epoch: s.d.Epoch},
		Leave{Epoch: s.d.Epoch + 1}, End{Epoch: s.d.Epoch + 1}} {
		if err := s.do(action); !errors.Is(err, ErrMoved) {
			t.Errorf("%T: %v", action, err)
		}
	}
	s.want(Leased, 0)
}

func TestEveryPauseIsBelowItsLimit(t *testing.T) {
	for n, want := range map[int]time.Duration{1: 2, 2: 4, 3: 8, 9: 512, 10: 900, 11: 900, 400: 900,
		0: 2} {
		if got := PauseLimit(n); got != want*time.Second {
			t.Errorf("limit %d: %v, want %d s", n, got, want)
		}
		if got := Pause(n, 0); got != 0 {
			t.Errorf("pause %d of 0: %v", n, got)
		}
		if got := Pause(n, 0.9999999); got > PauseLimit(n) || got < PauseLimit(n)*99/100 {
			t.Errorf("pause %d of nearly 1: %v", n, got)
		}
	}
}

func TestTheStoryIsBounded(t *testing.T) {
	s := tell(t)
	s.d.tell(Event{What: Accepted, At: day})
	for s.d.State.Open() && s.d.Attempt < 1000 {
		s.hand("d1")
		s.advance(time.Second)
		s.say("d1", wire.OutcomeRefused, refuse("storage", false))
		if s.d.State == Waiting {
			s.d.WindowEnd = s.now.Add(Window) // keeps it alive for the test
		}
	}
	if len(s.d.Tries) != TriesMax || len(s.d.Timeline) != TimelineMax || s.d.Dropped == 0 {
		t.Errorf("%d tries, %d moments, %d dropped", len(s.d.Tries), len(s.d.Timeline), s.d.Dropped)
	}
	if s.d.Tries[0].Attempt != 1 || s.d.Timeline[0].What != "accepted" {
		t.Errorf("the beginning is gone: %+v", s.d.Timeline[0])
	}
	if data, err := json.Marshal(s.d); err != nil || len(data) > 48<<10 {
		t.Errorf("a record of %d bytes, %v", len(data), err)
	}
}
