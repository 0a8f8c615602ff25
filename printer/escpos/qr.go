package escpos

import (
	"fmt"

	"rsc.io/qr"

	"chit/printer/document"
	"chit/printer/profile"
)

const (
	// dataMax is the most bytes of a code. Version 10 holds 213 at level M.
	dataMax = 200
	// moduleMin, moduleMax and moduleUsual are the edge of one module in dots.
	moduleMin, moduleMax, moduleUsual = 2, 8, 4
	// quiet is the white that a reader needs around a code, in modules; ISO/IEC 18004, 9.1.
	quiet = 4
	// besideColumns is the least room for text beside a code, and what drawers need.
	besideColumns = 16
)

// capacity is how many bytes the versions 1, 2, 3, ... of a code hold at level M; ISO/IEC 18004,
// table 7, "byte".
var capacity = []int{14, 26, 42, 62, 84, 106, 122, 152, 180, 213}

// modules is the edge of the code that holds n bytes.
func modules(n int) int {
	version := 1
	for _, holds := range capacity {
		if n > holds {
			version++
		}
	}
	return 17 + 4*version
}

func validQR(code document.QR) error {
	switch {
	case len(code.Data) == 0 || len(code.Data) > dataMax:
		return fmt.Errorf("QR of %d bytes, expected 1 to %d: %w", len(code.Data), dataMax, ErrDocument)
	case !printableASCII(code.Data):
		return fmt.Errorf("QR of other than printable ASCII: %w", ErrDocument)
	case code.Module != 0 && (code.Module < moduleMin || code.Module > moduleMax):
		return fmt.Errorf("QR with modules of %d dots, expected %d to %d: %w",
			code.Module, moduleMin, moduleMax, ErrDocument)
	}
	for i, line := range code.Beside {
		if err := validLine(line); err != nil {
			return fmt.Errorf("beside line %d %w", i, err)
		}
	}
	return nil
}

// qr prints a code. The printer draws it where it can, unless text stands beside it: ESC/POS prints
// nothing beside a symbol, so both are one image then. A printer without symbols and images gets
// what the code says as a line of text.
func (c *composer) qr(code document.QR) error {
	if err := validQR(code); err != nil {
		return err
	}
	if code.Module == 0 {
		code.Module = moduleUsual
	}
	for (modules(len(code.Data))+2*quiet)*code.Module > c.p.WidthDots && code.Module > moduleMin {
		code.Module--
	}
	if c.p.Impact {
		code.Module -= code.Module % needleRows // Whole needles, so that the code stays square.
	}
	images := c.p.Images != profile.ImagesNone
	if images && c.draws() && len(code.Beside) > 0 {
		if done, err := c.beside(code); done || err != nil {
			return err
		}
	}
	if err := c.bare(code, images); err != nil {
		return err
	}
	for i, line := range code.Beside {
		if err := c.paragraph(line, fmt.Sprintf("beside line %d ", i)); err != nil {
			return err
		}
	}
	return nil
}

// bare prints a code alone, in the middle of the paper.
func (c *composer) bare(code document.QR, images bool) error {
	switch {
	case c.p.QR:
		return c.add(piece{symbol: symbol(code), align: document.Centre},
			modules(len(code.Data))*code.Module)
	case images:
		drawn, err := drawnQR(code)
		if err != nil {
			return err
		}
		margin := quiet * code.Module
		paper := newCanvas(c.p.WidthDots, drawn.HeightDots+2*margin)
		paper.put(drawn, (c.p.WidthDots-drawn.WidthDots)/2, margin)
		return c.image(paper.Image, false)
	}
	return c.paragraph(document.Text(code.Data, document.Style{}), "QR ")
}

// symbol is GS ( k for one code: model 2, size of a module, level M, data, print.
//
// Source: Epson, GS ( k <Function 165> to <Function 181>.
func symbol(code document.QR) []byte {
	n := len(code.Data) + 3
	out := []byte{
		0x1D, 0x28, 0x6B, 0x04, 0x00, 0x31, 0x41, 0x32, 0x00,
		0x1D, 0x28, 0x6B, 0x03, 0x00, 0x31, 0x43, byte(code.Module),
		0x1D, 0x28, 0x6B, 0x03, 0x00, 0x31, 0x45, 0x31,
		0x1D, 0x28, 0x6B, byte(n), byte(n >> 8), 0x31, 0x50, 0x30,
	}
	out = append(out, code.Data...)
	return append(out, 0x1D, 0x28, 0x6B, 0x03, 0x00, 0x31, 0x51, 0x30)
}

// drawnQR draws a code without its quiet zone.
func drawnQR(code document.QR) (Image, error) {
	drawn, err := qr.Encode(code.Data, qr.M)
	if err != nil {
		return Image{}, fmt.Errorf("drawing a QR code: %w", err)
	}
	m := newCanvas(drawn.Size*code.Module, drawn.Size*code.Module)
	for y := range drawn.Size {
		for x := range drawn.Size {
			if drawn.Black(x, y) {
				m.fill(x*code.Module, y*code.Module, code.Module, code.Module)
			}
		}
	}
	return m.Image, nil
}

// beside draws a code at the left and its lines at the right of it, unless there is no room.
func (c *composer) beside(code document.QR) (done bool, err error) {
	drawn, err := drawnQR(code)
	if err != nil {
		return false, err
	}
	margin, cell := quiet*code.Module, c.cellDots()
	from := (drawn.WidthDots + 2*margin + cell - 1) / cell // The column where text begins.
	if c.p.Columns-from < besideColumns {
		return false, nil
	}
	var texts []Image
	high := 0
	for i, line := range code.Beside {
		bad := obstacle{place: fmt.Sprintf("beside line %d", i)}
		c.spell.missing = nil
		for _, span := range line.Spans {
			c.spell.sanitise(span.Text) // For what it replaces and misses.
		}
		bad.missing, c.spell.missing = c.spell.missing, nil
		images, err := c.draw(bad, func(d Drawer) ([]Image, error) {
			return d.Line(drawable(line), c.grid(c.p.Columns-from))
		})
		if err != nil || images == nil {
			return false, err // A drawer that fails at plain text: below the code it is spelt.
		}
		for _, m := range images {
			texts, high = append(texts, m), high+m.HeightDots
		}
	}
	paper := newCanvas(c.p.WidthDots, max(drawn.HeightDots+2*margin, high))
	middle := func(high int) int { // On whole rows of needles.
		return (paper.HeightDots - high) / 2 / needleRows * needleRows
	}
	paper.put(drawn, margin, middle(drawn.HeightDots))
	y := middle(high)
	for _, m := range texts {
		paper.put(m, from*cell, y)
		y += m.HeightDots
	}
	return true, c.image(paper.Image, false)
}
