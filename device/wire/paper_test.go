package wire

import (
	"strings"
	"testing"
)

func TestLinesMinCountsWhatMustStandOnPaper(t *testing.T) {
	for _, c := range []struct {
		name string
		in   Content
		want int
	}{
		{"nothing", Content{}, 0},
		{"an item", Content{Items: []Item{{Name: "soup"}}}, 1},
		{"all of an item", Content{Note: "n", Items: []Item{{Name: "soup", Modifiers: []string{"a", "b"},
			Allergens: []string{"nuts", "milk"}, Note: "x"}}}, 6},
		{"a long name", Content{Items: []Item{{Name: strings.Repeat("x", 129)}}}, 3},
		{"what may be folded", Content{Items: []Item{{Name: strings.Repeat("花 ", 100)}}}, 1},
	} {
		if got := c.in.LinesMin(); got != c.want {
			t.Errorf("%s: %d lines, want %d", c.name, got, c.want)
		}
	}
}
