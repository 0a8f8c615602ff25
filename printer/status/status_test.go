package status

import (
	"errors"
	"testing"
)

// Epson, DLE EOT n: every bit by its own.
func TestRealTimeAnswers(t *testing.T) {
	for _, c := range []struct {
		name  string
		b     byte
		parse func(byte) (any, error)
		want  any
	}{
		{"n=1 healthy", 0x12, printer, Printer{}},
		{"n=1 drawer pin 3 high", 0x16, printer, Printer{DrawerHigh: true}},
		{"n=1 offline", 0x1A, printer, Printer{Offline: true}},
		{"n=1 waiting for recovery", 0x32, printer, Printer{Recovering: true}},
		{"n=1 feed button", 0x52, printer, Printer{FeedButton: true}},
		{"n=2 healthy", 0x12, offline, Offline{}},
		{"n=2 cover open", 0x16, offline, Offline{CoverOpen: true}},
		{"n=2 feeding", 0x1A, offline, Offline{FeedButton: true}},
		{"n=2 paper end", 0x32, offline, Offline{PaperEnd: true}},
		{"n=2 error", 0x52, offline, Offline{Error: true}},
		{"n=3 healthy", 0x12, fault, Error{}},
		{"n=3 recoverable", 0x16, fault, Error{Recoverable: true}},
		{"n=3 cutter", 0x1A, fault, Error{Cutter: true}},
		{"n=3 unrecoverable", 0x32, fault, Error{Unrecoverable: true}},
		{"n=3 hot", 0x52, fault, Error{AutoRecover: true}},
		{"n=4 healthy", 0x12, paper, Paper{}},
		{"n=4 near end", 0x1E, paper, Paper{NearEnd: true}},
		{"n=4 end", 0x72, paper, Paper{End: true}},
		{"n=4 both", 0x7E, paper, Paper{NearEnd: true, End: true}},
		{"n=4 half a pair is believed", 0x52, paper, Paper{End: true}},
	} {
		if got, err := c.parse(c.b); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", c.name, got, err, c.want)
		}
	}
}

func printer(b byte) (any, error) { return ParsePrinter(b) }
func offline(b byte) (any, error) { return ParseOffline(b) }
func fault(b byte) (any, error)   { return ParseError(b) }
func paper(b byte) (any, error)   { return ParsePaper(b) }

func TestOnlyFixedBitsMakeARealTimeAnswer(t *testing.T) {
	for _, parse := range []func(byte) (any, error){printer, offline, fault, paper} {
		for b := range 256 {
			_, err := parse(byte(b))
			isAnswer := b>>7&1 == 0 && b>>4&1 == 1 && b&3 == 2 // 0xx1xx10
			if isAnswer != (err == nil) || err != nil && !errors.Is(err, ErrNotStatus) {
				t.Errorf("%02X: %v", b, err)
			}
		}
	}
}

// Epson, GS r, n = 1.
func TestFenceAnswers(t *testing.T) {
	for b, want := range map[byte]Paper{
		0x00: {}, 0x03: {NearEnd: true}, 0x0C: {End: true}, 0x0F: {NearEnd: true, End: true},
		0x60: {}, // Bits 5 and 6 are reserved.
	} {
		if got, err := ParseFence(b); err != nil || got.Paper != want {
			t.Errorf("%02X: %+v, %v, want %+v", b, got, err, want)
		}
	}
	for _, b := range []byte{
		0x01, // the answer to GS r 2 with the drawer pin high
		0x02, 0x04, 0x08, 0x0D, 0x10, 0x12, 0x80, 0xFF,
	} {
		if got, err := ParseFence(b); !errors.Is(err, ErrNotStatus) {
			t.Errorf("%02X: %+v, %v", b, got, err)
		}
	}
}

// Epson, GS a: only the first of the four bytes has bit 4 set.
func TestAutomaticStatus(t *testing.T) {
	for _, c := range []struct {
		b    [4]byte
		want ASB
	}{
		{[4]byte{0x10, 0, 0, 0}, ASB{}},
		{[4]byte{0x14, 0, 0, 0x0F}, ASB{DrawerHigh: true}}, // an idle Epson
		{[4]byte{0x18, 0, 0, 0}, ASB{Offline: true}},
		{[4]byte{0x30, 0, 0, 0}, ASB{CoverOpen: true}},
		{[4]byte{0x50, 0, 0, 0}, ASB{Feeding: true}},
		{[4]byte{0x10, 1, 0, 0}, ASB{Recovering: true}},
		{[4]byte{0x10, 2, 0, 0}, ASB{FeedButton: true}},
		{[4]byte{0x10, 4, 0, 0}, ASB{Recoverable: true}},
		{[4]byte{0x10, 8, 0, 0}, ASB{Cutter: true}},
		{[4]byte{0x10, 0x20, 0, 0}, ASB{Unrecoverable: true}},
		{[4]byte{0x10, 0x40, 0, 0}, ASB{AutoRecover: true}},
		{[4]byte{0x10, 0, 0x03, 0}, ASB{NearEnd: true}},
		{[4]byte{0x10, 0, 0x0C, 0}, ASB{End: true}},
		{[4]byte{0x38, 0, 0x0F, 0x0F}, ASB{Offline: true, CoverOpen: true, NearEnd: true,
			End: true}},
	} {
		if got, err := ParseASB(c.b); err != nil || got != c.want {
			t.Errorf("% X: %+v, %v, want %+v", c.b, got, err, c.want)
		}
	}
	for _, b := range [][4]byte{
		{0x12, 0x12, 0x12, 0x12}, // four answers to DLE EOT
		{0x00, 0, 0, 0}, {0x10, 0x10, 0, 0}, {0x10, 0, 0x80, 0}, {0x10, 0, 0, 0x12},
		{0x90, 0, 0, 0},
	} {
		if got, err := ParseASB(b); !errors.Is(err, ErrNotStatus) {
			t.Errorf("% X: %+v, %v", b, got, err)
		}
	}
}

func TestBlocks(t *testing.T) {
	id, err := ParseProcessID([]byte("7\" ~A1\x00"))
	if err != nil || id.Token != [4]byte{' ', '~', 'A', '1'} {
		t.Errorf("%+v, %v", id, err)
	}
	for _, b := range []string{
		"", "7\"ABCD", "7\"ABCDE\x00", "7\"ABC\x00\x00", "7\"ABC\x1F\x00", "7\"ABC\x7F\x00",
		"_\"ABCD\x00", "7#ABCD\x00", "xx7\"ABCD\x00",
	} {
		if got, err := ParseProcessID([]byte(b)); !errors.Is(err, ErrNotStatus) {
			t.Errorf("%q: %+v, %v", b, got, err)
		}
	}
	for b, want := range map[string]uint64{"_0\x00": 0, "_007\x00": 7,
		"_9999999999\x00": 9999999999} {
		if got, err := ParseCounter([]byte(b)); err != nil || got.Value != want {
			t.Errorf("%q: %+v, %v, want %d", b, got, err, want)
		}
	}
	for _, b := range []string{"", "_\x00", "_12345678901\x00", "_12", "_1a\x00", "_-1\x00",
		"7123\x00", "_ 1\x00"} {
		if got, err := ParseCounter([]byte(b)); !errors.Is(err, ErrNotStatus) {
			t.Errorf("%q: %+v, %v", b, got, err)
		}
	}
	if got, err := ParseIdentity([]byte("_TM-T20III\x00")); err != nil || got.Text != "TM-T20III" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, b := range []string{"", "_", "TM\x00", "_T\x1BM\x00", "_TM"} {
		if got, err := ParseIdentity([]byte(b)); !errors.Is(err, ErrNotStatus) {
			t.Errorf("%q: %+v, %v", b, got, err)
		}
	}
}
