// Package codepage knows which byte spells which character on a printer's one-byte code pages.
//
// It is the only importer of golang.org/x/text under printer/: the encoder asks [Encode], the
// virtual printer asks [Decode]. Encodings are named as profile.Page spells them ("CP437",
// "WINDOWS-1252"). Tables are those of golang.org/x/text/encoding/charmap, and of tables.go for the
// pages that it lacks. A page that no two sources agree on is absent, so that nothing is guessed
// at.
//
// It is pure: tables and nothing else.
package codepage

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"
)

// table is one page. EncodeRune and DecodeByte are as those of charmap.Charmap.
type table interface {
	DecodeByte(b byte) rune
	EncodeRune(r rune) (b byte, ok bool)
}

var tables = withPages(map[string]table{
	"CP437":        charmap.CodePage437,
	"CP850":        charmap.CodePage850,
	"CP852":        charmap.CodePage852,
	"CP855":        charmap.CodePage855,
	"CP858":        charmap.CodePage858,
	"CP860":        charmap.CodePage860,
	"CP862":        charmap.CodePage862,
	"CP863":        charmap.CodePage863,
	"CP865":        charmap.CodePage865,
	"CP866":        charmap.CodePage866,
	"CP874":        charmap.Windows874,
	"ISO-8859-1":   charmap.ISO8859_1,
	"ISO-8859-2":   charmap.ISO8859_2,
	"ISO-8859-3":   charmap.ISO8859_3,
	"ISO-8859-4":   charmap.ISO8859_4,
	"ISO-8859-5":   charmap.ISO8859_5,
	"ISO-8859-7":   charmap.ISO8859_7,
	"ISO-8859-8":   charmap.ISO8859_8,
	"ISO-8859-9":   charmap.ISO8859_9,
	"ISO-8859-15":  charmap.ISO8859_15,
	"WINDOWS-1250": charmap.Windows1250,
	"WINDOWS-1251": charmap.Windows1251,
	"WINDOWS-1252": charmap.Windows1252,
	"WINDOWS-1253": charmap.Windows1253,
	"WINDOWS-1254": charmap.Windows1254,
	"WINDOWS-1255": charmap.Windows1255,
	"WINDOWS-1256": charmap.Windows1256,
	"WINDOWS-1257": charmap.Windows1257,
	"WINDOWS-1258": charmap.Windows1258,
})

func withPages(all map[string]table) map[string]table {
	for name, page := range pages {
		all[name] = page
	}
	return all
}

// Known tells whether there is a table of this name.
func Known(encoding string) bool { return tables[encoding] != nil }

// Names lists the tables in alphabetical order.
func Names() []string {
	names := make([]string, 0, len(tables))
	for name := range tables {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Decode returns the character that byte b prints on the page, or [utf8.RuneError] where the page
// or its name has none. Bytes 0x00-0x1F and 0x7F are commands or holes and never characters.
func Decode(encoding string, b byte) rune {
	table := tables[encoding]
	if table == nil || b < 0x20 || b == 0x7F {
		return utf8.RuneError
	}
	if r := table.DecodeByte(b); !unicode.IsControl(r) {
		return r
	}
	return utf8.RuneError // ISO 8859 pages put C1 controls at 0x80-0x9F.
}

// Encode returns the byte that prints r on the page, and whether there is one. The byte is never
// below 0x20 and never 0x7F, so that no character can become a command.
func Encode(encoding string, r rune) (byte, bool) {
	table := tables[encoding]
	if table == nil || r == utf8.RuneError || unicode.IsControl(r) {
		return 0, false
	}
	b, ok := table.EncodeRune(r)
	if !ok || b < 0x20 || b == 0x7F {
		return 0, false
	}
	return b, true
}

// Compose returns s in Unicode normal form C, in which "e" and a combining acute are one "é" and
// so have a byte. Invalid UTF-8 is left as it is.
func Compose(s string) string { return norm.NFC.String(s) }

// Compatible returns s in Unicode normal form KC, in which a Roman numeral, a ligature or a letter
// of mathematics is the plain letters it looks like.
func Compatible(s string) string { return norm.NFKC.String(s) }
