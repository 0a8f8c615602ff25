package escpos

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"chit/printer/document"
	"chit/printer/escpos/codepage"
	"chit/printer/profile"
)

func narrowProfile(columns int) profile.Profile {
	p := profile.Safe80()
	p.Columns, p.CutFeed = columns, 0
	return p
}

// sheet is a second, dumb reading of a body: what a printer would have put on paper and counted.
type sheet struct {
	text    string
	feeds   int
	columns int    // of the widest line
	looks   int    // styles still on at the end
	dots    []byte // rows of all drawings, of full width
	codes   []string
}

// drawing stands in the text where something was drawn.
const drawing = '\uFFFC'

type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

func readSheet(t fataler, body []byte, p profile.Profile) sheet {
	t.Helper()
	commands, err := new(Decoder).Write(body)
	if err != nil {
		t.Fatalf("own output not understood: %v", err)
	}
	encodings := map[int]string{}
	for _, page := range p.Pages {
		encodings[int(page.Number)] = page.Encoding
	}
	var s sheet
	var text strings.Builder
	encoding, width, column, on := "", 1, 0, map[Op]int{}
	stride, band, spacing := (p.WidthDots+7)/8, [][]byte(nil), 0
	for _, c := range commands {
		if c.Op == OpRaster || c.Op == OpBitImage || c.Op == OpSymbol {
			if column != 0 {
				t.Fatalf("%s in the middle of a line", c.Op)
			}
			if !strings.HasSuffix(text.String(), string(drawing)) {
				text.WriteRune(drawing)
			}
			if limit := stripBytes(p); len(c.Raw) > limit {
				t.Fatalf("%s of %d bytes, the printer takes %d", c.Op, len(c.Raw), limit)
			}
		}
		switch c.Op {
		case OpRaster:
			if c.Args[0] != 0 || c.Args[1] > stride {
				t.Fatalf("%s %v on paper of %d dots", c.Op, c.Args, p.WidthDots)
			}
			for y := range c.Args[2] {
				row := c.Data[y*c.Args[1] : (y+1)*c.Args[1]]
				s.dots = append(append(s.dots, row...), make([]byte, stride-len(row))...)
			}
			continue
		case OpBitImage:
			band = append(band, uncolumned(c, stride))
			continue
		case OpSymbol:
			if c.Args[1] == 80 {
				s.codes = append(s.codes, string(c.Data[1:]))
			}
			continue
		case OpLineSpacing:
			spacing = 1
			continue
		case OpDefaultSpace:
			spacing = 0
			continue
		case OpPrintMode:
			width, on[c.Op] = c.Args[0]>>5&1+1, c.Args[0]
			continue
		case OpLF:
			if band != nil {
				for _, rows := range band {
					s.dots = append(s.dots, rows...)
				}
				band, s.feeds = nil, s.feeds+1
				continue
			}
		}
		switch c.Op {
		case OpText:
			for _, b := range c.Data {
				text.WriteRune(codepage.Decode(encoding, b))
				column += width
			}
			s.columns = max(s.columns, column)
		case OpLF:
			text.WriteByte('\n')
			s.feeds, column = s.feeds+1, 0
		case OpFeedLines:
			s.feeds += c.Args[0]
		case OpCodePage:
			encoding = encodings[c.Args[0]]
		case OpSize:
			width, on[c.Op] = c.Args[0]>>4+1, c.Args[0]
		case OpBold, OpUnderline, OpInverse, OpColour:
			on[c.Op] = c.Args[0]
		case OpAlign:
			if column != 0 {
				t.Fatalf("ESC a in the middle of a line")
			}
		case OpInit, OpKanjiOff, OpCharset, OpASB:
			if text.Len() > 0 {
				t.Fatalf("%s after text", c.Op)
			}
		default:
			t.Fatalf("%s in a document", c.Op)
		}
	}
	for _, n := range on {
		s.looks += n
	}
	s.looks += spacing
	s.text = text.String()
	return s
}

// uncolumned turns ESC * into rows.
func uncolumned(c Command, stride int) []byte {
	high := 24
	if c.Args[0] < 32 {
		high = 8
	}
	out := make([]byte, high*stride)
	for x := range c.Args[1] {
		for y := range high {
			if c.Data[x*high/8+y/8]&(0x80>>(y%8)) != 0 {
				out[y*stride+x/8] |= 0x80 >> (x % 8)
			}
		}
	}
	return out
}

func printed(t fataler, paper Paper, p profile.Profile) string {
	t.Helper()
	return readSheet(t, paper.Body, p).text
}

func squeeze(s string) string {
	return strings.NewReplacer(" ", "", "\n", "").Replace(s)
}

// judge checks a paper against the document it was made from.
func judge(t fataler, d document.Document, p profile.Profile, paper Paper) {
	pauses(t, paper)
	t.Helper()
	s := readSheet(t, paper.Body, p)
	if live := LiveCommands(append(append([]byte{}, paper.Body...), paper.Cut...)); len(live) > 0 {
		t.Fatalf("live commands at %v", live)
	}
	if s.feeds != paper.LineFeeds {
		t.Fatalf("%d line feeds promised, %d made", paper.LineFeeds, s.feeds)
	}
	if s.columns > p.Columns {
		t.Fatalf("a line of %d columns on a paper of %d", s.columns, p.Columns)
	}
	if s.looks != 0 {
		t.Fatalf("a style is left on at the end")
	}
	spell := newSpeller(p.Pages)
	var want strings.Builder
	add := func(spans []document.Span) {
		for _, span := range spans {
			want.WriteString(spell.sanitise(span.Text))
		}
	}
	for _, block := range d.Blocks {
		switch b := block.(type) {
		case document.Line:
			add(b.Spans)
		case document.Pair:
			add(b.Left)
			add(b.Right)
		case document.Rule:
			r := b.Char
			if r == 0 || !spell.can(r) {
				r = '-'
			}
			want.WriteString(strings.Repeat(string(r), p.Columns))
		}
	}
	got, wanted := squeeze(s.text), squeeze(want.String())
	if p.Impact { // Needles put stars where others print white on black.
		got, wanted = strings.ReplaceAll(got, "*", ""), strings.ReplaceAll(wanted, "*", "")
	}
	if got != wanted {
		t.Fatalf("printed %q, want %q", got, wanted)
	}
	if len(paper.Replaced) != len(union(spell.replaced, spell.missing)) {
		t.Fatalf("replaced %q, want %q and %q", string(paper.Replaced), string(spell.replaced),
			string(spell.missing))
	}
}

// pauses checks that a host may pause where the paper says: between commands, once each.
func pauses(t fataler, paper Paper) {
	var d Decoder
	from := 0
	for _, at := range paper.Breaks {
		if at <= from || at > len(paper.Body) {
			t.Fatalf("breaks %v of %d bytes", paper.Breaks, len(paper.Body))
		}
		if _, err := d.Write(paper.Body[from:at]); err != nil || d.Pending() > 0 {
			t.Fatalf("byte %d is inside of a command, %d bytes of it before (%v)", at, d.Pending(), err)
		}
		from = at
	}
}

func union(a, b []rune) map[rune]bool {
	all := map[rune]bool{}
	for _, r := range append(slices.Clone(a), b...) {
		all[r] = true
	}
	return all
}

func drawSpans(t *rapid.T, label string) []document.Span {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) document.Span {
		return document.Span{
			Text: rapid.OneOf(
				rapid.StringN(0, 20, 60),
				rapid.StringOfN(rapid.RuneFrom([]rune("ab é€Жő–\n中\x1B\x10\x04\x01")), 0, 40, -1),
			).Draw(t, "text"),
			Style: document.Style{
				Width:     document.Size(rapid.IntRange(0, 8).Draw(t, "width")),
				Height:    document.Size(rapid.IntRange(0, 8).Draw(t, "height")),
				Bold:      rapid.Bool().Draw(t, "bold"),
				Underline: rapid.Bool().Draw(t, "underline"),
				Inverse:   rapid.Bool().Draw(t, "inverse"),
				Red:       rapid.Bool().Draw(t, "red"),
			},
			NoBreak: rapid.Bool().Draw(t, "no break"),
		}
	}), 0, 5).Draw(t, label)
}

func TestWhatIsDecodedIsWhatWasWritten(t *testing.T) {
	names := profile.Names()
	rapid.Check(t, func(t *rapid.T) {
		p, err := profile.ByName(rapid.SampledFrom(names).Draw(t, "profile"))
		if err != nil {
			t.Fatal(err)
		}
		p.Red = rapid.Bool().Draw(t, "two colours")
		d := document.Document{}
		for range rapid.IntRange(0, 6).Draw(t, "blocks") {
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				d.Add(document.Line{
					Align:  document.Align(rapid.IntRange(0, 2).Draw(t, "align")),
					Spans:  drawSpans(t, "spans"),
					Indent: rapid.IntRange(-1, 60).Draw(t, "indent"),
					Hang:   rapid.IntRange(-1, 60).Draw(t, "hang"),
				})
			case 1:
				d.Add(document.Pair{Left: drawSpans(t, "left"), Right: drawSpans(t, "right")})
			case 2:
				d.Add(document.Rule{Char: rapid.Rune().Draw(t, "char")})
			default:
				d.Add(document.Feed{Lines: rapid.IntRange(-1, 20).Draw(t, "lines")})
			}
		}
		paper, err := Encoder{Profile: p, Substitute: true}.Encode(d)
		if err != nil {
			return // Too long: TestEncodeRefuses.
		}
		judge(t, d, p, paper)
	})
}

func TestLineFeedsArePromisedAsThePrinterCountsThem(t *testing.T) {
	for _, name := range profile.Names() {
		p, err := profile.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		paper := mustEncode(t, kitchenTicket(), p)
		judge(t, kitchenTicket(), p, paper)
		if paper.LineFeeds < 15 {
			t.Errorf("%s: only %d line feeds", name, paper.LineFeeds)
		}
	}
}

// FuzzEncode: no text, in no style, becomes anything but its own sanitised self.
func FuzzEncode(f *testing.F) {
	f.Add("2 x Margherita", "no nuts", uint8(0x11), false, uint8(0))
	f.Add("\x10\x04\x01\x1B@", "\u202E花生\x00", uint8(0x23), true, uint8(1))
	f.Add("Crème brûlée 5€ Жő", "a\xFFb", uint8(0x77), true, uint8(4))
	f.Add("\x1D\x56\x00\n\r\n", "e\u0301\u0302", uint8(0x80), false, uint8(9))
	names := profile.Names()
	f.Fuzz(func(t *testing.T, one, two string, look uint8, keep bool, model uint8) {
		p, err := profile.ByName(names[int(model)%len(names)])
		if err != nil {
			t.Fatal(err)
		}
		style := document.Style{
			Width: document.Size(look >> 4 & 7), Height: document.Size(look & 7),
			Bold: look&8 != 0, Inverse: look&0x80 != 0,
		}
		d := doc(
			document.Line{Hang: 3, Spans: []document.Span{
				{Text: one, Style: style, NoBreak: keep}, {Text: two},
			}},
			document.Pair{Left: []document.Span{{Text: two, Style: style}},
				Right: []document.Span{{Text: one}}},
		)
		paper, err := Encoder{Profile: p, Substitute: true}.Encode(d)
		if err != nil {
			small := style.Width <= 2 && style.Height <= 2 && len(one)+len(two) < 60
			if small || !errors.Is(err, ErrTooLong) {
				t.Fatalf("refused: %v", err)
			}
			return
		}
		judge(t, d, p, paper)
		drawn, err := Encoder{Profile: withImages(p), Drawer: &scribe{}}.Encode(d)
		if err != nil {
			if !errors.Is(err, ErrTooLong) {
				t.Fatalf("drawn: %v", err)
			}
			return
		}
		readSheet(t, drawn.Body, withImages(p))
		if live := LiveCommands(drawn.Body); len(live) > 0 {
			t.Fatalf("drawn: live commands at %v", live)
		}
	})
}
