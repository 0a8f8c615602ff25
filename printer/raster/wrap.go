package raster

import (
	"slices"

	"golang.org/x/image/math/fixed"

	"chit/printer/document"
	"chit/printer/escpos"
)

// line is one physical line: runs from left to right.
type line struct {
	runs []run
}

func (l line) dots() int {
	n := 0
	for i := range l.runs {
		n += l.runs[i].dots()
	}
	return n
}

// paragraph wraps p and draws its lines. Indent and hang are dots before the first and the other
// lines.
func (s *sheet) paragraph(p *paragraph, align document.Align, indent, hang int) []escpos.Image {
	var out []escpos.Image
	for i, l := range s.wrap(p, s.area()-indent, s.area()-hang) {
		margin := hang
		if i == 0 {
			margin = indent
		}
		if p.band {
			l = s.band(l)
		}
		out = append(out, s.draw(placed{l, s.place(l, align, p.rtl, margin)}))
	}
	return out
}

// band puts black on both sides of a line, up to the edges of the text's columns.
func (s *sheet) band(l line) line {
	spare := s.area() - l.dots()
	if spare <= 0 || len(l.runs) == 0 {
		return l
	}
	pad := func(of run, dots int) run {
		of.glyphs, of.missing, of.width = nil, nil, fixed.I(dots)
		of.style.Underline, of.style.Strike = false, false
		return of
	}
	first, last := pad(l.runs[0], spare/2), pad(l.runs[len(l.runs)-1], spare-spare/2)
	return line{append(append([]run{first}, l.runs...), last)}
}

// place returns where the left edge of a line stands.
func (s *sheet) place(l line, align document.Align, rtl bool, margin int) int {
	spare := s.grid.WidthDots - l.dots()
	switch {
	case align == document.Centre:
		return spare / 2
	case align == document.Left && rtl:
		return s.area() - margin - l.dots()
	case align == document.Left:
		return margin
	case rtl:
		return 0
	}
	return spare
}

// pair draws both on one line, left where reading starts, if a column stays free between them.
func (s *sheet) pair(left, right *paragraph, rtl bool) (escpos.Image, bool) {
	a, b := s.line(left, 0, len(left.text)), s.line(right, 0, len(right.text))
	if a.dots()+b.dots()+s.grid.CellDots > s.area() {
		return escpos.Image{}, false
	}
	if rtl {
		a, b = b, a
	}
	return s.draw(placed{a, 0}, placed{b, s.area() - b.dots()}), true
}

// line shapes the runes [start, end) as one line.
func (s *sheet) line(p *paragraph, start, end int) line {
	runs, _ := s.shape(p, start, end)
	return line{runs}
}

// wrap breaks a paragraph into lines of at most first and then next dots; there is at least one.
//
// Lines break where UAX 14 allows it outside NoBreak spans, and the spaces at a break go. What fits
// on no line is broken between graphemes, outside NoBreak spans where that helps. Thai, Lao, Khmer
// and Burmese words are not known: their text breaks at spaces and zero-width spaces, and where
// that does not do, before a vowel that starts a syllable. A grapheme that fits on no line is made
// narrower.
func (s *sheet) wrap(p *paragraph, first, next int) []line {
	whole, sizes := s.shape(p, 0, len(p.text))
	s.narrow(p, sizes, next)
	if l := (line{whole}); l.dots() <= min(first, next) || len(p.text) == 0 {
		return []line{l}
	}
	_, sizes = s.shape(p, 0, len(p.text))
	var out []line
	limit := first
	for start := 0; start < len(p.text); limit = next {
		l, end := s.fill(p, sizes, start, limit, next)
		out = append(out, l)
		for start = end; start < len(p.text) && p.blank(start); start++ {
		}
		if start == len(p.text) {
			break
		}
	}
	return out
}

// narrow makes graphemes that are wider than a line narrower.
func (s *sheet) narrow(p *paragraph, sizes []fixed.Int26_6, limit int) {
	for i := 0; i < len(p.text); i = p.end(i) {
		columns := sizes[i].Ceil() / int(p.styles[i].Width)
		for j := i; j < p.end(i); j++ {
			for p.styles[j].Width > 1 && columns*int(p.styles[j].Width) > limit {
				p.styles[j].Width--
			}
		}
	}
}

// fill returns the longest line of at most limit dots that starts at start, and the rune that the
// next one starts at, which may be next dots long. Where more room comes, a line may stay empty
// rather than break what has no break.
func (s *sheet) fill(
	p *paragraph, sizes []fixed.Int26_6, start, limit, next int,
) (line, int) {
	at, _ := slices.BinarySearch(p.breaks, start+1)
	fits := func(end int) bool {
		width := fixed.Int26_6(0)
		for _, size := range sizes[start:p.trim(start, end)] {
			width += size
		}
		return width <= fixed.I(limit)
	}
	last := at
	for last < len(p.breaks) && fits(p.breaks[last]) {
		last++
	}
	if last < len(p.breaks) && p.hopeless(sizes, last, next) {
		return s.force(p, start, limit, fits)
	}
	for i := last - 1; i >= at; i-- {
		end := p.breaks[i]
		if l := s.line(p, start, p.tail(start, end)); l.dots() <= limit {
			return l, end
		}
		if l := s.line(p, start, p.trim(start, end)); l.dots() <= limit {
			return l, end
		}
	}
	if limit < next && start == 0 {
		return line{}, 0
	}
	return s.force(p, start, limit, fits)
}

// hopeless tells whether the text between a break and the next does not fit on a line of its own
// either: then it is broken where it stands.
func (p *paragraph) hopeless(sizes []fixed.Int26_6, i, limit int) bool {
	start := 0
	if i > 0 {
		start = p.breaks[i-1]
	}
	width := fixed.Int26_6(0)
	for _, size := range sizes[start:p.trim(start, p.breaks[i])] {
		width += size
	}
	return width > fixed.I(limit)
}

// force breaks a word.
func (s *sheet) force(p *paragraph, start, limit int, fits func(end int) bool) (line, int) {
	at, _ := slices.BinarySearch(p.starts, start+1)
	last := at
	for last+1 < len(p.starts) && fits(p.starts[last+1]) {
		last++
	}
	for i := last; i >= at; i-- {
		end := p.starts[i]
		if better := p.betterBreak(start, end); i == last && better > start {
			end = better
		}
		if l := s.line(p, start, end); l.dots() <= limit {
			return l, end
		}
	}
	// Alone it may take another form than among its neighbours, and a wider one.
	end := p.starts[at]
	for {
		l := s.line(p, start, end)
		if l.dots() <= limit || !p.narrower(start, end) {
			return l, end
		}
	}
}

// narrower makes the runes [start, end) one step narrower; false where they have no step left.
func (p *paragraph) narrower(start, end int) bool {
	changed := false
	for i := start; i < end; i++ {
		if p.styles[i].Width > 1 {
			p.styles[i].Width--
			changed = true
		}
	}
	return changed
}

// betterBreak looks back from end for a place that hurts less: the edge of a NoBreak span, a space
// in one, or a leading vowel of Thai or Lao in the second half of the line. It returns start where
// there is none.
func (p *paragraph) betterBreak(start, end int) int {
	if end == len(p.text) {
		return start
	}
	for i := end; i > start && p.keep[end] != 0; i-- {
		if p.keep[i-1] != p.keep[i] && p.start(i) == i {
			return i
		}
	}
	for i := end; i > start && p.keep[end] != 0 && p.keep[i-1] == p.keep[end]; i-- {
		if p.blank(i - 1) { // A NoBreak span that is too long for a line has words at least.
			return i
		}
	}
	for i := end; i > start+(end-start)/2; i-- {
		r := p.text[i]
		if p.start(i) == i && (r >= 0x0E40 && r <= 0x0E44 || r >= 0x0EC0 && r <= 0x0EC4) {
			return i
		}
	}
	return start
}

// trim returns end without the spaces before it.
func (p *paragraph) trim(start, end int) int {
	for end > start && p.blank(end-1) {
		end--
	}
	return end
}

// blank tells whether the rune at i is a space by itself, without marks on it.
func (p *paragraph) blank(i int) bool {
	return p.text[i] == ' ' && p.start(i) == i && p.end(i) == i+1
}

// tail is trim, but spaces at the paragraph's end stay where they are part of a bar.
func (p *paragraph) tail(start, end int) int {
	if end == len(p.text) && end > start {
		if style := p.styles[end-1]; style.Inverse || style.Underline {
			return end
		}
	}
	return p.trim(start, end)
}
