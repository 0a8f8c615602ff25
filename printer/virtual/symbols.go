package virtual

import (
	"fmt"

	"chit/printer/escpos"
)

// symbolBytesMax is the largest content of a two-dimensional code (QR version 40, digits).
const symbolBytesMax = 7089

// symbols keeps what GS ( k stored, by kind of code.
type symbols struct {
	stored map[int][]byte
	module int // dots
}

type barSettings struct {
	height, width, text int
	fontB               bool
}

// Names of the codes of GS ( k cn.
var symbolNames = map[int]string{48: "PDF417", 49: "QR", 50: "MaxiCode", 51: "GS1 DataBar",
	52: "composite", 53: "Aztec", 54: "DataMatrix"}

// symbol is GS ( k: fn 67 sets the module, 80 stores, 81 prints a labelled frame of about the
// symbol's size.
func (p *Printer) symbol(c escpos.Command) {
	cn, fn := arg(c, 0), arg(c, 1)
	name, ok := symbolNames[cn]
	if !ok {
		p.note("error", fmt.Sprintf("GS ( k: no code %d", cn), p.offset(c))
		return
	}
	switch {
	case fn == 67 && len(c.Data) > 0:
		p.symbols.module = int(c.Data[0])
	case fn == 80 && len(c.Data) > 1:
		if p.symbols.stored == nil {
			p.symbols.stored = map[int][]byte{}
		}
		p.symbols.stored[cn] = append([]byte(nil), c.Data[1:min(len(c.Data), 1+symbolBytesMax)]...)
	case fn == 81:
		data := p.symbols.stored[cn]
		if len(data) == 0 {
			p.note("error", name+": printed before it was stored", p.offset(c))
			return
		}
		p.needEmptyLine("GS ( k", p.offset(c))
		module := p.symbols.module
		if module == 0 {
			module = 3
		}
		side := min((21+4*(len(data)/16))*module, p.set.area)
		p.box(name, string(data), side, side, c)
	}
}

// barcode is GS k: a labelled frame as high as GS h says.
func (p *Printer) barcode(c escpos.Command) {
	p.needEmptyLine("GS k", p.offset(c))
	width := min((len(c.Data)*11+35)*p.set.bar.width, p.set.area)
	p.box(fmt.Sprintf("bar code %d", arg(c, 0)), string(c.Data), width, p.set.bar.height, c)
}

func (p *Printer) box(label, data string, width, height int, c escpos.Command) {
	x := p.set.left + p.shift(width)
	box := Box{X: x, Width: width, Height: height, Label: label, Data: data, Offset: p.offset(c)}
	p.push(step{dots: height, offset: p.offset(c), prints: printed{box: &box}})
}
