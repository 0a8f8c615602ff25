package escpos

import (
	"testing"

	"pgregory.net/rapid"

	"chit/printer/profile"
)

// leastSwitches tries every way to spell the line.
func leastSwitches(s *speller, line []cell, page int) int {
	if len(line) == 0 {
		return 0
	}
	if line[0].r < 0x80 {
		return leastSwitches(s, line[1:], page)
	}
	best := 1 << 20
	for _, way := range s.spellings(line[0].r) {
		n := leastSwitches(s, line[1:], way.page)
		if way.page != page {
			n++
		}
		best = min(best, n)
	}
	return best
}

func TestThePlanHasAsFewPageSwitchesAsAnyOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSpeller(profile.Safe80().Pages)
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab é€ñЖőłßΩ¢£")), 0, 7, -1).Draw(t, "text")
		var line []cell
		for _, r := range text {
			line = append(line, cell{r: r, style: plain})
		}
		page := rapid.IntRange(0, len(s.pages)-1).Draw(t, "page")
		switches, at := 0, page
		for i, way := range s.plan(line, page) {
			if way.page < 0 {
				continue
			}
			if way.page != at {
				at = way.page
				switches++
			}
			found := false
			for _, known := range s.spellings(line[i].r) {
				found = found || known == way
			}
			if !found {
				t.Fatalf("%q is spelt %v, which no page has", line[i].r, way)
			}
		}
		if least := leastSwitches(s, line, page); switches != least {
			t.Fatalf("%q: %d switches, %d would do", text, switches, least)
		}
	})
}
