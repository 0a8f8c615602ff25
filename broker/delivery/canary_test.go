package delivery

import (
	"strings"
	"testing"
	"time"

	"chit/broker/entity"
	"chit/device/wire"
)

const morning = "canary-2026-03-01-main/1@grill"

// canary is a shelf with one accepted.
func canary(t *testing.T) (*shelf, Accept) {
	t.Helper()
	s := newShelf(t)
	accept, err := NewCanary("t1", "main", "grill", "2026-03-01", 12*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if accept.Ticket() != morning {
		t.Fatalf("ticket %s, want %s", accept.Ticket(), morning)
	}
	s.must(accept)
	return s, accept
}

func TestACanaryIsNoOrder(t *testing.T) {
	s, accept := canary(t)
	s.hello("d1", "s1")
	s.now = s.now.Add(2 * time.Hour)
	m := s.mustDispatch(morning, "d1", "s1")
	if m.Number != "" || m.Previous != "" || len(m.Marks) > 0 || m.Stale != 0 || m.Pred != "" {
		t.Errorf("message %+v", m)
	}
	if m.Expires != int64((10 * time.Hour).Seconds()) {
		t.Errorf("expires in %d s, want what is left of the day", m.Expires)
	}
	c, err := wire.ParseContent(m.Data)
	if err != nil || c.Kind != wire.KindNotice || !strings.Contains(c.Note, "Nothing to cook") {
		t.Errorf("content %+v, %v", c, err)
	}
	if again := s.must(accept); !again.Repeat || !again.Empty() {
		t.Errorf("made twice: %+v", again)
	}
	s.ack(morning, "d1", wire.OutcomePrinted)
	if !s.delivery(morning).Proven() {
		t.Errorf("not proven: %+v", s.delivery(morning))
	}
	s.accept(content("o1/1", wire.KindNew))
	if m := s.mustDispatch(id("o1", 1), "d1", "s1"); m.Number != "1" || m.Previous != "" {
		t.Errorf("the first order has number %q after %q", m.Number, m.Previous)
	}
}

func TestACanaryStaysAtItsPrinter(t *testing.T) {
	s, _ := canary(t)
	s.hello("d1", "s1")
	s.mustDispatch(morning, "d1", "s1")
	d := s.delivery(morning)
	well := Seat{Device: "d2", Present: true}
	if move, why, _ := d.Watch().Where(Seat{}, well, s.now.Add(time.Hour)); move {
		t.Errorf("it would move: %s", why)
	}
	_, events, err := entity.Step(Machine{}, d, Action(Move{Epoch: d.Epoch,
		To: Place{Station: "bar"}, Device: "d2", Reason: "away"}), s.now)
	if err != nil || len(events) > 0 {
		t.Errorf("it moved: %+v, %v", events, err)
	}
}

// TestNoEndOfACanaryIsADeadLetter: everything that buries a ticket cancels a canary, and nobody is
// asked about it.
func TestNoEndOfACanaryIsADeadLetter(t *testing.T) {
	refuse := func(s *shelf) {
		s.ack(morning, "d1", wire.OutcomeRefused, func(a *wire.Ack) {
			a.Reason, a.Permanent = "printer", true
		})
	}
	for name, end := range map[string]func(*shelf){
		"refused":       refuse,
		"expired there": func(s *shelf) { s.ack(morning, "d1", wire.OutcomeExpired) },
		"window or memory": func(s *shelf) {
			s.now = s.now.Add(Window)
			s.must(Advance{Tenant: "t1", Ticket: morning, Action: Elapse{}})
		},
		"attempts": func(s *shelf) {
			for range AttemptsMax {
				s.now = s.now.Add(LeaseFor)
				s.must(Advance{Tenant: "t1", Ticket: morning, Action: Elapse{}})
				if d := s.delivery(morning); d.State == Waiting {
					s.now = d.Due
					s.mustDispatch(morning, "d1", "s1")
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := canary(t)
			s.hello("d1", "s1")
			s.mustDispatch(morning, "d1", "s1")
			end(s)
			s.want(morning, Cancelled)
			if s.delivery(morning).Reason == "" {
				t.Error("nothing says why")
			}
			s.must(Redrive{Tenant: "t1", Ticket: morning, Who: "ana", Why: "again"})
			s.want(morning, Cancelled)
		})
	}
	s, _ := canary(t)
	s.now = s.now.Add(11 * time.Hour)
	if s.delivery(morning).Outdated(wire.OnStaleAsk, time.Minute, s.now) {
		t.Error("a person is asked about it")
	}
}

func TestAKitchenWithALongNameHasCanariesToo(t *testing.T) {
	long := strings.Repeat("k", wire.IDMax)
	a, err := NewCanary("t1", long, "grill", "2026-03-01", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewCanary("t1", long[1:]+"x", "grill", "2026-03-01", time.Hour)
	if err != nil || a.Content.ID == b.Content.ID {
		t.Errorf("two kitchens share %s, %v", a.Content.ID, err)
	}
	if _, err := wire.ParseTicketID(a.Ticket()); err != nil {
		t.Error(err)
	}
}
