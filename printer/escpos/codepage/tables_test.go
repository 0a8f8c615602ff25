package codepage

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEveryTableHasAllOfItsBytes(t *testing.T) {
	for name, page := range pages {
		seen := map[rune]byte{}
		for b := 0x80; b < 0x100; b++ {
			r := page.DecodeByte(byte(b))
			if r == utf8.RuneError {
				continue
			}
			if r == 0 || r < 0x80 {
				t.Errorf("%s: byte %02X is %q", name, b, r)
			}
			if first, twice := seen[r]; twice {
				t.Errorf("%s: %q is at %02X and %02X", name, r, first, b)
			}
			seen[r] = byte(b)
		}
		if len(seen) < 64 {
			t.Errorf("%s has only %d characters", name, len(seen))
		}
	}
}

// The C library of Debian has its own tables: where it has a page, no byte of ours differs. It may
// know more, where other sources contradict it.
func TestTheCLibraryReadsOurBytesAlike(t *testing.T) {
	iconv, err := exec.LookPath("iconv")
	if err != nil {
		t.Fatal("iconv of the C library is needed: ", err)
	}
	others := map[string]string{"CP720": "", "CP851": "", "KATAKANA": "", "TCVN-3-1": "",
		"TCVN-3-2": ""}
	for name := range pages {
		if _, none := others[name]; none {
			continue
		}
		var in []byte
		var want strings.Builder
		for b := 0x80; b < 0x100; b++ {
			if r := Decode(name, byte(b)); r != utf8.RuneError {
				in = append(in, byte(b), '\n')
				want.WriteString(string(r) + "\n")
			}
		}
		c := exec.Command(iconv, "-f", name, "-t", "UTF-8")
		c.Stdin = bytes.NewReader(in)
		if out, err := c.Output(); err != nil || string(out) != want.String() {
			t.Errorf("%s: %v, %q, want %q", name, err, out, want.String())
		}
	}
}
