package delivery

import (
	"testing"

	"chit/device/wire"
)

func TestALowerMutationThatComesLateIsToldWhatStandsAboveIt(t *testing.T) {
	soup := wire.Item{Quantity: 1, Name: "soup"}
	for _, test := range []struct {
		name   string
		higher func(s *shelf)
		want   int
	}{
		{"nothing higher", func(*shelf) {}, 0},
		{"a higher one on paper", func(s *shelf) {
			s.accept(content("o1/3", wire.KindChange, soup))
			s.mustDispatch(id("o1", 3), "d1", "s1")
			s.ack(id("o1", 3), "d1", wire.OutcomePrinted)
		}, 3},
		{"a higher one that was handed over and may be on paper", func(s *shelf) {
			s.accept(content("o1/3", wire.KindChange, soup))
			s.mustDispatch(id("o1", 3), "d1", "s1")
		}, 3},
		{"two of them", func(s *shelf) {
			for _, seq := range []int{3, 5} {
				s.accept(content(map[int]string{3: "o1/3", 5: "o1/5"}[seq], wire.KindChange, soup))
				s.mustDispatch(id("o1", seq), "d1", "s1")
				s.ack(id("o1", seq), "d1", wire.OutcomePrinted)
			}
		}, 5},
		{"a higher one of another order", func(s *shelf) {
			s.accept(content("o2/3", wire.KindChange, soup))
			s.mustDispatch(id("o2", 3), "d1", "s1")
		}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newShelf(t)
			s.hello("d1", "s1")
			test.higher(s)
			s.accept(content("o1/1", wire.KindNew, soup))
			if got := s.mustDispatch(id("o1", 1), "d1", "s1").Above; got != test.want {
				t.Errorf("above %d, want %d", got, test.want)
			}
		})
	}
}

// TestATwinThatComesLateIsToldWhatStandsAboveIt sends the change for the bar once more after the
// bar has printed the one that followed it.
func TestATwinThatComesLateIsToldWhatStandsAboveIt(t *testing.T) {
	for _, test := range []struct {
		name string
		bar  bool // the higher one is at the bar, as the twin is
		want int
	}{{"above it at its printer", true, 3}, {"at another printer", false, 0}} {
		t.Run(test.name, func(t *testing.T) {
			s := atBar(t)
			s.accept(content("o1/2", wire.KindChange, soup, steak))
			s.goes(id("o1", 2))
			s.ack(id("o1", 2), "d1", wire.OutcomePrinted)
			twin := "o1/2/r1@grill"
			s.goes(twin)
			s.ack(twin, "d2", wire.OutcomeRefused, refuse("poison", true))
			s.want(twin, Dead)
			s.accept(content("o1/3", wire.KindChange, soup))
			if test.bar {
				s.moves(id("o1", 3))
			}
			if above := s.goes(id("o1", 3)).Above; above != 0 {
				t.Errorf("the newest says that it is older than %d", above)
			}
			s.must(Redrive{Tenant: "t1", Ticket: twin, Who: "ana", Why: "poison"})
			if m := s.goes(twin); m.ID != twin || m.Above != test.want {
				t.Errorf("%q is handed over, above %d, want %d", m.ID, m.Above, test.want)
			}
		})
	}
}

// TestALowerMutationIsToldOfATwinAboveIt has the twin of a change on paper at the bar, while the
// change itself was taken back before its own printer had begun.
func TestALowerMutationIsToldOfATwinAboveIt(t *testing.T) {
	s := atBar(t)
	s.accept(content("o1/3", wire.KindChange, soup, steak))
	s.goes(id("o1", 3))
	twin := "o1/3/r1@grill"
	s.goes(twin)
	s.ack(twin, "d2", wire.OutcomePrinted)
	s.ack(id("o1", 3), "d1", wire.OutcomeRefused, refuse("storage", false))
	s.must(Advance{"t1", id("o1", 3), Move{Epoch: s.delivery(id("o1", 3)).Epoch, Device: "d2",
		To: Place{Station: "bar", Name: "Bar"}, Reason: "degraded", Chance: 0.5}})
	s.ack(id("o1", 3), "d1", wire.OutcomeRecalled, func(a *wire.Ack) {
		a.Attempt, a.Reason = 1, s.delivery(id("o1", 3)).Recalls[0].ID
	})
	if !s.delivery(id("o1", 3)).paperless() {
		t.Fatal("the change itself may be on paper")
	}
	s.accept(content("o1/2", wire.KindNotice))
	s.moves(id("o1", 2))
	if m := s.goes(id("o1", 2)); m.Device != "d2" || m.Above != 3 {
		t.Errorf("at %s it stands below %d, want 3 at d2", m.Device, m.Above)
	}
}
