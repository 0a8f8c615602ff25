package virtual

import (
	"errors"
	"fmt"
	"image"
	"image/color"

	"github.com/boombuler/barcode"
	"github.com/boombuler/barcode/aztec"
	"github.com/boombuler/barcode/datamatrix"
	"github.com/boombuler/barcode/pdf417"
	"github.com/boombuler/barcode/qr"

	"chit/printer/escpos"
)

// symbolBytesMax is the largest content of a two-dimensional code (QR version 40, digits).
const symbolBytesMax = 7089

// errFrame says that a symbol of this kind can only be drawn as a labelled frame here.
var errFrame = errors.New("is drawn as a frame")

// symbol is what GS ( k has set and stored for one kind of code.
type symbol struct {
	data   []byte
	module int // dots
	rows   int // PDF417: height of a row in modules
	level  int // of error correction, as the command gave it
}

// symbolNames are the codes of GS ( k, by cn.
var symbolNames = map[int]string{
	escpos.SymbolPDF417: "PDF417", escpos.SymbolQR: "QR", escpos.SymbolMaxiCode: "MaxiCode",
	escpos.SymbolDataBar: "GS1 DataBar", escpos.SymbolComposite: "composite",
	escpos.SymbolAztec: "Aztec", escpos.SymbolDataMatrix: "DataMatrix",
}

// Functions of GS ( k; those that set something mean different things to different codes.
const (
	symbolModel  = 65 // QR; PDF417: columns
	symbolModule = 67
	symbolRow    = 68 // PDF417
	symbolLevel  = 69
	symbolStore  = 80
	symbolPrint  = 81
)

// symbol is GS ( k.
func (p *Printer) symbol(c escpos.Command) {
	cn, fn := arg(c, 0), arg(c, 1)
	if p.symbols == nil {
		p.symbols = map[int]symbol{}
	}
	s, have := p.symbols[cn]
	if !have {
		s = symbol{module: 3, rows: 3}
	}
	switch fn {
	case symbolModel:
		if cn == escpos.SymbolQR && c.Data[0] != '2' {
			p.note("error", fmt.Sprintf("QR: model %c is drawn as model 2", c.Data[0]), p.offset(c))
		}
	case symbolModule:
		s.module = max(1, min(int(c.Data[0]), 16))
	case symbolRow:
		s.rows = max(1, min(int(c.Data[0]), 8))
	case symbolLevel:
		s.level = int(c.Data[len(c.Data)-1])
	case symbolStore:
		s.data = append([]byte(nil), c.Data[1:min(len(c.Data), 1+symbolBytesMax)]...)
	case symbolPrint:
		p.printSymbol(cn, s, c)
	default: // Columns, shapes and hints: the drawing chooses for itself.
		p.note("event", fmt.Sprintf("%s: function %d changes nothing here", symbolNames[cn], fn),
			p.offset(c))
	}
	p.symbols[cn] = s
}

// printSymbol draws what was stored.
func (p *Printer) printSymbol(cn int, s symbol, c escpos.Command) {
	name := symbolNames[cn]
	if len(s.data) == 0 {
		p.note("error", name+": printed before it was stored", p.offset(c))
		return
	}
	p.needEmptyLine("GS ( k", p.offset(c))
	high := s.module
	code, err := encodeSymbol(cn, s)
	if cn == escpos.SymbolPDF417 {
		high = max(1, s.module*s.rows/2) // The library draws its rows two modules high.
	}
	box := Box{Label: name, Data: string(s.data), Red: p.set.style.Red, Offset: p.offset(c)}
	switch {
	case errors.Is(err, errFrame):
		p.note("event", name+" "+err.Error(), p.offset(c))
		box.Width = min((21+4*(len(s.data)/16))*s.module, p.set.area)
		box.Height = box.Width
	case err != nil:
		p.note("error", fmt.Sprintf("%s: nothing is printed: %v", name, err), p.offset(c))
		return
	default:
		size := code.Bounds().Size()
		box.Width, box.Height = size.X*s.module, size.Y*high
		if box.Width > p.set.area {
			p.note("error", fmt.Sprintf("%s: nothing is printed: %d dots wide, the printing area has %d",
				name, box.Width, p.set.area), p.offset(c))
			return
		}
		box.Bits = dots(code, s.module, high)
	}
	p.box(box)
}

// qrLevels are the levels of GS ( k fn 169: 48 to 51.
var qrLevels = [...]qr.ErrorCorrectionLevel{qr.L, qr.M, qr.Q, qr.H}

// encodeSymbol makes the modules of one code. Sources for levels and their defaults: Epson, GS ( k
// <Function 069>, <Function 169>, <Function 569>.
func encodeSymbol(cn int, s symbol) (code barcode.Barcode, err error) {
	defer func() {
		if r := recover(); r != nil { // The library's, over foreign bytes.
			code, err = nil, fmt.Errorf("cannot be drawn: %v", r)
		}
	}()
	switch cn {
	case escpos.SymbolQR:
		level := max(0, min(s.level-'0', len(qrLevels)-1))
		return qr.Encode(string(s.data), qrLevels[level], qr.Auto)
	case escpos.SymbolPDF417:
		level := 2
		if s.level >= '0' && s.level <= '8' {
			level = s.level - '0'
		}
		return pdf417.Encode(string(s.data), byte(level))
	case escpos.SymbolDataMatrix:
		return datamatrix.Encode(string(s.data))
	case escpos.SymbolAztec:
		percent := 23
		if s.level >= 5 && s.level <= 95 {
			percent = s.level
		}
		return aztec.Encode(s.data, percent, aztec.DEFAULT_LAYERS)
	}
	return nil, errFrame
}

// dots enlarges a code: each of its pixels is wide by high dots.
func dots(code image.Image, wide, high int) []byte {
	size := code.Bounds()
	width := size.Dx() * wide
	stride := (width + 7) / 8
	bits := make([]byte, stride*size.Dy()*high)
	for y := range size.Dy() {
		row := bits[y*high*stride : (y*high+1)*stride]
		for x := range width {
			if dark(code.At(size.Min.X+x/wide, size.Min.Y+y)) {
				row[x/8] |= 0x80 >> (x % 8)
			}
		}
		for i := 1; i < high; i++ {
			copy(bits[(y*high+i)*stride:], row)
		}
	}
	return bits
}

func dark(c color.Color) bool {
	r, _, _, _ := c.RGBA()
	return r < 0x8000
}

// box prints a symbol.
func (p *Printer) box(box Box) {
	shift := p.set.left + p.shift(box.Width)
	box.X += shift
	for i := range box.Captions {
		for j := range box.Captions[i].Runs {
			box.Captions[i].Runs[j].X += shift
		}
	}
	p.push(step{dots: box.Height, offset: box.Offset, prints: printed{box: &box}})
}
