package raster

import (
	"image"
	"slices"

	"chit/printer/escpos"
)

const (
	// threshold is how much of a dot a stroke covers before it burns, of 255. Below a half, as a
	// stroke that is lost is worse than one that is a little heavy.
	threshold = 112
	// gapDots stays free below lines that are taller than the grid's, and above ink that is taller
	// than its cell.
	gapDots = 2
)

// placed is a line and where its left edge stands on the paper.
type placed struct {
	line
	left int
}

// canvas is a line's dots, one byte each, 1 is black.
type canvas struct {
	width, height int
	dots          []byte
}

// draw draws lines beside each other, on one baseline. The image is as tall as the grid's line or
// as the tallest ink needs.
func (s *sheet) draw(lines ...placed) escpos.Image {
	above, below := s.pitch.ascent, s.pitch.height-s.pitch.ascent
	barAbove, barBelow := 0, 0
	for _, l := range lines {
		for _, r := range l.runs {
			above, below = max(above, r.above), max(below, r.below)
			if r.style.Inverse {
				barAbove, barBelow = max(barAbove, r.above), max(barBelow, r.below)
			}
		}
	}
	height := above + below
	if height > s.grid.LineDots {
		height += gapDots
	}
	height = max(height, s.grid.LineDots)
	c := &canvas{s.grid.WidthDots, height, make([]byte, s.grid.WidthDots*height)}
	var missing []rune
	for _, l := range lines {
		x := s.onPaper(l)
		for i := range l.runs {
			r := &l.runs[i]
			s.paint(c, r, x, above, barAbove, barBelow)
			x += r.dots()
			for _, m := range r.missing {
				if !slices.Contains(missing, m) {
					missing = append(missing, m)
				}
			}
		}
	}
	return c.image(missing)
}

// onPaper returns where a line stands when its ink may not reach over the edge of the paper:
// letters of some scripts reach out of their place.
func (s *sheet) onPaper(l placed) int {
	box, x := image.Rectangle{}, l.left
	for i := range l.runs {
		r := &l.runs[i]
		for _, g := range r.glyphs {
			at := g.place(x, 0)
			if r.smear {
				at.Max.X += int(r.style.Width)
			}
			box = box.Union(at)
		}
		x += r.dots()
	}
	return l.left - max(box.Max.X-s.grid.WidthDots, 0) - min(box.Min.X, 0)
}

// paint draws one run with its left edge at x.
func (s *sheet) paint(c *canvas, r *run, x, baseline, barAbove, barBelow int) {
	scale, width := int(r.style.Height), r.dots()
	if r.style.Inverse {
		c.bar(x, baseline-barAbove, width, barAbove+barBelow, false)
	}
	cover, box := s.cover(c, r, x, baseline)
	smear := 0
	if r.smear {
		smear = int(r.style.Width)
	}
	for y := box.Min.Y; y < box.Max.Y; y++ {
		row := cover[(y-box.Min.Y)*box.Dx():][:box.Dx()]
		for column, v := range row {
			if v < threshold {
				continue
			}
			column += box.Min.X
			for i := column; i <= column+smear && i < c.width; i++ {
				c.set(i, y, r.style.Inverse)
			}
		}
	}
	if r.style.Strike {
		c.bar(x, baseline-s.pitch.ascent*scale*3/8-scale, width, 2*scale, r.style.Inverse)
	}
	if r.style.Underline {
		bottom := baseline + (s.pitch.height-s.pitch.ascent)*scale
		c.underline(x, bottom-2*scale, width, 2*scale, r.style.Inverse)
	}
}

// underline draws a bar that leaves out what would touch ink: the dots below a letter are a part of
// its spelling in Arabic and Hebrew.
func (c *canvas) underline(x, y, width, height int, white bool) {
	ink := byte(1)
	if white {
		ink = 0
	}
	touched := func(column int) bool {
		for row := max(y-1, 0); row < min(y+height+1, c.height); row++ {
			for at := max(column-1, 0); at < min(column+2, c.width); at++ {
				if c.dots[row*c.width+at] == ink {
					return true
				}
			}
		}
		return false
	}
	var free []int
	for column := max(x, 0); column < min(x+width, c.width); column++ {
		if !touched(column) {
			free = append(free, column)
		}
	}
	for _, column := range free {
		c.bar(column, y, 1, height, white)
	}
}

// cover presses the stamps of a run and returns how much of each dot they cover, and of which part
// of the canvas. It is valid until the next call.
func (s *sheet) cover(c *canvas, r *run, x, baseline int) ([]byte, image.Rectangle) {
	box := image.Rectangle{}
	for _, g := range r.glyphs {
		box = box.Union(g.place(x, baseline))
	}
	box = box.Intersect(image.Rect(0, 0, c.width, c.height))
	size := box.Dx() * box.Dy()
	s.library.scratch = slices.Grow(s.library.scratch[:0], size)[:size]
	cover := s.library.scratch
	clear(cover)
	for _, g := range r.glyphs {
		at := g.place(x, baseline)
		part := at.Intersect(box)
		for y := part.Min.Y; y < part.Max.Y; y++ {
			from := g.stamp.cover[(y-at.Min.Y)*g.stamp.width+part.Min.X-at.Min.X:][:part.Dx()]
			to := cover[(y-box.Min.Y)*box.Dx()+part.Min.X-box.Min.X:][:part.Dx()]
			// Where strokes of two glyphs meet, they cover a dot together.
			for i, v := range from {
				to[i] = byte(min(int(to[i])+int(v), 255))
			}
		}
	}
	return cover, box
}

// place is where a glyph's stamp stands, its run starting at x.
func (g glyph) place(x, baseline int) image.Rectangle {
	left, top := x+g.at+g.stamp.left, baseline-g.rise-g.stamp.top
	return image.Rect(left, top, left+g.stamp.width, top+g.stamp.height)
}

func (c *canvas) set(x, y int, white bool) {
	if white {
		c.dots[y*c.width+x] = 0
		return
	}
	c.dots[y*c.width+x] = 1
}

// bar draws a rectangle as far as it is on the paper.
func (c *canvas) bar(x, y, width, height int, white bool) {
	for row := max(y, 0); row < min(y+height, c.height); row++ {
		for column := max(x, 0); column < min(x+width, c.width); column++ {
			c.set(column, row, white)
		}
	}
}

// image packs the dots.
func (c *canvas) image(missing []rune) escpos.Image {
	size := (c.width + 7) / 8
	rows := make([]byte, size*c.height)
	for y := range c.height {
		row := rows[y*size : (y+1)*size]
		for x, dot := range c.dots[y*c.width : (y+1)*c.width] {
			if dot != 0 {
				row[x/8] |= 0x80 >> (x % 8)
			}
		}
	}
	return escpos.Image{WidthDots: c.width, HeightDots: c.height, Rows: rows, Missing: missing}
}
