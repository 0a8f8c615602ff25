package escpos

import "fmt"

// countedLong is a command with four bytes after its key, which count what follows.
func countedLong(b []byte, key int) (int, string) {
	if len(b) < key+4 {
		return key + 4, ""
	}
	n := word(b[key], b[key+1]) | word(b[key+2], b[key+3])<<16
	if n < 2 || n > DataBytesMax {
		return 0, fmt.Sprintf("length %d, expected 2 to %d", n, DataBytesMax)
	}
	return key + 4 + n, ""
}

func parseGraphics(b []byte, key int) (Command, string) { return graphics(b, b[key+2:]) }

func parseGraphicsLong(b []byte, key int) (Command, string) { return graphics(b, b[key+4:]) }

// Functions of GS ( L that touch no stored logos: print, and store as rows or columns.
const (
	graphicsPrint   = 50
	graphicsRows    = 112
	graphicsColumns = 113
)

// graphics reads m fn ... of GS ( L and GS 8 L. Functions that keep logos in the printer's own
// memory are unknown here: no ticket depends on what somebody stored.
//
// Source: Epson, GS ( L <Function 50>, <Function 112>, <Function 113>: m is 48; a is 48, one
// colour; bx and by are 1 or 2; c is 49 to 52.
func graphics(b, body []byte) (Command, string) {
	m, fn := body[0], body[1]
	if m != 48 {
		return Command{}, fmt.Sprintf("%s with m %d", OpGraphics, m)
	}
	switch fn {
	case 2, graphicsPrint:
		if len(body) != 2 {
			return Command{}, fmt.Sprintf("%s function %d with %d bytes", OpGraphics, fn, len(body)-2)
		}
		return Command{Op: OpGraphics, Raw: b, Args: []int{graphicsPrint}}, ""
	case graphicsRows, graphicsColumns:
	default:
		return Command{}, fmt.Sprintf("%s with function %d", OpGraphics, fn)
	}
	const header = 10
	if len(body) < header {
		return Command{}, fmt.Sprintf("%s function %d with %d bytes", OpGraphics, fn, len(body)-2)
	}
	a, bx, by, colour := body[2], body[3], body[4], body[5]
	width, height := word(body[6], body[7]), word(body[8], body[9])
	if a != 48 || bx < 1 || bx > 2 || by < 1 || by > 2 || colour < 49 || colour > 52 ||
		width == 0 || height == 0 {
		return Command{}, fmt.Sprintf("%s function %d with parameters % X", OpGraphics, fn, body[2:10])
	}
	want := (width + 7) / 8 * height
	if fn == graphicsColumns {
		want = width * ((height + 7) / 8)
	}
	if data := len(body) - header; data != want {
		return Command{}, fmt.Sprintf("%s function %d with %d bytes of image, expected %d",
			OpGraphics, fn, data, want)
	}
	return Command{Op: OpGraphics, Raw: b, Data: body[header:],
		Args: []int{int(fn), int(bx), int(by), int(colour), width, height}}, ""
}

// parseColour: GS ( N pL pH fn m, fn 48 character colour, 49 background, 50 shading (m and a).
//
// Source: Epson, GS ( N.
func parseColour(b []byte, key int) (Command, string) {
	body := b[key+2:]
	ok := false
	switch body[0] {
	case 48, 49:
		ok = len(body) == 2 && body[1] >= 48 && body[1] <= 51
	case 50:
		ok = len(body) == 3 && body[1] <= 1 && body[2] >= 48 && body[2] <= 51
	}
	if !ok {
		return Command{}, fmt.Sprintf("%s with parameters % X", OpColour2, body)
	}
	return Command{Op: OpColour2, Raw: b, Data: body}, ""
}

// parseKanjiFont: FS ( A pL pH fn m, fn 48 with fonts A to C.
//
// Source: Epson, FS ( A <Function 48>.
func parseKanjiFont(b []byte, key int) (Command, string) {
	body := b[key+2:]
	if body[0] != 48 || len(body) != 2 || !upTo(2)(body[1:]) {
		return Command{}, fmt.Sprintf("%s with parameters % X", OpKanjiFont, body)
	}
	return Command{Op: OpKanjiFont, Raw: b, Args: []int{48}, Data: body[1:]}, ""
}

// Kinds of two-dimensional code, cn of GS ( k.
const (
	SymbolPDF417     = 48
	SymbolQR         = 49
	SymbolMaxiCode   = 50
	SymbolDataBar    = 51
	SymbolComposite  = 52
	SymbolAztec      = 53
	SymbolDataMatrix = 54
)

// symbolSettings says how many bytes each function that sets something takes after cn and fn, -1
// for any; by cn and fn. Functions 80 to 82 store, print and measure, the same for all.
//
// Source: Epson, GS ( k, functions 065 to 070 (PDF417), 165 to 169 (QR), 265 (MaxiCode), 367 and
// 371 (GS1 DataBar), 467 to 472 (composite), 566 to 569 (Aztec), 666 and 667 (DataMatrix).
var symbolSettings = map[[2]byte]int{
	{SymbolPDF417, 65}: 1, {SymbolPDF417, 66}: 1, {SymbolPDF417, 67}: 1, {SymbolPDF417, 68}: 1,
	{SymbolPDF417, 69}: 2, {SymbolPDF417, 70}: 1,
	{SymbolQR, 65}: 2, {SymbolQR, 67}: 1, {SymbolQR, 69}: 1,
	{SymbolMaxiCode, 65}: 1,
	{SymbolDataBar, 67}:  1, {SymbolDataBar, 71}: 2,
	{SymbolComposite, 67}: 1, {SymbolComposite, 71}: 2, {SymbolComposite, 72}: 1,
	{SymbolAztec, 66}: 2, {SymbolAztec, 67}: 1, {SymbolAztec, 69}: 1,
	{SymbolDataMatrix, 66}: 3, {SymbolDataMatrix, 67}: 1,
}

// parseSymbol: GS ( k pL pH cn fn ...
func parseSymbol(b []byte, key int) (Command, string) {
	body := b[key+2:]
	cn, fn, data := body[0], body[1], body[2:]
	bad := func() (Command, string) {
		return Command{}, fmt.Sprintf("%s code %d function %d with %d bytes", OpSymbol, cn, fn, len(data))
	}
	switch {
	case cn < SymbolPDF417 || cn > SymbolDataMatrix:
		return bad()
	case fn == 80: // m, then the content
		if len(data) < 2 || cn != SymbolMaxiCode && data[0] != 48 {
			return bad()
		}
	case fn == 81, fn == 82:
		if len(data) != 1 || data[0] != 48 {
			return bad()
		}
	default:
		if n, ok := symbolSettings[[2]byte{cn, fn}]; !ok || len(data) != n {
			return bad()
		}
	}
	return Command{Op: OpSymbol, Raw: b, Args: []int{int(cn), int(fn)}, Data: data}, ""
}
