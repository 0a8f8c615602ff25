package codepage

import (
	"testing"
	"unicode/utf8"
)

func TestKnownBytes(t *testing.T) {
	for _, c := range []struct {
		encoding string
		b        byte
		r        rune
	}{
		{"CP437", 0x82, 'é'},
		{"CP437", 'A', 'A'},
		{"CP850", 0xE1, 'ß'},
		{"CP852", 0xAD, 'ş'},
		{"CP858", 0xD5, '€'},
		{"CP866", 0x86, 'Ж'},
		{"CP737", 0x81, 'Β'},
		{"CP857", 0x9E, 'Ş'},
		{"CP775", 0xB5, 'Ą'},
		{"CP861", 0x8D, 'Þ'},
		{"CP1125", 0xF3, 'ґ'},
		{"RK1048", 0xBC, 'ә'},
		{"TCVN-3-1", 0xAE, 'đ'},
		{"TCVN-3-2", 0xD5, 'Ế'},
		{"KATAKANA", 0xB1, 'ｱ'},
		{"ISO-8859-15", 0xA4, '€'},
		{"WINDOWS-1252", 0x80, '€'},
		{"WINDOWS-1251", 0xC6, 'Ж'},
	} {
		if r := Decode(c.encoding, c.b); r != c.r {
			t.Errorf("%s %02X is %q, want %q", c.encoding, c.b, r, c.r)
		}
		if b, ok := Encode(c.encoding, c.r); !ok || b != c.b {
			t.Errorf("%s spells %q %02X, %v, want %02X", c.encoding, c.r, b, ok, c.b)
		}
	}
}

func TestNoCharacterIsACommandByte(t *testing.T) {
	for _, name := range Names() {
		for b := range 256 {
			r := Decode(name, byte(b))
			if control := b < 0x20 || b == 0x7F; control && r != utf8.RuneError {
				t.Errorf("%s: byte %02X is %q", name, b, r)
			}
			if r == utf8.RuneError {
				continue
			}
			if b < 0x7F && r != rune(b) {
				t.Errorf("%s: byte %02X is %q, so ASCII would need a page", name, b, r)
			}
			if back, ok := Encode(name, r); !ok || Decode(name,
				back) != r || back < 0x20 || back == 0x7F {
				t.Errorf("%s: %q is spelt %02X, %v", name, r, back, ok)
			}
		}
		for r := rune(0); r < 0xA0; r++ {
			if b, ok := Encode(name, r); ok && (r < 0x20 || r >= 0x7F) {
				t.Errorf("%s: control U+%04X is spelt %02X", name, r, b)
			}
		}
		if _, ok := Encode(name, utf8.RuneError); ok {
			t.Errorf("%s spells what is no character", name)
		}
	}
}

func TestUnknownPagesHaveNoCharacters(t *testing.T) {
	if Known("CP853") {
		t.Fatal("CP853 has come: choose another name for this test")
	}
	if r := Decode("CP853", 'A'); r != utf8.RuneError {
		t.Errorf("%q", r)
	}
	if _, ok := Encode("CP853", 'A'); ok {
		t.Error("spelt")
	}
}

func TestComposeJoinsAccents(t *testing.T) {
	if got := Compose("e\u0301\xFF"); got != "é\xFF" {
		t.Errorf("%q", got)
	}
}
