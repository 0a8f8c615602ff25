package link

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

func TestReadConnectTakesLevelFourOnly(t *testing.T) {
	head := func(first byte, length []byte, name string, level byte) []byte {
		b := append([]byte{first}, length...)
		b = append(b, 0, byte(len(name)))
		return append(append(b, name...), level, 2, 0, 20, 0, 0)
	}
	for _, c := range []struct {
		name string
		in   []byte
		want error
	}{
		{"3.1.1", head(0x10, []byte{12}, "MQTT", 4), nil},
		{"3.1.1, long", head(0x10, []byte{0x80, 0x01}, "MQTT", 4), nil},
		{"5", head(0x10, []byte{12}, "MQTT", 5), errLevel},
		{"3.1", head(0x10, []byte{14}, "MQIsdp", 3), errLevel},
		{"bridge bit", head(0x10, []byte{12}, "MQTT", 0x84), errLevel},
		{"flags", head(0x11, []byte{12}, "MQTT", 4), errNotConnect},
		{"PUBLISH", head(0x30, []byte{12}, "MQTT", 4), errNotConnect},
		{"too short", head(0x10, []byte{9}, "MQTT", 4), errNotConnect},
		{"too long", head(0x10, []byte{0xff, 0xff, 0x7f}, "MQTT", 4), errNotConnect},
		{"endless length", head(0x10, []byte{0xff, 0xff, 0xff, 0xff, 1}, "MQTT", 4), errNotConnect},
		{"cut", []byte{0x10, 12, 0, 4, 'M'}, io.ErrUnexpectedEOF},
		{"empty", nil, io.EOF},
	} {
		prefix, err := readConnect(bytes.NewReader(c.in))
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if err == nil && !bytes.HasPrefix(c.in, prefix) {
			t.Errorf("%s: prefix % x of % x", c.name, prefix, c.in)
		}
	}
}
