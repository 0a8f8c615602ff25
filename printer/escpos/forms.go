package escpos

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"chit/printer/escpos/codepage"
)

// plainForms are ASCII forms of typography. They are used even where a page has the character,
// since they read the same and cost no page switch.
var plainForms = map[rune]string{
	'\u2018': "'", '\u2019': "'", '\u201A': "'", '\u201B': "'", '\u2032': "'", '\u02BC': "'",
	'\u2039': "'", '\u203A': "'",
	'\u201C': `"`, '\u201D': `"`, '\u201E': `"`, '\u201F': `"`, '\u2033': `"`,
	'\u2010': "-", '\u2011': "-", '\u2012': "-", '\u2013': "-", '\u2014': "-", '\u2015': "-",
	'\u2212': "-", '\u2043': "-",
	'\u2026': "...", '\u2022': "*", '\u2044': "/", '\u25AA': "*",
	'\uFB00': "ff", '\uFB01': "fi", '\uFB02': "fl", '\uFB03': "ffi", '\uFB04': "ffl",
	'\uFB05': "st", '\uFB06': "st",
	'\t': " ", '\n': " ", '\v': " ", '\f': " ", '\r': " ", '\u0085': " ", '\u2028': " ",
	'\u2029': " ",
	'\u00AD': "", '\u200B': "", '\u200C': "", '\u200D': "", '\u2060': "", '\uFEFF': "",
}

// fold returns the plain form of r, where it has one. White letters on black squares and circles
// are letters here: white on black is for marks alone.
func fold(r rune) (plain string, ok bool) {
	if r < 0x7F {
		plain, ok = plainForms[r]
		return plain, ok
	}
	if plain, ok = plainForms[r]; ok {
		return plain, true
	}
	switch {
	case unicode.Is(unicode.Zs, r): // NBSP, thin and ideographic spaces, ...
		return " ", true
	case r >= 0xFE00 && r <= 0xFE0F: // Variation selectors.
		return "", true
	case r >= 0xFF01 && r <= 0xFF5E: // Full-width ASCII.
		return string(r - 0xFF01 + '!'), true
	}
	return negative(r)
}

// negativeWords are the squared words that are drawn white on black.
var negativeWords = map[rune]string{
	0x1F18A: "P", 0x1F18B: "IC", 0x1F18C: "PA", 0x1F18D: "SA", 0x1F18E: "AB", 0x1F18F: "WC",
	0x1F191: "CL", 0x1F192: "COOL", 0x1F193: "FREE", 0x1F194: "ID", 0x1F195: "NEW", 0x1F196: "NG",
	0x1F197: "OK", 0x1F198: "SOS", 0x1F199: "UP!", 0x1F19A: "VS",
}

// negative is the plain form of a letter, word or number in white on black.
func negative(r rune) (plain string, ok bool) {
	switch {
	case r >= 0x1F150 && r <= 0x1F169: // Circled letters.
		return string(r - 0x1F150 + 'A'), true
	case r >= 0x1F170 && r <= 0x1F189: // Squared letters.
		return string(r - 0x1F170 + 'A'), true
	case r >= 0x2776 && r <= 0x277F: // Circled numbers 1 to 10, with and without serifs.
		return "(" + strconv.Itoa(int(r-0x2776)+1) + ")", true
	case r >= 0x278A && r <= 0x2793:
		return "(" + strconv.Itoa(int(r-0x278A)+1) + ")", true
	case r >= 0x24EB && r <= 0x24F4: // 11 to 20.
		return "(" + strconv.Itoa(int(r-0x24EB)+11) + ")", true
	case r == 0x24FF:
		return "(0)", true
	}
	plain, ok = negativeWords[r]
	return plain, ok
}

// spareForms are forms of the same meaning for what some pages have and others do not. Nothing that
// could change a quantity is here: a raised 2 is no 2.
var spareForms = map[rune]string{
	'\u00D7': "x", '\u2715': "x", '\u2716': "x", '\u2122': "(TM)", '\u2120': "(SM)",
	'\u00A9': "(c)", '\u00AE': "(R)", '\u2116': "No.", '\u2103': "\u00B0C", '\u2109': "\u00B0F",
	'\u2190': "<-", '\u2192': "->", '\u2194': "<->", '\u21D2': "=>", '\u2794': "->",
	'\u301C': "~", '\u223C': "~", '\u00AB': `"`, '\u00BB': `"`, '\u00B4': "'", '\u00B7': "*",
	'\u2217': "*", '\u2219': "*", '\u00BD': "1/2", '\u00BC': "1/4", '\u00BE': "3/4",
	'\u2153': "1/3", '\u2154': "2/3", '\u2155': "1/5", '\u2156': "2/5", '\u2157': "3/5",
	'\u2158': "4/5", '\u2159': "1/6", '\u215A': "5/6", '\u215B': "1/8", '\u215C': "3/8",
	'\u215D': "5/8", '\u215E': "7/8",
	// Letters for which older pages have another code point of the same meaning: the Romanian comma
	// below was a cedilla before Unicode 3.0.
	'\u0218': "\u015E", '\u0219': "\u015F", '\u021A': "\u0162", '\u021B': "\u0163",
}

// spare returns the form that stands in for r, made of what the pages can spell, or "".
func (s *speller) spare(r rune) string {
	form := spareForms[r]
	switch {
	case form != "":
	case r >= 0x2460 && r <= 0x2473: // Circled numbers: "2" and a circled 1 are not 21.
		form = fmt.Sprintf("(%d)", r-0x2460+1)
	case r >= 0x24B6 && r <= 0x24E9: // Circled letters, such as V for vegan.
		form = "(" + codepage.Compatible(string(r)) + ")"
	case r >= 0x1F130 && r <= 0x1F149: // Squared letters.
		form = string(r - 0x1F130 + 'A')
	case compatible(r):
		form = codepage.Compatible(string(r))
	}
	for _, part := range form {
		if !s.can(part) {
			return ""
		}
	}
	return form
}

// compatible tells whether the compatibility form of r means what r does: ligatures and digraphs,
// Roman numerals, numbers and letters in brackets, squared units, letters of mathematics, and signs
// of full width.
func compatible(r rune) bool {
	return r == 0x0132 || r == 0x0133 || r >= 0x01C4 && r <= 0x01CC || r >= 0x2160 && r <= 0x217F ||
		r >= 0x2474 && r <= 0x249B || r >= 0x3380 && r <= 0x33DF && !raised(r) ||
		r >= 0x1D400 && r <= 0x1D7FF || r >= 0xFFE0 && r <= 0xFFE6
}

// raised tells whether a squared unit has a raised number in it, or a stroke between two units.
func raised(r rune) bool { return r >= 0x339F && r <= 0x33A8 || r >= 0x33AE && r <= 0x33AF }

// Visible is text as paper shows it, for people who read it elsewhere: what would command a
// printer, or a terminal, stands as its code points, "[U+001B]".
func Visible(text string) string { return visible(text) }

// visible is text that a drawer may draw: composed, without line ends, commands, characters that
// turn text around or paint, and white letters on black. Everything else stays as it was written,
// with its own quotes and spaces, since joiners and selectors shape what is drawn.
func visible(text string) string {
	if printableASCII(text) {
		return text
	}
	var out strings.Builder
	var run []rune
	flush := func() {
		if len(run) > 0 {
			out.WriteString(codePoints(run))
			run = run[:0]
		}
	}
	for _, r := range strings.ReplaceAll(codepage.Compose(text), "\r\n", " ") {
		plain, folded := plainForms[r]
		white, isWhite := negative(r)
		switch {
		case r == 0x200C || r == 0x200D: // Joiners.
			plain = string(r)
		case folded && (plain == "" || plain == " "):
		case isWhite:
			plain = white
		case hidden(r):
			run = append(run, r)
			continue
		default:
			plain = string(r)
		}
		flush()
		out.WriteString(plain)
	}
	flush()
	return out.String()
}

// codePoints is the visible substitute of a run of characters.
func codePoints(run []rune) string {
	var out strings.Builder
	for i, r := range run[:min(len(run), spelledMax)] {
		out.WriteString([]string{"[U+", " U+"}[min(i, 1)])
		fmt.Fprintf(&out, "%04X", r)
	}
	if len(run) > spelledMax {
		fmt.Fprintf(&out, " +%d", len(run)-spelledMax)
	}
	return out.String() + "]"
}

// spelledMax is how many code points of one run of unspellable characters are printed; the rest of
// the run is counted.
const spelledMax = 4
