package virtual

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"unicode/utf8"
)

// A picture is the paper at one pixel a dot, 203 to the inch, with the unprintable margins and a
// strip of the table it lies on, so that the cut edge shows.
const (
	paperMargin = 32 // dots on each side that the head does not reach
	tableMargin = 12 // dots of table on each side
	toothDots   = 6  // height and half the width of a tooth of the cut edge
)

// needleWide by needleOf is how much wider than a pixel a dot of needles is. A row of needles is
// three pixels high, so dots are 1 to 2.25 then, nearly as the 160 by 72 to the inch that they are.
const needleWide, needleOf = 4, 3

// Indices of the palette.
const (
	table uint8 = iota
	white
	black
	red
)

var palette = color.Palette{
	table: color.RGBA{0xC9, 0xCF, 0xD6, 0xFF},
	white: color.RGBA{0xFF, 0xFF, 0xFF, 0xFF},
	black: color.RGBA{0x10, 0x10, 0x10, 0xFF},
	red:   color.RGBA{0xC8, 0x10, 0x10, 0xFF},
}

// picture draws one sheet.
type picture struct {
	*image.Paletted
	sheet  Sheet
	glyphs *glyphs
}

// PNG is the sheet as a picture file.
func (s Sheet) PNG() ([]byte, error) {
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := encoder.Encode(&b, s.Render()); err != nil {
		return nil, fmt.Errorf("virtual: drawing sheet %d: %w", s.Number, err)
	}
	return b.Bytes(), nil
}

// Render draws the sheet: characters in Go Mono set into the printer's cells, images dot for dot.
// Dot (x, y) of the printable area is pixel (x + 44, y + 12); of needles it is x*4/3 + 44.
func (s Sheet) Render() *image.Paletted {
	width := s.pixel(s.WidthDots) + 2*(paperMargin+tableMargin)
	height := min(s.HeightDots, SheetDotsMax+widthDotsMax) + 2*tableMargin
	p := picture{image.NewPaletted(image.Rect(0, 0, width, height), palette), s, newGlyphs()}
	p.paper()
	for _, image := range s.Images {
		p.image(image)
	}
	for _, box := range s.Boxes {
		p.box(box)
	}
	for _, line := range s.Lines {
		for _, run := range line.Runs {
			p.run(line, run)
		}
	}
	return p.Paletted
}

// pixel is where dot x begins, from the left edge of the printable area.
func (s Sheet) pixel(x int) int {
	if s.Needles {
		return x * needleWide / needleOf
	}
	return x
}

// paper fills the sheet's own shape: teeth where a blade went, a straight edge at the print head.
func (p picture) paper() {
	b := p.Bounds()
	for x := tableMargin; x < b.Max.X-tableMargin; x++ {
		tooth := x % (2 * toothDots)
		if tooth > toothDots {
			tooth = 2*toothDots - tooth
		}
		bottom := b.Max.Y - tableMargin
		if p.sheet.Cut != CutNone {
			bottom += tooth // Outwards, so that no printed dot is lost to the drawing.
		}
		if bridge := x - b.Max.X/2; p.sheet.Cut == CutPartial && bridge >= -8 && bridge < 8 {
			bottom = b.Max.Y // A partial cut leaves the paper hanging by a bridge in the middle.
		}
		for y := tableMargin - tooth; y < bottom; y++ {
			p.SetColorIndex(x, y, white)
		}
	}
}

// dot burns one dot of the printable area, if it is on the paper.
func (p picture) dot(x, y int, ink uint8) {
	if x < 0 || x >= p.sheet.WidthDots {
		return
	}
	y += tableMargin
	const left = paperMargin + tableMargin
	for at := left + p.sheet.pixel(x); at < left+p.sheet.pixel(x+1); at++ {
		if image.Pt(at, y).In(p.Bounds()) && p.ColorIndexAt(at, y) != table {
			p.SetColorIndex(at, y, ink)
		}
	}
}

func (p picture) fill(x, y, width, height int, ink uint8) {
	for dy := range height {
		for dx := range width {
			p.dot(x+dx, y+dy, ink)
		}
	}
}

func ink(isRed bool) uint8 {
	if isRed {
		return red
	}
	return black
}

func (p picture) image(m Image) {
	stride := (m.Width + 7) / 8
	for y := range m.Height {
		for x := range m.Width {
			if m.Bits[y*stride+x/8]&(0x80>>(x%8)) != 0 {
				p.fill(m.X+x*m.ScaleX, m.Y+y*m.ScaleY, m.ScaleX, m.ScaleY, ink(m.Red))
			}
		}
	}
}

// run draws text of one style; all runs of a line stand on its bottom edge.
func (p picture) run(line Line, run Run) {
	colour := ink(run.Style.Red)
	_, height := run.Style.cell()
	top := line.Y + line.Height - height
	// ESC { turns the whole line by half a turn within the sheet's width.
	set := func(x, y int, c uint8) { p.dot(x, y, c) }
	if line.Upside {
		set = func(x, y int, c uint8) {
			p.dot(line.Mirror-1-x, 2*line.Y+line.Height-1-y, c)
		}
	}
	if run.Style.Inverse {
		for y := range height {
			for x := range run.Width {
				set(run.X+x, top+y, colour)
			}
		}
		colour = white
	}
	count := max(1, utf8.RuneCountInString(run.Text))
	width := run.Width / count
	for i, r := range []rune(run.Text) {
		p.character(r, run.Style, run.X+i*width, top, width, colour, set)
	}
	if run.Style.Inverse {
		return // Epson, ESC -: underline is not printed on inverse characters.
	}
	for y := range run.Style.Underline {
		for x := range run.Width {
			set(run.X+x, top+height-1-y, colour)
		}
	}
}

func (p picture) character(
	r rune, s Style, left, top, width int, c uint8, set func(x, y int, c uint8),
) {
	cells := 1
	if !s.Turned && width >= 2*s.column()*s.Width {
		cells = 2
	}
	m := p.glyphs.glyph(r, s, cells)
	if s.Turned {
		m = m.turned()
	}
	for y := range m.height * s.Height {
		slant := 0
		if s.Italic {
			slant = (m.height*s.Height/2 - y) / 5
		}
		for x := range m.width * s.Width {
			if m.at(x/s.Width, y/s.Height) {
				set(left+x+slant, top+y, c)
			}
		}
	}
}

// box draws a symbol, or its place with its name and content in small letters.
func (p picture) box(b Box) {
	if len(b.Bits) > 0 {
		p.image(Image{X: b.X, Y: b.Y, Width: b.Width, Height: b.Height, ScaleX: 1, ScaleY: 1,
			Bits: b.Bits, Red: b.Red})
		for _, line := range b.Captions {
			line.Y += b.Y
			for _, run := range line.Runs {
				p.run(line, run)
			}
		}
		return
	}
	p.fill(b.X, b.Y, b.Width, 2, black)
	p.fill(b.X, b.Y+b.Height-2, b.Width, 2, black)
	p.fill(b.X, b.Y, 2, b.Height, black)
	p.fill(b.X+b.Width-2, b.Y, 2, b.Height, black)
	small := Style{FontB: true, Width: 1, Height: 1}
	x, y := b.X+4, b.Y+4
	for _, r := range b.Label + " " + printable(b.Data) {
		if x+cellWidthB > b.X+b.Width-4 {
			x, y = b.X+4, y+cellHeightB
		}
		if y+cellHeightB > b.Y+b.Height-4 {
			return
		}
		p.character(r, small, x, y, cellWidthB, black, p.dot)
		x += cellWidthB
	}
}
