// Package raster draws the lines of a ticket that no code page can spell: Arabic, Hebrew, Thai,
// Devanagari, Chinese, emoji, and whatever else a guest's name is written in.
//
// It shapes and reorders text as its script demands, keeps the columns that spelt text keeps, and
// never loses a character: one that no font has is drawn as its code point in a box. The fonts are
// part of the program (fonts/README.md), and each is read when text first needs it; fonts of the
// system can be added, which Chinese, Japanese and Korean look better with. It refuses nothing but
// a grid without room. It is pure: the same text gives the same dots.
//
//	drawer := raster.New(raster.Fonts{})
//	images, err := drawer.Line(line, escpos.Grid{
//		Columns: 48, WidthDots: 576, CellDots: 12, LineDots: 34,
//	})
//
// # Directions
//
// A paragraph runs from right to left when its first letter does (UAX 9 rules P2 and P3, by which
// an x that is the sign of a quantity, as in "2x", counts as no letter). Align speaks of reading:
// Left is where reading starts, the right edge for Hebrew, and Indent and Hang are taken from
// there. A Pair runs as its left text does, or as its right text where that has no letters; its
// left text stands where reading starts. So the quantity stays what is read first.
//
// # Columns
//
// Latin, Greek and Cyrillic letters, digits and signs take one column each, Chinese, Japanese and
// Korean ones two, as spelt text has them. Letters of other scripts are as wide as they are. The
// widths and heights of [document.Style] multiply all of them.
package raster

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"chit/printer/document"
	"chit/printer/escpos"
)

// ErrGrid says that a grid leaves no room for text.
var ErrGrid = errors.New("unusable grid")

// columnsMin leaves room for the widest thing that cannot be broken, the code point in its box.
const columnsMin = 16

// Fonts are fonts beside those in the program.
type Fonts struct {
	// Extra are TrueType or OpenType fonts or collections, asked in this order for characters that
	// no font with a better claim has. They are read piece by piece when such a character comes,
	// and one that cannot be read is left out. Of the faces of a collection the one for the
	// language is taken: where kana stand in the paragraph Japanese, where Hangul stands Korean,
	// else Chinese.
	Extra []io.ReaderAt
}

// Drawer draws text. It may be used by several goroutines.
type Drawer struct {
	mu      sync.Mutex
	library *library
}

var _ escpos.Drawer = (*Drawer)(nil)

// New returns a drawer with the fonts of the program and more. It reads nothing yet.
func New(more Fonts) *Drawer {
	return &Drawer{library: newLibrary(more.Extra)}
}

// Line draws one paragraph, one image a physical line. The error wraps [ErrGrid] or
// [escpos.ErrDocument].
func (d *Drawer) Line(line document.Line, grid escpos.Grid) ([]escpos.Image, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.library.tidy()
	sheet, err := d.sheet(grid)
	if err != nil {
		return nil, err
	}
	if line.Align > document.Right {
		return nil, fmt.Errorf("raster: alignment %d, expected 0 to 2: %w",
			line.Align, escpos.ErrDocument)
	}
	p, err := newParagraph(line.Spans)
	if err != nil {
		return nil, err
	}
	if line.Align == document.Centre {
		p.unpad()
	}
	p.direct(grid.RightToLeft)
	indent, hang := 0, 0
	if line.Align == document.Left {
		indent = min(max(line.Indent, 0), grid.Columns/2) * grid.CellDots
		hang = min(max(line.Hang, 0), grid.Columns/2) * grid.CellDots
	}
	return sheet.paragraph(p, line.Align, indent, hang), nil
}

// Pair draws both texts on one line where at least one column stays free between them. The error
// wraps [ErrGrid] or [escpos.ErrDocument].
func (d *Drawer) Pair(pair document.Pair, grid escpos.Grid) ([]escpos.Image, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.library.tidy()
	sheet, err := d.sheet(grid)
	if err != nil {
		return nil, err
	}
	left, err := newParagraph(pair.Left)
	if err != nil {
		return nil, fmt.Errorf("left %w", err)
	}
	right, err := newParagraph(pair.Right)
	if err != nil {
		return nil, fmt.Errorf("right %w", err)
	}
	rtl := grid.RightToLeft
	left.direct(rtl)
	right.direct(rtl)
	if image, ok := sheet.pair(left, right, rtl); ok {
		return []escpos.Image{image}, nil
	}
	return append(sheet.paragraph(left, document.Left, 0, 0),
		sheet.paragraph(right, document.Right, 0, 0)...), nil
}

// sheet is what one call draws on.
type sheet struct {
	library *library
	grid    escpos.Grid
	pitch   pitch
}

func (d *Drawer) sheet(grid escpos.Grid) (*sheet, error) {
	pitch, ok := pitchFor(grid)
	switch {
	case grid.Columns < columnsMin:
		return nil, fmt.Errorf("raster: %d columns, expected at least %d: %w",
			grid.Columns, columnsMin, ErrGrid)
	case !ok:
		return nil, fmt.Errorf("raster: cells of %d dots and lines of %d, expected at least %d "+
			"and %d: %w", grid.CellDots, grid.LineDots, pitches[len(pitches)-1].width,
			pitches[len(pitches)-1].height, ErrGrid)
	case grid.WidthDots < grid.Columns*grid.CellDots:
		return nil, fmt.Errorf("raster: %d dots for %d columns of %d dots: %w",
			grid.WidthDots, grid.Columns, grid.CellDots, ErrGrid)
	}
	return &sheet{d.library, grid, pitch}, nil
}

// area is the width of the text's columns in dots.
func (s *sheet) area() int { return s.grid.Columns * s.grid.CellDots }
