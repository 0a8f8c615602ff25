package escpos

import "math/bits"

// needleRows is how many rows of square dots one row of needles stands for: columns stand 160 to
// the inch in double density, needles 72.
//
// Source: Epson, ESC *, TM-U220: m 1, 160 dpi by 72 dpi.
const needleRows = 2

// squashed is m for needles: every two rows become one, black where either is. Of the two ways to
// pair the rows it takes the one with less ink, as the other one thickens level strokes; and gaps
// of two rows between strokes stay open, without which letters lose their counters.
func squashed(m Image) Image {
	stride := (m.WidthDots + 7) / 8
	out := halved(m, stride)
	if m.HeightDots%needleRows == 0 && inkOf(m.Rows[len(m.Rows)-stride:]) > 0 {
		return out // One row lower it would be one row of needles higher.
	}
	lower := m
	lower.HeightDots++
	lower.Rows = append(make([]byte, stride, len(m.Rows)+stride), m.Rows...)
	if m.HeightDots%needleRows == 0 {
		lower.HeightDots--
		lower.Rows = lower.Rows[:len(m.Rows)]
	}
	if other := halved(lower, stride); inkOf(other.Rows) < inkOf(out.Rows) {
		return other
	}
	return out
}

func halved(m Image, stride int) Image {
	row := func(y, x int) byte {
		if y < 0 || y >= m.HeightDots {
			return 0
		}
		return m.Rows[y*stride+x]
	}
	high := (m.HeightDots + needleRows - 1) / needleRows
	out := make([]byte, high*stride)
	for y := range high {
		for x := range stride {
			out[y*stride+x] = row(2*y, x) | row(2*y+1, x)
		}
	}
	for y := range high - 1 {
		for x := range stride {
			// Black, white, white, black: both pairs are black now.
			lost := row(2*y, x) &^ row(2*y+1, x) &^ row(2*y+2, x) & row(2*y+3, x)
			above := lost & row(2*y-1, x) // The stroke above keeps a row of needles.
			out[y*stride+x] &^= above
			out[(y+1)*stride+x] &^= lost &^ above & row(2*y+4, x)
		}
	}
	m.HeightDots, m.Rows = high, out
	return m
}

// inkOf is the number of black dots.
func inkOf(rows []byte) int {
	n := 0
	for _, b := range rows {
		n += bits.OnesCount8(b)
	}
	return n
}
