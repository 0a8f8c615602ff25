package raster

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"chit/printer/document"
	"chit/printer/escpos"
)

// grid80 and grid58 are the papers of 80 and 58 mm at 203 dpi.
var (
	grid80 = escpos.Grid{Columns: 48, WidthDots: 576, CellDots: 12, LineDots: 34}
	grid58 = escpos.Grid{Columns: 32, WidthDots: 384, CellDots: 12, LineDots: 34}
)

// plain is a line of one span in the printer's plain font.
func plain(text string) document.Line { return document.Text(text, document.Style{}) }

func drawn(t testing.TB, line document.Line, grid escpos.Grid) []escpos.Image {
	t.Helper()
	images, err := New(Fonts{}).Line(line, grid)
	if err != nil {
		t.Fatal(err)
	}
	return images
}

// one draws a line that must be one physical line.
func one(t testing.TB, line document.Line, grid escpos.Grid) escpos.Image {
	t.Helper()
	images := drawn(t, line, grid)
	if len(images) != 1 {
		t.Fatalf("%d physical lines, expected 1", len(images))
	}
	return images[0]
}

func black(i escpos.Image, x, y int) bool {
	return i.Rows[y*((i.WidthDots+7)/8)+x/8]&(0x80>>(x%8)) != 0
}

// ink tells the first column with a black dot and the one after the last; equal without any.
func ink(i escpos.Image) (from, to int) {
	from, to = i.WidthDots, 0
	for y := range i.HeightDots {
		for x := range i.WidthDots {
			if black(i, x, y) {
				from, to = min(from, x), max(to, x+1)
			}
		}
	}
	if from > to {
		return 0, 0
	}
	return from, to
}

// strip is the part of an image between two columns, as text to compare. Rows without ink above and
// below are left out, as a tall word moves the baseline of its line.
func strip(i escpos.Image, from, to int) string {
	var out strings.Builder
	for y := range i.HeightDots {
		for x := from; x < to; x++ {
			if black(i, x, y) {
				out.WriteByte('#')
			} else {
				out.WriteByte('.')
			}
		}
		out.WriteByte('\n')
	}
	blank := strings.Repeat(".", to-from) + "\n"
	text := out.String()
	for strings.HasPrefix(text, blank) {
		text = text[len(blank):]
	}
	for strings.HasSuffix(text, blank) {
		text = text[:len(text)-len(blank)]
	}
	return text
}

func TestEmbeddedFontsAreDescribedAndUnderSixMegabytes(t *testing.T) {
	readme, err := os.ReadFile("fonts/README.md")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := files.ReadDir("fonts")
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, entry := range entries {
		data, err := files.ReadFile("fonts/" + entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		sum += len(data)
		row := fmt.Sprintf("| %s |", entry.Name())
		_, rest, found := strings.Cut(string(readme), row)
		if line, _, _ := strings.Cut(rest, "\n"); !found ||
			!strings.HasSuffix(line, fmt.Sprintf("| %x |", sha256.Sum256(data))) {
			t.Errorf("fonts/README.md does not describe %s with SHA-256 %x",
				entry.Name(), sha256.Sum256(data))
		}
	}
	if limit := 6_000_000; sum >= limit {
		t.Errorf("fonts of %d bytes, expected less than %d", sum, limit)
	}
	t.Logf("%d fonts, %d bytes", len(entries), sum)
}

func TestEveryFontInTheProgramOpens(t *testing.T) {
	l := newLibrary(nil)
	for _, f := range append(l.outlines, l.emoji, l.letters) {
		if (outlineFace{l, f}).open() == nil {
			t.Errorf("%s: no face", f.name)
		}
	}
	for _, p := range pitches {
		font := l.cells(p).open()
		if font.height != p.height || font.ascent != p.ascent {
			t.Errorf("%s: height %d and ascent %d, expected %d and %d",
				p.file, font.height, font.ascent, p.height, p.ascent)
		}
		if c, ok := font.cell('A'); !ok || c.advance != p.width {
			t.Errorf("%s: A is %d wide, expected %d", p.file, c.advance, p.width)
		}
	}
	for _, number := range l.lastResort.open().numbers {
		l.lastResort.font.read(number)
	}
}

func TestLettersOfCodePagesTakeOneColumnEach(t *testing.T) {
	alone := one(t, plain("Z"), grid80)
	for _, text := range []string{"Z", "ßZ", "їжZ", "ΕλλZ", "Großé€Z", "ŁódźZ", "x\u0302Z"} {
		n := len([]rune(strings.ReplaceAll(text, "\u0302", "")))
		image := one(t, plain(text), grid80)
		if got, want := strip(image, 12*(n-1), 12*n), strip(alone, 0, 12); got != want {
			t.Errorf("%q: the last letter is\n%s, expected\n%s", text, got, want)
		}
	}
}

func TestTextAfterFixedTextStartsAtItsColumn(t *testing.T) {
	for _, word := range []string{"ไทย", "पनीर", "中文", "a שלום", "⠿"} {
		after := one(t, document.Line{Spans: []document.Span{{Text: "ab "}, {Text: word}}}, grid80)
		from, _ := ink(one(t, document.Line{
			Spans: []document.Span{{Text: "   "}, {Text: word}}}, grid80))
		if from < 36-2 || from > 36+4 {
			t.Errorf("%q after three columns starts at dot %d, expected 34 to 40", word, from)
		}
		if got, want := strip(after, 0, 24), strip(one(t, plain("ab"), grid80), 0, 24); got != want {
			t.Errorf("the columns before %q are\n%s, expected\n%s", word, got, want)
		}
	}
}

// turned is the paper of a document from right to left.
func turned(grid escpos.Grid) escpos.Grid {
	grid.RightToLeft = true
	return grid
}

func TestTheDocumentSaysAtWhichEdgeALineStarts(t *testing.T) {
	for _, text := range []string{"شاي", "2 شاي", "2x شاي", "2 x תה", "תה 3"} {
		from, to := ink(one(t, plain(text), turned(grid80)))
		if to < 576-6 || from < 288 {
			t.Errorf("%q: ink from %d to %d, expected it at the right edge", text, from, to)
		}
	}
	for _, text := range []string{"2x Tee", "Tee شاي", "ไทย", "2 中文", "2 שלום", "שלום"} {
		from, to := ink(one(t, plain(text), grid80))
		if from > 6 || to > 288 {
			t.Errorf("%q: ink from %d to %d, expected it at the left edge", text, from, to)
		}
	}
}

func TestTheQuantityIsReadFirst(t *testing.T) {
	image := one(t, plain("2 תה"), turned(grid80))
	two := one(t, document.Line{Align: document.Left, Spans: []document.Span{{Text: "2"}}}, grid80)
	if got, want := strip(image, 576-12, 576), strip(two, 0, 12); got != want {
		t.Errorf("at the right edge stands\n%s, expected the 2:\n%s", got, want)
	}
}

func TestNumbersKeepTheirOrderInRightToLeftText(t *testing.T) {
	number := one(t, plain("12:30"), grid80)
	image := one(t, plain("תה 12:30"), turned(grid80))
	_, to := ink(image)
	if to < 570 {
		t.Fatalf("ink to %d, expected the right edge", to)
	}
	if !strings.Contains(flat(image), flatPart(number, 0, 60)) {
		t.Error("12:30 is not drawn from left to right after the word")
	}
}

// flat and flatPart turn images so that text that stands elsewhere can be looked for: columns as
// strings, one after another.
func flat(i escpos.Image) string { return flatPart(i, 0, i.WidthDots) }

func flatPart(i escpos.Image, from, to int) string {
	var out strings.Builder
	for x := from; x < to; x++ {
		for y := range i.HeightDots {
			if black(i, x, y) {
				out.WriteByte('#')
			} else {
				out.WriteByte('.')
			}
		}
	}
	return out.String()
}

func TestAPairStandsAtBothEdges(t *testing.T) {
	grid := grid80
	pair := func(left, right string) escpos.Image {
		t.Helper()
		images, err := New(Fonts{}).Pair(document.Pair{
			Left: []document.Span{{Text: left}}, Right: []document.Span{{Text: right}},
		}, grid)
		if err != nil || len(images) != 1 {
			t.Fatalf("%d images, %v; expected 1", len(images), err)
		}
		return images[0]
	}
	five := strip(one(t, plain("5"), grid80), 0, 12)
	if got := strip(pair("5", "ชา"), 0, 12); got != five {
		t.Errorf("left edge:\n%s, expected 5", got)
	}
	if got := strip(pair("ชา", "5"), 576-12, 576); got != five {
		t.Errorf("right edge:\n%s, expected 5", got)
	}
	grid = turned(grid80)
	if got := strip(pair("תה", "5"), 0, 12); got != five {
		t.Errorf("right to left, left edge:\n%s, expected 5", got)
	}
	if got := strip(pair("5", "תה"), 576-12, 576); got != five {
		t.Errorf("right to left, right edge:\n%s, expected 5", got)
	}
}

func TestALongPairTakesLinesOfItsOwn(t *testing.T) {
	images, err := New(Fonts{}).Pair(document.Pair{
		Left:  []document.Span{{Text: strings.Repeat("ไทย ", 8)}},
		Right: []document.Span{{Text: strings.Repeat("中文", 12)}},
	}, grid58)
	if err != nil || len(images) < 2 {
		t.Fatalf("%d images, %v; expected two or more", len(images), err)
	}
	if _, to := ink(images[len(images)-1]); to < 384-6 {
		t.Errorf("the right text ends at dot %d, expected the right edge", to)
	}
}

func TestLinesWrapAtWordsWithAHangingIndent(t *testing.T) {
	line := plain("ab אבגד cd " + strings.Repeat("efgh ", 20))
	line.Hang = 4
	images := drawn(t, line, grid58)
	if len(images) < 3 {
		t.Fatalf("%d physical lines, expected 3 or more", len(images))
	}
	for i, image := range images[1:] {
		from, _ := ink(image)
		if from < 48 || from > 52 {
			t.Errorf("line %d starts at dot %d, expected 48 to 52", i+2, from)
		}
		if got, want := strip(image, 48, 96), strip(one(t, plain("efgh"), grid58), 0, 48); got != want {
			t.Errorf("line %d does not start with a whole word:\n%s", i+2, got)
		}
	}
}

func TestAWordThatFitsOnNoLineIsBrokenAndWhole(t *testing.T) {
	word := strings.Repeat("W", 70)
	images := drawn(t, plain(word), grid58)
	if len(images) != 3 {
		t.Fatalf("%d physical lines, expected 3", len(images))
	}
	letters := 0
	w := strip(one(t, plain("W"), grid58), 0, 12)
	for _, image := range images {
		for x := 0; x+12 <= 384; x += 12 {
			if strip(image, x, x+12) == w {
				letters++
			}
		}
	}
	if letters != 70 {
		t.Errorf("%d letters drawn, expected 70", letters)
	}
}

func TestANoBreakSpanStaysWhole(t *testing.T) {
	images := drawn(t, document.Line{Spans: []document.Span{
		{Text: strings.Repeat("ab ", 9)}, {Text: "3 x 中", NoBreak: true},
	}}, grid58)
	if len(images) != 2 {
		t.Fatalf("%d physical lines, expected 2", len(images))
	}
	whole := one(t, plain("3 x 中"), grid58)
	if got, want := flatPart(images[1], 0, 72), flatPart(whole, 0, 72); got != want {
		t.Error("the second line is not the whole span")
	}
}

// A tone mark inside the vowel below it would make another word; Thai and Lao have both above one
// consonant.
func TestToneMarksStandAboveTheVowels(t *testing.T) {
	for _, pair := range [][2]string{{"ที", "ที่"}, {"นำ", "น้ำ"}, {"ປີ", "ປີ່"}} {
		without, with := one(t, plain(pair[0]), grid80), one(t, plain(pair[1]), grid80)
		const least = 4
		if a, b := inkHeight(without), inkHeight(with); b < a+least {
			t.Errorf("%s is %d dots high and %s %d, expected at least %d more",
				pair[0], a, pair[1], b, least)
		}
	}
}

// inkHeight is how many rows lie between the highest and the lowest black dot.
func inkHeight(i escpos.Image) int {
	return strings.Count(strip(i, 0, i.WidthDots), "\n")
}

func TestWhatNoFontHasIsDrawnAsItsCodePoint(t *testing.T) {
	image := one(t, plain("a\U000F1234b"), grid80)
	if want := []rune{0xF1234}; !reflect.DeepEqual(image.Missing, want) {
		t.Errorf("missing %U, expected %U", image.Missing, want)
	}
	other := one(t, plain("a\U000F1235b"), grid80)
	if bytes.Equal(image.Rows, other.Rows) {
		t.Error("two different code points look the same")
	}
}

func TestControlsCannotHideOrTurnText(t *testing.T) {
	for _, r := range "\x00\x07\x1b\x7f\u0085\u061C\u200E\u200F\u202A\u202E\u2066\u2069\u2028\t\n" {
		image := one(t, plain("ab"+string(r)+"cd"), grid80)
		if r == '\t' || r == '\n' || r == '\u0085' || r == '\u2028' {
			if want := one(t, plain("ab cd"), grid80); !bytes.Equal(image.Rows, want.Rows) {
				t.Errorf("%U is not drawn as a space", r)
			}
			continue
		}
		if len(image.Missing) != 1 || image.Missing[0] != r {
			t.Errorf("%U: missing %U, expected it", r, image.Missing)
		}
		if got, want := strip(image, 0, 24), strip(one(t, plain("ab"), grid80), 0, 24); got != want {
			t.Errorf("%U changes the text before it", r)
		}
	}
}

func TestAGridWithoutRoomIsRefused(t *testing.T) {
	for _, grid := range []escpos.Grid{
		{},
		{Columns: 8, WidthDots: 96, CellDots: 12, LineDots: 34},
		{Columns: 48, WidthDots: 500, CellDots: 12, LineDots: 34},
		{Columns: 48, WidthDots: 576, CellDots: 4, LineDots: 34},
		{Columns: 48, WidthDots: 576, CellDots: 12, LineDots: 8},
	} {
		if _, err := New(Fonts{}).Line(plain("a"), grid); !errors.Is(err, ErrGrid) {
			t.Errorf("%+v: %v, expected ErrGrid", grid, err)
		}
	}
	line := document.Text("a", document.Style{Width: 9})
	if _, err := New(Fonts{}).Line(line, grid80); !errors.Is(err, escpos.ErrDocument) {
		t.Errorf("width 9: %v, expected ErrDocument", err)
	}
}
