package delivery

import (
	"reflect"
	"testing"
	"time"

	"chit/device/wire"
)

func TestOutcomesDoWhatTheTableSays(t *testing.T) {
	for _, test := range []struct {
		name    string
		outcome wire.Outcome
		set     func(*wire.Ack)
		state   State
		failed  int
	}{
		{"stored prolongs", wire.OutcomeStored, nil, Leased, 0},
		{"held prolongs", wire.OutcomeHeld, refuse("paper_out", false), Leased, 0},
		{"printed settles", wire.OutcomePrinted, nil, Settled, 0},
		{"duplicate settles", wire.OutcomeDuplicate, nil, Settled, 0},
		{"refused for good is dead", wire.OutcomeRefused, refuse("poison", true), Dead, 0},
		{"refused storage is a deferral", wire.OutcomeRefused, refuse("storage", false), Waiting, 0},
		{"refused otherwise is an attempt", wire.OutcomeRefused, refuse("busy", false), Waiting, 1},
		{"refused unread counts too", wire.OutcomeRefused, func(a *wire.Ack) {
			a.Reason, a.Digest = "digest", ""
		}, Waiting, 1},
		{"expired is dead", wire.OutcomeExpired, nil, Dead, 0},
		{"recalled alone does nothing", wire.OutcomeRecalled, refuse("r1", false), Leased, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := tell(t)
			s.hand("d1")
			s.advance(10 * time.Second)
			a := s.ack("d1", test.outcome)
			if test.set != nil {
				test.set(&a)
			}
			s.sayAck("d1", a)
			s.want(test.state, test.failed)
			if test.state == Leased && test.outcome != wire.OutcomeRecalled &&
				!s.d.Lease.Until.Equal(s.now.Add(LeaseFor)) {
				t.Errorf("lease until %v", s.d.Lease.Until)
			}
		})
	}
}

func TestOnlyGenuineAcksCount(t *testing.T) {
	for _, test := range []struct {
		name string
		from string
		set  func(*wire.Ack)
		want string
	}{
		{"foreign device", "d2", func(*wire.Ack) {}, "foreign-device"},
		{"another's name in it", "d1", func(a *wire.Ack) { a.Device = "d2" }, "foreign-device"},
		{"wrong digest", "d1", func(a *wire.Ack) { a.Digest = wire.Digest([]byte("y")) }, "digest"},
		{"printed without digest", "d1", func(a *wire.Ack) { a.Digest = "" }, "digest"},
		{"attempt never made", "d1", func(a *wire.Ack) { a.Attempt = 2 }, "unknown-attempt"},
		{"attempt 0", "d1", func(a *wire.Ack) { a.Attempt = 0 }, "unknown-attempt"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := tell(t)
			s.hand("d1")
			before := s.d
			if got := s.say(test.from, wire.OutcomePrinted, test.set); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if !reflect.DeepEqual(s.d, before) {
				t.Error("it changed something")
			}
			if (Ignored{test.want}).Counts() {
				t.Error("it raises n_seen")
			}
		})
	}
}

func TestReplayedAcksChangeNothing(t *testing.T) {
	s := tell(t)
	s.hand("d1")
	stored, held := s.ack("d1", wire.OutcomeStored), s.ack("d1", wire.OutcomeHeld)
	for i, test := range []struct {
		ack  wire.Ack
		want string
	}{{stored, ""}, {stored, "replayed"}, {held, ""}, {held, "replayed"}, {stored, "replayed"}} {
		s.advance(time.Second)
		before := s.d
		if got := s.sayAck("d1", test.ack); got != test.want {
			t.Fatalf("%d: got %q, want %q", i, got, test.want)
		}
		if test.want != "" && !reflect.DeepEqual(s.d, before) {
			t.Fatalf("%d changed something", i)
		}
	}
	printed := s.ack("d1", wire.OutcomePrinted)
	if got := s.sayAck("d1", printed); got != "" {
		t.Fatal(got)
	}
	before := s.d
	if got := s.sayAck("d1", printed); got != "replayed" || !reflect.DeepEqual(s.d, before) {
		t.Errorf("printed again: %q", got)
	}
	if len(s.d.Doubled) != 0 {
		t.Errorf("doubled %v", s.d.Doubled)
	}
}

func TestAnOldHolderCannotEndTheCurrentLease(t *testing.T) {
	s := tell(t)
	s.hand("d1")
	old := s.ack("d1", wire.OutcomeRefused)
	old.Permanent, old.Reason = true, "poison"
	s.advance(LeaseFor)
	_ = s.do(Elapse{0.5})
	s.want(Waiting, 1)
	s.hand("d1")
	if got := s.sayAck("d1", old); got != "old-attempt" {
		t.Errorf("got %q", got)
	}
	s.want(Leased, 1)
}

func TestALatePrintedWinsOverEverything(t *testing.T) {
	for name, then := range map[string]func(s *story){
		"leased":  func(s *story) {},
		"waiting": func(s *story) { s.advance(LeaseFor); _ = s.do(Elapse{0.5}) },
		"parked":  func(s *story) { _ = s.do(Leave{Epoch: s.d.Epoch, Reason: "session", Judge: true}) },
		"dead":    func(s *story) { s.say("d1", wire.OutcomeRefused, refuse("poison", true)) },
		"redriven": func(s *story) {
			s.say("d1", wire.OutcomeRefused, refuse("poison", true))
			_ = s.do(Again{Who: "ana", Why: "fixed"})
		},
		"cancelled": func(s *story) { _ = s.do(End{Who: "ana", Reason: "refund"}) },
		"handed to another": func(s *story) {
			s.advance(LeaseFor)
			_ = s.do(Elapse{0.5})
			s.hand("d2")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := tell(t)
			s.hand("d1")
			first := s.ack("d1", wire.OutcomePrinted)
			then(s)
			if got := s.sayAck("d1", first); got != "" {
				t.Fatalf("ignored: %s", got)
			}
			recalls := map[string]int{"handed to another": 1}[name]
			if s.d.State != Settled || s.d.Printed.Attempt != 1 || len(s.d.Recalls) != recalls ||
				s.d.Ends().IsZero() != (recalls == 0) {
				t.Errorf("%s, %+v, ends %v", s.d.State, s.d.Printed, s.d.Ends())
			}
			for _, action := range []Action{Elapse{}, Again{}, End{}, Birth{Device: "d1"},
				Leave{Epoch: s.d.Epoch}} {
				before := s.d
				if err := s.do(action); err != nil || !reflect.DeepEqual(before, s.d) {
					t.Errorf("%T moved a settled delivery (%v)", action, err)
				}
			}
		})
	}
}

func TestASecondJournalDoubles(t *testing.T) {
	s := tell(t)
	s.hand("d1")
	s.advance(LeaseFor)
	_ = s.do(Elapse{0})
	s.hand("d2")
	s.say("d2", wire.OutcomePrinted)
	s.want(Settled, 1)
	one := s.ack("d1", wire.OutcomePrinted)
	one.Attempt, one.Marked = 1, true
	if got := s.sayAck("d1", one); got != "" {
		t.Fatal(got)
	}
	if len(s.d.Doubled) != 1 || s.d.Doubled[0].Device != "d1" || s.d.Printed.Device != "d2" {
		t.Errorf("printed %+v, doubled %+v", s.d.Printed, s.d.Doubled)
	}
	two := one
	two.N = 99
	if got := s.sayAck("d1", two); got != "settled" {
		t.Errorf("the same journal doubled twice: %q", got)
	}
}

func TestEvidenceOnlyRises(t *testing.T) {
	s := tell(t)
	s.hand("d1")
	for _, step := range []struct{ say, want wire.Evidence }{
		{wire.EvidenceCounted, wire.EvidenceCounted},
		{wire.EvidenceSent, wire.EvidenceCounted},
		{wire.EvidenceUnknown, wire.EvidenceCounted},
		{wire.EvidenceConfirmed, wire.EvidenceConfirmed},
	} {
		s.say("d1", wire.OutcomeDuplicate, func(a *wire.Ack) { a.Evidence = step.say })
		if s.d.Evidence != step.want {
			t.Fatalf("after %s: %s, want %s", step.say, s.d.Evidence, step.want)
		}
	}
}

func TestAPressInTheKitchenRaisesASettledTicketAndTheStoryTellsIt(t *testing.T) {
	s := tell(t)
	s.hand("d1")
	s.say("d1", wire.OutcomePrinted)
	settled := s.d.Printed.Ack
	s.advance(20 * time.Minute)
	seen := func(a *wire.Ack) { a.Evidence = wire.EvidenceSeen }
	if got := s.say("d1", wire.OutcomePrinted, seen); got != "" {
		t.Fatal(got)
	}
	last := s.d.Timeline[len(s.d.Timeline)-1]
	if s.d.State != Settled || s.d.Evidence != wire.EvidenceSeen || s.d.Printed.Ack != settled ||
		last.What != string(Confirmed) || last.Evidence != wire.EvidenceSeen {
		t.Errorf("%s %s, printed %+v, last %+v", s.d.State, s.d.Evidence, s.d.Printed, last)
	}
	if got := s.say("d1", wire.OutcomePrinted, seen); got != "settled" {
		t.Errorf("told again, it is %q", got)
	}
}
