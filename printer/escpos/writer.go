package escpos

import (
	"chit/printer/document"
	"chit/printer/profile"
)

// feedMax is the parameter's limit; Epson, ESC d.
const feedMax = 255

// tightSpacing is less than a line of font A is high, so that lines touch: a printer feeds at least
// the height of what it printed.
const tightSpacing = 24

// writer holds the bytes made so far and the state the printer will be in after them.
type writer struct {
	p      profile.Profile
	body   []byte
	style  document.Style
	align  document.Align
	tight  bool
	page   int16 // index in p.Pages
	feeds  int
	raster bool
	breaks []int // where everything so far is whole lines and images
}

func (w *writer) bytes(b ...byte) { w.body = append(w.body, b...) }

// document writes all pieces from a known state to plain style.
func (w *writer) document(pieces []piece, spell *speller) {
	n := 0
	for _, p := range pieces {
		n += len(p.cells)
	}
	all := make([]cell, 0, n)
	for _, p := range pieces {
		all = append(all, p.cells...)
	}
	ways := spell.plan(all, 0)
	w.body = make([]byte, 0, n+n/4+64)
	w.start()
	for _, p := range pieces {
		switch {
		case p.line:
			w.line(p, ways[:len(p.cells)])
			ways = ways[len(p.cells):]
		case p.image != nil:
			w.image(*p.image, p.red)
		case p.symbol != nil:
			w.place(p.align)
			w.body = append(w.body, p.symbol...)
			w.raster = true
		default:
			w.look(plain)
			w.feed(p.feed)
		}
		w.rest()
	}
	w.look(plain)
}

// rest notes that a host may pause here.
func (w *writer) rest() {
	if n := len(w.breaks); n == 0 || w.breaks[n-1] < len(w.body) {
		w.breaks = append(w.breaks, len(w.body))
	}
}

// start brings the printer into a known state, whatever was sent before: ESC @ first, as it undoes
// the others; Kanji mode off (Chinese models start with it on and eat accented letters, research
// 3.3); ESC R 0, else brackets print as letters; automatic status on, which ESC @ switched off; and
// the first page by number, since the one after ESC @ is a setting of the unit.
func (w *writer) start() {
	w.bytes(0x1B, 0x40, 0x1C, 0x2E, 0x1B, 0x52, 0x00)
	w.body = append(w.body, EnableASB()...)
	w.bytes(0x1B, 0x74, w.p.Pages[0].Number)
}

// place sets the alignment. Obeyed at the beginning of a line only; Epson, ESC a.
func (w *writer) place(align document.Align) {
	if align != w.align {
		w.bytes(0x1B, 0x61, byte(align))
		w.align = align
	}
}

// spacing is the least distance from this line to the next; Epson, ESC 3 and ESC 2.
func (w *writer) spacing(tight bool) {
	switch {
	case tight == w.tight:
	case tight:
		w.bytes(0x1B, 0x33, tightSpacing)
	default:
		w.bytes(0x1B, 0x32)
	}
	w.tight = tight
}

// line prints one physical line and its LF.
func (w *writer) line(p piece, ways []spelling) {
	w.place(p.align)
	w.spacing(p.tight)
	tall := document.Size(tallest(p.cells))
	for i, way := range ways {
		if way.page >= 0 && way.page != w.page {
			w.bytes(0x1B, 0x74, w.p.Pages[way.page].Number)
			w.page = way.page
		}
		if p.cells[i].style != w.style {
			w.look(w.wanted(p.cells[i:], tall))
		}
		w.body = append(w.body, way.b)
	}
	w.bytes(0x0A)
	w.feeds++
}

// wanted is the style to print the first of cells in. A space takes the style that is on, or the
// one that the next letter needs, where it looks alike in it.
func (w *writer) wanted(cells []cell, tall document.Size) document.Style {
	own := cells[0].style
	if cells[0].r != ' ' {
		return own
	}
	if sameBlank(own, w.style, tall) {
		return w.style
	}
	for _, next := range cells {
		if next.r != ' ' && sameBlank(own, next.style, tall) {
			return next.style
		}
		if next.r != ' ' || next.style != own {
			break
		}
	}
	return own
}

// sameBlank tells whether a space looks alike in both styles on a line of that height, so that the
// printer need not change.
func sameBlank(a, b document.Style, tall document.Size) bool {
	return a.Width == b.Width && a.Height <= tall && b.Height <= tall &&
		!inked(a) && !inked(b)
}

// feed prints empty lines of plain font A.
func (w *writer) feed(lines int) {
	w.spacing(false)
	w.feeds += lines
	for lines > 0 {
		n := min(lines, feedMax)
		w.bytes(0x1B, 0x64, byte(n))
		lines -= n
	}
}

// look changes the printer's style to want, command by command where they differ.
func (w *writer) look(want document.Style) {
	have := w.style
	if w.p.Impact {
		w.mode(want)
	} else {
		if want.Width != have.Width || want.Height != have.Height {
			w.bytes(0x1D, 0x21, byte(want.Width-1)<<4|byte(want.Height-1))
		}
		w.set(want.Bold, have.Bold, 0x1B, 0x45)
		w.set(want.Underline, have.Underline, 0x1B, 0x2D)
		w.set(want.Inverse, have.Inverse, 0x1D, 0x42)
	}
	w.set(want.Red, have.Red, 0x1B, 0x72)
	w.style = want
}

func (w *writer) set(want, have bool, command ...byte) {
	if want != have {
		w.body = append(append(w.body, command...), bitIf(want, 1))
	}
}

// mode is a needle printer's way to say size, bold and underline, all in one byte.
//
// Source: Epson, ESC !: bit 0 font B, 3 bold, 4 double height, 5 double width, 7 underline.
func (w *writer) mode(want document.Style) {
	have := w.style
	want.Red, have.Red = false, false
	if want == have {
		return
	}
	w.bytes(0x1B, 0x21, bitIf(want.Bold, 0x08)|bitIf(want.Height > 1, 0x10)|
		bitIf(want.Width > 1, 0x20)|bitIf(want.Underline, 0x80))
}

func bitIf(on bool, bit byte) byte {
	if on {
		return bit
	}
	return 0
}
