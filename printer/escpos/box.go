package escpos

import (
	"fmt"

	"chit/printer/document"
)

// frame is the characters of a frame.
type frame struct {
	topLeft, topRight, bottomLeft, bottomRight, across, down rune
}

// frames are in order of preference. The first two are on CP437, CP850 and their kin, on the same
// bytes.
var frames = []frame{
	{'╔', '╗', '╚', '╝', '═', '║'},
	{'┌', '┐', '└', '┘', '─', '│'},
	{'+', '+', '+', '+', '-', '|'},
}

// boxMargin is the columns that a frame takes on either side: itself and a space.
const boxMargin = 2

// frame is the first one that the pages can spell.
func (c *composer) frame() frame {
	for _, f := range frames {
		if c.spell.can(f.topLeft) && c.spell.can(f.topRight) && c.spell.can(f.bottomLeft) &&
			c.spell.can(f.bottomRight) && c.spell.can(f.across) && c.spell.can(f.down) {
			return f
		}
	}
	return frames[len(frames)-1]
}

// box prints lines in a frame. Where one of them must be drawn, all are, and the frame with them.
func (c *composer) box(box document.Box) error {
	if len(box.Lines) == 0 {
		return nil
	}
	inner := c.p.Columns - 2*boxMargin
	lines := make([][]cell, len(box.Lines))
	var bad *obstacle
	for i, line := range box.Lines {
		place := fmt.Sprintf("box line %d ", i)
		if err := validLine(line); err != nil {
			return fmt.Errorf("%s%w", place, err)
		}
		cells, problem := c.cells(line.Spans, place)
		lines[i], bad = cells, bad.and(problem)
	}
	if bad = c.turned(bad); bad != nil {
		images, err := c.draw(*bad, func(d Drawer) ([]Image, error) {
			return c.drawnBox(d, box)
		})
		if err != nil {
			return err
		}
		if images != nil {
			return c.images(images, box.Red && c.p.Red)
		}
	}
	f, style := c.frame(), document.Style{Width: 1, Height: 1, Red: box.Red && c.p.Red}
	edge := func(left, right rune) error {
		cells := repeated(f.across, c.p.Columns, style)
		cells[0].r, cells[len(cells)-1].r = left, right
		return c.framed(cells)
	}
	if err := edge(f.topLeft, f.topRight); err != nil {
		return err
	}
	for i, line := range box.Lines {
		for _, physical := range c.wrapLine(line, lines[i], inner) {
			side := style
			side.Height = document.Size(tallest(physical))
			free := inner - width(physical)
			left := free * int(line.Align) / 2
			row := append(make([]cell, 0, c.p.Columns), cell{r: f.down, style: side})
			row = append(row, blanks(1+left)...)
			row = append(row, physical...)
			row = append(row, blanks(1+free-left)...)
			if err := c.framed(append(row, cell{r: f.down, style: side})); err != nil {
				return err
			}
		}
	}
	return edge(f.bottomLeft, f.bottomRight)
}

// framed prints one line of a frame.
func (c *composer) framed(cells []cell) error {
	return c.add(piece{line: true, tight: true, cells: cells}, tallest(cells)*cellDots)
}

// frameDots is the thickness of a drawn frame, framePad the white inside it, and frameGap the white
// above and below it, so that no line touches it.
const frameDots, framePad, frameGap = 4, 8, 8

// drawnBox draws a box as one image.
func (c *composer) drawnBox(d Drawer, box document.Box) ([]Image, error) {
	grid := c.grid(c.p.Columns - 2*boxMargin)
	var inside []Image
	for _, line := range box.Lines {
		images, err := d.Line(drawable(line), grid)
		if err == nil {
			err = whole(images)
		}
		if err != nil {
			return nil, err
		}
		inside = append(inside, images...)
	}
	high := 2 * (frameDots + framePad)
	for _, m := range inside {
		high += m.HeightDots
	}
	if high%needleRows != 0 {
		high++ // The lower edge would stand on half a row of needles.
	}
	wide := c.p.Columns * grid.CellDots
	paper := newCanvas(c.p.WidthDots, high+2*frameGap)
	paper.fill(0, frameGap, wide, frameDots)
	paper.fill(0, frameGap+high-frameDots, wide, frameDots)
	paper.fill(0, frameGap, frameDots, high)
	paper.fill(wide-frameDots, frameGap, frameDots, high)
	y := frameGap + frameDots + framePad
	for _, m := range inside {
		paper.put(m, boxMargin*grid.CellDots, y)
		paper.Missing = append(paper.Missing, m.Missing...)
		y += m.HeightDots
	}
	return []Image{paper.Image}, nil
}
