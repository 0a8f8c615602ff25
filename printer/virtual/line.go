package virtual

import (
	"fmt"
	"unicode/utf8"
)

// lineItemsMax bounds what one unfinished line can hold, however often the host goes back on it.
const lineItemsMax = 1024

// lineBuffer is the line that is being put together; nothing of it is on paper yet.
type lineBuffer struct {
	runs   []Run
	images []Image
	x      int // where the next character goes, from the left of the printing area
	height int
	upside bool
	lead   byte   // first byte of a two-byte character, 0 without one
	rom    string // the encoding it is of
	cells  int    // of each character in the last run
}

func (l *lineBuffer) used() bool { return len(l.runs) > 0 || len(l.images) > 0 }

// extent is how much of the printing area the line takes, from its left edge: up to its last dot,
// or to where the next one would go.
func (l *lineBuffer) extent() int {
	width := l.x
	for _, run := range l.runs {
		width = max(width, run.X+run.Width)
	}
	for _, image := range l.images {
		width = max(width, image.X+image.Width*image.ScaleX)
	}
	return width
}

// text puts bytes of the current code page on the line.
func (p *Printer) text(b []byte, offset int64) {
	for i, c := range b {
		at := offset + int64(i)
		if rom, ok := p.leads(c); ok {
			p.ideograph(rom, c, at)
			continue
		}
		r := p.set.decode(c)
		if r == utf8.RuneError {
			p.note("error", fmt.Sprintf("byte 0x%02X is no character of %s", c, p.set.page), at)
		}
		p.character(r, 1, at)
	}
}

// character puts one character on the line, which is printed first where it is full.
func (p *Printer) character(r rune, cells int, at int64) {
	style, left, right := p.styleOf(cells)
	width, height := style.cell()
	width *= cells
	if p.line.x > 0 && p.line.x+left+width > p.set.area || len(p.line.runs) >= lineItemsMax {
		p.note("event", "line wrapped", at)
		p.printLine(0, 1, at)
	}
	l := &p.line
	if len(l.runs) == 0 {
		l.upside = p.set.upside
	}
	style.Upside = l.upside
	l.x += left
	if n := len(l.runs); n > 0 && l.runs[n-1].Style == style && l.cells == cells &&
		l.runs[n-1].X+l.runs[n-1].Width == l.x {
		l.runs[n-1].Text += string(r)
		l.runs[n-1].Width += width
	} else {
		l.runs = append(l.runs, Run{X: l.x, Width: width, Text: string(r), Style: style})
		l.cells = cells
	}
	l.x += width + right
	l.height = max(l.height, height)
}

// columns puts a bit image (ESC *) on the line.
func (p *Printer) columns(m, columns int, data []byte, at int64) {
	rows, scaleX, scaleY := 8, 2, 3
	switch m {
	case 0:
	case 1:
		scaleX = 1
	case 32:
		rows, scaleY = 24, 1
	case 33:
		rows, scaleX, scaleY = 24, 1, 1
	default:
		p.note("error", fmt.Sprintf("ESC *: m is %d, expected 0, 1, 32 or 33", m), at)
		return
	}
	if rows == 24 && p.conf.Impact {
		p.note("error", "ESC *: 24 dots high, the head has 9 needles", at)
		return
	}
	if len(data) < columns*rows/8 || len(p.line.images) >= lineItemsMax {
		p.note("error", "ESC *: image does not fit", at)
		return
	}
	stride := (columns + 7) / 8
	image := Image{X: p.line.x, Width: columns, Height: rows, ScaleX: scaleX, ScaleY: scaleY,
		Bits: make([]byte, stride*rows), Red: p.set.style.Red, Offset: at}
	for x := range columns {
		for y := range rows {
			if data[x*rows/8+y/8]&(0x80>>(y%8)) != 0 {
				image.Bits[y*stride+x/8] |= 0x80 >> (x % 8)
			}
		}
	}
	p.line.images = append(p.line.images, image)
	p.line.x += columns * scaleX
	p.line.height = max(p.line.height, rows*scaleY)
}

// printLine prints the line and feeds: at least dots, and at least as far as the line is high.
func (p *Printer) printLine(dots, feeds int, offset int64) {
	l := p.line
	p.line = lineBuffer{}
	if l.lead != 0 {
		p.note("error", "half an ideograph at the end of a line: Kanji mode is on", offset)
	}
	if feeds > 0 && dots == 0 {
		dots = p.set.spacing
	}
	s := step{dots: max(dots, l.height), feeds: feeds, offset: offset}
	if l.used() {
		shift := p.set.left + p.shift(l.extent())
		line := Line{Height: l.height, Runs: l.runs, Offset: offset, Upside: l.upside,
			Mirror: 2*p.set.left + p.set.area}
		for i := range line.Runs {
			line.Runs[i].X += shift
		}
		if len(line.Runs) > 0 {
			s.prints.line = &line
		}
		for _, image := range l.images {
			image.X += shift
			image.Y = l.height - image.Height*image.ScaleY
			s.prints.images = append(s.prints.images, image)
		}
	}
	p.push(s)
}

// shift is how far a line of that width moves to the right to be aligned.
func (p *Printer) shift(width int) int {
	free := max(0, p.set.area-width)
	return free * p.set.align / 2
}

// feed prints what there is and feeds n lines.
func (p *Printer) feed(n int, offset int64) {
	if n == 0 {
		p.printLine(0, 0, offset)
		return
	}
	for range n {
		p.printLine(0, 1, offset)
	}
}

// needEmptyLine notes an error where a command that belongs at the beginning of a line meets an
// unfinished one, and prints that.
func (p *Printer) needEmptyLine(what string, offset int64) {
	if p.line.used() {
		p.note("error", what+" within an unfinished line", offset)
		p.printLine(0, 1, offset)
	}
}
