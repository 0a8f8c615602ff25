package delivery

import (
	"fmt"
	"testing"
	"time"

	"chit/device/wire"
)

func TestNumbersRunPerStationAndBusinessDay(t *testing.T) {
	s := newShelf(t)
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	s.hello("d1", "s1")
	for i, step := range []struct {
		at               string
		number, previous string
	}{
		{"2026-03-14T22:00:00Z", "1", ""},
		{"2026-03-15T02:59:59Z", "2", "1"}, // 03:59:59 in Berlin still belongs to the 14th.
		{"2026-03-15T03:00:00Z", "1", ""},
		{"2026-03-15T02:00:00Z", "2", "1"}, // A clock that steps back does not begin yesterday again.
	} {
		if s.now, err = time.Parse(time.RFC3339, step.at); err != nil {
			t.Fatal(err)
		}
		order := fmt.Sprint("o", i)
		s.accept(content(order+"/1", wire.KindNew))
		s.must(Dispatch{Tenant: "t1", Ticket: id(order, 1), Device: "d1", Printer: "p1", Session: "s1",
			Zone: berlin})
		d := s.delivery(id(order, 1))
		if d.Number != step.number || d.Previous != step.previous {
			t.Errorf("%s: %s after %q", step.at, d.Number, d.Previous)
		}
	}
}

func TestANumberStaysOnEveryAttempt(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	s.accept(content("o1/1", wire.KindNew))
	s.accept(content("o2/1", wire.KindNew))
	first := s.mustDispatch(id("o1", 1), "d1", "s1")
	s.mustDispatch(id("o2", 1), "d1", "s1")
	s.now = s.now.Add(LeaseFor)
	s.must(Advance{"t1", id("o1", 1), Elapse{0}})
	again := s.mustDispatch(id("o1", 1), "d1", "s1")
	if again.Number != first.Number || again.Previous != first.Previous || again.Attempt != 2 {
		t.Errorf("first %+v\nagain %+v", first, again)
	}
}

func TestTheNextNumberTellsOfACancelledOne(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	for i := range 3 {
		s.accept(content(fmt.Sprintf("o%d/1", i), wire.KindNew))
	}
	s.mustDispatch(id("o0", 1), "d1", "s1")
	s.must(Cancel{Tenant: "t1", Ticket: id("o0", 1), Who: "ana", Reason: "refund"})
	s.want(id("o0", 1), Cancelled)
	if m := s.mustDispatch(id("o1", 1), "d1", "s1"); m.Gaps != "1:cancelled" || m.Previous != "1" {
		t.Errorf("gaps %q, previous %q", m.Gaps, m.Previous)
	}
	if m := s.mustDispatch(id("o2", 1), "d1", "s1"); m.Gaps != "" {
		t.Errorf("told twice: %q", m.Gaps)
	}
}
