package escpos

import "fmt"

// measure is a command whose length stands in its own parameters, or that ends with a NUL.
type measure struct {
	// length is asked again whenever b has grown to what it last said; key is the key's length.
	length func(b []byte, key int) (need int, reason string)
	parse  func(b []byte, key int) (Command, string)
}

// Limits of single commands, all far above what any page of paper needs.
const (
	tabsMax       = 32  // Epson, ESC D: k = 0 to 32
	barcodeOldMax = 255 // Epson, GS k, function A
)

// variable is keyed by prefix, as fixed is.
var variable = map[string]measure{
	"\x1BD":  {length: untilNUL(0, tabsMax), parse: parseTabs},
	"\x1B*":  {length: bitImageLength, parse: parseBitImage},
	"\x1B(A": {length: counted(1), parse: parseBuzzer},
	"\x1C(A": {length: counted(2), parse: parseKanjiFont},
	"\x1C(C": {length: counted(1), parse: withData(OpUTF8)},
	"\x1C(e": {length: counted(1), parse: withData(OpExtendedASB)},
	"\x1D(H": {length: counted(3), parse: parseProcessID},
	"\x1D(L": {length: counted(2), parse: parseGraphics},
	"\x1D8L": {length: countedLong, parse: parseGraphicsLong},
	"\x1D(N": {length: counted(2), parse: parseColour},
	"\x1D(D": {length: counted(3), parse: withData(OpCustomize)},
	"\x1D(k": {length: counted(2), parse: parseSymbol},
	"\x1DV":  {length: cutLength, parse: parseCut},
	"\x1Dv0": {length: rasterLength, parse: parseRaster},
	"\x1Dk":  {length: barcodeLength, parse: parseBarcode},
}

// counted is a command with pL pH after its key, which count what follows: at least least bytes.
func counted(least int) func([]byte, int) (int, string) {
	return func(b []byte, key int) (int, string) {
		if len(b) < key+2 {
			return key + 2, ""
		}
		n := word(b[key], b[key+1])
		if n < least {
			return 0, fmt.Sprintf("length %d, expected at least %d", n, least)
		}
		return key + 2 + n, ""
	}
}

// untilNUL is a command with skip fixed bytes after its key and then at most most bytes and a NUL.
func untilNUL(skip, most int) func([]byte, int) (int, string) {
	return func(b []byte, key int) (int, string) {
		n := len(b) - key - skip
		switch {
		case n < 1:
			return key + skip + 1, ""
		case b[len(b)-1] == 0:
			return len(b), ""
		case n > most:
			return 0, fmt.Sprintf("no NUL after %d bytes", most)
		}
		return len(b) + 1, ""
	}
}

func withData(op Op) func([]byte, int) (Command, string) {
	return func(b []byte, key int) (Command, string) {
		return Command{Op: op, Raw: b, Data: b[key+2:]}, ""
	}
}

// parseBuzzer: ESC ( A pL pH fn ..., fn 48 and 97 to 99.
func parseBuzzer(b []byte, key int) (Command, string) {
	body := b[key+2:]
	if !oneOf(48, 97, 98, 99)(body) {
		return Command{}, fmt.Sprintf("%s with function %d", OpBuzzerEpson, body[0])
	}
	return Command{Op: OpBuzzerEpson, Raw: b, Args: []int{int(body[0])}, Data: body[1:]}, ""
}

func parseTabs(b []byte, key int) (Command, string) {
	c := Command{Op: OpTabs, Raw: b}
	for _, column := range b[key : len(b)-1] {
		c.Args = append(c.Args, int(column))
	}
	return c, ""
}

// bitImageLength: ESC * m nL nH, then n columns of one byte (8 dots) or three (24 dots).
func bitImageLength(b []byte, key int) (int, string) {
	if len(b) < key+3 {
		return key + 3, ""
	}
	columns := word(b[key+1], b[key+2])
	switch b[key] {
	case 0, 1:
		return key + 3 + columns, ""
	case 32, 33:
		return key + 3 + 3*columns, ""
	}
	return 0, fmt.Sprintf("%s with density %d", OpBitImage, b[key])
}

func parseBitImage(b []byte, key int) (Command, string) {
	args := []int{int(b[key]), word(b[key+1], b[key+2])}
	return Command{Op: OpBitImage, Raw: b, Args: args, Data: b[key+3:]}, ""
}

// rasterLength: GS v 0 m xL xH yL yH, then x bytes for each of y rows.
func rasterLength(b []byte, key int) (int, string) {
	if len(b) < key+5 {
		return key + 5, ""
	}
	if !upTo(3)(b[key:]) {
		return 0, fmt.Sprintf("%s with mode %d", OpRaster, b[key])
	}
	width, rows := word(b[key+1], b[key+2]), word(b[key+3], b[key+4])
	if width == 0 || rows == 0 {
		return 0, fmt.Sprintf("%s of %d bytes by %d rows", OpRaster, width, rows)
	}
	return key + 5 + width*rows, ""
}

func parseRaster(b []byte, key int) (Command, string) {
	args := []int{int(b[key]), word(b[key+1], b[key+2]), word(b[key+3], b[key+4])}
	return Command{Op: OpRaster, Raw: b, Args: args, Data: b[key+5:]}, ""
}

// cutLength: GS V m, with n for functions B to D (m 65, 66, 97, 98, 103, 104; Epson, GS V).
func cutLength(b []byte, key int) (int, string) {
	if len(b) < key+1 {
		return key + 1, ""
	}
	switch b[key] {
	case 0, 1, '0', '1':
		return key + 1, ""
	case 65, 66, 97, 98, 103, 104:
		return key + 2, ""
	}
	return 0, fmt.Sprintf("%s with function %d", OpCut, b[key])
}

func parseCut(b []byte, key int) (Command, string) {
	c := Command{Op: OpCut, Raw: b}
	for _, arg := range b[key:] {
		c.Args = append(c.Args, int(arg))
	}
	return c, ""
}

// parseProcessID: GS ( H pL pH fn m d..., fn 48 with four bytes 0x20-0x7E, fn 49 with one.
func parseProcessID(b []byte, key int) (Command, string) {
	body := b[key+2:]
	c := Command{Op: OpProcessID, Raw: b, Args: []int{int(body[0])}, Data: body[2:]}
	switch {
	case body[1] != 48 || body[0] != 48 && body[0] != 49:
		reason := fmt.Sprintf("%s with function %d, %d", OpProcessID, body[0], body[1])
		return Command{}, reason
	case body[0] == 49 && len(c.Data) == 1:
		return c, ""
	case body[0] == 48 && len(c.Data) == 4 && Token(c.Data).Valid():
		return c, ""
	}
	return Command{}, fmt.Sprintf("%s function %d with data % X", OpProcessID, body[0], c.Data)
}

// barcodeLength: GS k m, then digits and NUL (function A, m 0-6) or n and n bytes (function B).
func barcodeLength(b []byte, key int) (int, string) {
	if len(b) < key+2 {
		return key + 2, ""
	}
	switch m := b[key]; {
	case m <= 6:
		return untilNUL(1, barcodeOldMax)(b, key)
	case m >= 65 && m <= 79:
		return key + 2 + int(b[key+1]), ""
	default:
		return 0, fmt.Sprintf("%s with system %d", OpBarcode, m)
	}
}

func parseBarcode(b []byte, key int) (Command, string) {
	c := Command{Op: OpBarcode, Raw: b, Args: []int{int(b[key])}}
	if b[key] <= 6 {
		c.Data = b[key+1 : len(b)-1]
	} else {
		c.Data = b[key+2:]
	}
	return c, ""
}
