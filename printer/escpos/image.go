package escpos

import (
	"slices"

	"chit/printer/document"
	"chit/printer/profile"
)

const (
	// stripBytesMax is the largest image command where the profile does not say: many receive
	// buffers hold no more (research 3.7).
	stripBytesMax = 4096
	// rasterHeader and columnHeader are the bytes of GS v 0 and of ESC * before the dots.
	rasterHeader, columnHeader = 8, 5
	// stripRows is what strips are a multiple of where they can be: the height of a line of font A
	// and of a band of 24 dots.
	stripRows = 24
	// bandSpacing lets the bands of ESC * touch: less than a band's 24 dots on thermal printers,
	// which feed at least what they printed, and exactly 8 dots on needles (16/144 inch).
	//
	// Source: research 3.7; mike42/escpos-php, bitImageColumnFormat, "correct on TM-T20 and
	// TM-U220".
	bandSpacing = 16
	// drawnLineDots is the least height of a drawn line: 3.75 mm, the default of most printers.
	drawnLineDots = 30
	// drawnNeedleRows is the least height of a line drawn by needles: 1/6 inch, the default too.
	drawnNeedleRows = 12
)

// bandDots is the height of one ESC * band.
func bandDots(p profile.Profile) int {
	if p.Impact {
		return 8
	}
	return 24
}

// rowDots is the height of n rows, as the printer has them, in dots at 203 dpi. Bands are whole,
// and the needles of an impact head stand 72 to the inch.
func rowDots(p profile.Profile, n int) int {
	if band := bandDots(p); p.Images == profile.ImagesColumn {
		n = (n + band - 1) / band * band
	}
	if p.Impact {
		return (n*203 + 71) / 72
	}
	return n
}

func stripBytes(p profile.Profile) int {
	n := p.StripBytes
	if n <= 0 {
		n = stripBytesMax
	}
	if p.BufferBytes > 0 {
		n = min(n, p.BufferBytes)
	}
	return n
}

// stripLeast is the smallest image command of full width.
func stripLeast(p profile.Profile) int {
	if p.Images == profile.ImagesColumn {
		return columnHeader + p.WidthDots*bandDots(p)/8
	}
	return rasterHeader + (p.WidthDots+7)/8
}

// grid is where drawn text of so many columns stands.
func (c *composer) grid(columns int) Grid {
	g := Grid{Columns: columns, CellDots: c.cellDots(), LineDots: drawnLineDots,
		RightToLeft: c.rightToLeft}
	g.WidthDots = columns * g.CellDots
	if columns == c.p.Columns {
		g.WidthDots = c.p.WidthDots
	}
	if c.p.Impact {
		g.LineDots = drawnNeedleRows * needleRows
	}
	return g
}

func (c *composer) cellDots() int { return min(cellWidthDots, c.p.WidthDots/c.p.Columns) }

// images puts drawings on the paper, one below the other.
func (c *composer) images(images []Image, red bool) error {
	for _, m := range images {
		if err := c.image(m, red); err != nil {
			return err
		}
	}
	return nil
}

// image puts one drawing of square dots on the paper. It joins the one above it, so that strips are
// full.
func (c *composer) image(m Image, red bool) error {
	if c.p.Impact {
		m = squashed(m)
	}
	if n := len(c.pieces); n > 0 && c.height <= HeightDotsMax {
		last := c.pieces[n-1]
		if last.image != nil && last.red == red && last.image.WidthDots == m.WidthDots {
			c.pieces = c.pieces[:n-1]
			joined := *last.image
			joined.HeightDots += m.HeightDots
			dots := rowDots(c.p, joined.HeightDots) - rowDots(c.p, last.image.HeightDots)
			joined.Rows = append(joined.Rows, m.Rows...)
			return c.add(piece{image: &joined, red: red}, dots)
		}
	}
	m.Rows = slices.Clone(m.Rows) // Dots may be added to it.
	return c.add(piece{image: &m, red: red}, rowDots(c.p, m.HeightDots))
}

// image sends dots by the printer's command. It leaves out what is white at the right.
func (w *writer) image(m Image, red bool) {
	w.raster = true
	w.place(document.Left)
	w.look(document.Style{Width: 1, Height: 1, Red: red})
	if w.p.Images == profile.ImagesColumn {
		w.columns(m)
		return
	}
	stride := (m.WidthDots + 7) / 8
	rows := (stripBytes(w.p) - rasterHeader) / stride
	if rows > stripRows {
		rows -= rows % stripRows
	}
	for y := 0; y < m.HeightDots; y += rows {
		n := min(rows, m.HeightDots-y)
		w.strip(m.Rows[y*stride:(y+n)*stride], stride, n)
	}
}

// strip is one GS v 0 of normal size.
//
// Source: Epson, GS v 0 m xL xH yL yH: x in bytes, y in dots.
func (w *writer) strip(data []byte, stride, rows int) {
	used := 1
	for y := range rows {
		row := data[y*stride : (y+1)*stride]
		for x := stride; x > used; x-- {
			if row[x-1] != 0 {
				used = x
				break
			}
		}
	}
	w.bytes(0x1D, 0x76, 0x30, 0, byte(used), byte(used>>8), byte(rows), byte(rows>>8))
	from := len(w.body)
	for y := range rows {
		w.body = append(w.body, data[y*stride:y*stride+used]...)
	}
	defuse(w.body[from:])
	w.rest()
}

// columns sends an image in bands of ESC *: 24 dots high, 8 on needles.
//
// Source: Epson, ESC * m nL nH: m 33 24-dot double density, m 1 8-dot double density.
func (w *writer) columns(m Image) {
	w.bytes(0x1B, 0x33, bandSpacing)
	band, mode := bandDots(w.p), byte(33)
	if w.p.Impact {
		mode = 1
	}
	stride := (m.WidthDots + 7) / 8
	for top := 0; top < m.HeightDots; top += band {
		n := min(band, m.HeightDots-top)
		rows := m.Rows[top*stride : (top+n)*stride]
		width := min(inkedColumns(rows, stride), m.WidthDots)
		w.bytes(0x1B, 0x2A, mode, byte(width), byte(width>>8))
		from := len(w.body)
		for x := range width {
			for y := 0; y < band; y += 8 {
				w.body = append(w.body, upright(rows, stride, x, y))
			}
		}
		defuse(w.body[from:])
		w.bytes(0x0A)
		w.feeds++
		w.rest()
	}
	w.tight = true
	w.spacing(false)
}

// inkedColumns is the width of rows without the white bytes at the right, at least one column.
func inkedColumns(rows []byte, stride int) int {
	used := 0
	for i, b := range rows {
		if b != 0 {
			used = max(used, i%stride+1)
		}
	}
	return max(used*8, 1)
}

// upright is 8 dots of column x from row y downwards, the most significant bit at the top.
func upright(rows []byte, stride, x, y int) byte {
	var out byte
	for i := range 8 {
		if at := (y+i)*stride + x/8; at < len(rows) && rows[at]&(0x80>>(x%8)) != 0 {
			out |= 0x80 >> i
		}
	}
	return out
}

// defuse sets one dot in every place of an image that a printer would obey as a real-time command,
// whatever follows the image. The dot stands beside one that is black already, so the picture stays
// what it was; and as no byte becomes DLE, no new command comes about.
//
// Source: Epson, "Notes of real-time commands"; research 3.7.
func defuse(dots []byte) {
	for i, b := range dots {
		if b != dle {
			continue
		}
		if i+2 >= len(dots) {
			dots[i] |= dle >> 1
			continue
		}
		n := liveLength(dots[i+1], dots[i+2])
		if n != 0 && (i+n > len(dots) || liveWhole(dots[i:i+n])) {
			dots[i] |= dle >> 1
		}
	}
}

// canvas is an image that others are put on.
type canvas struct{ Image }

func newCanvas(width, height int) canvas {
	return canvas{Image{WidthDots: width, HeightDots: height,
		Rows: make([]byte, (width+7)/8*height)}}
}

func (c canvas) stride() int { return (c.WidthDots + 7) / 8 }

// put lays m on the canvas with its top left corner at x, y. What is outside is cut off.
func (c canvas) put(m Image, x, y int) {
	stride := (m.WidthDots + 7) / 8
	for row := range m.HeightDots {
		for i, b := range m.Rows[row*stride : (row+1)*stride] {
			for bit := 0; b != 0; bit++ {
				if b&0x80 != 0 && i*8+bit < m.WidthDots {
					c.fill(x+i*8+bit, y+row, 1, 1)
				}
				b <<= 1
			}
		}
	}
}

// fill blackens a rectangle.
func (c canvas) fill(x, y, width, height int) {
	for row := max(y, 0); row < min(y+height, c.HeightDots); row++ {
		for dot := max(x, 0); dot < min(x+width, c.WidthDots); dot++ {
			c.Rows[row*c.stride()+dot/8] |= 0x80 >> (dot % 8)
		}
	}
}
