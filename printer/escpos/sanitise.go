package escpos

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"chit/printer/escpos/codepage"
	"chit/printer/profile"
)

// spelledMax is how many code points of one run of unspellable characters are printed; the rest of
// the run is counted.
const spelledMax = 4

// speller knows which characters the pages of one profile have.
type speller struct {
	pages    []profile.Page
	known    map[rune][]spelling
	replaced []rune
}

// spelling is one way to print a character: a byte on the page of that index.
type spelling struct {
	page int
	b    byte
}

func newSpeller(pages []profile.Page) *speller {
	return &speller{pages: pages, known: map[rune][]spelling{}}
}

// spellings returns all ways to print r, in the profile's order of pages; none where r must not be
// printed by a page. ASCII is the same on all pages.
//
// Every character that a page prints takes one cell. Those that would not, or whose place among the
// others a printer cannot know, are never spelt, whatever the page says: control characters, bidi
// controls, combining marks, wide characters (no page of ours has one), and the letters of scripts
// that run from right to left. Nor are blocks: text made of them paints black, and in it letters
// in white, which only marks may be.
func (s *speller) spellings(r rune) []spelling {
	if ways, ok := s.known[r]; ok {
		return ways
	}
	var ways []spelling
	if r != utf8.RuneError && !paints(r) && !unicode.In(r, unicode.C, unicode.M, unicode.Zl,
		unicode.Zp, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana) {
		for i, page := range s.pages {
			if b, ok := codepage.Encode(page.Encoding, r); ok {
				ways = append(ways, spelling{i, b})
			}
		}
	}
	s.known[r] = ways
	return ways
}

// paints tells whether r fills its cell, or half of it, with black: the block elements of CP437 and
// its kin (U+2580 to U+259F) and the black square and bar.
func paints(r rune) bool {
	return r >= 0x2580 && r <= 0x259F || r == 0x25A0 || r == 0x25AC
}

func (s *speller) can(r rune) bool { return len(s.spellings(r)) > 0 }

// sanitise returns text as it will be printed: every rune of the result has a byte on a page.
//
//   - It is composed (NFC). Line and paragraph ends, and tabs, become one space each (CR LF one).
//   - Typographic quotes, dashes, spaces, ellipses, ligatures and full-width ASCII become plain.
//   - Characters without ink or width of their own (zero-width spaces and joiners, soft hyphen,
//     variation selectors) go.
//   - What no page can spell becomes its code point, so that nothing vanishes unseen: U+4E2D prints
//     as "[U+4E2D]". A run of such characters shares one pair of brackets, four of them are written
//     out and the rest is counted: "[U+4E2D U+6587 U+98DF U+7269 +6]". Control characters (C0, C1,
//     DEL), bidi controls, blocks (U+2588), and bytes that are no UTF-8 (U+FFFD) go this way too.
//
// All replaced runes are noted in s.replaced. Source: DESIGN section 5, "Printing", last paragraph.
func (s *speller) sanitise(text string) string {
	var out strings.Builder
	var run []rune
	flush := func() {
		if len(run) > 0 {
			out.WriteString(codePoints(run))
			run = run[:0]
		}
	}
	text = strings.ReplaceAll(codepage.Compose(text), "\r\n", " ")
	for _, r := range text {
		plain, folded := fold(r)
		switch {
		case folded:
		case s.can(r):
			plain = string(r)
		case lookalike[r] != 0 && s.can(lookalike[r]):
			plain = string(lookalike[r])
			s.note(r)
		default:
			s.note(r)
			run = append(run, r)
			continue
		}
		if plain != "" {
			flush()
			out.WriteString(plain)
		}
	}
	flush()
	return out.String()
}

func (s *speller) note(r rune) {
	if !slices.Contains(s.replaced, r) {
		s.replaced = append(s.replaced, r)
	}
}

// codePoints is the visible substitute of a run of characters.
func codePoints(run []rune) string {
	var words []string
	for _, r := range run[:min(len(run), spelledMax)] {
		words = append(words, fmt.Sprintf("U+%04X", r))
	}
	if len(run) > spelledMax {
		words = append(words, fmt.Sprintf("+%d", len(run)-spelledMax))
	}
	return "[" + strings.Join(words, " ") + "]"
}

// plainForms are ASCII forms of typography. They are used even where a page has the character,
// since they read the same and cost no page switch.
var plainForms = map[rune]string{
	'\u2018': "'", '\u2019': "'", '\u201A': "'", '\u201B': "'", '\u2032': "'", '\u02BC': "'",
	'\u2039': "'", '\u203A': "'",
	'\u201C': `"`, '\u201D': `"`, '\u201E': `"`, '\u201F': `"`, '\u2033': `"`,
	'\u2010': "-", '\u2011': "-", '\u2012': "-", '\u2013': "-", '\u2014': "-", '\u2015': "-",
	'\u2212': "-", '\u2043': "-",
	'\u2026': "...", '\u2022': "*", '\u2044': "/",
	'\uFB00': "ff", '\uFB01': "fi", '\uFB02': "fl", '\uFB03': "ffi", '\uFB04': "ffl",
	'\uFB05': "st", '\uFB06': "st",
	'\t': " ", '\n': " ", '\v': " ", '\f': " ", '\r': " ", '\u0085': " ", '\u2028': " ",
	'\u2029': " ",
	'\u00AD': "", '\u200B': "", '\u200C': "", '\u200D': "", '\u2060': "", '\uFEFF': "",
}

// fold returns the plain form of r, where it has one.
func fold(r rune) (plain string, ok bool) {
	if plain, ok = plainForms[r]; ok {
		return plain, true
	}
	switch {
	case r == ' ':
		return " ", true
	case unicode.Is(unicode.Zs, r): // NBSP, thin and ideographic spaces, ...
		return " ", true
	case r >= 0xFE00 && r <= 0xFE0F: // Variation selectors.
		return "", true
	case r >= 0xFF01 && r <= 0xFF5E: // Full-width ASCII.
		return string(r - 0xFF01 + '!'), true
	}
	return "", false
}

// lookalike holds letters for which older pages have another code point of the same meaning: the
// Romanian comma below was a cedilla before Unicode 3.0.
var lookalike = map[rune]rune{
	'\u0218': '\u015E', '\u0219': '\u015F', '\u021A': '\u0162', '\u021B': '\u0163',
}
