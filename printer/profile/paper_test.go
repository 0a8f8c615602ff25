package profile_test

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"chit/printer/document"
	"chit/printer/escpos"
	"chit/printer/escpos/codepage"
	"chit/printer/profile"
	"chit/printer/virtual"
)

// wordsOf are lines of letters of every page, few enough for any paper.
func wordsOf(p profile.Profile) (d document.Document, want []string) {
	d.Add(document.Line{Align: document.Centre, Spans: []document.Span{{Text: " GRILL ",
		Style: document.Style{Width: 2, Height: 2, Inverse: true}}}})
	d.Add(document.Box{Red: true, Lines: []document.Line{document.Text("ALLERGY: nuts",
		document.Style{Bold: true})}})
	d.Add(document.QR{Data: "o-1/1@grill"})
	for _, page := range p.Pages {
		var word []rune
		for b := 0x80; b < 0x100 && len(word) < 20; b++ {
			r := codepage.Decode(page.Encoding, byte(b))
			if unicode.IsLetter(r) && codepage.Compatible(string(r)) == string(r) {
				word = append(word, r)
			}
		}
		d.Add(document.Text(string(word), document.Style{}))
		want = append(want, string(word))
	}
	return d, want
}

// A printer that has the facts of a profile prints what is encoded for it: every letter of every
// page, without one objection, and counts what was said it would count.
func TestThePrinterOfEachProfilePrintsItsLetters(t *testing.T) {
	for _, name := range profile.Names() {
		facts, err := profile.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		d, want := wordsOf(facts)
		paper, err := escpos.Encode(d, facts)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		config := virtual.ConfigFor(facts)
		config.BufferBytes = 64 << 10
		now := time.Unix(0, 0)
		p := virtual.New(config)
		p.Connect(now)
		for _, part := range [][]byte{paper.Body, paper.Cut} {
			if n := p.Receive(now, part); n != len(part) {
				t.Fatalf("%s: took %d of %d bytes", name, n, len(part))
			}
		}
		if !facts.Cutter {
			p.Tear(now)
		}
		for _, e := range p.Errors() {
			t.Errorf("%s: byte %d: %s", name, e.Offset, e.Text)
		}
		if len(paper.Replaced) != 0 {
			t.Errorf("%s: cannot print its own letters %q", name, string(paper.Replaced))
		}
		feeds, cuts := p.Counters()
		if int(feeds) != paper.LineFeeds || int(cuts) != paper.Cuts {
			t.Errorf("%s: counted %d line feeds and %d cuts, expected %d and %d", name, feeds, cuts,
				paper.LineFeeds, paper.Cuts)
		}
		var text strings.Builder
		for _, sheet := range p.Sheets() {
			text.WriteString(sheet.Text())
		}
		for _, word := range append(want, "GRILL", "ALLERGY: nuts") {
			if !strings.Contains(text.String(), word) {
				t.Errorf("%s: %q is not on the paper:\n%s", name, word, text.String())
			}
		}
	}
}
