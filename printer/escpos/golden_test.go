package escpos

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"chit/printer/document"
	"chit/printer/profile"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// kitchenTicket has what kitchens expect: a marked head, a large number, items with quantity first,
// modifiers with a hanging indent, an allergen, a note, and text that only other pages have.
func kitchenTicket() document.Document {
	mark := document.Style{Inverse: true, Bold: true, Width: 2, Height: 2}
	big := document.Style{Width: 4, Height: 4, Bold: true}
	quantity := document.Style{Width: 2, Height: 2, Bold: true}
	item := document.Style{Height: 2}
	alarm := document.Style{Inverse: true, Red: true, Height: 2}
	var d document.Document
	d.Add(
		document.Line{Align: document.Centre, Spans: []document.Span{
			{Text: " POSSIBLE DUPLICATE ", Style: mark, NoBreak: true}}},
		document.Line{Align: document.Centre, Spans: []document.Span{{Text: "41", Style: big}}},
		document.Pair{
			Left:  []document.Span{{Text: "Grill · previous 40"}},
			Right: []document.Span{{Text: "due 19:45", Style: document.Style{Bold: true}}},
		},
		document.Rule{},
		document.Line{Hang: 5, Spans: []document.Span{
			{Text: "2 x ", Style: quantity, NoBreak: true},
			{Text: "Crêpe “Forêt-Noire” with extra crème brûlée", Style: item}}},
		document.Line{Indent: 3, Hang: 5, Spans: []document.Span{
			{Text: "NO ", Style: document.Style{Bold: true}},
			{Text: "hazelnuts, walnuts or almonds anywhere near it"}}},
		document.Line{Indent: 3, Hang: 5, Spans: []document.Span{{Text: "+ Жареный лук 2,50 €"}}},
		document.Line{Indent: 3, Spans: []document.Span{
			{Text: " ALLERGY ", Style: alarm, NoBreak: true}, {Text: " peanuts 花生"}}},
		document.Rule{Char: '═'},
		document.Line{Indent: 1, Hang: 2, Spans: []document.Span{
			{Text: "\"ring\nthe \x1B@ bell\u202E\"", Style: document.Style{Underline: true}}}},
		document.Line{Align: document.Right, Spans: []document.Span{{Text: "attempt 2"}}},
		document.Feed{Lines: 2},
	)
	return d
}

// transcript is one line per command, so that a change of bytes can be read in a diff.
func transcript(t *testing.T, paper Paper) []byte {
	t.Helper()
	var out bytes.Buffer
	fmt.Fprintf(&out, "line feeds %d, cuts %d, %d dots, replaced %q\n",
		paper.LineFeeds, paper.Cuts, paper.HeightDots, string(paper.Replaced))
	for _, part := range [][]byte{paper.Body, paper.Cut} {
		commands, err := new(Decoder).Write(part)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range commands {
			switch c.Op {
			case OpText:
				fmt.Fprintf(&out, "%-8s %+q\n", c.Op, c.Data)
			case OpRaster, OpBitImage:
				fmt.Fprintf(&out, "%-8s %d, %d bytes of dots\n", c.Op, c.Args, len(c.Data))
			default:
				fmt.Fprintf(&out, "%-8s % X\n", c.Op, c.Raw)
			}
		}
	}
	return out.Bytes()
}

func TestKitchenTicketBytesAreAsReviewed(t *testing.T) {
	for _, name := range []string{"safe-80", "safe-58", "epson-tm-t88v", "yhdaa-yhd-8390"} {
		p, err := profile.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		asReviewed(t, name, mustEncode(t, kitchenTicket(), p))
	}
}

// framedTicket has what is framed, struck and encoded.
func framedTicket() document.Document {
	d := kitchenTicket()
	big := document.Style{Height: 2, Bold: true, Red: true}
	d.Add(
		document.Box{Red: true, Lines: []document.Line{
			document.Text("ALLERGY: PEANUTS, SESAME SEEDS AND EVERYTHING MADE OF THEM", big)}},
		document.Line{Spans: []document.Span{{Text: "2 Fries", Style: document.Style{Strike: true}}}},
		document.QR{Data: "https://chit.example/t/4711/1@grill", Beside: []document.Line{
			document.Text("4711/1@grill", document.Style{})}},
	)
	return d
}

func TestFramesCodesAndDrawingsAreAsReviewed(t *testing.T) {
	codes, needles := profile.Safe80(), profile.Safe80()
	codes.QR = true
	needles.Impact, needles.Red, needles.Images = true, true, profile.ImagesColumn
	needles.Columns, needles.WidthDots = 33, 400
	for name, e := range map[string]Encoder{
		"framed-substitute": {Profile: codes, Substitute: true},
		"framed-drawn":      {Profile: codes, Drawer: &scribe{}},
		"framed-needles":    {Profile: needles, Drawer: &scribe{tall: true}},
	} {
		paper, err := e.Encode(framedTicket())
		if err != nil {
			t.Fatal(err)
		}
		asReviewed(t, name, paper)
	}
}

func asReviewed(t *testing.T, name string, paper Paper) {
	t.Helper()
	got, file := transcript(t, paper), filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from %s; look at the diff after go test -update", name, file)
	}
}
