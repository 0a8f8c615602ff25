package delivery

import (
	"slices"

	"chit/device/wire"
)

// Diff says what now adds to, takes from and alters in was, the items of mutation since.
//
// Equal lines are paired first. Of the rest, lines with the same name, course and seat are paired
// in their order as altered; what is left was removed or added. Applying the result to was gives
// now, but for the order of the lines.
func Diff(since int, was, now []wire.Item) *wire.Changes {
	c := &wire.Changes{Since: since}
	was, now = unpaired(was, now, equal)
	gone, came := was, now
	for i := 0; i < len(gone); {
		j := slices.IndexFunc(came, func(item wire.Item) bool { return related(gone[i], item) })
		if j < 0 {
			i++
			continue
		}
		c.Was, c.Altered = append(c.Was, gone[i]), append(c.Altered, came[j])
		gone, came = without(gone, i), without(came, j)
	}
	if len(gone) > 0 {
		c.Removed = gone
	}
	if len(came) > 0 {
		c.Added = came
	}
	return c
}

// unpaired is what is left of both lists when equal lines are taken out in pairs.
func unpaired(was, now []wire.Item, same func(a, b wire.Item) bool) (gone, came []wire.Item) {
	came = slices.Clone(now)
	for _, item := range was {
		j := slices.IndexFunc(came, func(other wire.Item) bool { return same(item, other) })
		if j < 0 {
			gone = append(gone, item)
			continue
		}
		came = without(came, j)
	}
	return gone, came
}

func without(items []wire.Item, i int) []wire.Item {
	return append(slices.Clone(items[:i]), items[i+1:]...)
}

func related(a, b wire.Item) bool {
	return a.Name == b.Name && a.Course == b.Course && a.Seat == b.Seat
}

func equal(a, b wire.Item) bool {
	return related(a, b) && a.Quantity == b.Quantity && a.Note == b.Note &&
		slices.Equal(a.Modifiers, b.Modifiers) && slices.Equal(a.Allergens, b.Allergens)
}
