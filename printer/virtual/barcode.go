package virtual

import (
	"errors"
	"fmt"
	"image"
	"strings"
	"unicode/utf8"

	"github.com/boombuler/barcode/codabar"
	"github.com/boombuler/barcode/code128"
	"github.com/boombuler/barcode/code39"
	"github.com/boombuler/barcode/code93"
	"github.com/boombuler/barcode/ean"
	"github.com/boombuler/barcode/twooffive"

	"chit/printer/escpos"
)

// barSettings are GS h, GS w, GS H and GS f.
type barSettings struct {
	height, width, text int
	fontB               bool
}

// barNames are the systems of GS k, by the m of function B.
var barNames = map[int]string{
	65: "UPC-A", 66: "UPC-E", 67: "EAN-13", 68: "EAN-8", 69: "Code 39", 70: "ITF", 71: "Codabar",
	72: "Code 93", 73: "Code 128", 74: "GS1-128", 75: "GS1 DataBar", 76: "GS1 DataBar truncated",
	77: "GS1 DataBar limited", 78: "GS1 DataBar expanded", 79: "Code 128",
}

// barcode is GS k. A real printer prints nothing where data do not suit the system or the bars are
// wider than the printing area; so does this one, and says so.
func (p *Printer) barcode(c escpos.Command) {
	p.needEmptyLine("GS k", p.offset(c))
	m := arg(c, 0)
	if m <= 6 {
		m += 65 // Function A has the first seven systems of function B.
	}
	name := barNames[m]
	bars, says, err := encodeBars(m, c.Data)
	box := Box{Label: name, Data: says, Height: p.set.bar.height, Red: p.set.style.Red,
		Offset: p.offset(c)}
	switch {
	case errors.Is(err, errFrame):
		p.note("event", name+" "+err.Error(), p.offset(c))
		box.Data = string(c.Data)
		box.Width = min((len(c.Data)*11+35)*p.set.bar.module(), p.set.area)
		p.box(box)
		return
	case err != nil:
		p.note("error", fmt.Sprintf("%s: nothing is printed: %v", name, err), p.offset(c))
		return
	}
	widths := p.set.bar.widths(m, bars)
	for _, w := range widths {
		box.Width += w
	}
	if box.Width > p.set.area {
		p.note("error", fmt.Sprintf("%s: nothing is printed: %d dots wide, the printing area has %d",
			name, box.Width, p.set.area), p.offset(c))
		return
	}
	p.caption(&box, widths)
	p.box(box)
}

// caption draws the bars into the box and writes what they say above and below, as GS H wants it.
func (p *Printer) caption(box *Box, widths []int) {
	style := Style{FontB: p.set.bar.fontB, Cell: p.conf.CellDots, Width: 1, Height: 1, Red: box.Red}
	if style.FontB {
		style.Cell = p.conf.CellDotsB
	}
	cell, height := style.cell()
	width := cell * utf8.RuneCountInString(box.Data)
	write := func(y int) {
		run := Run{X: (box.Width - width) / 2, Width: width, Text: printable(box.Data), Style: style}
		box.Captions = append(box.Captions,
			Line{Y: y, Height: height, Offset: box.Offset, Runs: []Run{run}})
	}
	above, below := p.set.bar.text&1 != 0, p.set.bar.text&2 != 0
	top := 0
	if above {
		write(0)
		top = height
	}
	if below {
		write(top + box.Height)
	}
	bars := box.Height
	box.Height = top + bars
	if below {
		box.Height += height
	}
	stride := (box.Width + 7) / 8
	row := make([]byte, stride)
	x, black := 0, true
	for _, w := range widths {
		for range w {
			if black {
				row[x/8] |= 0x80 >> (x % 8)
			}
			x++
		}
		black = !black
	}
	box.Bits = make([]byte, stride*box.Height)
	for y := range bars {
		copy(box.Bits[(top+y)*stride:], row)
	}
}

// module is the width of the narrowest bar in dots. Values from 68 on are finer steps of some
// models; the nearest whole number of dots is taken. Source: Epson, GS w.
func (b barSettings) module() int {
	if b.width >= 68 {
		return 2 + (b.width-68)/2
	}
	return b.width
}

// wide is the width of a wide bar in those systems that have two widths. Source: Epson, GS w,
// "Thick element width": 5 dots for 2, 8 for 3, 10 for 4, 13 for 5, 16 for 6.
func (b barSettings) wide() int { return (b.module()*8 + 2) / 3 }

// twoWidths tells whether a system knows narrow and wide bars alone.
func twoWidths(m int) bool { return m >= 69 && m <= 71 }

// widths turns modules into bars and gaps in dots, beginning with a bar.
func (b barSettings) widths(m int, bars []bool) []int {
	var out []int
	for i := 0; i < len(bars); {
		n := 1
		for i+n < len(bars) && bars[i+n] == bars[i] {
			n++
		}
		i += n
		switch {
		case !twoWidths(m):
			out = append(out, n*b.module())
		case n == 1:
			out = append(out, b.module())
		default:
			out = append(out, b.wide())
		}
	}
	return out
}

// encodeBars makes the modules of a bar code and what is written beside it. m is that of function
// B.
func encodeBars(m int, data []byte) (bars []bool, says string, err error) {
	defer func() {
		if r := recover(); r != nil { // The library's, over foreign bytes.
			err = fmt.Errorf("%q cannot be drawn: %v", data, r)
		}
	}()
	says = string(data)
	var code image.Image
	switch m {
	case 65: // UPC-A is EAN-13 with a zero before it.
		if len(says) != 11 && len(says) != 12 {
			return nil, "", fmt.Errorf("%q, expected 11 or 12 digits", says)
		}
		whole, err := ean.Encode("0" + says)
		if err != nil {
			return nil, "", err
		}
		code, says = whole, whole.Content()[1:]
	case 66:
		return upcE(says)
	case 67, 68:
		if n := len(says); m == 67 && n != 12 && n != 13 || m == 68 && n != 7 && n != 8 {
			return nil, "", fmt.Errorf("%q has %d digits", says, n)
		}
		whole, err := ean.Encode(says)
		if err != nil {
			return nil, "", err
		}
		code, says = whole, whole.Content()
	case 69:
		says = strings.TrimSuffix(strings.TrimPrefix(says, "*"), "*")
		code, err = code39.Encode(says, false, false)
	case 70:
		code, err = twooffive.Encode(says, true)
	case 71:
		says = strings.ToUpper(says)
		code, err = codabar.Encode(says)
	case 72:
		code, err = code93.Encode(says, true, true)
	case 73, 74, 79:
		var content string
		if content, says, err = code128Content(m, data); err == nil {
			code, err = code128.Encode(content)
		}
	default:
		err = errFrame
	}
	if err != nil {
		return nil, "", err
	}
	for x := range code.Bounds().Dx() {
		bars = append(bars, dark(code.At(code.Bounds().Min.X+x, 0)))
	}
	return bars, says, nil
}

// code128Content reads the data of Code 128: {A, {B, {C choose a code set, {S shifts, {1 to {4 are
// function characters, {{ is a brace; in set C every byte is two digits. The drawing chooses the
// sets anew, which changes the bars and not what they say.
//
// Source: Epson, GS k, "CODE128" and "GS1-128".
func code128Content(m int, data []byte) (content, says string, err error) {
	var out []rune
	add := func(r rune, shown string) {
		out = append(out, r)
		says += shown
	}
	if m == 74 {
		add(code128.FNC1, "")
	}
	functions := map[byte]rune{'1': code128.FNC1, '2': code128.FNC2, '3': code128.FNC3,
		'4': code128.FNC4}
	set := byte('B')
	if m == 73 && (len(data) < 2 || data[0] != '{' || data[1] < 'A' || data[1] > 'C') {
		return "", "", fmt.Errorf("%q does not begin with {A, {B or {C", data)
	}
	for i := 0; i < len(data); i++ {
		b := data[i]
		switch {
		case b == '{' && m != 79 && i+1 < len(data):
			i++
			switch next := data[i]; {
			case next >= 'A' && next <= 'C':
				set = next
			case functions[next] != 0:
				add(functions[next], "")
			case next == '{':
				add('{', "{")
			case next != 'S':
				return "", "", fmt.Errorf("{%c is no function", next)
			}
		case set == 'C' && m == 73:
			if b > 99 {
				return "", "", fmt.Errorf("%d in code set C, expected 0 to 99", b)
			}
			pair := fmt.Sprintf("%02d", b)
			add(rune(pair[0]), pair[:1])
			add(rune(pair[1]), pair[1:])
		case m == 74 && strings.ContainsRune("()* ", rune(b)):
			says += string(rune(b))
		case b > 0x7F:
			return "", "", fmt.Errorf("byte %#02x is not in Code 128", b)
		default:
			add(rune(b), string(rune(b)))
		}
	}
	return string(out), says, nil
}
