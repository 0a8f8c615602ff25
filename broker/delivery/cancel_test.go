package delivery

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"chit/device/wire"
)

func (s *shelf) withdraw(w Withdraw) Withdrawn {
	s.t.Helper()
	w.Tenant, w.Who, w.Why = "t1", "ana", "guest left"
	var done Withdrawn
	if err := json.Unmarshal(s.must(w).Answer, &done); err != nil {
		s.t.Fatal(err)
	}
	return done
}

// cleared is the device's answer that there is no paper.
func (s *shelf) cleared(ticket string) string {
	s.t.Helper()
	d := s.delivery(ticket)
	if len(d.Recalls) != 1 {
		s.t.Fatalf("%s has recalls %+v", ticket, d.Recalls)
	}
	r := d.Recalls[0]
	return s.ack(ticket, r.Device, wire.OutcomeRecalled, func(a *wire.Ack) {
		a.Attempt, a.Reason = r.Attempt, r.ID
	})
}

func TestWhatACancellationComesTo(t *testing.T) {
	held := func(s *shelf) {
		s.mustDispatch(id("o1", 1), "d1", "s1")
		s.ack(id("o1", 1), "d1", wire.OutcomeHeld, refuse("paper_out", false))
	}
	for _, test := range []struct {
		name   string
		before func(s *shelf)
		want   Outcome
		state  State
		void   bool
	}{
		{"waiting", func(*shelf) {}, EndedClean, Cancelled, false},
		{"dead, never handed over", func(s *shelf) {
			s.now = s.now.Add(Window)
			s.must(Advance{"t1", id("o1", 1), Elapse{0}})
		}, EndedClean, Cancelled, false},
		{"handed over", func(s *shelf) { s.mustDispatch(id("o1", 1), "d1", "s1") }, EndedRecalled,
			Cancelled, false},
		{"stored", held, EndedVoided, Cancelled, true},
		{"on paper", func(s *shelf) { s.prints(id("o1", 1)) }, EndedOnPaper, Settled, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newShelf(t)
			s.hello("d1", "s1")
			s.accept(content("o1/1", wire.KindNew, soup))
			test.before(s)
			done := s.withdraw(Withdraw{Order: "o1", Seq: 1})
			if len(done.Stations) != 1 || !done.Changed {
				t.Fatalf("%+v", done)
			}
			at := done.Stations[0]
			if at.Outcome != test.want || at.State != test.state || (len(at.Voids) == 1) != test.void {
				t.Errorf("%+v", at)
			}
			s.want(id("o1", 1), test.state)
			again := s.withdraw(Withdraw{Order: "o1", Seq: 1})
			if again.Changed || again.Stations[0].Outcome != test.want ||
				!slices.Equal(again.Stations[0].Voids, at.Voids) {
				t.Errorf("again: %+v", again)
			}
			if !test.void {
				return
			}
			s.now = s.now.Add(VoidWait)
			m := s.mustDispatch(at.Voids[0], "d1", "s1")
			said, err := wire.ParseContent(m.Data)
			if err != nil || said.Kind != wire.KindVoid || said.ID != "o1/1" || len(said.Items) != 1 {
				t.Errorf("the void says %+v (%v)", said, err)
			}
		})
	}
}

func TestAVoidIsNotNeededWhereTheDeviceProvesThatThereIsNoPaper(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	s.accept(content("o1/1", wire.KindNew, soup))
	s.mustDispatch(id("o1", 1), "d1", "s1")
	s.ack(id("o1", 1), "d1", wire.OutcomeStored)
	void := s.withdraw(Withdraw{Order: "o1", Seq: 1}).Stations[0].Voids[0]
	if due := s.delivery(void).Due; !due.Equal(s.now.Add(VoidWait)) {
		t.Errorf("the void waits %v, want %v", due.Sub(s.now), VoidWait)
	}
	if got := s.cleared(id("o1", 1)); got != "" {
		t.Fatalf("the answer was ignored: %s", got)
	}
	s.now = s.now.Add(VoidWait)
	s.mustDispatch(void, "d1", "s1")
	s.why(void, ReasonNoPaper)
	if at := s.withdraw(Withdraw{Order: "o1", Seq: 1}).Stations[0]; at.Outcome != EndedClean {
		t.Errorf("afterwards: %+v", at)
	}
}

func TestTheVoidOfACancelledPaperSaysWhoAskedForItAndWhy(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	s.accept(content("o1/1", wire.KindNew, soup))
	s.prints(id("o1", 1))
	if void, ok, err := VoidOf(s, s.delivery(id("o1", 1))); ok || err != nil {
		t.Errorf("before: %v, %v", void.Ticket, err)
	}
	seen := len(s.events)
	made := s.withdraw(Withdraw{Order: "o1", Seq: 1}).Stations[0].Voids[0]
	var said []eventData
	for _, e := range s.events[seen:] {
		var data eventData
		if err := json.Unmarshal(e.Data, &data); err != nil {
			t.Fatal(err)
		}
		if data.Who != "" {
			said = append(said, data)
		}
	}
	if len(said) != 1 || said[0].Who != "ana" || said[0].Why != "guest left" ||
		said[0].Reason != ReasonCancelled {
		t.Errorf("the log says %+v", said)
	}
	void, ok, err := VoidOf(s, s.delivery(id("o1", 1)))
	if m := void.Asked(); err != nil || !ok || void.Ticket != made || m.Who != "ana" ||
		m.Why != "guest left" {
		t.Errorf("o1/1 is voided by %q, %+v (%v)", void.Ticket, m, err)
	}
	if void.Reason != "" {
		t.Errorf("the void itself has the reason %q", void.Reason)
	}
}

func TestACancellationEndsTheWholeOrderBelowIt(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	s.accept(content("o1/1", wire.KindNew, soup))
	s.prints(id("o1", 1))
	s.accept(content("o1/2", wire.KindChange, soup, steak))
	bar := content("o1/2", wire.KindNew, steak)
	bar.Station = "bar"
	s.accept(bar)
	if _, err := s.do(Withdraw{Tenant: "t1", Order: "o1", Seq: 1}); !errors.Is(err, ErrSuperseded) {
		t.Errorf("the older form: %v", err)
	}
	if done := s.withdraw(Withdraw{Order: "o1", Seq: 2, Station: "bar"}); len(done.Stations) != 1 {
		t.Errorf("at one station: %+v", done)
	}
	s.want(id("o1", 2), Waiting)
	done := s.withdraw(Withdraw{Order: "o1", Seq: 2})
	if len(done.Stations) != 2 || done.Stations[0].Outcome != EndedOnPaper ||
		done.Stations[0].State != Cancelled || done.Stations[1].Outcome != EndedClean {
		t.Errorf("%+v", done)
	}
	s.prints("o1/2/r1@grill")
	// What is ordered anew after that adds everything.
	s.accept(content("o1/3", wire.KindChange, steak))
	m := s.prints(id("o1", 3))
	if m.As != "" || m.Changes == nil || len(m.Changes.Added) != 1 || len(m.Changes.Removed) > 0 {
		t.Errorf("as %q, changes %+v", m.As, m.Changes)
	}
}

func TestWhatCannotBeCancelledSaysWhy(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	s.accept(content("o1/1", wire.KindNotice))
	s.accept(content("o1/2", wire.KindNotice))
	s.prints(id("o1", 1))
	if at := s.withdraw(Withdraw{Order: "o1", Seq: 1}).Stations[0]; at.Outcome != EndedTooLate {
		t.Errorf("a notice on paper: %+v", at)
	}
	if at := s.withdraw(Withdraw{Order: "o1", Seq: 2}).Stations[0]; at.Outcome != EndedClean {
		t.Errorf("a notice that waits: %+v", at)
	}
	s.accept(content("o2/1", wire.KindVoid))
	if _, err := s.do(Withdraw{Tenant: "t1", Order: "o2", Seq: 1}); !errors.Is(err, ErrVoid) {
		t.Errorf("a void: %v", err)
	}
	for _, w := range []Withdraw{{Order: "o3", Seq: 1}, {Order: "o1", Seq: 9},
		{Order: "o1", Seq: 1, Station: "bar"}} {
		w.Tenant = "t1"
		if _, err := s.do(w); !errors.Is(err, ErrUnknown) {
			t.Errorf("%+v: %v", w, err)
		}
	}
}

func TestALatePaperOfACancelledTicketIsVoidedAtItsPrinter(t *testing.T) {
	for _, test := range []struct {
		name string
		end  func(s *shelf)
		want int // voids in the end
	}{
		{"cancelled before the device had said anything", func(s *shelf) {
			s.withdraw(Withdraw{Order: "o1", Seq: 1})
		}, 1},
		{"cancelled in the store's own words", func(s *shelf) {
			s.must(Cancel{Tenant: "t1", Ticket: id("o1", 1), Who: "ana", Reason: "guest left"})
		}, 1},
		{"voided, and the void is still to come", func(s *shelf) {
			s.accept(content("o1/2", wire.KindVoid))
		}, 0},
		{"voided, and nothing was to be printed", func(s *shelf) {
			s.accept(content("o1/2", wire.KindVoid))
			s.cleared(id("o1", 1))
			s.now = s.now.Add(VoidWait)
			s.mustDispatch(id("o1", 2), "d1", "s1")
			s.why(id("o1", 2), ReasonNoPaper)
		}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newShelf(t)
			s.hello("d1", "s1")
			s.accept(content("o1/1", wire.KindNew, soup))
			s.mustDispatch(id("o1", 1), "d1", "s1")
			test.end(s)
			s.want(id("o1", 1), Cancelled)
			s.ack(id("o1", 1), "d1", wire.OutcomePrinted, func(a *wire.Ack) { a.Attempt = 1 })
			s.want(id("o1", 1), Settled)
			tickets, err := Tickets(s, "t1", "o1", 0)
			if err != nil {
				t.Fatal(err)
			}
			var voids []string
			for _, ticket := range tickets {
				if d := s.delivery(ticket); d.Pinned != nil {
					voids = append(voids, ticket)
					if *d.Pinned != (Pin{Device: "d1", Printer: "p1"}) || d.Kind != wire.KindVoid {
						t.Errorf("%s is a %s for %+v", ticket, d.Kind, d.Pinned)
					}
				}
			}
			if len(voids) != test.want {
				t.Fatalf("voids %v, want %d", voids, test.want)
			}
			for _, void := range voids {
				s.prints(void)
				s.want(void, Settled)
			}
			// Said again, it makes no other.
			before := len(tickets)
			s.ack(id("o1", 1), "d1", wire.OutcomePrinted, func(a *wire.Ack) {
				a.Attempt, a.Evidence = 1, wire.EvidenceConfirmed
			})
			if tickets, _ = Tickets(s, "t1", "o1", 0); len(tickets) != before {
				t.Errorf("better evidence made %v", tickets)
			}
		})
	}
}

func TestEveryPrinterThatMayHaveItIsToldOfTheVoid(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	s.hello("d2", "s2")
	s.accept(content("o1/1", wire.KindNew, soup))
	s.mustDispatch(id("o1", 1), "d1", "s1")
	s.ack(id("o1", 1), "d1", wire.OutcomeStored)
	s.now = s.now.Add(LeaseFor)
	s.must(Advance{"t1", id("o1", 1), Elapse{0}})
	s.mustDispatch(id("o1", 1), "d2", "s2")
	s.ack(id("o1", 1), "d2", wire.OutcomeStored)
	voids := s.withdraw(Withdraw{Order: "o1", Seq: 1}).Stations[0].Voids
	if len(voids) != 1 || s.delivery(voids[0]).Pinned != nil {
		t.Fatalf("voids %v, want one for the present printer", voids)
	}
	s.now = s.now.Add(VoidWait)
	s.mustDispatch(voids[0], "d2", "s2")
	voids = s.withdraw(Withdraw{Order: "o1", Seq: 1}).Stations[0].Voids
	if len(voids) != 2 {
		t.Fatalf("voids %v, want one for each printer", voids)
	}
	if pin := s.delivery(voids[1]).Pinned; pin == nil || pin.Device != "d1" {
		t.Errorf("pinned %+v", pin)
	}
}
