package raster

import (
	"fmt"

	"golang.org/x/image/math/fixed"
)

// fixedFace has the letters that fill one column each, drawn for these very dots.
type fixedFace struct {
	pitch pitch
	font  *cellFont
}

func (f *fixedFace) open() *cellFont {
	if f.font == nil {
		var err error
		if f.font, err = openCells(file(f.pitch.file)); err != nil {
			panic(err)
		}
	}
	return f.font
}

func (f *fixedFace) has(grapheme []rune) bool {
	font := f.open()
	n := 0
	for _, r := range grapheme {
		if joins(r) {
			continue
		}
		c, ok := font.cell(r)
		if n++; n > 1 || !ok || inked(r) && c.blank() {
			return false
		}
	}
	return true
}

func (f *fixedFace) lay(s *sheet, p *paragraph, r *run) []int {
	font, height := f.open(), int(r.style.Height)
	r.smear = r.style.Bold
	r.each(p, func(start, end int) {
		g := glyph{at: (s.grid.CellDots - s.pitch.width) / 2 * int(r.style.Width)}
		for _, letter := range p.text[start:end] {
			if joins(letter) {
				continue
			}
			if r.level%2 == 1 && mirrored[letter] != 0 {
				letter = mirrored[letter]
			}
			g.stamp = s.library.stamp(stampKey{
				font, uint32(letter), 0, uint8(r.style.Width), uint8(height), 0, false,
			}, func() *stamp {
				c, _ := font.cell(letter)
				return c.magnified(int(r.style.Width), height, font.ascent)
			})
		}
		if g.stamp != nil { // Else only joiners.
			r.add(g, start, fixed.I(s.grid.CellDots*int(r.style.Width)))
		}
	})
	r.reach(s.pitch)
	return nil
}

// magnified is the cell's dots, each as a block of x by y.
func (c cell) magnified(x, y, ascent int) *stamp {
	rows := 0
	if c.width > 0 {
		rows = len(c.rows) / ((c.width + 7) / 8)
	}
	out := &stamp{
		left: c.left * x, top: ascent * y, width: c.width * x, height: rows * y,
		cover: make([]byte, c.width*x*rows*y),
	}
	for row := range out.height {
		for column := range out.width {
			if c.dot(column/x, row/y) {
				out.cover[row*out.width+column] = 255
			}
		}
	}
	return out
}

// pixelFace is the last resort: every character of Unicode's first plane and many others, in
// cells of 16 dots, scaled to the height of a line's. It is not shaped.
type pixelFace struct{ font *cellFont }

func (f *pixelFace) open() *cellFont {
	if f.font == nil {
		var err error
		if f.font, err = openCells(file("lastresort.cells")); err != nil {
			panic(err)
		}
	}
	return f.font
}

func (f *pixelFace) has(grapheme []rune) bool {
	font := f.open()
	for _, r := range grapheme {
		if joins(r) {
			continue
		}
		if c, ok := font.cell(r); !ok || inked(r) && c.blank() {
			return false
		}
	}
	return true
}

func (f *pixelFace) lay(s *sheet, p *paragraph, r *run) []int {
	font := f.open()
	x := s.pitch.width * int(r.style.Width)
	y := s.pitch.height * int(r.style.Height)
	r.smear = r.style.Bold
	r.each(p, func(start, end int) {
		first := true
		for _, letter := range p.text[start:end] {
			if joins(letter) {
				continue
			}
			if r.level%2 == 1 && mirrored[letter] != 0 {
				letter = mirrored[letter]
			}
			c, _ := font.cell(letter)
			g := glyph{stamp: s.library.stamp(stampKey{
				font, uint32(letter), s.pitch.height, uint8(r.style.Width), uint8(r.style.Height),
				0, false,
			}, func() *stamp {
				return c.scaled(8, x, 16, y, s.pitch.ascent*int(r.style.Height))
			})}
			columns := (c.advance + 7) / 8
			if first && columns == 0 {
				// A mark without a letter stands left of the pen.
				columns = (c.width + 7) / 8
				g.at = columns * s.grid.CellDots * int(r.style.Width)
			}
			first = false
			r.add(g, start, fixed.I(columns*s.grid.CellDots*int(r.style.Width)))
		}
	})
	r.reach(s.pitch)
	return nil
}

// scaled stretches the cell so that fromX dots become toX and fromY become toY, by the share that
// each new dot has of black ones.
func (c cell) scaled(fromX, toX, fromY, toY, ascent int) *stamp {
	big := c.smooth()
	fromX, fromY = 2*fromX, 2*fromY
	// Left and width in new dots, outwards.
	left := floorDiv(2*c.left*toX, fromX)
	right := -floorDiv(-2*(c.left+c.width)*toX, fromX)
	out := &stamp{left: left, top: ascent, width: right - left, height: toY}
	out.cover = make([]byte, out.width*out.height)
	for row := range out.height {
		for column := range out.width {
			// In units of 1/toX by 1/toY of an old dot.
			x0 := (left+column)*fromX - 2*c.left*toX
			y0 := row * fromY
			black := 0
			for y := y0; y < y0+fromY; {
				yEnd := min((y/toY+1)*toY, y0+fromY)
				for x := x0; x < x0+fromX; {
					xEnd := min((floorDiv(x, toX)+1)*toX, x0+fromX)
					if big.dot(floorDiv(x, toX), y/toY) {
						black += (xEnd - x) * (yEnd - y)
					}
					x = xEnd
				}
				y = yEnd
			}
			out.cover[row*out.width+column] = byte(black * 255 / (fromX * fromY))
		}
	}
	out.keepInk()
	return out
}

func floorDiv(a, b int) int {
	if a < 0 {
		return -((-a + b - 1) / b)
	}
	return a / b
}

// smooth doubles the dots and fills the corners of slanted strokes (Scale2x, Andrea Mazzoleni).
func (c cell) smooth() cell {
	rows := 0
	if c.width > 0 {
		rows = len(c.rows) / ((c.width + 7) / 8)
	}
	size := (2*c.width + 7) / 8
	out := cell{width: 2 * c.width, rows: make([]byte, 2*rows*size)}
	set := func(x, y int, on bool) {
		if on {
			out.rows[y*size+x/8] |= 0x80 >> (x % 8)
		}
	}
	for y := range rows {
		for x := range c.width {
			up, down := c.dot(x, y-1), c.dot(x, y+1)
			left, right := c.dot(x-1, y), c.dot(x+1, y)
			pick := func(a, b, other1, other2 bool) bool {
				if a == b && a != other1 && b != other2 {
					return a
				}
				return c.dot(x, y)
			}
			set(2*x, 2*y, pick(left, up, right, down))
			set(2*x+1, 2*y, pick(right, up, left, down))
			set(2*x, 2*y+1, pick(left, down, right, up))
			set(2*x+1, 2*y+1, pick(right, down, left, up))
		}
	}
	return out
}

// boxFace draws code points in boxes, for what no font has.
type boxFace struct{}

func (boxFace) has([]rune) bool { return true }

func (boxFace) lay(s *sheet, p *paragraph, r *run) []int {
	small := pitches[len(pitches)-1]
	for _, candidate := range pitches {
		if candidate.height <= s.pitch.height*2/3 {
			small = candidate
			break
		}
	}
	letters := s.library.cells(small).open()
	width, height := int(r.style.Width), int(r.style.Height)
	r.smear = r.style.Bold
	r.each(p, func(start, end int) {
		for i := start; i < end; i++ {
			missing := p.text[i]
			if p.text[i] == object {
				missing = p.boxed[i]
			}
			if i > start && joins(p.text[i]) {
				continue
			}
			r.missing = append(r.missing, missing)
			label := fmt.Sprintf("U+%04X", missing)
			columns := (len(label)*small.width + 6 + s.grid.CellDots - 1) / s.grid.CellDots
			dots := columns*s.grid.CellDots - 1
			mark := frame(label, letters, dots, s.pitch).
				magnified(width, height, s.pitch.ascent)
			r.add(glyph{stamp: mark}, start, fixed.I(columns*s.grid.CellDots*width))
		}
	})
	r.reach(s.pitch)
	return nil
}

// frame is a box of that many dots with a label in its middle.
func frame(label string, letters *cellFont, dots int, p pitch) cell {
	size := (dots + 7) / 8
	out := cell{width: dots, rows: make([]byte, size*p.height)}
	set := func(x, y int) { out.rows[y*size+x/8] |= 0x80 >> (x % 8) }
	top, bottom := 1, p.height-2
	for x := range dots {
		set(x, top)
		set(x, bottom)
	}
	for y := top; y <= bottom; y++ {
		set(0, y)
		set(dots-1, y)
	}
	advance := 0
	if c, ok := letters.cell('0'); ok {
		advance = c.advance
	}
	x0 := (dots - len(label)*advance) / 2
	y0 := (p.height - letters.height + 1) / 2
	for i, r := range label {
		c, _ := letters.cell(r)
		for y := range letters.height {
			for x := range c.width {
				if at := x0 + i*advance + x; c.dot(x, y) && at < dots {
					set(at, y0+y)
				}
			}
		}
	}
	return out
}
