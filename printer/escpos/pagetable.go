package escpos

import (
	"fmt"

	"chit/printer/profile"
)

// PageTable returns the bytes of a paper that settles what the pages of a printer hold: for each
// number its name where names has it, then its bytes 80 to FF as the printer shows them. cutFeed
// empty lines end it, and a partial cut where cutter is true.
//
// Bytes from 80 on are characters on every page, whatever the printer has there.
func PageTable(p profile.Profile, numbers []byte, names map[byte]string) []byte {
	out := []byte{0x1B, '@', 0x1C, '.', 0x1B, 'R', 0}
	row := 16
	if p.Columns >= 3+32 {
		row = 32
	}
	for _, n := range numbers {
		out = fmt.Appendf(out, "\x1Bt\x00page %d %s\n\x1Bt%c", n, names[n], 0)
		out[len(out)-1] = n
		for from := 0x80; from < 0x100; from += row {
			out = fmt.Appendf(out, "%02X ", from)
			for b := from; b < from+row; b++ {
				out = append(out, byte(b))
			}
			out = append(out, '\n')
		}
	}
	out = append(out, 0x1B, 't', 0, 0x1B, 'd', byte(p.CutFeed))
	if p.Cutter {
		out = append(out, 0x1D, 'V', 1)
	}
	return out
}
