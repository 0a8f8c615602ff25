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
