package wire

import (
	"strings"
	"unicode"
)

// unseen is what leaves no ink on paper: spaces and line ends of every kind, and characters that
// only steer how others look. ticket.schema.json has the same ranges.
//
// Source: Unicode 15, White_Space and Default_Ignorable_Code_Point, and the empty Braille pattern.
var unseen = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x09, Hi: 0x0D, Stride: 1}, {Lo: ' ', Hi: ' ', Stride: 1},
		{Lo: 0x85, Hi: 0x85, Stride: 1}, {Lo: 0xA0, Hi: 0xA0, Stride: 1},
		{Lo: 0xAD, Hi: 0xAD, Stride: 1}, {Lo: 0x34F, Hi: 0x34F, Stride: 1},
		{Lo: 0x61C, Hi: 0x61C, Stride: 1}, {Lo: 0x115F, Hi: 0x1160, Stride: 1},
		{Lo: 0x1680, Hi: 0x1680, Stride: 1}, {Lo: 0x17B4, Hi: 0x17B5, Stride: 1},
		{Lo: 0x180B, Hi: 0x180F, Stride: 1}, {Lo: 0x2000, Hi: 0x200F, Stride: 1},
		{Lo: 0x2028, Hi: 0x202F, Stride: 1}, {Lo: 0x205F, Hi: 0x206F, Stride: 1},
		{Lo: 0x2800, Hi: 0x2800, Stride: 1}, {Lo: 0x3000, Hi: 0x3000, Stride: 1},
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, {Lo: 0xFE00, Hi: 0xFE0F, Stride: 1},
		{Lo: 0xFEFF, Hi: 0xFEFF, Stride: 1}, {Lo: 0xFFA0, Hi: 0xFFA0, Stride: 1},
		{Lo: 0xFFF0, Hi: 0xFFF8, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x1BCA0, Hi: 0x1BCA3, Stride: 1}, {Lo: 0x1D173, Hi: 0x1D17A, Stride: 1},
		{Lo: 0xE0000, Hi: 0xE0FFF, Stride: 1},
	},
	LatinOffset: 5,
}

// notBlank tells whether a cook would see anything of s.
func notBlank(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return !unicode.Is(unseen, r) })
}
