package frame

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

func TestGuardTakesWhatPahoCanTake(t *testing.T) {
	body := func(n int) []byte { return make([]byte, n) }
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	suback := []byte{0x90, 4, 0, 1, 1, 1}
	for _, c := range []struct {
		name string
		in   []byte
		ok   bool
	}{
		{"nothing", nil, true},
		{"CONNACK", []byte{0x20, 2, 0, 0}, true},
		{"SUBACK of two", suback, true},
		{"SUBACK of one", []byte{0x90, 3, 0, 1, 1}, false},
		{"SUBACK of three", []byte{0x90, 5, 0, 1, 1, 1, 1}, false},
		{"SUBACK without id", []byte{0x90, 0}, false},
		{"two packets", join([]byte{0xd0, 0}, suback), true},
		{"the second is bad", join([]byte{0xd0, 0, 0x40, 2, 0, 9}, []byte{0x90, 9}), false},
		{"largest", join([]byte{0x30, 0x80, 0x88, 16}, body(Max), suback), true},
		{"one more", []byte{0x30, 0x81, 0x88, 16}, false},
		{"256 MB", []byte{0x30, 0xff, 0xff, 0xff, 0x7f}, false},
		{"endless length", []byte{0x30, 0x80, 0x80, 0x80, 0x80}, false},
	} {
		g := Guard{Filters: 2, Max: Max}
		if err := g.Check(c.in); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrFrame) {
			t.Errorf("%s: %v, want good = %v", c.name, err, c.ok)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 4, 0x30, 0x80, 0x90, 0xd0}), 0, 40).
			Draw(t, "bytes")
		whole, parts := Guard{Filters: 2, Max: Max}, Guard{Filters: 2, Max: Max}
		want := whole.Check(in)
		var got error
		for i := 0; i < len(in) && got == nil; i++ {
			got = parts.Check(in[i : i+1])
		}
		if (want == nil) != (got == nil) {
			t.Fatalf("% x: in one piece %v, byte by byte %v", in, want, got)
		}
	})
}
