package delivery

import (
	"reflect"
	"testing"
	"time"

	"chit/broker/entity"
	"chit/device/wire"
)

// why checks that a ticket is cancelled for a reason.
func (s *shelf) why(ticket, reason string) {
	s.t.Helper()
	s.want(ticket, Cancelled)
	if d := s.delivery(ticket); d.Reason != reason {
		s.t.Errorf("%s is cancelled as %q, want %q", ticket, d.Reason, reason)
	}
}

var (
	soup  = wire.Item{Quantity: 1, Name: "soup"}
	steak = wire.Item{Quantity: 1, Name: "steak"}
)

func TestAVoidOfWhatNoDeviceHadCostsNoPaper(t *testing.T) {
	s := newShelf(t)
	s.accept(content("o1/1", wire.KindNew, soup))
	s.accept(content("o1/2", wire.KindNotice))
	bar := content("o1/3", wire.KindNew, soup)
	bar.Station = "bar"
	s.accept(bar)
	if r := s.accept(content("o1/4", wire.KindVoid)); r.State != Cancelled || !r.Changed {
		t.Errorf("the void is answered with %+v", r)
	}
	s.why(id("o1", 1), ReasonVoided)
	s.why(id("o1", 2), ReasonVoided)
	s.why(id("o1", 4), ReasonNoPaper)
	s.want("o1/3@bar", Waiting) // It speaks about its own station only.
	if again := s.accept(content("o1/4", wire.KindVoid)); again.Changed {
		t.Errorf("the void again: %+v", again)
	}
}

func TestADeadLetterThatNoDeviceHadIsVoidedToo(t *testing.T) {
	s := newShelf(t)
	s.accept(content("o1/1", wire.KindNew, soup))
	s.now = s.now.Add(Window)
	s.must(Advance{"t1", id("o1", 1), Elapse{0}})
	s.want(id("o1", 1), Dead)
	s.accept(content("o1/2", wire.KindVoid))
	s.why(id("o1", 1), ReasonVoided)
	s.why(id("o1", 2), ReasonNoPaper)
}

func TestAVoidGoesOutWherePaperMayBe(t *testing.T) {
	for _, test := range []struct {
		name  string
		lower func(s *shelf)
	}{
		{"printed", func(s *shelf) { s.prints(id("o1", 1)) }},
		{"handed over and not answered", func(s *shelf) { s.mustDispatch(id("o1", 1), "d1", "s1") }},
		{"stored", func(s *shelf) {
			s.mustDispatch(id("o1", 1), "d1", "s1")
			s.ack(id("o1", 1), "d1", wire.OutcomeStored)
		}},
		{"dead after it was handed over", func(s *shelf) {
			s.mustDispatch(id("o1", 1), "d1", "s1")
			s.ack(id("o1", 1), "d1", wire.OutcomeRefused, refuse("poison", true))
		}},
		{"forgotten", func(s *shelf) { delete(s.states, Key("t1", id("o1", 1))) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newShelf(t)
			s.hello("d1", "s1")
			s.accept(content("o1/1", wire.KindNew, soup))
			test.lower(s)
			s.accept(content("o1/2", wire.KindNew, steak)) // Never handed over.
			s.accept(content("o1/3", wire.KindVoid))
			s.want(id("o1", 3), Waiting)
			s.why(id("o1", 2), ReasonVoided)
			s.now = s.now.Add(VoidWait)
			if m := s.mustDispatch(id("o1", 3), "d1", "s1"); m.ID != id("o1", 3) {
				t.Errorf("the void was not handed over: %+v", m)
			}
		})
	}
}

func TestAVoidOfNothingKnownGoesOut(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	s.accept(content("o1/3", wire.KindVoid))
	s.want(id("o1", 3), Waiting)
	s.prints(id("o1", 3))
	// What it spoke about comes late, and is not cooked.
	s.accept(content("o1/1", wire.KindNew, soup))
	s.why(id("o1", 1), ReasonVoided)
}

func TestAVoidDoesNotWaitForWhatItEnds(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	s.accept(content("o1/1", wire.KindNew, soup))
	s.mustDispatch(id("o1", 1), "d1", "s1")
	s.ack(id("o1", 1), "d1", wire.OutcomeHeld, refuse("paper_out", false))
	s.accept(content("o1/2", wire.KindVoid))
	s.why(id("o1", 1), ReasonVoided)
	if due := s.delivery(id("o1", 2)).Due; !due.Equal(s.now.Add(VoidWait)) {
		t.Errorf("the void is due %v, want %v later", due.Sub(s.now), VoidWait)
	}
	// The paper comes all the same, and the void behind it.
	s.ack(id("o1", 1), "d1", wire.OutcomePrinted)
	s.want(id("o1", 1), Settled)
	s.now = s.now.Add(VoidWait)
	if m := s.prints(id("o1", 2)); m.Pred != id("o1", 1) {
		t.Errorf("the void follows %q", m.Pred)
	}
}

func TestAChangeTakesThePlaceOfWhatNoDeviceHad(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	s.accept(content("o1/1", wire.KindNew, soup))
	s.accept(content("o1/2", wire.KindChange, soup, steak))
	s.accept(content("o1/3", wire.KindNotice))
	s.accept(content("o1/4", wire.KindChange, steak))
	s.why(id("o1", 1), ReasonReplaced)
	s.why(id("o1", 2), ReasonReplaced)
	s.want(id("o1", 3), Waiting) // A notice says something else.
	s.prints(id("o1", 3))
	m := s.prints(id("o1", 4))
	if m.As != wire.KindNew || m.Changes != nil {
		t.Errorf("the change goes out as %q with %+v, want as new", m.As, m.Changes)
	}
	if m.Number != "2" || m.Gaps != "" {
		t.Errorf("number %s, gaps %q", m.Number, m.Gaps)
	}
	// From here on there is paper: the next one is a change.
	s.accept(content("o1/5", wire.KindChange, steak, soup))
	m = s.prints(id("o1", 5))
	want := &wire.Changes{Since: 4, Added: []wire.Item{soup}}
	if m.As != "" || !reflect.DeepEqual(m.Changes, want) {
		t.Errorf("as %q, changes %+v, want %+v", m.As, m.Changes, want)
	}
}

func TestAChangeIsToldAgainstWhatIsOnPaper(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	s.accept(content("o1/1", wire.KindNew, soup))
	s.prints(id("o1", 1))
	s.accept(content("o1/2", wire.KindChange, soup, steak))
	s.accept(content("o1/3", wire.KindChange, soup, soup, steak))
	s.why(id("o1", 2), ReasonReplaced)
	want := &wire.Changes{Since: 1, Added: []wire.Item{soup, steak}}
	if m := s.prints(id("o1", 3)); !reflect.DeepEqual(m.Changes, want) {
		t.Errorf("changes %+v, want %+v", m.Changes, want)
	}
}

func TestWhatComesBehindItsChangeIsReplacedBeforeItIsPrinted(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	s.accept(content("o1/2", wire.KindChange, soup, steak))
	s.accept(content("o1/1", wire.KindNew, soup))
	s.why(id("o1", 1), ReasonReplaced)
	if m := s.prints(id("o1", 2)); m.As != wire.KindNew {
		t.Errorf("as %q, want new", m.As)
	}
	// Once it is out, a lower one prints and says that it is older (DESIGN.md I6).
	s.accept(content("o2/2", wire.KindChange, soup, steak))
	s.prints(id("o2", 2))
	s.accept(content("o2/1", wire.KindNew, soup))
	s.want(id("o2", 1), Waiting)
}

func TestARedriveAsksTheOrderFirst(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	s.accept(content("o1/1", wire.KindNew, soup))
	s.mustDispatch(id("o1", 1), "d1", "s1")
	// The void comes from a store that did not ask the dead letters yet.
	s.accept(content("o1/2", wire.KindVoid))
	d := s.delivery(id("o1", 1))
	version := s.states[Key("t1", id("o1", 1))].Version
	dead := d
	dead.State, dead.Reason, dead.DeadAt = Dead, "attempts", s.now
	c, err := record(d, version, dead, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.must(written{c})
	s.want(id("o1", 1), Dead)
	r := s.result(s.must(Redrive{Tenant: "t1", Ticket: id("o1", 1), Who: "ana", Why: "again"}))
	if r.State != Cancelled || !r.Changed {
		t.Errorf("the redrive is answered with %+v", r)
	}
	s.why(id("o1", 1), ReasonVoided)
	last := s.delivery(id("o1", 1)).Timeline
	if m := last[len(last)-1]; m.Who != "ana" || m.Why != id("o1", 2) {
		t.Errorf("the timeline says %+v", m)
	}
}

// written stores a Commit as it is.
type written struct{ commit entity.Commit }

func (w written) Identity() entity.Identity { return entity.Identity{} }

func (w written) Decide(entity.View, time.Time) (entity.Commit, error) { return w.commit, nil }

func TestACancelledDeadLetterLeavesTheList(t *testing.T) {
	s := newShelf(t)
	s.accept(content("o1/1", wire.KindNew, soup))
	s.now = s.now.Add(Window + time.Second)
	s.must(Advance{"t1", id("o1", 1), Elapse{0}})
	s.want(id("o1", 1), Dead)
	s.must(Cancel{Tenant: "t1", Ticket: id("o1", 1), Who: "ana", Reason: "guest left"})
	s.want(id("o1", 1), Cancelled)
}
