package escpos

import (
	"fmt"
	"testing"
)

func TestLiveCommandsAreFoundWhereverTheyStand(t *testing.T) {
	for _, c := range []struct {
		name string
		b    []byte
		want string
	}{
		{"nothing", nil, "[]"},
		{"text", []byte("2 x Margherita"), "[]"},
		{"every DLE EOT with one parameter", []byte{
			0x10, 4, 1, 0x10, 4, 2, 0x10, 4, 3, 0x10, 4, 4}, "[0 3 6 9]"},
		{"DLE EOT with a second parameter", []byte{0x10, 4, 7, 1, 0x10, 4, 18, 1}, "[0 4]"},
		{"DLE EOT of an unknown n", []byte{0x10, 4, 0, 0x10, 4, 5, 0x10, 4, 255}, "[]"},
		{"DLE ENQ", []byte{0, 0x10, 5, 0, 0x10, 5, 3, 0x10, 5, 4}, "[1 4]"},
		{"pulse", []byte{0x10, 0x14, 1, 0, 1, 0x10, 0x14, 1, 2, 1}, "[0]"},
		{"a pulse of no or over 800 ms", []byte{0x10, 0x14, 1, 0, 9, 0x10, 0x14, 1, 0, 0}, "[]"},
		{"power-off", []byte{0x10, 0x14, 2, 1, 8, 0x10, 0x14, 2, 1, 9}, "[0]"},
		{"buzzer", []byte{0x10, 0x14, 3, 0, 0, 0, 0, 0}, "[0]"},
		{"clear buffers", append([]byte{9}, ClearBuffers()...), "[1]"},
		{"clear buffers cut short", ClearBuffers()[:9], "[]"},
		{"one inside another", []byte{0x10, 0x14, 3, 0x10, 4, 1, 0, 0}, "[0 3]"},
		{"DLE before DLE", []byte{0x10, 0x10, 4, 1}, "[1]"},
		{"in a raster", append([]byte{0x1D, 0x76, 0x30, 0, 4, 0, 1, 0}, 0xFF, 0x10, 4, 1), "[9]"},
	} {
		if got := fmt.Sprint(LiveCommands(c.b)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
