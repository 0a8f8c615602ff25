package raster

import (
	"strings"
	"testing"

	"chit/printer/document"
	"chit/printer/escpos"
)

// A note keeps its full stop and its quotes, whatever language the words before it have.
func TestEachSpanRunsTheWayOfItsOwnWords(t *testing.T) {
	for _, note := range []string{`"сразу!"`, `"now."`, `"עכשיו!"`} {
		for _, label := range []string{"ملاحظة ", "Note "} {
			p, err := newParagraph([]document.Span{{Text: label}, {Text: note}})
			if err != nil {
				t.Fatal(err)
			}
			p.direct(leftward([]rune(label)[0]))
			levels := p.levels[len([]rune(label)):]
			want := leftward([]rune(note)[1])
			for i, level := range levels {
				if (level%2 == 1) != want || level != levels[0] {
					t.Errorf("%q behind %q: rune %d is at level %d of %v", note, label, i, level, levels)
				}
			}
		}
	}
}

// On a ticket in Arabic or Hebrew every line begins at the right, also one in another language, and
// keeps the order of its own words.
func TestADocumentFromRightToLeftBeginsEveryLineThere(t *testing.T) {
	grid := turned(grid80)
	for _, text := range []string{"Cola 0.5", "4711/1@grill", "12:30", "- NO onion", "שלום"} {
		image := one(t, plain(text), grid)
		from, to := ink(image)
		if to < 576-9 || from < 288 {
			t.Errorf("%q: ink from %d to %d, expected it at the right edge", text, from, to)
		}
		words := strings.Trim(flat(one(t, plain(text), grid80)), ".\n")
		if !strings.Contains(flat(image), words) {
			t.Errorf("%q: its own words stand in another order", text)
		}
	}
	d := New(Fonts{})
	quantity := document.Span{Text: "3", Style: document.Style{Inverse: true}}
	images, err := d.Line(document.Line{Spans: []document.Span{quantity, {Text: " Cola"}}}, grid)
	if err != nil {
		t.Fatal(err)
	}
	if !black(images[0], 575, 1) {
		t.Error("the quantity does not stand at the right edge")
	}
	pair := document.Pair{Left: []document.Span{{Text: "41"}}, Right: []document.Span{{Text: "NEW"}}}
	if images, err = d.Pair(pair, grid); err != nil {
		t.Fatal(err)
	}
	if from, to := ink(images[0]); from > 9 || to < 576-9 {
		t.Errorf("the pair has ink from %d to %d", from, to)
	}
}

// A phrase with a word in bold is one phrase.
func TestNeighboursInOneLanguageStayInTheirOrder(t *testing.T) {
	grid := turned(grid80)
	d := New(Fonts{})
	draw := func(spans ...document.Span) string {
		images, err := d.Line(document.Line{Spans: spans}, grid)
		if err != nil {
			t.Fatal(err)
		}
		return flat(images[0])
	}
	dash, no := document.Span{Text: "- "}, document.Span{Text: "NO"}
	apart := draw(dash, no, document.Span{Text: " onion"})
	if together := draw(dash, document.Span{Text: "NO onion"}); apart != together {
		t.Error("a phrase of two spans is drawn otherwise than as one span")
	}
}

// The banner's words stand in the middle of black from edge to edge, though they were padded by
// counting columns.
func TestAMarkOverTheWholeWidthIsCentred(t *testing.T) {
	style := document.Style{Width: 2, Height: 2, Bold: true, Inverse: true}
	for _, text := range []string{"     देर से     ", "  ย้าย   ", "        הועבר   "} {
		line := document.Line{Align: document.Centre, Spans: []document.Span{
			{Text: text, Style: style, NoBreak: true}}}
		image := one(t, line, grid80)
		middle := image.HeightDots / 2
		if !black(image, 0, middle) || !black(image, 575, middle) {
			t.Errorf("%q: the black does not reach from edge to edge", text)
		}
		left, right := 0, 0
		for x := 0; white(image, x) == 0; x++ {
			left++
		}
		for x := 575; white(image, x) == 0; x-- {
			right++
		}
		if diff := left - right; diff < -12 || diff > 12 {
			t.Errorf("%q: %d dots of black before the words, %d after them", text, left, right)
		}
	}
}

// white counts the white dots of a column within the black of a mark.
func white(i escpos.Image, x int) int {
	n := 0
	for y := 8; y < i.HeightDots-8; y++ {
		if !black(i, x, y) {
			n++
		}
	}
	return n
}

// The dots below a letter are a part of its spelling.
func TestAnUnderlineSparesTheDotsOfLetters(t *testing.T) {
	word := document.Span{Text: "حليب", Style: document.Style{Height: 2, Bold: true}}
	bare := one(t, document.Line{Spans: []document.Span{word}}, grid80)
	word.Style.Underline = true
	lined := one(t, document.Line{Spans: []document.Span{word}}, grid80)
	added := 0
	for y := range lined.HeightDots {
		for x := range lined.WidthDots {
			if y < bare.HeightDots && black(bare, x, y) {
				for _, near := range [][2]int{{x, y - 1}, {x, y + 1}, {x - 1, y}, {x + 1, y}} {
					if near[0] >= 0 && near[1] >= 0 && near[1] < bare.HeightDots &&
						!black(bare, near[0], near[1]) && black(lined, near[0], near[1]) {
						t.Fatalf("the line touches ink at %d, %d", x, y)
					}
				}
			} else if black(lined, x, y) {
				added++
			}
		}
	}
	if added < 40 {
		t.Errorf("%d dots of line, expected a line", added)
	}
}

// A word that fits on a line is not broken for standing behind another.
func TestAWordThatFitsOnALineIsNotBroken(t *testing.T) {
	style := document.Style{Width: 2, Height: 2}
	grid := turned(escpos.Grid{Columns: 20, WidthDots: 240, CellDots: 12, LineDots: 34})
	d := New(Fonts{})
	draw := func(text string) []escpos.Image {
		images, err := d.Line(document.Line{Spans: []document.Span{{Text: text, Style: style}}}, grid)
		if err != nil {
			t.Fatal(err)
		}
		return images
	}
	two, second := draw("حليب, مكسرات"), draw("مكسرات")
	if len(two) != 2 || flat(two[1]) != flat(second[0]) {
		t.Errorf("drawn on %d lines, expected مكسرات on a line of its own", len(two))
	}
}
