package virtual

import (
	"fmt"

	"chit/printer/escpos"
)

// graphicsBytesMax bounds what GS ( L may store before it is printed.
const graphicsBytesMax = 1 << 20

// graphicsPrint is the function of GS ( L that prints; rows and columns are the ones that store.
const graphicsPrint, graphicsRows, graphicsColumns = 50, 112, 113

// bandSteps cuts an image into the bands in which it comes past the head.
func (p *Printer) bandSteps(image Image) {
	stride := (image.Width + 7) / 8
	for y := 0; y < image.Height; y += cellHeightA {
		band := image
		band.Height = min(cellHeightA, image.Height-y)
		band.Bits = image.Bits[y*stride : (y+band.Height)*stride]
		feeds := 0
		if p.can.RasterFeeds {
			feeds = 1
		}
		p.push(step{dots: band.Height * image.ScaleY, feeds: feeds, offset: image.Offset,
			prints: printed{images: []Image{band}}})
	}
}

// raster is GS v 0.
func (p *Printer) raster(c escpos.Command) {
	p.needEmptyLine("GS v 0", p.offset(c))
	m, stride, rows := digit(arg(c, 0)), arg(c, 1), arg(c, 2)
	if m > 3 || stride == 0 || len(c.Data) < stride*rows {
		p.note("error", "GS v 0: bad header", p.offset(c))
		return
	}
	image := Image{Width: stride * 8, Height: rows, ScaleX: 1 + m&1, ScaleY: 1 + m>>1, Bits: c.Data,
		Red: p.set.style.Red, Offset: p.offset(c)}
	p.place(&image, "GS v 0")
	p.bandSteps(image)
}

// place aligns an image and objects to one that is wider than the paper.
func (p *Printer) place(image *Image, what string) {
	width := image.Width * image.ScaleX
	// Rows are whole bytes: on 546 dots the last one has six dots of white too many.
	if whole := (p.conf.WidthDots + 7) / 8 * 8; width > whole {
		p.note("error", fmt.Sprintf("%s: %d dots wide, the paper has %d", what, width,
			p.conf.WidthDots), image.Offset)
	}
	image.X = p.set.left + p.shift(min(width, p.set.area))
}

// graphics is GS ( L and GS 8 L: images are stored, one for each colour, and then printed together.
func (p *Printer) graphics(c escpos.Command) {
	fn := arg(c, 0)
	if fn != graphicsPrint {
		p.storeGraphics(fn, c)
		return
	}
	stored := p.stored
	p.stored = nil
	if len(stored) == 0 {
		p.note("error", "GS ( L: printed before anything was stored", p.offset(c))
		return
	}
	p.needEmptyLine("GS ( L", p.offset(c))
	for i := range stored {
		stored[i].Offset = p.offset(c)
		p.place(&stored[i], "GS ( L")
	}
	if len(stored) == 1 {
		p.bandSteps(stored[0])
		return
	}
	s := step{offset: p.offset(c)}
	for _, image := range stored {
		s.dots = max(s.dots, image.Height*image.ScaleY)
		s.prints.images = append(s.prints.images, image)
	}
	p.push(s)
}

func (p *Printer) storeGraphics(fn int, c escpos.Command) {
	colour, width, height := arg(c, 3), arg(c, 4), arg(c, 5)
	image := Image{Width: width, Height: height, ScaleX: arg(c, 1), ScaleY: arg(c, 2),
		Red: colour == '2'}
	image.Bits = c.Data
	if fn == graphicsColumns {
		image.Bits = fromColumns(c.Data, width, height)
	}
	size := 0
	for _, have := range p.stored {
		size += len(have.Bits)
	}
	switch {
	case colour > '2', colour == '2' && !p.can.Red:
		p.note("error", fmt.Sprintf("GS ( L: this printer has no colour %d", colour-'0'), p.offset(c))
	case size+len(image.Bits) > graphicsBytesMax:
		p.note("error", "GS ( L: more than the print buffer holds", p.offset(c))
	default:
		p.stored = append(p.stored, image)
	}
}

// fromColumns turns an image that came column by column, eight dots to a byte from the top, into
// rows.
func fromColumns(data []byte, width, height int) []byte {
	deep, stride := (height+7)/8, (width+7)/8
	bits := make([]byte, stride*height)
	for x := range width {
		for y := range height {
			if data[x*deep+y/8]&(0x80>>(y%8)) != 0 {
				bits[y*stride+x/8] |= 0x80 >> (x % 8)
			}
		}
	}
	return bits
}
