package rig

import (
	"strings"
	"testing"
	"time"

	"chit/printer/virtual"
)

// sheet is paper with these lines.
func sheet(lines ...string) virtual.Sheet {
	s := virtual.Sheet{WidthDots: 576, Cut: virtual.CutPartial, CutAt: time.Unix(100, 0)}
	for i, line := range lines {
		s.Lines = append(s.Lines, virtual.Line{Y: i * 30, Height: 24, Runs: []virtual.Run{
			{Text: line, Width: 12 * len(line), Style: virtual.Style{Width: 1, Height: 1}}}})
	}
	return s
}

func TestTheJudgeReadsIDAndMark(t *testing.T) {
	for _, tc := range []struct {
		name   string
		lines  []string
		id     string
		marked bool
	}{
		{"a ticket", []string{"GRILL", "2 Pizza", "shop-7/1@grill"}, "shop-7/1@grill", false},
		{"with its attempt", []string{"shop-7/1@grill · attempt 2"}, "shop-7/1@grill", false},
		{"with a mark on two lines", []string{"POSSIBLE", "DUPLICATE", "shop-7/1@grill"},
			"shop-7/1@grill", true},
		{"that speaks of another", []string{"after shop-6/1@grill", "shop-7/2@grill"},
			"shop-7/2@grill", false},
		{"a slip", []string{"THIS PRINTER CANNOT REMEMBER ORDERS"}, "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if p := Read(sheet(tc.lines...)); p.ID != tc.id || p.Marked != tc.marked {
				t.Errorf("id %q marked %v, want %q %v", p.ID, p.Marked, tc.id, tc.marked)
			}
		})
	}
}

func TestTheJudgeFindsEveryBrokenPromise(t *testing.T) {
	one := sheet("a/1@grill")
	again := sheet("a/1@grill", "POSSIBLE DUPLICATE")
	moved := sheet("MOVED FROM GRILL", "a/1@grill")
	asks := sheet("POSSIBLE DUPLICATE", "MOVED, ASK GRILL", "a/1@grill")
	torn := sheet("a/1@grill")
	torn.Marks = []virtual.Mark{{Kind: "error", Text: "unknown command"}}
	accepted := map[string]time.Time{"a/1@grill": time.Unix(99, 0)}
	for _, tc := range []struct {
		name   string
		ended  map[string]string
		sheets []virtual.Sheet
		broken string // a part of what is broken, empty for nothing
	}{
		{"one paper", nil, []virtual.Sheet{one}, ""},
		{"a marked second paper", nil, []virtual.Sheet{one, again}, ""},
		{"a marked paper alone", nil, []virtual.Sheet{again}, ""},
		{"no paper and a person told", map[string]string{"a/1@grill": "dead"}, nil, ""},
		{"no paper, for it was voided in time", map[string]string{"a/1@grill": "cancelled"}, nil, ""},
		{"no paper", nil, nil, "has no paper"},
		{"an unmarked second paper", nil, []virtual.Sheet{one, one}, "without a mark"},
		{"an unmarked one behind a marked one", nil, []virtual.Sheet{again, one}, "without a mark"},
		{"a moved one", nil, []virtual.Sheet{moved}, ""},
		{"a moved one that tells of the other", nil, []virtual.Sheet{one, asks}, ""},
		{"the other behind it", nil, []virtual.Sheet{asks, one}, ""},
		{"two others behind it", nil, []virtual.Sheet{asks, one, one}, "without a mark"},
		{"a moved one that says there is no other", nil, []virtual.Sheet{one, moved},
			"without a mark"},
		{"and the other way round", nil, []virtual.Sheet{moved, one}, "without a mark"},
		{"paper nobody asked for", nil, []virtual.Sheet{one, sheet("b/1@grill")}, "never accepted"},
		{"bytes the printer does not know", nil, []virtual.Sheet{torn}, "objected"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := judge(accepted, tc.ended, tc.sheets)
			broken := strings.Join(v.Broken, "; ")
			if v.Held() != (tc.broken == "") || !strings.Contains(broken, tc.broken) {
				t.Errorf("broken: %q, want %q", broken, tc.broken)
			}
		})
	}
}
