package delivery

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"chit/device/wire"
)

// TestDiffGivesTheNewItems applies a diff to the old items and must get the new ones, in any order.
func TestDiffGivesTheNewItems(t *testing.T) {
	item := rapid.Custom(func(t *rapid.T) wire.Item {
		return wire.Item{
			Quantity: rapid.IntRange(1, 3).Draw(t, "quantity"),
			Name:     rapid.SampledFrom([]string{"soup", "steak"}).Draw(t, "name"),
			Note:     rapid.SampledFrom([]string{"", "rare"}).Draw(t, "note"),
			Seat:     rapid.SampledFrom([]string{"", "2"}).Draw(t, "seat"),
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		was := rapid.SliceOfN(item, 0, 6).Draw(rt, "was")
		now := rapid.SliceOfN(item, 0, 6).Draw(rt, "now")
		c := Diff(3, was, now)
		if c.Since != 3 || len(c.Was) != len(c.Altered) {
			rt.Fatalf("%+v", c)
		}
		count := map[string]int{}
		for sign, items := range map[int][]wire.Item{1: slices.Concat(was, c.Added, c.Altered),
			-1: slices.Concat(c.Removed, c.Was, now)} {
			for _, item := range items {
				count[fmt.Sprintf("%+v", item)] += sign
			}
		}
		for item, left := range count {
			if left != 0 {
				rt.Fatalf("%s is off by %d in %+v", item, left, c)
			}
		}
		for i := range c.Was {
			if equal(c.Was[i], c.Altered[i]) || !related(c.Was[i], c.Altered[i]) {
				rt.Fatalf("altered %+v to %+v", c.Was[i], c.Altered[i])
			}
		}
		if same := Diff(3, was, was); len(same.Added)+len(same.Removed)+len(same.Altered) != 0 {
			rt.Fatalf("nothing changed, and yet %+v", same)
		}
	})
}

func TestAChangeIsToldAgainstTheLastAcceptedItems(t *testing.T) {
	soup, steak := wire.Item{Quantity: 1, Name: "soup"}, wire.Item{Quantity: 1, Name: "steak"}
	s := newShelf(t)
	s.hello("d1", "s1")
	s.accept(content("o1/1", wire.KindNew, soup))
	s.prints(id("o1", 1))
	s.accept(content("o1/2", wire.KindChange, soup, steak))
	s.prints(id("o1", 2))
	s.accept(content("o1/3", wire.KindNotice))
	s.accept(content("o1/5", wire.KindChange, steak))
	bar := content("o1/6", wire.KindChange, soup)
	bar.Station = "bar"
	s.accept(bar)
	for ticket, want := range map[string]*wire.Changes{
		id("o1", 1):  nil,
		id("o1", 2):  {Since: 1, Added: []wire.Item{steak}},
		id("o1", 3):  nil,
		id("o1", 5):  {Since: 2, Removed: []wire.Item{soup}},
		"o1/6@bar":   nil,
		id("o1", 99): nil,
	} {
		c, _, err := LoadContent(s, "t1", ticket)
		if err != nil || !reflect.DeepEqual(c.Changes, want) {
			t.Errorf("%s: %+v, %v, want %+v", ticket, c.Changes, err, want)
		}
	}
}
