package escpos

import (
	"strings"
	"testing"
	"unicode"

	"chit/printer/profile"
)

func TestSanitise(t *testing.T) {
	for _, c := range []struct{ name, in, want, replaced string }{
		{"ASCII", "2 x Margherita #7 {[]}", "2 x Margherita #7 {[]}", ""},
		{"accents", "Crème brûlée, Æbleskiver, Żurek", "Crème brûlée, Æbleskiver, Żurek", ""},
		{"decomposed accents", "Cre\u0300me", "Crème", ""},
		{"quotes", "‘a’ “b” ‚c‘ „d“ ‹e›", `'a' "b" 'c' "d" 'e'`, ""},
		{"dashes", "a–b—c−d‐e", "a-b-c-d-e", ""},
		{"spaces", "a\u00A0b\u2009c\u3000d", "a b c d", ""},
		{"ellipsis and ligatures", "oﬃce…", "office...", ""},
		{"full-width ASCII", "２×Ｐｈｏ", "2×Pho", ""},
		{"line ends", "a\nb\r\nc\u2028d\u0085e", "a b c d e", ""},
		{"characters without ink", "so\u00ADja\u200B\uFE0F", "soja", ""},
		{"Romanian comma below", "șț", "şţ", "șț"},
		{"one ideograph", "no 花", "no [U+82B1]", "花"},
		{"four", "花生过敏", "[U+82B1 U+751F U+8FC7 U+654F]", "花生过敏"},
		{"more than four are counted", "花生过敏过敏", "[U+82B1 U+751F U+8FC7 U+654F +2]", "花生过敏"},
		{"two runs", "花, 生", "[U+82B1], [U+751F]", "花生"},
		{"a fraction no page has", "1⅓, ⅓2 and a⅓", "1 1/3, 1/3 2 and a1/3", ""},
		{"a fraction that a page has", "1½", "1½", ""},
		{"a raised number", "10⁵", "10[U+2075]", "⁵"},
		{"numbers in circles", "2① ❷", "2(1) (2)", ""},
		{"units and signs", "5㎏ at 4℃, №3™", "5kg at 4°C, №3™", ""},
		{"letters of mathematics", "𝐁𝐮𝐫𝐠𝐞𝐫", "Burger", "𝐁𝐮𝐫𝐠𝐞"},
		{"white letters on black", "🅽🅾 🆕", "NO NEW", ""},
		{"emoji with joiner", "👩\u200D🍳!", "[U+1F469 U+1F373]!", "👩🍳"},
		{"C0 and DEL", "a\x1B@\x00\x7F", "a[U+001B]@[U+0000 U+007F]", "\x1B\x00\x7F"},
		{"C1", "a\u009Bb", "a[U+009B]b", "\u009B"},
		{"bidi controls", "a\u202Eb\u2066", "a[U+202E]b[U+2066]", "\u202E\u2066"},
		{"no UTF-8", "a\xFFb\xC3", "a[U+FFFD]b[U+FFFD]", "\uFFFD"},
		{"blocks", "a▀▄█b■", "a[U+2580 U+2584 U+2588]b[U+25A0]", "▀▄█■"},
		{"lone combining mark", "x\u0302", "x[U+0302]", "\u0302"},
		{"letters from right to left", "שלום", "[U+05E9 U+05DC U+05D5 U+05DD]", "שלום"},
	} {
		s := newSpeller(profile.Safe80().Pages)
		if got := s.sanitise(c.in); got != c.want || string(s.replaced)+string(s.missing) != c.replaced {
			t.Errorf("%s: %q, replaced %q; want %q, %q",
				c.name, got, string(s.replaced)+string(s.missing), c.want, c.replaced)
		}
	}
}

// A printer sets letters in the order of the bytes, so a page with Hebrew would print it backwards.
func TestScriptsFromRightToLeftAreNotSpeltEvenWhereAPageHasThem(t *testing.T) {
	s := newSpeller([]profile.Page{
		{Number: 36, Encoding: "CP862"}, {Number: 50, Encoding: "WINDOWS-1256"},
	})
	if got := s.sanitise("של, بي"); got != "[U+05E9 U+05DC], [U+0628 U+064A]" {
		t.Error(got)
	}
}

// White on black is for marks alone (DESIGN section 5). Half blocks are pixels: a note of them
// could paint a mark that nobody of us made.
func TestNoPageLetsTextPaint(t *testing.T) {
	for _, name := range profile.Names() {
		p, err := profile.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		s := newSpeller(p.Pages)
		for r := rune(0x2580); r <= 0x25A0; r++ {
			if got := s.sanitise(string(r)); strings.ContainsRune(got, r) {
				t.Errorf("%s prints U+%04X as it is", name, r)
			}
		}
	}
}

func TestNoCharacterVanishesUnseen(t *testing.T) {
	s := newSpeller(profile.Safe80().Pages)
	silent := "\u00AD\u200B\u200C\u200D\u2060\uFEFF"
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if strings.ContainsRune(silent, r) || r >= 0xFE00 && r <= 0xFE0F {
			continue
		}
		if got := s.sanitise("<" + string(r) + ">"); len(got) < 3 {
			t.Fatalf("U+%04X prints as %q", r, got)
		}
		delete(s.known, r)
		s.replaced, s.missing = nil, nil
	}
}
