package delivery

import (
	"slices"
	"testing"

	"chit/device/wire"
)

// two is a shelf whose grill is served by d1 and, in its place, by the bar's d2.
func two(t testing.TB) *shelf {
	s := newShelf(t)
	s.hello("d1", "s-d1")
	s.hello("d2", "s-d2")
	return s
}

// goes hands a ticket over to whoever has it now.
func (s *shelf) goes(ticket string) wire.Ticket {
	s.t.Helper()
	d := s.delivery(ticket)
	device, place := "d1", Place{}
	switch {
	case d.Pinned != nil:
		device = d.Pinned.Device
	case d.MovedTo != "":
		device, place = "d2", Place{Station: d.MovedTo, Name: "Bar"}
	}
	if s.now.Before(d.Due) {
		s.now = d.Due
	}
	s.must(Dispatch{Tenant: "t1", Ticket: ticket, Epoch: d.Epoch, Device: device, Printer: "p1",
		Session: "s-" + device, Place: place})
	for _, effect := range s.effects {
		if send, ok := effect.(Send); ok {
			return send.Message
		}
	}
	return wire.Ticket{}
}

// moves gives a ticket to the bar.
func (s *shelf) moves(ticket string) {
	s.t.Helper()
	s.must(Advance{"t1", ticket, Move{Epoch: s.delivery(ticket).Epoch, Device: "d2",
		To: Place{Station: "bar", Name: "Bar"}, Reason: "silent", Chance: 0.5}})
}

// first is the answer of d1 that it has printed the first attempt, unknown to whom it was moved.
func (s *shelf) first(ticket string) {
	s.t.Helper()
	word := s.ack(ticket, "d1", wire.OutcomePrinted, func(a *wire.Ack) { a.Attempt = 1 })
	if word != "" {
		s.t.Fatalf("ignored: %s", word)
	}
}

// made lists what the broker made of the order, in order.
func (s *shelf) made() []string {
	s.t.Helper()
	all, err := Tickets(s, "t1", "o1", 0)
	if err != nil {
		s.t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(ticket string) bool {
		id, err := wire.ParseTicketID(ticket)
		return err != nil || id.Made == ""
	})
}

func (s *shelf) wantMade(tickets ...string) {
	s.t.Helper()
	if got := s.made(); !slices.Equal(got, tickets) {
		s.t.Fatalf("the broker made %v, want %v", got, tickets)
	}
}

// atBar is an order whose first ticket went to d1, was not answered, and was printed by d2.
func atBar(t *testing.T) *shelf {
	s := two(t)
	s.accept(content("o1/1", wire.KindNew, soup))
	s.goes(id("o1", 1))
	s.now = s.now.Add(SilentMax)
	s.moves(id("o1", 1))
	s.goes(id("o1", 1))
	s.ack(id("o1", 1), "d2", wire.OutcomePrinted)
	s.want(id("o1", 1), Settled)
	return s
}

func TestAVoidOrChangeGoesToEveryPrinterThatMayHaveTheOrder(t *testing.T) {
	for _, kind := range []wire.Kind{wire.KindVoid, wire.KindChange} {
		t.Run(string(kind), func(t *testing.T) {
			s := atBar(t)
			s.accept(content("o1/2", kind, soup, steak))
			s.wantMade() // Where it goes itself is not known yet.
			own := s.goes(id("o1", 2))
			s.wantMade("o1/2/r1@grill")
			twin := s.delivery("o1/2/r1@grill")
			if twin.Pinned == nil || *twin.Pinned != (Pin{"d2", "p1"}) || twin.Kind != kind ||
				twin.Source != own.ID {
				t.Fatalf("%+v", twin)
			}
			m := s.goes(twin.Ticket)
			if string(m.Data) != string(own.Data) || m.Number != own.Number || m.Device != "d2" ||
				m.As != own.As || m.Gaps != "" || m.Pred != "" {
				t.Errorf("the twin\n%+v\nof\n%+v", m, own)
			}
			// Told again, it is not made again.
			s.ack(own.ID, "d1", wire.OutcomeRefused, refuse("busy", false))
			s.goes(own.ID)
			s.ack(own.ID, "d1", wire.OutcomePrinted)
			s.ack(twin.Ticket, "d2", wire.OutcomePrinted)
			s.first(id("o1", 1)) // The first device had printed, too.
			for _, ticket := range s.made() {
				if d := s.delivery(ticket); d.Kind == kind && ticket != twin.Ticket {
					t.Errorf("made %s again", ticket)
				}
			}
		})
	}
}

func TestATwinTakesNoNumber(t *testing.T) {
	s := atBar(t)
	s.accept(content("o1/2", wire.KindVoid))
	s.goes(id("o1", 2))
	s.goes("o1/2/r1@grill")
	s.accept(content("o2/1", wire.KindNew, soup))
	if m := s.goes(id("o2", 1)); m.Number != "3" || m.Previous != "2" {
		t.Errorf("number %s after %s", m.Number, m.Previous)
	}
}

func TestAPrinterThatProvesThatItHasNoPaperGetsNoTwin(t *testing.T) {
	s := two(t)
	s.accept(content("o1/1", wire.KindNew, soup))
	s.goes(id("o1", 1))
	s.now = s.now.Add(SilentMax)
	s.moves(id("o1", 1))
	s.goes(id("o1", 1))
	s.ack(id("o1", 1), "d2", wire.OutcomePrinted)
	s.cleared(id("o1", 1))
	s.accept(content("o1/2", wire.KindVoid))
	s.moves(id("o1", 2))
	s.goes(id("o1", 2))
	s.wantMade()
}

func TestATwinThatIsNotNeededAnyMoreIsTakenBack(t *testing.T) {
	s := two(t)
	s.accept(content("o1/1", wire.KindNew, soup))
	s.goes(id("o1", 1))
	s.now = s.now.Add(SilentMax)
	s.moves(id("o1", 1))
	s.goes(id("o1", 1))
	s.ack(id("o1", 1), "d2", wire.OutcomePrinted)
	s.accept(content("o1/2", wire.KindVoid))
	s.moves(id("o1", 2))
	s.goes(id("o1", 2))
	s.wantMade("o1/2/r1@grill")
	s.cleared(id("o1", 1))
	s.goes("o1/2/r1@grill")
	s.why("o1/2/r1@grill", ReasonNoPaper)
	// It was wrong: the paper comes all the same.
	s.first(id("o1", 1))
	s.wantMade("o1/2/r1@grill", "o1/2/r2@grill")
	s.want("o1/2/r2@grill", Waiting)
}

func TestWhatIsPrintedBehindItsChangeElsewhereIsFollowedByIt(t *testing.T) {
	s := two(t)
	s.accept(content("o1/1", wire.KindNew, soup))
	s.goes(id("o1", 1))
	s.ack(id("o1", 1), "d1", wire.OutcomeRefused, refuse("poison", true))
	s.want(id("o1", 1), Dead)
	s.accept(content("o1/2", wire.KindChange, soup, steak))
	s.goes(id("o1", 2))
	s.ack(id("o1", 2), "d1", wire.OutcomePrinted)
	s.wantMade()
	s.must(Redrive{Tenant: "t1", Ticket: id("o1", 1), Who: "ana"})
	s.moves(id("o1", 1))
	s.goes(id("o1", 1))
	s.wantMade("o1/2/r1@grill")
	if _, err := s.dispatch("o1/2/r1@grill", "d2", "s-d2"); err == nil {
		t.Error("the change went before what it changes")
	}
	s.ack(id("o1", 1), "d2", wire.OutcomePrinted)
	s.goes("o1/2/r1@grill")
	s.want("o1/2/r1@grill", Leased)
}

func TestAVoidEndsTheTwinsOfAChange(t *testing.T) {
	s := atBar(t)
	s.accept(content("o1/2", wire.KindChange, steak))
	s.goes(id("o1", 2))
	s.ack(id("o1", 2), "d1", wire.OutcomePrinted)
	s.accept(content("o1/3", wire.KindVoid))
	s.why("o1/2/r1@grill", ReasonVoided)
	s.goes(id("o1", 3))
	s.wantMade("o1/2/r1@grill", "o1/3/r1@grill")
	if pin := s.delivery("o1/3/r1@grill").Pinned; *pin != (Pin{"d2", "p1"}) {
		t.Errorf("for %+v", pin)
	}
	// A dead void is sent again: its twin does not stand in its way.
	s.ack(id("o1", 3), "d1", wire.OutcomeRefused, refuse("poison", true))
	s.must(Redrive{Tenant: "t1", Ticket: id("o1", 3), Who: "ana"})
	s.want(id("o1", 3), Waiting)
}

func TestACancellationReachesTheBackupsPaperToo(t *testing.T) {
	s := atBar(t)
	at := s.withdraw(Withdraw{Order: "o1", Seq: 1}).Stations[0]
	for _, void := range at.Voids {
		s.goes(void)
	}
	devices := map[string]int{}
	for _, ticket := range s.made() {
		d := s.delivery(ticket)
		if d.State == Waiting {
			s.goes(ticket)
		}
		devices[s.delivery(ticket).Handed[0].Device]++
	}
	if devices["d1"] != 1 || devices["d2"] != 1 {
		t.Errorf("voids %v", devices)
	}
}

func TestTwoPapersAreToldAtBothPrintersOnce(t *testing.T) {
	s := two(t)
	c := content("o1/1", wire.KindNew, soup)
	c.Order = "Anna"
	s.accept(c)
	s.goes(id("o1", 1))
	s.now = s.now.Add(SilentMax)
	s.moves(id("o1", 1))
	s.goes(id("o1", 1))
	s.ack(id("o1", 1), "d2", wire.OutcomePrinted)
	s.wantMade()
	s.first(id("o1", 1))
	s.wantMade("o1/1/r1@grill", "o1/1/r2@grill")
	for i, device := range []string{"d2", "d1"} {
		m := s.goes(s.made()[i])
		said, err := wire.ParseContent(m.Data)
		if err != nil || m.Device != device || said.Kind != wire.KindNotice ||
			said.Note != "1 of order Anna was printed at BAR and at GRILL. Make it once." {
			t.Errorf("%s: %+v (%v)", m.Device, said, err)
		}
	}
	s.ack(id("o1", 1), "d1", wire.OutcomePrinted, func(a *wire.Ack) {
		a.Attempt, a.Journal = 1, "j-other"
	})
	if d := s.delivery(id("o1", 1)); len(d.Doubled) != 2 {
		t.Fatalf("%+v", d.Doubled)
	}
	s.wantMade("o1/1/r1@grill", "o1/1/r2@grill")
}

func TestTwoPapersOfAVoidedOrderAreVoided(t *testing.T) {
	s := atBar(t)
	s.accept(content("o1/2", wire.KindVoid))
	s.goes(id("o1", 2))
	s.first(id("o1", 1))
	for _, ticket := range s.made() {
		if d := s.delivery(ticket); d.Kind != wire.KindVoid {
			t.Errorf("%s is a %s", ticket, d.Kind)
		}
	}
}
