package virtual

import (
	"bytes"
	"flag"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares a sheet with its text and its picture in testdata, dot by dot; the picture's
// bytes may differ with the compressor.
func golden(t *testing.T, name string, s Sheet) {
	t.Helper()
	text, picture := filepath.Join("testdata", name+".txt"), filepath.Join("testdata", name+".png")
	b, err := s.PNG()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		for file, content := range map[string][]byte{text: []byte(s.Styled()), picture: b} {
			if err := os.WriteFile(file, content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	want, err := os.ReadFile(text)
	if err != nil || string(want) != s.Styled() {
		t.Errorf("%s: %v, got\n%s\nwant\n%s", text, err, s.Styled(), want)
	}
	file, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	have, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	got := s.Render()
	old, ok := have.(*image.Paletted)
	if !ok || old.Bounds() != got.Bounds() || !bytes.Equal(old.Pix, got.Pix) {
		t.Errorf("%s: the picture has changed", picture)
	}
}

// sheetOf prints bytes on a printer of 384 dots and cuts.
func sheetOf(t *testing.T, send string, change ...func(*Config)) Sheet {
	t.Helper()
	c := config()
	c.WidthDots, c.Can.Red = 384, true
	for _, f := range change {
		f(&c)
	}
	b := newBench(t, c)
	b.send(send + cutFeed)
	sheets := b.p.Sheets()
	if len(sheets) != 1 {
		t.Fatalf("%d sheets came out", len(sheets))
	}
	return sheets[0]
}

func TestPaperLooksAsTheBytesSay(t *testing.T) {
	for _, tt := range []struct{ name, send string }{
		{"sizes", "\x1d!\x00one\n\x1d!\x11two\n\x1d!\x33four\n" +
			"\x1d!\x70wide\n\x1d!\x07h\n\x1bM\x01\x1d!\x00small\n"},
		{"styles", "\x1bE\x01bold\x1bE\x00 plain \x1b-\x01thin\x1b-\x02thick\x1b-\x00\n" +
			"\x1dB\x01 INVERSE \x1dB\x00 \x1br\x01red\x1br\x00\n" +
			"\x1bV\x01turned\x1bV\x00\n\x1b{\x01upside down\n"},
		{"alignment", "left\n\x1ba\x01centre\n\x1ba\x02right\n" +
			"\x1ba\x00tab\tstop\x1b$\x00\x01at 256\n\x1b 4wide gaps\n"},
		{"code-pages", "\x1bt\x13caf\x82 4 \xd5 \xc9\xcd\xbb\n\x1bt\x00caf\x82 \xd5\n"},
		{"raster", "\x1ba\x01\x1dv0\x00\x02\x00\x10\x00" + strings.Repeat("\xaa\xaaUU", 8) +
			"\x1dv0\x03\x01\x00\x08\x00\xff\x81\x81\x81\x81\x81\x81\xff" +
			"\x1ba\x00\x1b*\x21\x03\x00\xff\xff\xff\x00\xff\x00\xff\xff\xff beside\n"},
		{"symbols", "\x1d(k\x0f\x001P0https://chit" +
			"\x1d(k\x03\x001C\x06\x1d(k\x03\x001Q0\x1dk\x0412345\x00"},
		{"bar-codes", "\x1ba\x01\x1dw\x02\x1dh\x40\x1dH\x02\x1dk\x02400638133393\x00\x1bJ\x14" +
			"\x1dH\x03\x1df\x01\x1dk\x49\x0b{BChit 42/1\x1bJ\x14\x1dH\x01\x1dk\x0104252614\x00"},
		{"looks", "\x1b4\x01slanted \x1b4\x00\x1b-\x02under\x1b-\x00 \x1dB\x01mark\x1dB\x00\n" +
			"\x1b{\x01upside\n\x1b{\x00\x1dL\x30\x00\x1dW\x60\x00\x1b{\x01within\n\x1b{\x00" +
			"\x1ba\x02right\n"},
	} {
		t.Run(tt.name, func(t *testing.T) { golden(t, tt.name, sheetOf(t, tt.send)) })
	}
}

func TestABlockOfDotsIsPrintedDotForDot(t *testing.T) {
	s := sheetOf(t, "\x1dv0\x00\x01\x00\x02\x00\x81\x7e")
	got := s.Render()
	top := s.Images[0].Y + tableMargin
	for y, row := range []byte{0x81, 0x7e} {
		for x := range 8 {
			dark := got.ColorIndexAt(paperMargin+tableMargin+x, top+y) == black
			if want := row&(0x80>>x) != 0; dark != want {
				t.Errorf("dot %d,%d is dark: %v, want %v", x, y, dark, want)
			}
		}
	}
}

func TestDotsOfNeedlesAreTallerThanWide(t *testing.T) {
	s := sheetOf(t, "\x1b*\x01\x03\x00\x80\x80\x80\n", func(c *Config) { c.Impact = true })
	got := s.Render()
	wide, high := 0, 0
	for y := range got.Bounds().Dy() {
		for x := range got.Bounds().Dx() {
			if got.ColorIndexAt(x, y) == black {
				wide = max(wide, x+1-paperMargin-tableMargin)
				high = max(high, y+1-tableMargin-s.Images[0].Y)
			}
		}
	}
	if wide != 4 || high != 3 {
		t.Errorf("3 dots by 1 are %d by %d pixels, want 4 by 3", wide, high)
	}
	if want := 384*4/3 + 2*(paperMargin+tableMargin); got.Bounds().Dx() != want {
		t.Errorf("the picture is %d pixels wide, want %d", got.Bounds().Dx(), want)
	}
}

func TestRowsOfWholeBytesMayEndInWhiteBesideThePaper(t *testing.T) {
	odd := func(c *Config) { c.WidthDots = 381 }
	fits := "\x1dv0\x00\x30\x00\x01\x00" + strings.Repeat("\xff", 48)
	if s := sheetOf(t, fits, odd); len(s.Errors()) > 0 {
		t.Errorf("48 bytes on 381 dots: %q", s.Errors())
	}
	wider := "\x1dv0\x00\x31\x00\x01\x00" + strings.Repeat("\xff", 49)
	if s := sheetOf(t, wider, odd); len(s.Errors()) == 0 {
		t.Error("49 bytes on 381 dots: no objection")
	}
}

func TestACutWithoutAFeedGoesThroughTheLastLines(t *testing.T) {
	b := newBench(t, config())
	b.send(lines(6) + cutHere + "next\n" + cutFeed)
	sheets := b.p.Sheets()
	if len(sheets) != 2 || len(sheets[0].Errors()) != 1 {
		t.Fatalf("sheets %+v, want two and one error", sheets)
	}
	// 6 lines of 30 dots less 96 to the blade: lines 1 to 3 (that in part) are on the first sheet.
	if got := sheets[0].Text(); got != lines(3) {
		t.Errorf("the first sheet reads %q", got)
	}
	if got := sheets[1].Text(); got != "line 4\nline 5\nline 6\nnext\n" {
		t.Errorf("the second sheet reads %q", got)
	}
}

func TestACutWithoutPaperGivesNoSheetAndIsCounted(t *testing.T) {
	b := newBench(t, config())
	b.send("a\n" + cutFeed + cutHere + cutHere)
	b.paper("a\n")
	if _, cuts := b.p.Counters(); cuts != 3 {
		t.Errorf("%d cuts, want 3", cuts)
	}
}

func TestAPrinterWithoutACutterOnlyFeeds(t *testing.T) {
	c := config()
	c.Can.Cutter = false
	b := newBench(t, c)
	b.send("a\n" + cutFeed)
	b.paper()
	b.p.Tear(b.now)
	b.paper("a\n")
}

func TestALongLineWraps(t *testing.T) {
	b := newBench(t, config())
	b.send(strings.Repeat("x", 50) + "\n")
	b.hangs(strings.Repeat("x", 48) + "\nxx\n")
	if feeds, _ := b.p.Counters(); feeds != 2 {
		t.Errorf("%d line feeds, want 2", feeds)
	}
}

func TestEndlessPaperIsTornOff(t *testing.T) {
	b := newBench(t, config())
	for range 10 {
		b.send("x" + strings.Repeat("\x1bd\xff", 10))
	}
	sheets := b.p.Sheets()
	if len(sheets) == 0 || sheets[0].Cut != Torn || sheets[0].HeightDots > SheetDotsMax+widthDotsMax {
		t.Fatalf("%d sheets", len(sheets))
	}
}

func TestPaperThatHangsCanBeDrawn(t *testing.T) {
	b := newBench(t, config())
	b.send("still here\n")
	golden(t, "hanging", b.p.Pending())
}
