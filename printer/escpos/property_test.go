package escpos

import (
	"bytes"
	"errors"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"chit/printer/document"
	"chit/printer/profile"
)

func drawProfile(t *rapid.T) profile.Profile {
	p, err := profile.ByName(rapid.SampledFrom(profile.Names()).Draw(t, "profile"))
	if err != nil {
		t.Fatal(err)
	}
	p.Red = rapid.Bool().Draw(t, "two colours")
	p.QR = rapid.Bool().Draw(t, "codes")
	p.Images = profile.Images(rapid.IntRange(0, 2).Draw(t, "images"))
	p.Impact = rapid.IntRange(0, 3).Draw(t, "impact") == 0
	p.StripBytes = rapid.SampledFrom([]int{0, 1733, 2000, 1 << 20}).Draw(t, "strip")
	return p
}

func drawLine(t *rapid.T) document.Line {
	line := document.Line{
		Align:  document.Align(rapid.IntRange(0, 2).Draw(t, "align")),
		Spans:  drawSpans(t, "spans"),
		Indent: rapid.IntRange(-1, 60).Draw(t, "indent"),
		Hang:   rapid.IntRange(-1, 60).Draw(t, "hang"),
	}
	if n := len(line.Spans); n > 0 && rapid.IntRange(0, 3).Draw(t, "strike") == 0 {
		line.Spans[n-1].Style.Strike = true
	}
	return line
}

func drawDocument(t *rapid.T) document.Document {
	d := document.Document{}
	for range rapid.IntRange(0, 5).Draw(t, "blocks") {
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			d.Add(drawLine(t))
		case 1:
			d.Add(document.Pair{Left: drawSpans(t, "left"), Right: drawSpans(t, "right")})
		case 2:
			d.Add(document.Rule{Char: rapid.SampledFrom([]rune{0, '=', '─', '中'}).Draw(t, "char")})
		case 3:
			d.Add(document.Feed{Lines: rapid.IntRange(-1, 9).Draw(t, "lines")})
		case 4:
			d.Add(document.Box{
				Lines: []document.Line{drawLine(t), drawLine(t)}, Red: rapid.Bool().Draw(t, "red"),
			})
		default:
			d.Add(document.QR{
				Data:   rapid.StringMatching(`[ -~]{1,200}`).Draw(t, "data"),
				Module: rapid.SampledFrom([]int{0, 2, 8}).Draw(t, "module"),
				Beside: []document.Line{drawLine(t)},
			})
		}
	}
	return d
}

// wanted is what a paper must show: words spelt, in order, and words drawn.
type wanted struct {
	p     profile.Profile
	draws bool
	spelt strings.Builder
	drawn []placedText
	from  int // the column where drawings stand now
	to    int // the column where they end, 0 for the edge of the paper
}

// placedText is a text drawn between two dots of the paper.
type placedText struct {
	text     string
	from, to int
}

// say takes spans that are spelt, or drawn as one where one of them has to be. together draws them
// in any case.
func (w *wanted) say(together bool, spans ...document.Span) (drawn bool) {
	spell := newSpeller(w.p.Pages)
	var spelt, all strings.Builder
	for _, span := range spans {
		text := spell.sanitise(span.Text)
		all.WriteString(visible(span.Text))
		together = together || len(spell.missing) > 0 || span.Style.Strike && text != ""
		if span.Style.Strike && text != "" {
			text = struck(text, false, false) // Its signs are no words.
		}
		if w.p.Impact && span.Style.Inverse {
			text = starred(text)
		}
		spelt.WriteString(text)
	}
	if together && w.draws {
		to := w.p.WidthDots
		if w.to > 0 {
			to = w.to * 12
		}
		w.drawn = append(w.drawn, placedText{all.String(), w.from * 12, to})
		return true
	}
	w.spelt.WriteString(spelt.String())
	return false
}

func (w *wanted) block(block document.Block) {
	switch b := block.(type) {
	case document.Line:
		w.say(false, b.Spans...)
	case document.Pair:
		w.say(false, append(slices.Clone(b.Left), b.Right...)...)
	case document.Rule:
		if b.Char == '=' { // The others are no words.
			w.spelt.WriteString(strings.Repeat("=", w.p.Columns))
		}
	case document.Box:
		w.from, w.to = 2, w.p.Columns-2
		w.lines(false, b.Lines)
		w.from, w.to = 0, 0
	case document.QR:
		w.qr(b)
	}
}

// lines are drawn all where one of them is.
func (w *wanted) lines(together bool, lines []document.Line) {
	for _, line := range lines {
		alone := wanted{p: w.p, draws: w.draws}
		together = alone.say(false, line.Spans...) || together
	}
	for _, line := range lines {
		w.say(together, line.Spans...)
	}
}

func (w *wanted) qr(code document.QR) {
	pictures := w.p.Images != profile.ImagesNone
	if !w.p.QR && !pictures {
		w.spelt.WriteString(code.Data)
	}
	module := code.Module
	if module == 0 {
		module = 4
	}
	for (modules(len(code.Data))+8)*module > w.p.WidthDots && module > 2 {
		module--
	}
	if w.p.Impact {
		module -= module % 2
	}
	from := ((modules(len(code.Data))+8)*module + 11) / 12
	beside := pictures && w.draws && w.p.Columns-from >= 16
	if beside {
		w.from, w.to = from, w.p.Columns
	}
	for _, line := range code.Beside {
		w.say(beside, line.Spans...)
	}
	w.from, w.to = 0, 0
}

// unframed leaves out what frames, rules and signs are made of.
func unframed(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("╔╗╚╝═║┌┐└┘─│+-|\uFFFC \n", r) {
			return -1
		}
		return r
	}, s)
}

// shows tells whether dots hold a message, but for single dots that were set so that no command
// lives in them.
func shows(dots, message []byte) bool {
	for i := 0; i+len(message) <= len(dots); i++ {
		more := 0
		for j, b := range message {
			if dots[i+j]&b != b {
				more = len(dots)
				break
			}
			more += bits.OnesCount8(dots[i+j] ^ b)
		}
		if more <= 1+len(message)/20 {
			return true
		}
	}
	return false
}

// Whatever a document says, on whatever printer: the bytes are commands that the decoder knows, no
// line and no strip is too large, no image holds a live command, and every word is on the paper.
func TestEveryDocumentComesOutWholeOnEveryPrinter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t)
		d := drawDocument(t)
		s := &scribe{tall: p.Impact, noise: rapid.SampledFrom([][]byte{
			nil, {0x10, 0x04, 0x01}, {0, 0x10, 0x14, 0x03}, ClearBuffers(), {0x10, 0x05},
		}).Draw(t, "noise")}
		e := Encoder{Profile: p, Substitute: true}
		if rapid.IntRange(0, 3).Draw(t, "drawer") > 0 {
			e.Drawer = s
		}
		paper, err := e.Encode(d)
		if errors.Is(err, ErrTooLong) {
			return
		}
		if err != nil {
			t.Fatalf("refused: %v", err)
		}
		read := readSheet(t, paper.Body, p)
		if live := LiveCommands(append(slices.Clone(paper.Body), paper.Cut...)); len(live) > 0 {
			t.Fatalf("live commands at %v", live)
		}
		if read.feeds != paper.LineFeeds || read.columns > p.Columns || read.looks != 0 {
			t.Fatalf("%d line feeds, promised %d; %d columns of %d; styles left on: %d",
				read.feeds, paper.LineFeeds, read.columns, p.Columns, read.looks)
		}
		if pictured := len(read.dots) > 0 || len(read.codes) > 0; pictured != paper.Raster {
			t.Fatalf("raster is %t, with %d bytes of dots", paper.Raster, len(read.dots))
		}
		want := wanted{p: p, draws: e.Drawer != nil && p.Images != profile.ImagesNone}
		for _, block := range d.Blocks {
			want.block(block)
		}
		if got, want := unframed(read.text), unframed(want.spelt.String()); got != want {
			t.Fatalf("spelt %q, want %q", got, want)
		}
		for _, drawn := range want.drawn {
			message := append(append([]byte{0xFE}, drawn.text...), 0xFF)
			between := crop(read.dots, p.WidthDots, drawn.from, drawn.to)
			if !shows(between, message) {
				t.Fatalf("%q is not on the paper", drawn.text)
			}
		}
	})
}

// The page at the end of one line is the page at the start of the next.
func TestADocumentHasTheFewestPageSwitches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := profile.Safe80()
		letters := rapid.StringOfN(rapid.RuneFrom([]rune("ab é€ñЖőłßΩ¢£")), 0, 3, -1)
		var d document.Document
		var all []cell
		for _, text := range rapid.SliceOfN(letters, 0, 3).Draw(t, "lines") {
			d.Add(document.Text(text, document.Style{}))
			for _, r := range text {
				all = append(all, cell{r: r, style: plain})
			}
		}
		paper, err := Encode(d, p)
		if err != nil {
			t.Fatal(err)
		}
		least := leastCost(newSpeller(p.Pages), all, 0).switches
		if got := bytes.Count(paper.Body, []byte{0x1B, 0x74}) - 1; got != least {
			t.Fatalf("%d switches, %d would do", got, least)
		}
	})
}
