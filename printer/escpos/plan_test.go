package escpos

import (
	"testing"

	"pgregory.net/rapid"

	"chit/printer/profile"
)

type planCost struct{ switches, preference int }

func (a planCost) less(b planCost) bool {
	return a.switches < b.switches || a.switches == b.switches && a.preference < b.preference
}

// leastCost tries every way to spell the line.
func leastCost(s *speller, line []cell, page int16) planCost {
	if len(line) == 0 {
		return planCost{}
	}
	if line[0].r < 0x80 {
		return leastCost(s, line[1:], page)
	}
	best := planCost{switches: 1 << 20}
	for _, way := range s.spellings(line[0].r) {
		cost := leastCost(s, line[1:], way.page)
		cost.preference += int(way.page)
		if way.page != page {
			cost.switches++
		}
		if cost.less(best) {
			best = cost
		}
	}
	return best
}

func TestThePlanHasTheFewestSwitchesAndThenTheCommonestPages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSpeller(profile.Safe80().Pages)
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab é€ñЖőłßΩ¢£")), 0, 7, -1).Draw(t, "text")
		var line []cell
		for _, r := range text {
			line = append(line, cell{r: r, style: plain})
		}
		page := rapid.Int16Range(0, int16(len(s.pages)-1)).Draw(t, "page")
		cost, at := planCost{}, page
		for i, way := range s.plan(line, page) {
			if way.page < 0 {
				continue
			}
			if way.page != at {
				at = way.page
				cost.switches++
			}
			cost.preference += int(way.page)
			found := false
			for _, known := range s.spellings(line[i].r) {
				found = found || known == way
			}
			if !found {
				t.Fatalf("%q is spelt %v, which no page has", line[i].r, way)
			}
		}
		if least := leastCost(s, line, page); cost != least {
			t.Fatalf("%q: %+v, %+v would do", text, cost, least)
		}
	})
}
