package escpos

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"chit/printer/document"
	"chit/printer/profile"
)

func TestAFrameIsDrawnWithWhatThePagesHave(t *testing.T) {
	box := document.Box{Lines: []document.Line{
		document.Text("ALLERGY: nuts and sesame", document.Style{}),
		{Align: document.Centre, Spans: []document.Span{{Text: "mid"}}},
		{Align: document.Right, Spans: []document.Span{{Text: "end", Style: document.Style{Width: 2}}}},
	}}
	for _, c := range []struct{ page, want string }{
		{"CP437", `
╔══════════════════╗
║ ALLERGY: nuts    ║
║ and sesame       ║
║       mid        ║
║           end ║
╚══════════════════╝
`},
		{"WINDOWS-1252", `
+------------------+
| ALLERGY: nuts    |
| and sesame       |
|       mid        |
|           end |
+------------------+
`},
	} {
		p := narrowProfile(20)
		p.Pages = []profile.Page{{Number: 9, Encoding: c.page}}
		paper := mustEncode(t, doc(box), p)
		if got := "\n" + printed(t, paper, p); got != c.want {
			t.Errorf("%s:\n%s", c.page, got)
		}
		if paper.HeightDots != 6*cellDots || paper.LineFeeds != 6 {
			t.Errorf("%s: %d dots, %d line feeds", c.page, paper.HeightDots, paper.LineFeeds)
		}
	}
}

func TestTheLinesOfAFrameTouch(t *testing.T) {
	p := narrowProfile(20)
	tall := document.Style{Height: 2}
	paper := mustEncode(t, doc(document.Box{Red: true,
		Lines: []document.Line{document.Text("A", tall)}}, document.Text("B", document.Style{})), p)
	// The sides are as high as the line between them.
	want := "\x1B3\x18\xC9" + strings.Repeat("\xCD", 18) + "\xBB\n" +
		"\x1D!\x01\xBA A" + strings.Repeat(" ", 16) + "\xBA\n" +
		"\x1D!\x00\xC8" + strings.Repeat("\xCD", 18) + "\xBC\n\x1B2B\n"
	if got := string(paper.Body[len(paper.Body)-len(want):]); got != want {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
	if paper.HeightDots != (1+2+1)*cellDots+lineDots {
		t.Errorf("%d dots", paper.HeightDots)
	}
}

func TestAFrameIsRedWhereThePaperCanBe(t *testing.T) {
	p := narrowProfile(20)
	box := document.Box{Red: true, Lines: []document.Line{document.Text("A", document.Style{})}}
	if paper := mustEncode(t, doc(box), p); bytes.Contains(paper.Body, []byte{0x1B, 0x72}) {
		t.Error("a second colour on paper of one")
	}
	p.Red = true
	paper := mustEncode(t, doc(box), p)
	if !bytes.Contains(paper.Body, []byte("\x1Br\x01\xC9")) {
		t.Errorf("no red frame: %q", paper.Body)
	}
	if paper := mustEncode(t, doc(document.Box{Red: true}), p); len(paper.Body) != len(known)/3 {
		t.Errorf("a frame around nothing: %q", paper.Body)
	}
}

func TestWhatIsDrawnInAFrameHasAFrame(t *testing.T) {
	p := withImages(profile.Safe80())
	p.Red = true
	s := &scribe{}
	paper, err := Encoder{Profile: p, Drawer: s}.Encode(doc(document.Box{Red: true,
		Lines: []document.Line{document.Text("ALLERGY:", document.Style{}),
			document.Text("花生", document.Style{})}}))
	if err != nil {
		t.Fatal(err)
	}
	read := readSheet(t, paper.Body, p)
	if read.text != "\uFFFC" {
		t.Errorf("spelt: %q", read.text)
	}
	inside := crop(read.dots, 576, 24, 576-24) // Two columns of 12 dots on either side.
	if got := fmt.Sprint(messages(inside[66*8:])); got != "[ALLERGY: 花生]" {
		t.Errorf("reads %s", got)
	}
	high := 2*30 + 2*(frameDots+framePad+frameGap)
	if len(read.dots) != 72*high || paper.HeightDots != high+p.CutFeed*lineDots {
		t.Errorf("%d dots high, want %d", len(read.dots)/72, high)
	}
	full := slices.Repeat([]byte{0xFF}, 72)
	for y := range high {
		row := read.dots[y*72 : (y+1)*72]
		if y < frameGap || y >= high-frameGap {
			if !bytes.Equal(row, make([]byte, 72)) {
				t.Fatalf("row %d touches what stands beside the frame: % X", y, row)
			}
			continue
		}
		edge := y < frameGap+frameDots || y >= high-frameGap-frameDots
		if edge && !bytes.Equal(row, full) || row[0]&0xF0 != 0xF0 || row[71]&0x0F != 0x0F {
			t.Fatalf("row %d: % X", y, row)
		}
	}
	if !bytes.Contains(paper.Body, []byte{0x1B, 0x72, 1, 0x1D, 0x76, 0x30}) {
		t.Error("not red")
	}
}

func TestACodeIsSaidByThePrinterWhereItCan(t *testing.T) {
	p := profile.Safe80()
	p.QR, p.CutFeed = true, 0
	paper := mustEncode(t, doc(document.QR{Data: "HTTPS://X/1", Module: 5},
		document.Text("A", document.Style{})), p)
	want := known + "1B 61 01 " +
		"1D 28 6B 04 00 31 41 32 00 1D 28 6B 03 00 31 43 05 1D 28 6B 03 00 31 45 31 " +
		"1D 28 6B 0E 00 31 50 30 48 54 54 50 53 3A 2F 2F 58 2F 31 1D 28 6B 03 00 31 51 30 " +
		"1B 61 00 41 0A"
	if got := fmt.Sprintf("% X", paper.Body); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if !paper.Raster || paper.LineFeeds != 1 || paper.HeightDots != 21*5+lineDots {
		t.Errorf("raster %t, %d line feeds, %d dots", paper.Raster, paper.LineFeeds, paper.HeightDots)
	}
}

func TestACodeIsRefusedUnlessItIsOurOwnAddress(t *testing.T) {
	for _, code := range []document.QR{
		{}, {Data: strings.Repeat("x", 201)}, {Data: "é"}, {Data: "a\nb"}, {Data: "a\x1Db"},
		{Data: "a", Module: 1}, {Data: "a", Module: 9}, {Data: "a", Module: -1},
		{Data: "a", Beside: []document.Line{{Align: 7}}},
	} {
		if _, err := Encode(doc(code), profile.Safe80()); !errors.Is(err, ErrDocument) {
			t.Errorf("%+v: %v", code, err)
		}
	}
}

// squares reads the modules of a code whose top left corner is at x, y.
func squares(dots []byte, stride, x, y, module, n int) string {
	var out strings.Builder
	for row := range n {
		for column := range n {
			dot := x + column*module + module/2
			b := dots[(y+row*module+module/2)*stride+dot/8]
			out.WriteByte(" #"[b>>(7-dot%8)&1])
		}
		out.WriteByte('\n')
	}
	return out.String()
}

func TestACodeIsDrawnInTheMiddleWhereThePrinterHasNone(t *testing.T) {
	p := withImages(profile.Safe80())
	code := document.QR{Data: "1"}
	paper := mustEncode(t, doc(code), p)
	read := readSheet(t, paper.Body, p)
	side := 21 * 4
	got := squares(read.dots, 72, (576-side)/2, quiet*4, 4, 21)
	if !strings.HasPrefix(got, "####### ") || strings.Count(got[:22], "#") < 14 {
		t.Errorf("no finder at the corner:\n%s", got)
	}
	if len(read.dots) != 72*(side+2*quiet*4) {
		t.Errorf("%d rows", len(read.dots)/72)
	}
}

func TestLinesStandBesideACodeOrBelowIt(t *testing.T) {
	code := document.QR{Data: "https://chit.example/t/4711/1", Beside: []document.Line{
		document.Text("4711/1@grill", document.Style{}), document.Text("copy 1 of 2", document.Style{}),
	}}
	p := withImages(profile.Safe80())
	p.QR = true
	s := &scribe{}
	paper, err := Encoder{Profile: p, Drawer: s}.Encode(doc(code))
	if err != nil {
		t.Fatal(err)
	}
	read := readSheet(t, paper.Body, p)
	if read.text != "\uFFFC" || len(read.codes) > 0 || len(s.asked) != 2 {
		t.Errorf("beside: spelt %q, codes %q, drawn %q", read.text, read.codes, s.asked)
	}
	if g := s.grids[0]; g.Columns != 48-(29+8)*4/12-1 || g.WidthDots != g.Columns*12 {
		t.Errorf("grid %+v", g)
	}
	for name, e := range map[string]Encoder{
		"no drawer":    {Profile: p},
		"narrow paper": {Profile: withImages(narrowProfile(20)), Drawer: s},
	} {
		e.Profile.QR = true
		e.Profile.WidthDots = e.Profile.Columns * 12
		paper, err := e.Encode(doc(code))
		if err != nil {
			t.Fatal(err)
		}
		read := readSheet(t, paper.Body, e.Profile)
		if read.text != "\uFFFC4711/1@grill\ncopy 1 of 2\n" ||
			fmt.Sprint(read.codes) != "["+code.Data+"]" {
			t.Errorf("%s: spelt %q, codes %q", name, read.text, read.codes)
		}
	}
}

func TestWithoutImagesAndCodesTheAddressIsText(t *testing.T) {
	p := profile.Safe80()
	p.Images = profile.ImagesNone
	paper := mustEncode(t, doc(document.QR{Data: "https://chit.example/1"}), p)
	if got := printed(t, paper, p); got != "https://chit.example/1\n" || paper.Raster {
		t.Errorf("%q", got)
	}
}

func TestACodeFitsThePaper(t *testing.T) {
	p := withImages(narrowProfile(20))
	p.WidthDots = 240
	for n := 1; n <= dataMax; n++ {
		data := strings.Repeat("x", n)
		paper := mustEncode(t, doc(document.QR{Data: data, Module: 8}), p)
		if rows := len(readSheet(t, paper.Body, p).dots) / 30; rows > 240 {
			t.Fatalf("%d bytes: %d rows on 240 dots of paper", n, rows)
		}
		drawn, err := drawnQR(document.QR{Data: data, Module: 1})
		if err != nil || drawn.WidthDots != modules(n) {
			t.Fatalf("%d bytes: %d modules, %v; the table says %d", n, drawn.WidthDots, err, modules(n))
		}
	}
}

func TestNeedlesSaySizeByModeAndMarksByStars(t *testing.T) {
	p := profile.Safe80()
	p.Impact, p.Red, p.Columns, p.WidthDots, p.CutFeed = true, true, 33, 400, 0
	p.Images = profile.ImagesColumn
	line := func(text string, style document.Style) document.Line { return document.Text(text, style) }
	paper := mustEncode(t, doc(
		line("A", document.Style{Width: 4, Height: 8, Bold: true, Underline: true}),
		line("B", document.Style{Height: 2}),
		line(" NEW ", document.Style{Inverse: true}),
		line("   VOID   ", document.Style{Inverse: true}),
		line("   ", document.Style{Inverse: true}), line("C", document.Style{}),
	), p)
	want := "\x1B!\xB8A\n\x1B!\x10B\n\x1B!\x00\x1Br\x01*NEW*\n** VOID **\n***\n\x1Br\x00C\n"
	if got := string(paper.Body[len(known)/3:]); got != want {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
	s := &scribe{tall: true}
	drawn, err := Encoder{Profile: p, Drawer: s}.Encode(doc(line("花生", document.Style{})))
	if err != nil {
		t.Fatal(err)
	}
	read := readSheet(t, drawn.Body, p)
	if got := fmt.Sprint(messages(read.dots)); got != "[花生]" {
		t.Errorf("drawn %s", got)
	}
	// 24 rows of square dots are 12 of needles, in two bands of 8: 2/9 inch.
	if drawn.LineFeeds != 2 || drawn.HeightDots != 46 {
		t.Errorf("%d line feeds, %d dots", drawn.LineFeeds, drawn.HeightDots)
	}
}
