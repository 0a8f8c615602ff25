package virtual

import (
	"fmt"
	"unicode/utf8"

	"chit/printer/escpos/codepage"
	"chit/printer/escpos/ideograph"
)

// Katakana is the name of page 1 of nearly every printer: half-width katakana, and the line-drawing
// signs that other encoders draw tables with.
const Katakana = "KATAKANA"

// katakana is that page from 0x80 on. Source: Epson, ESC t, "Page 1 (Katakana)".
var katakana = []rune("▁▂▃▄▅▆▇█▏▎▍▌▋▊▉┼┴┬┤├▔─│▕┌┐└┘╭╮╰╯" +
	"\uFFFD｡｢｣､･ｦｧｨｩｪｫｬｭｮｯｰｱｲｳｴｵｶｷｸｹｺｻｼｽｾｿﾀﾁﾂﾃﾄﾅﾆﾇﾈﾉﾊﾋﾌﾍﾎﾏﾐﾑﾒﾓﾔﾕﾖﾗﾘﾙﾚﾛﾜﾝﾞﾟ" +
	"═╞╪╡◢◣◥◤♠♥♦♣●○╱╲╳円年月日時分秒〒市区町村人▓\uFFFD")

// international is what ESC R n prints at the twelve places of ASCII that nations changed, in the
// order of internationalPlaces. Source: Epson, ESC R.
var international = [...]string{
	0:  "#$@[\\]^`{|}~",
	1:  "#$à°ç§^`éùè¨",
	2:  "#$§ÄÖÜ^`äöüß",
	3:  "£$@[\\]^`{|}~",
	4:  "#$@ÆØÅ^`æøå~",
	5:  "#¤ÉÄÖÅÜéäöåü",
	6:  "#$@°\\é^ùàòèì",
	7:  "₧$@¡Ñ¿^`¨ñ}~",
	8:  "#$@[¥]^`{|}~",
	9:  "#¤ÉÆØÅÜéæøåü",
	10: "#$ÉÆØÅÜéæøåü",
	11: "#$á¡Ñ¿é`íñóú",
	12: "#$á¡Ñ¿éüíñóú",
	13: "#$@[₩]^`{|}~",
	14: "#$ŽŠĐĆČžšđćč",
	15: "#¥@[\\]^`{|}~",
}

// internationalPlaces are the bytes that ESC R changes, in the order of the table above.
const internationalPlaces = "#$@[\\]^`{|}~"

// nation maps the changed bytes of one set; nil for the set of the USA, which changes none.
func nation(n int) map[byte]rune {
	if n <= 0 || n >= len(international) {
		return nil
	}
	changed := map[byte]rune{}
	for i, r := range []rune(international[n]) {
		changed[internationalPlaces[i]] = r
	}
	return changed
}

// decode is the character of one byte on the present page.
func (s settings) decode(c byte) rune {
	switch {
	case c < 0x80:
		if r, ok := s.nation[c]; ok {
			return r
		}
		if s.page == Katakana && c >= 0x20 && c != 0x7F {
			return rune(c)
		}
	case s.page == Katakana:
		return katakana[c-0x80]
	}
	return codepage.Decode(s.page, c)
}

// kanji is how ideographs are read and set. The zero value has Kanji mode off.
type kanji struct {
	on          bool
	system      int // FS C: 0 JIS, 1 and 2 Shift-JIS
	underline   int // dots
	wide, tall  bool
	left, right int // dots of blank beside each character
}

// leads tells whether c begins, or ends, a character of two bytes, and in which encoding it is to
// be read. Shift-JIS is always read; the others in Kanji mode alone.
//
// Source: Epson, FS C: with code systems 1 and 2, FS & and FS . are not needed.
func (p *Printer) leads(c byte) (rom string, ok bool) {
	k := p.set.kanji
	switch rom = p.conf.Kanji; {
	case p.line.lead != 0:
		return p.line.rom, true
	case rom == "":
		return "", k.on && c >= 0x80
	case rom == "SHIFT-JIS" && k.system != 0:
		return rom, ideograph.Leads(rom, c)
	case rom == "SHIFT-JIS":
		return "EUC-JP", k.on && c > 0x20 && c < 0x7F
	}
	return rom, k.on && ideograph.Leads(rom, c)
}

// ideograph takes one byte of two. A printer that has no ideographs, or none with this code, prints
// a geta mark, the sign for a type that is not at hand.
func (p *Printer) ideograph(rom string, c byte, at int64) {
	if p.line.lead == 0 {
		p.line.lead, p.line.rom = c, rom
		return
	}
	lead := p.line.lead
	p.line.lead = 0
	if rom == "" {
		p.note("error", "two bytes became one ideograph: Kanji mode is on", at)
		p.character('\u3013', 2, at)
		return
	}
	high := byte(0)
	if rom == "EUC-JP" {
		high = 0x80
	}
	r := ideograph.Decode(rom, lead|high, c|high)
	if r == utf8.RuneError {
		p.note("error", fmt.Sprintf("bytes %02X %02X are no character of %s", lead, c, p.conf.Kanji), at)
		r = '\u3013'
	}
	p.character(r, 2, at)
}

// styleOf is the look of a character of that many cells: ideographs have settings of their own.
func (p *Printer) styleOf(cells int) (style Style, left, right int) {
	style = p.set.style
	if cells == 1 {
		return style, 0, p.set.gap * style.Width
	}
	k := p.set.kanji
	style.FontB, style.Underline = false, k.underline
	if k.wide {
		style.Width = max(2, style.Width)
	}
	if k.tall {
		style.Height = max(2, style.Height)
	}
	return style, k.left * style.Width, k.right * style.Width
}
