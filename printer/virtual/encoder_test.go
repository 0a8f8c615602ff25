package virtual

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"chit/printer/document"
	"chit/printer/escpos"
	"chit/printer/profile"
	"chit/printer/raster"
)

// kitchens are all known printers, and kinds of printers that profiles can describe.
func kitchens(t *testing.T) []profile.Profile {
	var all []profile.Profile
	for _, name := range profile.Names() {
		p, err := profile.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	codes, columns := profile.Safe80(), profile.Safe58()
	needles, bare := profile.Safe80(), profile.Safe80()
	codes.Name, codes.QR, codes.Red = "codes", true, true
	columns.Name, columns.Images = "columns", profile.ImagesColumn
	needles.Name, needles.Images = "needles", profile.ImagesColumn
	needles.Impact, needles.Red = true, true
	needles.Columns, needles.WidthDots = 33, 400
	bare.Name, bare.Images = "bare", profile.ImagesNone
	return append(all, codes, columns, needles, bare)
}

func drawText(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
		"2 x Crème brûlée", "no nuts", "Łódź", "борщ", "καλημέρα", "فول سوداني", "חומוס", "ไก่", "पनीर",
		"寿司", "🥜", "\x1b@\n\x10\x04\x01", "a\tb", strings.Repeat("long ", 20), "",
	}), 0, 3).Draw(t, "text"), " ")
}

func drawLine(t *rapid.T) document.Line {
	return document.Line{
		Align:  document.Align(rapid.IntRange(0, 2).Draw(t, "align")),
		Indent: rapid.IntRange(0, 4).Draw(t, "indent"), Hang: rapid.IntRange(0, 8).Draw(t, "hang"),
		Spans: []document.Span{{Text: drawText(t), Style: document.Style{
			Width:  document.Size(rapid.IntRange(0, 4).Draw(t, "width")),
			Height: document.Size(rapid.IntRange(0, 4).Draw(t, "height")),
			Bold:   rapid.Bool().Draw(t, "bold"), Inverse: rapid.Bool().Draw(t, "inverse"),
			Red: rapid.Bool().Draw(t, "red"), Strike: rapid.Bool().Draw(t, "strike"),
			Underline: rapid.Bool().Draw(t, "underline")}}},
	}
}

func drawBlock(t *rapid.T) document.Block {
	switch rapid.IntRange(0, 6).Draw(t, "block") {
	case 0:
		return document.Pair{Left: drawLine(t).Spans, Right: drawLine(t).Spans}
	case 1:
		return document.Rule{}
	case 2:
		return document.Feed{Lines: rapid.IntRange(0, 5).Draw(t, "feed")}
	case 3:
		return document.Box{Lines: []document.Line{drawLine(t), drawLine(t)}, Red: true}
	case 4:
		return document.QR{Data: "https://chit.example/" + rapid.StringMatching(`[a-z0-9]{0,60}`).
			Draw(t, "path"), Beside: []document.Line{drawLine(t)}}
	}
	return drawLine(t)
}

// Whatever our encoder makes, for whatever printer: that printer, with no command but those its
// profile speaks of, prints it without one objection, on one sheet, and counts what was promised.
func TestWhateverOurEncoderMakesComesOutWithoutAnObjection(t *testing.T) {
	profiles := kitchens(t)
	drawer := raster.New(raster.Fonts{})
	rapid.Check(t, func(t *rapid.T) {
		facts := rapid.SampledFrom(profiles).Draw(t, "profile")
		var d document.Document
		for range rapid.IntRange(1, 4).Draw(t, "blocks") {
			d.Add(drawBlock(t))
		}
		paper, err := escpos.Encoder{Profile: facts, Drawer: drawer, Substitute: true}.Encode(d)
		if errors.Is(err, escpos.ErrTooLong) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		c := StrictConfigFor(facts)
		c.BufferBytes = len(paper.Body) + len(paper.Cut) + 1
		p := New(c)
		p.Connect(start)
		p.Receive(start, paper.Body)
		p.Receive(start, paper.Cut)
		if !facts.Cutter {
			p.Tear(start)
		}
		for _, e := range p.Errors() {
			t.Errorf("%s: byte %d: %s", facts.Name, e.Offset, e.Text)
		}
		if feeds, cuts := p.Counters(); int(feeds) != paper.LineFeeds || int(cuts) != paper.Cuts {
			t.Errorf("%s: counted %d line feeds and %d cuts, promised are %d and %d", facts.Name, feeds,
				cuts, paper.LineFeeds, paper.Cuts)
		}
		for _, e := range p.Events() {
			if e.Text == "line wrapped" {
				t.Errorf("%s: byte %d: the printer had to wrap a line", facts.Name, e.Offset)
			}
		}
		if n := len(p.Sheets()); n != 1 {
			t.Errorf("%s: %d sheets", facts.Name, n)
		}
	})
}

// What a profile does not speak of is not there, and is told of.
func TestAStrictPrinterObjectsToWhatItsProfileLacks(t *testing.T) {
	const qr, sizes = "\x1d(k\x04\x001P0x\x1d(k\x03\x001Q0", "\x1d!\x11"
	strips, columns := "\x1dv0\x00\x01\x00\x01\x00\xff", "\x1b*\x21\x01\x00abc"
	for _, tt := range []struct {
		name    string
		set     func(*profile.Profile)
		objects []string
		prints  []string
	}{
		{"raster", func(p *profile.Profile) {}, []string{qr, columns, "\x1bB\x01\x01"},
			[]string{strips, sizes}},
		{"codes", func(p *profile.Profile) { p.QR = true }, nil, []string{qr}},
		{"columns", func(p *profile.Profile) { p.Images = profile.ImagesColumn }, []string{strips},
			[]string{columns}},
		{"needles", func(p *profile.Profile) { p.Impact, p.Images = true, profile.ImagesColumn },
			[]string{sizes, "\x1dB\x01", columns}, []string{"\x1b*\x01\x01\x00a", "\x1b!\x30"}},
		{"none", func(p *profile.Profile) { p.Images = profile.ImagesNone },
			[]string{strips, columns}, nil},
		{"buzzers", func(p *profile.Profile) { p.Buzzer = profile.BuzzerEpson },
			[]string{"\x1bB\x01\x01"}, []string{"\x1b(A\x04\x000123"}},
	} {
		facts := profile.Safe80()
		tt.set(&facts)
		for _, send := range append(tt.objects, tt.prints...) {
			b := newBench(t, StrictConfigFor(facts))
			b.send("\x1b@" + send)
			want := false
			for _, o := range tt.objects {
				want = want || o == send
			}
			if got := len(b.p.Errors()) > 0; got != want {
				t.Errorf("%s: %q objected to: %v, want %v: %v", tt.name, send, got, want, b.p.Errors())
			}
		}
	}
}
