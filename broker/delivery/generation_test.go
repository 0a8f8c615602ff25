package delivery

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"chit/device/wire"
)

// restore is a restore that the shelf, which has just been set back, is told of.
func (s *shelf) restore(generation uint64) {
	s.t.Helper()
	s.must(Restore{Tenant: "t1", Number: generation, At: s.now, Why: "test"})
}

func TestTheFirstNumberAfterARestoreJumps(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	n := 0
	next := func() wire.Ticket {
		n++
		order := fmt.Sprint("o", n)
		s.accept(content(order+"/1", wire.KindNew))
		return s.mustDispatch(id(order, 1), "d1", "s1")
	}
	for _, step := range []struct {
		generation       uint64 // restored before, 0: not
		number, previous string
	}{
		{0, "1", ""},
		{2, "1002", wire.PreviousUnknown},
		{0, "1003", "1002"},
		{2, "1004", "1003"}, // Told twice, it is one restore.
		{4, "3005", wire.PreviousUnknown},
	} {
		if step.generation > 0 {
			s.restore(step.generation)
		}
		if m := next(); m.Number != step.number || m.Previous != step.previous {
			t.Errorf("number %s after %q, want %s after %q", m.Number, m.Previous, step.number,
				step.previous)
		}
	}
	s.now = s.now.Add(24 * time.Hour)
	if m := next(); m.Number != "1" || m.Previous != "" {
		t.Errorf("the next day begins with %s after %q", m.Number, m.Previous)
	}
}

func TestAStationThatTheCopyKnowsNothingOfTodayJumpsToo(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	s.accept(content("o1/1", wire.KindNew))
	s.mustDispatch(id("o1", 1), "d1", "s1")
	s.now = s.now.Add(24 * time.Hour) // The copy is of yesterday.
	s.restore(2)
	s.accept(content("o2/1", wire.KindNew))
	if m := s.mustDispatch(id("o2", 1), "d1", "s1"); m.Number != "1001" ||
		m.Previous != wire.PreviousUnknown {
		t.Errorf("number %s after %q", m.Number, m.Previous)
	}
}

func TestADayThatBeganAfterTheRestoreHasLostNothing(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	s.restore(2)
	for i, want := range []string{"1", "2"} {
		if i == 0 {
			s.now = s.now.Add(24 * time.Hour)
		}
		order := fmt.Sprint("o", i)
		s.accept(content(order+"/1", wire.KindNew))
		if m := s.mustDispatch(id(order, 1), "d1", "s1"); m.Number != want {
			t.Errorf("number %s, want %s", m.Number, want)
		}
	}
}

func TestWhatTheLostTimeMayHavePrintedIsMarked(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	s.accept(content("o1/1", wire.KindNew))
	s.now = s.now.Add(time.Minute)
	s.restore(2)
	s.accept(content("o2/1", wire.KindNew))
	doubtful := func(order string) bool {
		m := s.mustDispatch(id(order, 1), "d1", "s1")
		return slices.Contains(m.Marks, wire.MarkPossibleDuplicate)
	}
	if !doubtful("o1") {
		t.Error("an order of before the restore may be on paper, and does not say so")
	}
	if doubtful("o2") {
		t.Error("an order taken after the restore is marked")
	}
}

func TestIdsMadeAfterARestoreAreNoneOfTheLostTime(t *testing.T) {
	voids := func(restored bool) []string {
		s := newShelf(t)
		s.hello("d1", "s1")
		s.accept(content("o1/1", wire.KindNew, wire.Item{Quantity: 1, Name: "Soup"}))
		s.mustDispatch(id("o1", 1), "d1", "s1")
		s.ack(id("o1", 1), "d1", wire.OutcomeStored)
		if restored {
			s.restore(2)
		}
		s.must(Withdraw{Tenant: "t1", Order: "o1", Seq: 1, Who: "owner"})
		chain, _, err := loadChain(s, "t1", "o1")
		if err != nil || len(chain.Tickets) < 2 {
			t.Fatalf("%v, %v", chain.Tickets, err)
		}
		return chain.Tickets[1:]
	}
	if got := voids(false); got[0] != "o1/1/r1@grill" {
		t.Errorf("without a restore: %v", got)
	}
	if got := voids(true); got[0] != "o1/1/r1000001@grill" {
		t.Errorf("after a restore: %v", got)
	}
}

func TestARestoreIsInTheLogOfEvents(t *testing.T) {
	s := newShelf(t)
	s.restore(1) // Of a store that was never restored.
	if len(s.events) != 0 {
		t.Errorf("%v", s.events)
	}
	s.restore(2)
	s.restore(2)
	if len(s.events) != 1 || s.events[0].Type != "store.restored" {
		t.Errorf("%v", s.events)
	}
}

func TestANumberOfWhatWasPrintedInTheLostTimeIsToldOf(t *testing.T) {
	for _, outcome := range []wire.Outcome{wire.OutcomeDuplicate, wire.OutcomePrinted} {
		s := newShelf(t)
		s.hello("d1", "s1")
		s.restore(2)
		s.accept(content("o1/1", wire.KindNew)) // Sent again by its owner.
		s.mustDispatch(id("o1", 1), "d1", "s1")
		s.ack(id("o1", 1), "d1", outcome)
		s.accept(content("o2/1", wire.KindNew))
		want := ""
		if outcome == wire.OutcomeDuplicate {
			want = "1001:earlier"
		}
		if m := s.mustDispatch(id("o2", 1), "d1", "s1"); m.Gaps != want || m.Previous != "1001" {
			t.Errorf("%s: gaps %q, previous %q, want %q", outcome, m.Gaps, m.Previous, want)
		}
	}
}
