package escpos

import (
	"bytes"
	"testing"

	"chit/printer/profile"
)

func TestAPageTableHasEveryByteOfEveryPageAndNoOtherCommand(t *testing.T) {
	for _, p := range []profile.Profile{profile.Safe80(), profile.Safe58()} {
		numbers := make([]byte, 256)
		for i := range numbers {
			numbers[i] = byte(i)
		}
		table := PageTable(p, numbers, map[byte]string{19: "CP858"})
		if live := LiveCommands(table); len(live) != 0 {
			t.Errorf("%s: live commands at %v", p.Name, live)
		}
		for b := 0x80; b < 0x100; b++ {
			// 256 times in a row of its page; ESC t has each number once more.
			if n := bytes.Count(table, []byte{byte(b)}); n != 257 {
				t.Errorf("%s: byte %02X is there %d times", p.Name, b, n)
			}
		}
		if !bytes.Contains(table, []byte("page 19 CP858\n\x1Bt\x13")) {
			t.Errorf("%s: page 19 has no name", p.Name)
		}
		if bytes.HasSuffix(table, []byte{0x1D, 'V', 1}) != p.Cutter {
			t.Errorf("%s: cutter %v", p.Name, p.Cutter)
		}
	}
}
