package escpos

import (
	"strings"
	"testing"

	"chit/printer/document"
)

// spans reads "plain *kept together* _double width_" into cells.
func spans(text string) []cell {
	style, keep, keeps := plain, int32(0), int32(0)
	var out []cell
	for _, r := range text {
		switch r {
		case '*':
			if keep == 0 {
				keeps++
				keep = keeps
			} else {
				keep = 0
			}
		case '_':
			style.Width = 3 - style.Width
		case '#':
			style.Inverse = !style.Inverse
		default:
			out = append(out, cell{r, keep, style})
		}
	}
	return out
}

func show(lines [][]cell) string {
	var out []string
	for _, line := range lines {
		var text strings.Builder
		for _, c := range line {
			text.WriteRune(c.r)
		}
		out = append(out, text.String())
	}
	return strings.Join(out, "|")
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		name, in    string
		first, next int
		want        string
	}{
		{"nothing", "", 10, 10, ""},
		{"fits", "two words", 10, 10, "two words"},
		{"fits exactly", "two wordss", 10, 10, "two wordss"},
		{"breaks at the space", "two wordsss", 10, 10, "two|wordsss"},
		{"all spaces at a break go", "two    wordsss", 10, 10, "two|wordsss"},
		{"leading spaces stay", "  two", 10, 10, "  two"},
		{"trailing spaces go", "two  ", 10, 10, "two"},
		{"trailing spaces of a bar stay", "# NEW #", 10, 10, " NEW "},
		{"hanging indent", "one two three four", 8, 5, "one two|three|four"},
		{"a long word starts a line of its own", "a abcdefghijkl", 10, 10, "a|abcdefghij|kl"},
		{"a kept span stays whole", "some *2 x* nuts *no nuts* here", 12, 12,
			"some 2 x|nuts no nuts|here"},
		{"a kept span moves", "a bcdefgh *no nuts*", 12, 12, "a bcdefgh|no nuts"},
		{"a kept span glued to a long word", "abcdefghijk*no nuts*xyz", 10, 10,
			"abcdefghij|kno nutsxy|z"},
		{"a kept span glued to a longer word", "abcdefghi*no nuts*xyz", 10, 10,
			"abcdefghi|no nutsxyz"},
		{"a kept span longer than a line breaks at its spaces", "*abc defghijkl*", 10, 10,
			"abc|defghijkl"},
		{"and else between characters", "*abcdefghijklm*", 10, 10, "abcdefghij|klm"},
		{"double width counts twice", "_abc def_", 10, 10, "abc|def"},
		{"an odd column stays free", "_abcdefgh_", 7, 7, "abc|def|gh"},
	} {
		if got := show(wrap(spans(c.in), c.first, c.next)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestIndentAndHang(t *testing.T) {
	p := narrowProfile(20)
	line := document.Line{Spans: []document.Span{{Text: "2 x Margherita without basil"}},
		Indent: 1, Hang: 4}
	if got := printed(t, mustEncode(t, doc(line), p),
		p); got != " 2 x Margherita\n    without basil\n" {
		t.Errorf("%q", got)
	}
	line.Hang = 1000
	if got := printed(t, mustEncode(t, doc(line), p), p); !strings.Contains(got,
		"\n          without\n") {
		t.Errorf("a hang wider than the paper: %q", got)
	}
}

func TestAPairThatDoesNotFitTakesTwoLines(t *testing.T) {
	p := narrowProfile(20)
	pair := document.Pair{
		Left:  []document.Span{{Text: "Order 4711"}},
		Right: []document.Span{{Text: "table 12"}},
	}
	if got := printed(t, mustEncode(t, doc(pair), p), p); got != "Order 4711  table 12\n" {
		t.Errorf("%q", got)
	}
	pair.Right[0].Text = "table 12 a"
	paper := mustEncode(t, doc(pair), p)
	if got := printed(t, paper, p); got != "Order 4711\ntable 12 a\n" {
		t.Errorf("%q", got)
	}
	if !strings.Contains(string(paper.Body), "\x1Ba\x02table 12 a") {
		t.Errorf("the right text is not at the right: %q", paper.Body)
	}
}
