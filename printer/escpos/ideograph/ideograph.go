// Package ideograph knows which character two bytes print on printers that have ideographs in their
// ROM. Its tables are large, so it is apart from the one-byte pages: only the virtual printer reads
// them, and the daemon of a kitchen has none of them.
//
// It is pure: tables and nothing else.
package ideograph

import (
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// Decode returns the character that two bytes print on a printer whose ROM holds ideographs in the
// named encoding, or [utf8.RuneError]: "SHIFT-JIS", "EUC-JP" (JIS with both high bits set),
// "GB18030" (its two-byte part), "BIG5", "EUC-KR".
//
// Source: research/escpos.md 3.3, "Encodings by region".
func Decode(encodingName string, lead, trail byte) rune {
	var table encoding.Encoding
	switch encodingName {
	case "SHIFT-JIS":
		table = japanese.ShiftJIS
	case "EUC-JP":
		table = japanese.EUCJP
	case "GB18030":
		table = simplifiedchinese.GB18030
	case "BIG5":
		table = traditionalchinese.Big5
	case "EUC-KR":
		table = korean.EUCKR
	default:
		return utf8.RuneError
	}
	b, err := table.NewDecoder().Bytes([]byte{lead, trail})
	if err != nil {
		return utf8.RuneError
	}
	r, size := utf8.DecodeRune(b)
	if size != len(b) {
		return utf8.RuneError // Two characters of one byte each, or nonsense.
	}
	return r
}

// Leads tells whether b can begin a character of two bytes in the named encoding.
func Leads(encodingName string, b byte) bool {
	if encodingName == "SHIFT-JIS" {
		return b >= 0x81 && b <= 0x9F || b >= 0xE0 && b <= 0xFC
	}
	return b >= 0x81 && b <= 0xFE
}
