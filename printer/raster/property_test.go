package raster

import (
	"bytes"
	"reflect"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/go-text/typesetting/bidi"
	"pgregory.net/rapid"

	"chit/printer/document"
	"chit/printer/escpos"
)

// someText draws from the scripts that kitchens write, their marks, signs, and now and then
// anything.
func someText() *rapid.Generator[string] {
	tables := []*unicode.RangeTable{
		unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Arabic, unicode.Hebrew, unicode.Thai,
		unicode.Devanagari, unicode.Han, unicode.Hiragana, unicode.Hangul, unicode.Mn, unicode.P,
		unicode.S, unicode.Nd, unicode.Zs,
	}
	return rapid.Custom(func(t *rapid.T) string {
		var out []rune
		for range rapid.IntRange(0, 12).Draw(t, "words") {
			table := rapid.SampledFrom(tables).Draw(t, "script")
			of := rapid.RuneFrom(nil, table)
			if rapid.IntRange(0, 9).Draw(t, "anything") == 0 {
				of = rapid.Rune()
			}
			out = append(out, rapid.SliceOfN(of, 1, 8).Draw(t, "word")...)
			if rapid.Bool().Draw(t, "space") {
				out = append(out, ' ')
			}
		}
		return string(out)
	})
}

func someStyle() *rapid.Generator[document.Style] {
	// The largest are rare: they cost time.
	size := rapid.SampledFrom([]document.Size{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 8})
	return rapid.Custom(func(t *rapid.T) document.Style {
		return document.Style{
			Width:     size.Draw(t, "width"),
			Height:    size.Draw(t, "height"),
			Bold:      rapid.Bool().Draw(t, "bold"),
			Underline: rapid.Bool().Draw(t, "underline"),
			Inverse:   rapid.Bool().Draw(t, "inverse"),
			Red:       rapid.Bool().Draw(t, "red"),
			Strike:    rapid.Bool().Draw(t, "strike"),
		}
	})
}

func someSpans() *rapid.Generator[[]document.Span] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) document.Span {
		return document.Span{
			Text: someText().Draw(t, "text"), Style: someStyle().Draw(t, "style"),
			NoBreak: rapid.IntRange(0, 4).Draw(t, "no break") == 0,
		}
	}), 0, 4)
}

func someGrid() *rapid.Generator[escpos.Grid] {
	return rapid.SampledFrom([]escpos.Grid{
		grid80, grid58, {Columns: 42, WidthDots: 512, CellDots: 12, LineDots: 24},
		{Columns: 40, WidthDots: 400, CellDots: 10, LineDots: 20},
		{Columns: 42, WidthDots: 400, CellDots: 9, LineDots: 12},
		{Columns: 30, WidthDots: 400, CellDots: 13, LineDots: 30},
	})
}

// checkImages holds for whatever is drawn.
func checkImages(t *rapid.T, images []escpos.Image, grid escpos.Grid) {
	t.Helper()
	if len(images) == 0 {
		t.Fatal("no line, expected at least one")
	}
	for i, image := range images {
		if image.WidthDots != grid.WidthDots || image.HeightDots < grid.LineDots {
			t.Fatalf("line %d of %d by %d dots, expected %d by %d or more",
				i, image.WidthDots, image.HeightDots, grid.WidthDots, grid.LineDots)
		}
		if want := (image.WidthDots + 7) / 8 * image.HeightDots; len(image.Rows) != want {
			t.Fatalf("line %d has %d bytes, expected %d", i, len(image.Rows), want)
		}
		for r := range image.Missing {
			if !utf8.ValidRune(image.Missing[r]) {
				t.Fatalf("line %d misses %U", i, image.Missing[r])
			}
		}
	}
}

func TestAnyTextIsDrawnWithinThePaperAndTheSameEveryTime(t *testing.T) {
	used := New(Fonts{})
	rapid.Check(t, func(t *rapid.T) {
		line := document.Line{
			Spans:  someSpans().Draw(t, "spans"),
			Align:  document.Align(rapid.IntRange(0, 2).Draw(t, "align")),
			Indent: rapid.IntRange(-1, 60).Draw(t, "indent"),
			Hang:   rapid.IntRange(-1, 60).Draw(t, "hang"),
		}
		grid := someGrid().Draw(t, "grid")
		images, err := used.Line(line, grid)
		if err != nil {
			t.Fatal(err)
		}
		checkImages(t, images, grid)
		again, err := used.Line(line, grid)
		if err != nil || !reflect.DeepEqual(images, again) {
			t.Fatalf("drawn a second time it looks different, %v", err)
		}
		pair := document.Pair{Left: line.Spans, Right: someSpans().Draw(t, "right")}
		if images, err = used.Pair(pair, grid); err != nil {
			t.Fatal(err)
		}
		checkImages(t, images, grid)
	})
}

// Every rune that a reader expects to see leaves ink of its own, wherever its line ends.
func TestNoGraphemeIsLost(t *testing.T) {
	drawer := New(Fonts{})
	rapid.Check(t, func(t *rapid.T) {
		p, err := newParagraph(someSpans().Draw(t, "spans"))
		if err != nil {
			t.Fatal(err)
		}
		p.direct(rapid.Bool().Draw(t, "right to left"))
		sheet, err := drawer.sheet(someGrid().Draw(t, "grid"))
		if err != nil {
			t.Fatal(err)
		}
		lines := sheet.wrap(p, sheet.area(), sheet.area())
		seen := make([]bool, len(p.text))
		for _, l := range lines {
			if l.dots() > sheet.area() {
				t.Fatalf("a line of %d dots, expected at most %d", l.dots(), sheet.area())
			}
			for _, r := range l.runs {
				for i := r.start; i < r.end; i++ {
					if seen[i] {
						t.Fatalf("rune %d, %U, is drawn twice", i, p.text[i])
					}
					seen[i] = true
				}
				checkInk(t, p, r)
			}
		}
		for i, r := range p.text {
			if inked(r) && !seen[i] {
				t.Fatalf("rune %d, %U, is on no line", i, r)
			}
		}
	})
}

// checkInk fails where a run that shall have ink has none, or has ink for none of a grapheme's
// runes.
func checkInk(t *rapid.T, p *paragraph, r run) {
	t.Helper()
	wants := false
	for _, c := range p.text[r.start:r.end] {
		wants = wants || inked(c)
	}
	for _, g := range r.glyphs {
		if !g.stamp.inkless() {
			return
		}
	}
	if wants {
		t.Fatalf("no ink for %U", p.text[r.start:r.end])
	}
}

// The library that is used for shaping has a UAX 9 of its own, tested with Unicode's examples. It
// tells directions, not levels: those must agree.
func TestDirectionsAgreeWithAnotherImplementation(t *testing.T) {
	signs := rapid.SampledFrom([]rune("ab1 2+-,.:/%$€()[]{}<>אבגشيب٣٤!?\u0300\u064B"))
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(signs, 1, 24).Draw(t, "text")
		rtl := rapid.Bool().Draw(t, "rtl")
		p := &paragraph{text: text}
		p.direct(rtl)
		direction := bidi.LeftToRight
		if rtl {
			direction = bidi.RightToLeft
		}
		var judge bidi.Paragraph
		runs := judge.Segment(text, direction)
		for i := range runs.NumRuns() {
			run := runs.Run(i)
			for at := run.Start; at < run.End; at++ {
				if trailing(text[at:]) {
					continue // Rule L1, which the judge applies: such spaces are dropped here.
				}
				if even := p.levels[at]%2 == 0; even != run.IsLeftToRight() {
					t.Fatalf("%q: rune %d has level %d, the judge says left to right is %v",
						string(text), at, p.levels[at], run.IsLeftToRight())
				}
			}
		}
	})
}

func trailing(text []rune) bool {
	return len(bytes.TrimLeft([]byte(string(text)), " ")) == 0
}

func TestDeeperLevelsKeepTheirPlaces(t *testing.T) {
	// A number after Hebrew, before Latin, in a left-to-right line: the Hebrew's level 1 and the
	// number's 2 turn round together, and the Latin's 0 stays where it is.
	p := &paragraph{text: []rune("אב 12 ab")}
	p.direct(false)
	if want := []uint8{1, 1, 1, 2, 2, 0, 0, 0}; !reflect.DeepEqual(p.levels, want) {
		t.Errorf("levels %v, expected %v", p.levels, want)
	}
	var runs []run
	for i, level := range p.levels {
		runs = append(runs, run{level: level, start: i, end: i + 1})
	}
	reorder(runs)
	visual := ""
	for _, r := range runs {
		visual += string(p.text[r.start])
	}
	if want := "12 בא ab"; visual != want {
		t.Errorf("from left to right %q, expected %q", visual, want)
	}
}
