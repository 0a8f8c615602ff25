package raster

import (
	"slices"

	"chit/printer/escpos"
)

const (
	// threshold is how much of a dot a stroke covers before it burns, of 255. Below a half, as a
	// stroke that is lost is worse than one that is a little heavy.
	threshold = 112
	// gapDots stays free below lines that are taller than the grid's.
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
				barAbove = max(barAbove, r.above, s.pitch.ascent*int(r.style.Height))
				barBelow = max(barBelow, r.below,
					(s.pitch.height-s.pitch.ascent)*int(r.style.Height))
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
		x := l.left
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

// paint draws one run with its left edge at x.
func (s *sheet) paint(c *canvas, r *run, x, baseline, barAbove, barBelow int) {
	cover := make([]byte, len(c.dots))
	for _, g := range r.glyphs {
		c.press(cover, g.stamp, x+g.at+g.stamp.left, baseline-g.rise-g.stamp.top)
	}
	smear := 0
	if r.smear {
		smear = int(r.style.Width)
	}
	scale, width := int(r.style.Height), r.dots()
	if r.style.Inverse {
		c.fill(x, baseline-barAbove, width, barAbove+barBelow)
	}
	for y := range c.height {
		row := cover[y*c.width : (y+1)*c.width]
		for column, v := range row {
			if v < threshold {
				continue
			}
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
		c.bar(x, bottom-2*scale, width, 2*scale, r.style.Inverse)
	}
}

// press adds a stamp to cover; where strokes of two meet, they cover a dot together.
func (c *canvas) press(cover []byte, s *stamp, left, top int) {
	for y := max(0, -top); y < s.height && top+y < c.height; y++ {
		from := max(0, -left)
		to := min(s.width, c.width-left)
		if from >= to {
			return
		}
		row := cover[(top+y)*c.width+left+from:]
		for i, v := range s.cover[y*s.width+from : y*s.width+to] {
			row[i] = byte(min(int(row[i])+int(v), 255))
		}
	}
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

func (c *canvas) fill(x, y, width, height int) { c.bar(x, y, width, height, false) }

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
