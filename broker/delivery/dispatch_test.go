package delivery

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"chit/device/wire"
)

func TestTheDispatchedMessageSaysEverything(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	first := content("o1/1", wire.KindNew, wire.Item{Quantity: 1, Name: "soup"})
	second := content("o1/4", wire.KindChange, wire.Item{Quantity: 2, Name: "soup"})
	s.accept(first)
	s.mustDispatch(id("o1", 1), "d1", "s1")
	s.accept(second)
	s.ack(id("o1", 1), "d1", wire.OutcomePrinted)
	s.now = s.now.Add(10*time.Second + 500*time.Millisecond)
	got := s.mustDispatch(id("o1", 4), "d1", "s1")
	want := wire.Ticket{
		ID: id("o1", 4), Source: "chit/t1", Device: "d1", Time: "2026-03-14T09:00:00Z",
		Data: data(t, second), Attempt: 1, Lease: 30000, Stale: 1789500,
		Expires: 30*24*3600 - 10, Printer: "p1", Station: "grill", Number: "2", Previous: "1",
		Pred: id("o1", 1),
		Changes: &wire.Changes{Since: 1, Altered: []wire.Item{{Quantity: 2, Name: "soup"}},
			Was: []wire.Item{{Quantity: 1, Name: "soup"}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestOnlyOpenLowerMutationsOfTheStationBlock(t *testing.T) {
	for _, test := range []struct {
		name    string
		lower   func(s *shelf)
		blocked bool
		pred    string
	}{
		{"waiting", func(s *shelf) {}, true, ""},
		{"leased", func(s *shelf) { s.mustDispatch(id("o1", 1), "d1", "s1") }, true, ""},
		{"parked", func(s *shelf) {
			s.must(Advance{"t1", id("o1", 1), Leave{Epoch: s.delivery(id("o1", 1)).Epoch, Reason: "away"}})
		}, true, ""},
		{"settled", func(s *shelf) {
			s.mustDispatch(id("o1", 1), "d1", "s1")
			s.ack(id("o1", 1), "d1", wire.OutcomePrinted)
		}, false, id("o1", 1)},
		{"dead", func(s *shelf) {
			s.mustDispatch(id("o1", 1), "d1", "s1")
			s.ack(id("o1", 1), "d1", wire.OutcomeRefused, refuse("poison", true))
		}, false, id("o1", 1)},
		{"cancelled", func(s *shelf) { s.must(Cancel{Tenant: "t1", Ticket: id("o1", 1)}) }, false, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newShelf(t)
			s.hello("d1", "s1")
			s.accept(content("o1/1", wire.KindNew))
			s.accept(content("o1/3", wire.KindNotice))
			elsewhere := content("o1/2", wire.KindNew)
			elsewhere.Station = "bar"
			s.accept(elsewhere)
			test.lower(s)
			m, err := s.dispatch(id("o1", 3), "d1", "s1")
			if errors.Is(err, ErrBlocked) != test.blocked || !test.blocked && err != nil {
				t.Fatalf("got %v", err)
			}
			if m.Pred != test.pred {
				t.Errorf("pred %q, want %q", m.Pred, test.pred)
			}
		})
	}
}

func TestMarksSayWhatThePaperMayBe(t *testing.T) {
	elapsed := func(s *shelf) {
		s.now = s.now.Add(LeaseFor)
		s.must(Advance{"t1", id("o1", 1), Elapse{0}})
	}
	for _, test := range []struct {
		name   string
		before func(s *shelf)
		device string
		want   []wire.Mark
	}{
		{"at first", func(*shelf) {}, "d1", nil},
		{"again to one that remembers", func(s *shelf) {
			s.mustDispatch(id("o1", 1), "d1", "s1")
			elapsed(s)
		}, "d1", nil},
		{"again in a new session", func(s *shelf) {
			s.mustDispatch(id("o1", 1), "d1", "s1")
			elapsed(s)
			s.hello("d1", "s2", func(h *wire.Hello) { h.Boot = 2 })
		}, "d1", nil},
		{"again to a new journal", func(s *shelf) {
			s.mustDispatch(id("o1", 1), "d1", "s1")
			elapsed(s)
			s.hello("d1", "s2", func(h *wire.Hello) { h.Journal = "j-new" })
		}, "d1", []wire.Mark{wire.MarkPossibleDuplicate}},
		{"twice to a new journal, for the first may not have come", func(s *shelf) {
			s.mustDispatch(id("o1", 1), "d1", "s1")
			elapsed(s)
			s.hello("d1", "s2", func(h *wire.Hello) { h.Journal = "j-new" })
			s.mustDispatch(id("o1", 1), "d1", "s2")
			elapsed(s)
		}, "d1", []wire.Mark{wire.MarkPossibleDuplicate}},
		{"again to a journal that fell back", func(s *shelf) {
			s.mustDispatch(id("o1", 1), "d1", "s1")
			s.ack(id("o1", 1), "d1", wire.OutcomeStored)
			elapsed(s)
			s.hello("d1", "s2", func(h *wire.Hello) { h.N = 0 })
		}, "d1", []wire.Mark{wire.MarkPossibleDuplicate}},
		{"at first to a new journal", func(s *shelf) {
			s.hello("d1", "s2", func(h *wire.Hello) { h.Journal = "j-new" })
		}, "d1", nil},
		{"to another device", func(s *shelf) {
			s.mustDispatch(id("o1", 1), "d1", "s1")
			elapsed(s)
			s.hello("d2", "s2")
		}, "d2", []wire.Mark{wire.MarkMoved, wire.MarkPossibleDuplicate}},
		{"late", func(s *shelf) { s.now = s.now.Add(StaleAfter) }, "d1", []wire.Mark{wire.MarkLate}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newShelf(t)
			s.hello("d1", "s1")
			s.accept(content("o1/1", wire.KindNew))
			test.before(s)
			device, _, err := LoadDevice(s, "t1", test.device)
			if err != nil {
				t.Fatal(err)
			}
			m := s.mustDispatch(id("o1", 1), test.device, device.Session)
			if !slices.Equal(m.Marks, test.want) {
				t.Errorf("marks %v, want %v", m.Marks, test.want)
			}
			if late := slices.Contains(test.want, wire.MarkLate); late != (m.Stale == 0) {
				t.Errorf("stale in %d ms", m.Stale)
			}
		})
	}
}

func TestADispatchNeedsTheDevicesSession(t *testing.T) {
	s := newShelf(t)
	s.accept(content("o1/1", wire.KindNew))
	if _, err := s.dispatch(id("o1", 1), "d1", "s1"); !errors.Is(err, ErrSession) {
		t.Errorf("never said hello: %v", err)
	}
	s.hello("d1", "s1")
	s.hello("d1", "s2")
	if _, err := s.dispatch(id("o1", 1), "d1", "s1"); !errors.Is(err, ErrSession) {
		t.Errorf("an older session: %v", err)
	}
	s.want(id("o1", 1), Waiting)
}

// TestOrderOfOneOrder lets several orders' mutations come in any order and be answered in any way,
// and checks I6 at every dispatch: no lower mutation at the station is waiting, leased or parked.
func TestOrderOfOneOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newShelf(t)
		s.hello("d1", "s1")
		seqs := rapid.SliceOfNDistinct(rapid.IntRange(1, 9), 1, 6, rapid.ID[int]).Draw(rt, "seqs")
		var accepted []int
		for range 40 {
			s.now = s.now.Add(time.Second)
			if len(seqs) > len(accepted) && rapid.Bool().Draw(rt, "accept") {
				seq := seqs[len(accepted)]
				s.accept(content(fmt.Sprintf("o1/%d", seq), wire.KindNotice))
				accepted = append(accepted, seq)
				continue
			}
			if len(accepted) == 0 {
				continue
			}
			seq := rapid.SampledFrom(accepted).Draw(rt, "seq")
			if s.delivery(id("o1", seq)).State == Leased {
				s.ack(id("o1", seq), "d1", rapid.SampledFrom([]wire.Outcome{wire.OutcomePrinted,
					wire.OutcomeStored, wire.OutcomeRefused}).Draw(rt, "outcome"), refuse("busy", false))
				continue
			}
			m, err := s.dispatch(id("o1", seq), "d1", "s1")
			lower := ""
			for _, other := range accepted {
				if other < seq && s.delivery(id("o1", other)).State.Blocks() {
					lower = id("o1", other)
				}
			}
			if (err == nil && m.ID != "") && lower != "" {
				rt.Fatalf("%d was dispatched before %s", seq, lower)
			}
			if errors.Is(err, ErrBlocked) && lower == "" {
				rt.Fatalf("%d is blocked by nothing", seq)
			}
		}
	})
}
