package raster

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-text/typesetting/harfbuzz"
	"github.com/go-text/typesetting/segmenter"

	"chit/printer/document"
	"chit/printer/escpos"
	"chit/printer/escpos/codepage"
)

// graphemeMax is how many runes of one grapheme are kept together. Longer ones are piles of marks
// that nobody wrote to be read.
const graphemeMax = 16

// object stands for a character that is drawn as its code point: neutral among directions.
const object = '\uFFFC'

// paragraph is text ready to be shaped. All slices but starts and breaks run parallel to text.
type paragraph struct {
	text   []rune
	styles []document.Style
	keep   []int  // number of the NoBreak span a rune belongs to, 0 for none
	boxed  []rune // what an object in text stands for
	pieces []int  // the first rune of each span
	levels []uint8
	rtl    bool
	// band is true for white on black over the whole width; see unpad.
	band bool
	// starts are the first runes of graphemes, and the end of text.
	starts []int
	// breaks are the runes before which a line may end, and the end of text (UAX 14).
	breaks []int
}

// newParagraph joins spans and cleans their text.
//
// It is composed (NFC). Line and paragraph ends and tabs become one space each (CR LF one). Control
// characters, bidi controls and characters without ink or effect are replaced by their code points;
// soft hyphens and byte order marks go. A drawn line cannot carry a byte to the printer's command
// set, so this is for people: what they cannot see must not change what they read.
func newParagraph(spans []document.Span) (*paragraph, error) {
	p := &paragraph{}
	for i, span := range spans {
		style := span.Style
		style.Width, style.Height = max(style.Width, 1), max(style.Height, 1)
		if style.Width > 8 || style.Height > 8 {
			return nil, fmt.Errorf("raster: span %d: size %d by %d, expected at most 8 by 8: %w",
				i, style.Width, style.Height, escpos.ErrDocument)
		}
		style.Red = false // The encoder's: an image is one colour.
		keep := 0
		if span.NoBreak {
			keep = i + 1
		}
		p.pieces = append(p.pieces, len(p.text))
		text := strings.ReplaceAll(codepage.Compose(span.Text), "\r\n", " ")
		for _, r := range text {
			r, boxed, drop := clean(r)
			if drop {
				continue
			}
			p.text = append(p.text, r)
			p.styles = append(p.styles, style)
			p.keep = append(p.keep, keep)
			p.boxed = append(p.boxed, boxed)
		}
	}
	p.segment()
	return p, nil
}

// clean returns what stands for r in a paragraph.
func clean(r rune) (stands, boxed rune, drop bool) {
	switch {
	case r == '\u00AD' || r == '\u2060' || r == '\uFEFF':
		return 0, 0, true
	case r == '\u00A0' || r == '\u202F':
		return '\u00A0', 0, false
	case r >= '\t' && r <= '\r' || r == '\u0085' || unicode.In(r, unicode.Zs, unicode.Zl, unicode.Zp):
		return ' ', 0, false
	case joins(r):
		return r, 0, false
	case r == object || unicode.In(r, unicode.Cc, unicode.Bidi_Control) || ignorable(r):
		return object, r, false
	}
	return r, 0, false
}

// joins tells whether r has no ink of its own but changes how its neighbours are drawn or broken:
// zero-width space, joiner and non-joiner, combining grapheme joiner, variation selectors, and the
// tags inside flags.
func joins(r rune) bool {
	return r >= 0x200B && r <= 0x200D || r == 0x034F || r >= 0xFE00 && r <= 0xFE0F ||
		r >= 0xE0100 && r <= 0xE01EF || r >= 0xE0020 && r <= 0xE007F
}

// ignorable tells whether fonts draw nothing for r.
func ignorable(r rune) bool { return harfbuzz.IsDefaultIgnorable(r) }

// inked tells whether a reader expects to see something for r.
func inked(r rune) bool { return r != ' ' && r != '\u00A0' && !joins(r) }

// segment finds graphemes and line breaks.
func (p *paragraph) segment() {
	var s segmenter.Segmenter
	s.Init(p.text)
	for g := s.GraphemeIterator(); g.Next(); {
		grapheme := g.Grapheme()
		for at := 0; at < len(grapheme.Text); at += graphemeMax {
			p.starts = append(p.starts, grapheme.Offset+at)
		}
	}
	p.starts = append(p.starts, len(p.text))
	for l := s.LineIterator(); l.Next(); {
		line := l.Line()
		end := line.Offset + len(line.Text)
		if end < len(p.text) && p.keep[end] != 0 && p.keep[end] == p.keep[end-1] {
			continue
		}
		if _, ok := slices.BinarySearch(p.starts, end); ok && end > 0 {
			p.breaks = append(p.breaks, end)
		}
	}
	if n := len(p.text); n > 0 && (len(p.breaks) == 0 || p.breaks[len(p.breaks)-1] != n) {
		p.breaks = append(p.breaks, n)
	}
}

// end returns where the grapheme that starts at rune i ends.
func (p *paragraph) end(i int) int {
	at, _ := slices.BinarySearch(p.starts, i+1)
	return p.starts[at]
}

// unpad takes the spaces off a mark that reaches over the whole width by them. They were counted in
// columns, and drawn letters are not as wide: the mark gets its black from edge to edge, and its
// words their place in the middle, once they are drawn.
func (p *paragraph) unpad() {
	start, end := 0, len(p.text)
	for start < end && p.blank(start) && p.styles[start].Inverse {
		start++
	}
	for end > start && p.blank(end-1) && p.styles[end-1].Inverse {
		end--
	}
	if start == end || start == 0 && end == len(p.text) ||
		slices.ContainsFunc(p.styles, func(s document.Style) bool { return !s.Inverse }) {
		return
	}
	p.band = true
	p.text, p.styles, p.keep, p.boxed = p.text[start:end], p.styles[start:end], p.keep[start:end],
		p.boxed[start:end]
	for i := range p.pieces {
		p.pieces[i] = min(max(p.pieces[i]-start, 0), end-start)
	}
	p.starts, p.breaks = nil, nil
	p.segment()
}

// firstLetter of the runes from start to end that gives a direction, utf8.RuneError for none.
func (p *paragraph) firstLetter(start, end int) rune {
	for i := start; i < end; i++ {
		r := p.text[i]
		if !unicode.IsLetter(r) || (r == 'x' || r == 'X') && p.quantitySign(i) {
			continue
		}
		return r
	}
	return utf8.RuneError
}

// quantitySign tells whether the letter x at i only says how many: "2x", "2 x".
func (p *paragraph) quantitySign(i int) bool {
	before := i - 1
	for before >= 0 && p.text[before] == ' ' {
		before--
	}
	return before >= 0 && unicode.IsDigit(p.text[before]) &&
		(i+1 == len(p.text) || !unicode.IsLetter(p.text[i+1]) || leftward(p.text[i+1]))
}
