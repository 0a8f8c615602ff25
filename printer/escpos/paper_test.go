package escpos_test

import (
	"strings"
	"testing"
	"time"

	"chit/printer/document"
	"chit/printer/escpos"
	"chit/printer/profile"
	"chit/printer/raster"
	"chit/printer/virtual"
)

// everything is a ticket with all that is spelt, framed, drawn, struck and encoded.
func everything() document.Document {
	bold := document.Style{Bold: true, Height: 2}
	return document.Document{Blocks: []document.Block{
		document.Line{Align: document.Centre, Spans: []document.Span{{Text: " GRILL ",
			Style: document.Style{Width: 2, Height: 2, Inverse: true}}}},
		document.Pair{Left: []document.Span{{Text: "Zurek 5.50"}},
			Right: []document.Span{{Text: "19:45"}}},
		document.Rule{Char: '═'},
		document.Line{Hang: 4, Spans: []document.Span{{Text: "2 x ", NoBreak: true},
			{Text: "宫保鸡丁 不要花生", Style: bold}}},
		document.Pair{Left: []document.Span{{Text: "طاولة"}}, Right: []document.Span{{Text: "12"}}},
		document.Box{Red: true, Lines: []document.Line{document.Text("ALLERGY: PEANUTS", bold)}},
		document.Box{Lines: []document.Line{document.Text("ALLERGY:", bold),
			document.Text("ถั่วลิสง אגוזים", bold)}},
		document.Text("3 Fries", document.Style{Strike: true}),
		document.QR{Data: "https://chit.example/t/4711/1@grill", Beside: []document.Line{
			document.Text("4711/1@grill", document.Style{}),
			document.Text("copy 1 of 2", document.Style{}),
		}},
		document.QR{Data: "HTTPS://CHIT.EXAMPLE/1"},
		document.Text("end", document.Style{}),
	}}
}

// A printer in software takes all of it without an objection, and its odometer counts what the
// encoder promised.
func TestAPrinterTakesEverythingWithoutAnObjection(t *testing.T) {
	drawer := raster.New(raster.Fonts{})
	start := time.Unix(1_800_000_000, 0)
	for _, name := range profile.Names() {
		for _, images := range []profile.Images{profile.ImagesRaster, profile.ImagesColumn} {
			p, err := profile.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			p.Images, p.QR, p.Red = images, images == profile.ImagesColumn, true
			paper, err := escpos.Encoder{Profile: p, Drawer: drawer}.Encode(everything())
			if err != nil {
				t.Fatalf("%s, images by %d: %v", name, images, err)
			}
			if len(paper.Replaced) > 0 || !paper.Raster {
				t.Errorf("%s: replaced %q, raster %t", name, string(paper.Replaced), paper.Raster)
			}
			printer := virtual.New(virtual.ConfigFor(p))
			printer.Connect(start)
			for _, part := range [][]byte{paper.Body, paper.Cut} {
				for len(part) > 0 {
					part = part[printer.Receive(start, part):]
				}
			}
			if !p.Cutter {
				printer.Tear(start)
			}
			for _, e := range printer.Errors() {
				t.Errorf("%s, images by %d: byte %d: %s", name, images, e.Offset, e.Text)
			}
			feeds, cuts := printer.Counters()
			if int(feeds) != paper.LineFeeds || int(cuts) != paper.Cuts {
				t.Errorf("%s, images by %d: counted %d line feeds and %d cuts, promised %d and %d",
					name, images, feeds, cuts, paper.LineFeeds, paper.Cuts)
			}
			sheets := printer.Sheets()
			if len(sheets) != 1 {
				t.Fatalf("%s: %d sheets", name, len(sheets))
			}
			text := sheets[0].Text()
			for _, want := range []string{"GRILL", "Zurek 5.50", "ALLERGY: PEANUTS", "end"} {
				if !strings.Contains(text, want) {
					t.Errorf("%s: no %q on\n%s", name, want, text)
				}
			}
			if p.Impact {
				continue // A band of 8 needles is 24 dots high in software, 22.6 on paper.
			}
			// Half of the paper's lines may be shorter than the longest spacing of all printers.
			if high := sheets[0].HeightDots; high > paper.HeightDots || high < paper.HeightDots*3/4 {
				t.Errorf("%s: %d dots high, promised %d", name, high, paper.HeightDots)
			}
		}
	}
}
