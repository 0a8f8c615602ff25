package escpos

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"chit/printer/escpos/codepage"
	"chit/printer/profile"
)

// speller knows which characters the pages of one profile have.
type speller struct {
	pages []profile.Page
	known map[rune][]spelling
	// replaced are the runes that print in another form; missing those that no page can spell and
	// that a drawing could show. sanitise adds to both.
	replaced, missing []rune
}

// spelling is one way to print a character: a byte on the page of that index.
type spelling struct {
	page int16
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
// that run from right to left. So each rune that is spelt is a grapheme of one column. Nor are
// blocks spelt: text made of them paints black, and in it letters in white, which only marks may
// be.
func (s *speller) spellings(r rune) []spelling {
	if ways, ok := s.known[r]; ok {
		return ways
	}
	var ways []spelling
	if !hidden(r) && !unicode.In(r, unicode.M, unicode.Zl, unicode.Zp, unicode.Hebrew,
		unicode.Arabic, unicode.Syriac, unicode.Thaana) {
		for i, page := range s.pages {
			if b, ok := codepage.Encode(page.Encoding, r); ok {
				ways = append(ways, spelling{int16(i), b})
			}
		}
	}
	s.known[r] = ways
	return ways
}

// paints tells whether r fills its cell, or half of it, with black: block elements, black squares
// and bars, and the blocks of old computers.
func paints(r rune) bool {
	return r >= 0x2580 && r <= 0x259F || r == 0x25A0 || r == 0x25AC || r == 0x25AE || r == 0x25FC ||
		r == 0x25FE || r == 0x2B1B || r >= 0x1FB00 && r < 0x1FBF0
}

// hidden tells whether r is never printed as itself, neither spelt nor drawn: it has no look of its
// own, would command a printer or turn text around, or paints.
func hidden(r rune) bool {
	return r == utf8.RuneError || paints(r) || unicode.Is(unicode.C, r)
}

func (s *speller) can(r rune) bool {
	return r >= 0x20 && r < 0x7F || len(s.spellings(r)) > 0
}

// sanitise returns text as it will be printed: every rune of the result has a byte on a page.
//
//   - It is composed (NFC). Line and paragraph ends, and tabs, become one space each (CR LF one).
//   - Typographic quotes, dashes, spaces, ellipses, ligatures and full-width ASCII become plain.
//     What has another plain form of the same meaning takes it where no page has the character.
//   - Characters without ink or width of their own (zero-width spaces and joiners, soft hyphen,
//     variation selectors) go.
//   - What no page can spell becomes its code point, so that nothing vanishes unseen: U+4E2D prints
//     as "[U+4E2D]". A run of such characters shares one pair of brackets, four of them are written
//     out and the rest is counted: "[U+4E2D U+6587 U+98DF U+7269 +6]". Control characters (C0, C1,
//     DEL), bidi controls, blocks (U+2588), and bytes that are no UTF-8 (U+FFFD) go this way too.
//
// What only a drawing can show is noted in s.missing, all else that changed its look in s.replaced.
// Source: DESIGN section 5, "Printing", last paragraph.
func (s *speller) sanitise(text string) string {
	if printableASCII(text) {
		return text
	}
	var out strings.Builder
	out.Grow(len(text))
	var run []rune
	flush := func() {
		if len(run) > 0 {
			out.WriteString(codePoints(run))
			run = run[:0]
		}
	}
	last, parted := byte(0), false // the last byte written; a digit may not follow as it is
	write := func(plain string, apart bool) {
		flush()
		if isDigit(plain[0]) && (parted || apart && isDigit(last)) {
			out.WriteByte(' ') // "1" and "1/3" are not "11/3".
		}
		out.WriteString(plain)
		last, parted = plain[len(plain)-1], apart && isDigit(plain[len(plain)-1])
	}
	for _, r := range strings.ReplaceAll(codepage.Compose(text), "\r\n", " ") {
		plain, folded := fold(r)
		switch {
		case folded:
			if plain != "" {
				write(plain, false)
			}
		case s.can(r):
			write(string(r), false)
		case hidden(r):
			s.note(r)
			run = append(run, r)
		case s.spare(r) != "":
			if unicode.IsLetter(r) {
				s.note(r)
			}
			write(s.spare(r), true)
		default:
			s.miss(r)
			run = append(run, r)
		}
	}
	flush()
	return out.String()
}

func printableASCII(text string) bool {
	for i := range len(text) {
		if text[i] < 0x20 || text[i] >= 0x7F {
			return false
		}
	}
	return true
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func (s *speller) miss(r rune) {
	if !slices.Contains(s.missing, r) {
		s.missing = append(s.missing, r)
	}
}

func (s *speller) note(r rune) {
	if !slices.Contains(s.replaced, r) {
		s.replaced = append(s.replaced, r)
	}
}
