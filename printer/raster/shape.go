package raster

import (
	"slices"
	"unicode"

	"golang.org/x/image/math/fixed"

	"chit/printer/document"
)

// glyph is one stamp and where it goes.
type glyph struct {
	at    int // dots right of the run's left edge
	rise  int // dots above the baseline
	stamp *stamp
}

// run is a piece of text of one font, style and level, shaped.
type run struct {
	face       face
	style      document.Style
	level      uint8
	start, end int // runes of the paragraph
	glyphs     []glyph
	width      fixed.Int26_6
	// above and below the baseline there may be ink, in dots.
	above, below int
	// smear is true where bold is made by doubling the strokes.
	smear bool
	// missing lists what no font has.
	missing []rune
	// sizes is the advance of each grapheme, by its first rune.
	sizes []fixed.Int26_6
}

// dots is the run's width in whole dots.
func (r *run) dots() int { return r.width.Ceil() }

// reach sets how far the run reaches from the baseline: as far as letters of its size in fixed
// cells, and where its ink reaches further, that and a gap to the line above.
func (r *run) reach(p pitch) {
	r.above, r.below = p.ascent*int(r.style.Height), (p.height-p.ascent)*int(r.style.Height)
	cell := r.above
	for _, g := range r.glyphs {
		r.above = max(r.above, g.stamp.top+g.rise)
		r.below = max(r.below, g.stamp.height-g.stamp.top-g.rise)
	}
	if r.above > cell {
		r.above += gapDots
	}
}

// each calls f for the graphemes of the run from left to right.
func (r *run) each(p *paragraph, f func(start, end int)) {
	first, _ := slices.BinarySearch(p.starts, r.start)
	last, _ := slices.BinarySearch(p.starts, r.end)
	for i := range last - first {
		at := first + i
		if r.level%2 == 1 {
			at = last - 1 - i
		}
		f(p.starts[at], p.starts[at+1])
	}
}

// add puts a glyph at the pen, moved right by g.at, and advances the pen.
func (r *run) add(g glyph, grapheme int, advance fixed.Int26_6) {
	g.at += r.width.Floor()
	r.glyphs = append(r.glyphs, g)
	r.advance(grapheme, advance)
}

func (r *run) advance(grapheme int, advance fixed.Int26_6) {
	r.width += advance
	r.sizes[grapheme] += advance
}

// choice is the fonts to ask for each grapheme and which of them is asked now, by first rune.
type choice struct {
	faces []face
	at    int
}

// shape shapes the runes [start, end), a whole number of graphemes, and returns its runs from left
// to right and the advance of each grapheme by its first rune.
//
// A grapheme that its font draws without ink, or in part, is given to the next font, and the last
// of them draws everything.
func (s *sheet) shape(p *paragraph, start, end int) ([]run, []fixed.Int26_6) {
	choices := s.choose(p, start, end)
	for {
		sizes := make([]fixed.Int26_6, len(p.text)+1)
		runs := p.runs(choices, start, end)
		again := false
		for i := range runs {
			runs[i].sizes = sizes
			for _, grapheme := range runs[i].face.lay(s, p, &runs[i]) {
				c := &choices[grapheme]
				if c.at+1 < len(c.faces) {
					c.next(p.text[grapheme:p.end(grapheme)])
					again = true
				}
			}
		}
		if !again {
			p.order(runs)
			return runs, sizes
		}
	}
}

// next moves on to the next font that has the grapheme.
func (c *choice) next(grapheme []rune) {
	for c.at++; c.at+1 < len(c.faces) && !c.faces[c.at].has(grapheme); c.at++ {
	}
}

// choose picks a font for each grapheme. Marks that no font has together with their letter are
// drawn beside it.
func (s *sheet) choose(p *paragraph, start, end int) []choice {
	choices := make([]choice, len(p.text)+1)
	for i := start; i < end; i = p.end(i) {
		grapheme := p.text[i:p.end(i)]
		c := choice{faces: s.candidates(p, grapheme), at: -1}
		if p.text[i] == object {
			c.faces = []face{s.library.box}
		}
		c.next(grapheme)
		if c.at+1 == len(c.faces) && len(grapheme) > 1 {
			at, _ := slices.BinarySearch(p.starts, i)
			p.starts = slices.Insert(p.starts, at+1, i+1)
			grapheme = grapheme[:1]
			c = choice{faces: s.candidates(p, grapheme), at: -1}
			c.next(grapheme)
		}
		choices[i] = c
	}
	p.adopt(choices, start, end)
	return choices
}

// adopt lets signs and spaces between words of one outline font be drawn by that font.
func (p *paragraph) adopt(choices []choice, start, end int) {
	previous := -1 // the last grapheme with a letter, or -1
	for i := start; i < end; i = p.end(i) {
		if sign(p.text[i]) {
			continue
		}
		if previous >= 0 && p.end(previous) < i {
			f, ok := choices[previous].faces[choices[previous].at].(outlineFace)
			if ok && !f.font.columns && choices[i].faces[choices[i].at] == face(f) {
				p.give(choices, f, p.end(previous), i)
			}
		}
		previous = i
	}
}

// give hands [start, end) to f if it has all of it.
func (p *paragraph) give(choices []choice, f outlineFace, start, end int) {
	for i := start; i < end; i++ {
		if p.styles[i] != p.styles[start-1] || !f.has(p.text[i:i+1]) {
			return
		}
	}
	for i := start; i < end; i = p.end(i) {
		c := &choices[i]
		c.faces = append([]face{f}, c.faces...)
		c.at = 0
	}
}

// sign tells whether r belongs to no script and is no digit.
func sign(r rune) bool {
	return r == ' ' || r == '\u00A0' || unicode.IsPunct(r) || unicode.IsSymbol(r)
}

// runs cuts [start, end) where font, style or level change.
func (p *paragraph) runs(choices []choice, start, end int) []run {
	var out []run
	for i := start; i < end; i = p.end(i) {
		c := choices[i]
		f := c.faces[c.at]
		if n := len(out); n > 0 {
			last := &out[n-1]
			if last.face == f && last.style == p.styles[i] && last.level == p.levels[i] &&
				!p.parted(i) && (!outlined(f) || sameScript(p.text[last.start:last.end], p.text[i:p.end(i)])) {
				last.end = p.end(i)
				continue
			}
		}
		out = append(out, run{
			face: f, style: p.styles[i], level: p.levels[i], start: i, end: p.end(i),
		})
	}
	return out
}

func outlined(f face) bool {
	_, ok := f.(outlineFace)
	return ok
}

// sameScript tells whether a grapheme may be shaped in one go with the text before it.
func sameScript(text, grapheme []rune) bool {
	a, b := scriptOf(text), scriptOf(grapheme)
	return a == b || !a.Strong() || !b.Strong()
}

// start returns where the grapheme that holds rune i starts.
func (p *paragraph) start(i int) int {
	at, found := slices.BinarySearch(p.starts, i)
	if !found {
		at--
	}
	return p.starts[at]
}
