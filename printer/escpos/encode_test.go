package escpos

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"chit/printer/document"
	"chit/printer/profile"
)

const known = "1B 40 1C 2E 1B 52 00 1D 61 0F 1B 74 00 " // the known state every body starts with

func doc(blocks ...document.Block) document.Document { return document.Document{Blocks: blocks} }

func mustEncode(t *testing.T, d document.Document, p profile.Profile) Paper {
	t.Helper()
	paper, err := Encoder{Profile: p, Substitute: true}.Encode(d)
	if err != nil {
		t.Fatal(err)
	}
	return paper
}

func TestEncodedBytes(t *testing.T) {
	narrow := profile.Safe58()
	narrow.CutFeed, narrow.Red = 0, true
	line := func(spans ...document.Span) document.Line { return document.Line{Spans: spans} }
	for _, c := range []struct {
		name  string
		block document.Block
		want  string
	}{
		{"plain text", document.Text("AB", document.Style{}), "41 42 0A"},
		{"an empty line", document.Line{}, "0A"},
		{"GS !: width in the high nibble", document.Text("A", document.Style{Width: 2, Height: 3}),
			"1D 21 12 41 0A 1D 21 00"},
		{"ESC E", document.Text("A", document.Style{Bold: true}), "1B 45 01 41 0A 1B 45 00"},
		{"ESC -", document.Text("A", document.Style{Underline: true}), "1B 2D 01 41 0A 1B 2D 00"},
		{"GS B", document.Text("A", document.Style{Inverse: true}), "1D 42 01 41 0A 1D 42 00"},
		{"ESC r", document.Text("A", document.Style{Red: true}), "1B 72 01 41 0A 1B 72 00"},
		{"a style in the middle of a line",
			line(document.Span{Text: "A"}, document.Span{Text: "B",
				Style: document.Style{Bold: true}},
				document.Span{Text: "C"}), "41 1B 45 01 42 1B 45 00 43 0A"},
		{"ESC a", document.Line{Align: document.Centre, Spans: []document.Span{{Text: "A"}}},
			"1B 61 01 41 0A"},
		{"ESC d", document.Feed{Lines: 3}, "1B 64 03"},
		{"no feed", document.Feed{Lines: -1}, ""},
		{"a rule", document.Rule{}, strings.Repeat("2D ", 32) + "0A"},
		{"a rule of a page", document.Rule{Char: '═'}, strings.Repeat("CD ", 32) + "0A"},
		{"a rule that no page has", document.Rule{Char: '中'}, strings.Repeat("2D ", 32) + "0A"},
		{"a pair", document.Pair{Left: []document.Span{{Text: "A"}},
			Right: []document.Span{{Text: "B"}}},
			"41 " + strings.Repeat("20 ", 30) + "42 0A"},
		{"e acute, in CP437", document.Text("é", document.Style{}), "82 0A"},
		{"e and a combining acute", document.Text("e\u0301", document.Style{}), "82 0A"},
		{"euro, by CP858", document.Text("5€", document.Style{}), "35 1B 74 13 D5 0A"},
		{"one switch for two letters", document.Text("€é", document.Style{}), "1B 74 13 D5 82 0A"},
		{"page kept in the next line",
			document.Line{Spans: []document.Span{{Text: strings.Repeat("€", 33)}}},
			"1B 74 13 " + strings.Repeat("D5 ", 32) + "0A D5 0A"},
		{"cyrillic, by CP866", document.Text("Ж", document.Style{}), "1B 74 11 86 0A"},
		{"typography", document.Text("“a”\u00A0–\u2009…’", document.Style{}),
			"22 61 22 20 2D 20 2E 2E 2E 27 0A"},
		{"newlines", document.Text("a\r\nb\nc\td", document.Style{}), "61 20 62 20 63 20 64 0A"},
		{"a command in the text", document.Text("\x1B@", document.Style{}),
			strings.TrimSpace(fmt.Sprintf("% X", "[U+001B]@")) + " 0A"},
	} {
		paper := mustEncode(t, doc(c.block), narrow)
		want := strings.TrimSpace(known + strings.TrimSpace(c.want))
		if got := fmt.Sprintf("% X", paper.Body); got != want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, want)
		}
	}
}

func TestTheBodyFeedsToTheBladeAndTheCutStandsAlone(t *testing.T) {
	paper := mustEncode(t, doc(document.Text("A", document.Style{Bold: true})), profile.Safe80())
	if got := fmt.Sprintf("% X", paper.Body); got != known+"1B 45 01 41 0A 1B 45 00 1B 64 04" {
		t.Error(got)
	}
	if got := fmt.Sprintf("% X", paper.Cut); got != "1D 56 01" || paper.Cuts != 1 {
		t.Errorf("cut %s, %d cuts", got, paper.Cuts)
	}
	if paper.LineFeeds != 5 || paper.HeightDots != 5*lineDots {
		t.Errorf("%d line feeds, %d dots", paper.LineFeeds, paper.HeightDots)
	}
	paper = mustEncode(t, doc(), profile.Safe58())
	if len(paper.Cut) != 0 || paper.Cuts != 0 {
		t.Errorf("a printer without a cutter gets % X", paper.Cut)
	}
}

func TestRedChangesNothingOnOneColour(t *testing.T) {
	red := mustEncode(t, doc(document.Text("nuts", document.Style{Red: true})), profile.Safe80())
	plain := mustEncode(t, doc(document.Text("nuts", document.Style{})), profile.Safe80())
	if string(red.Body) != string(plain.Body) {
		t.Errorf("% X", red.Body)
	}
}

func TestEncodeRefuses(t *testing.T) {
	p := profile.Safe80()
	long := document.Document{}
	for range HeightDotsMax/lineDots + 1 {
		long.Add(document.Line{})
	}
	noPages, badPage, narrow := p, p, p
	noPages.Pages = nil
	badPage.Pages = []profile.Page{{Number: 7, Encoding: "KLINGON"}}
	narrow.Columns = 8
	for _, c := range []struct {
		name string
		d    document.Document
		p    profile.Profile
		want error
		says string
	}{
		{"over 1 m of lines", long, p, ErrTooLong, "would be 1.02 m long, expected at most 1 m"},
		{"over 1 m of feed", doc(document.Feed{Lines: 1 << 40}), p, ErrTooLong, "more than 4 m long"},
		{"over 1 m of text", doc(document.Text(strings.Repeat("nuts ", 1e5), document.Style{})), p,
			ErrTooLong, "split the order"},
		{"size 9", doc(document.Text("A", document.Style{Height: 9})), p, ErrDocument, "1 by 9"},
		{"a strange alignment", doc(document.Line{Align: 3}), p, ErrDocument, "alignment 3"},
		{"no block", doc(nil), p, ErrDocument, "expected Line"},
		{"a profile without pages", doc(), noPages, ErrProfile, "no code pages"},
		{"a profile with an unknown page", doc(), badPage, ErrProfile, "KLINGON"},
		{"a narrow profile", doc(), narrow, ErrProfile, "8 columns"},
	} {
		paper, err := Encode(c.d, c.p)
		if !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s: %v, want %v with %q", c.name, err, c.want, c.says)
		}
		if paper.Body != nil {
			t.Errorf("%s: bytes beside an error", c.name)
		}
	}
}

func TestExactlyOneMetreIsPrinted(t *testing.T) {
	p := profile.Safe80()
	d := document.Document{}
	for range HeightDotsMax/lineDots - p.CutFeed {
		d.Add(document.Line{})
	}
	if paper := mustEncode(t, d, p); paper.HeightDots > HeightDotsMax {
		t.Errorf("%d dots", paper.HeightDots)
	}
}
