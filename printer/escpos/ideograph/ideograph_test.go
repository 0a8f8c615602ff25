package ideograph

import (
	"testing"
	"unicode/utf8"
)

func TestTwoBytesAreOneIdeographInTheEncodingOfTheROM(t *testing.T) {
	for _, tt := range []struct {
		rom         string
		lead, trail byte
		want        rune
	}{
		{"SHIFT-JIS", 0xE9, 0xBD, '鮨'}, {"EUC-JP", 0xC6, 0xFC, '日'}, {"GB18030", 0xC3, 0xE6, '面'},
		{"BIG5", 0xB6, 0xBA, '飯'}, {"EUC-KR", 0xB9, 0xE4, '밥'},
		{"GB18030", 0x81, 0x20, utf8.RuneError}, {"none", 0xC3, 0xE6, utf8.RuneError},
		{"SHIFT-JIS", 0x41, 0x42, utf8.RuneError},
	} {
		if got := Decode(tt.rom, tt.lead, tt.trail); got != tt.want {
			t.Errorf("%s %X %X: %q, want %q", tt.rom, tt.lead, tt.trail, got, tt.want)
		}
	}
}

// Half-width katakana stand between the two ranges of Shift-JIS and are one byte each.
func TestShiftJISLeavesHalfWidthKatakanaAlone(t *testing.T) {
	for b, want := range map[byte]bool{
		0x20: false, 0x80: false, 0x81: true, 0x9F: true, 0xA1: false, 0xDF: false, 0xE0: true,
		0xFC: true, 0xFD: false,
	} {
		if got := Leads("SHIFT-JIS", b); got != want {
			t.Errorf("%X: %v", b, got)
		}
	}
	if !Leads("GB18030", 0xA1) {
		t.Error("GB18030 begins characters at 0xA1")
	}
}
