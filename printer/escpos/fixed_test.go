package escpos

import (
	"bytes"
	"fmt"
	"testing"
)

func TestFixedBytes(t *testing.T) {
	for _, c := range []struct {
		name string
		got  []byte
		want string
		op   Op
		args string
	}{
		{"GS ( H fn 48", ProcessID(Token{'A', ' ', '~', '1'}),
			"1D 28 48 06 00 30 30 41 20 7E 31", OpProcessID, "[48]"},
		{"GS r 1", FencePaper(), "1D 72 01", OpStatus, "[1]"},
		{"DLE EOT 1", RealtimeStatus(1), "10 04 01", OpRealtimeStatus, "[1]"},
		{"DLE EOT 4", RealtimeStatus(4), "10 04 04", OpRealtimeStatus, "[4]"},
		{"DLE EOT of a wrong n", RealtimeStatus(9), "10 04 01", OpRealtimeStatus, "[1]"},
		{"GS I 67", Identity(67), "1D 49 43", OpIdentity, "[67]"},
		{"GS g 2, line feeds", Counter(CounterLineFeeds), "1D 67 32 00 14 00", OpCounter, "[20]"},
		{"GS g 2, cuts", Counter(CounterCutsCumulative), "1D 67 32 00 B2 00", OpCounter, "[178]"},
		{"GS g 2, high byte", Counter(0x0102), "1D 67 32 00 02 01", OpCounter, "[258]"},
		{"GS a 15", EnableASB(), "1D 61 0F", OpASB, "[15]"},
		{"ESC @", Initialise(), "1B 40", OpInit, "[]"},
		{"NULs", NULs(3), "00 00 00", OpNUL, "[]"},
		{"DLE ENQ 2", Recover(), "10 05 02", OpRealtimeRequest, "[2]"},
		{"DLE DC4 8", ClearBuffers(), "10 14 08 01 03 14 01 06 02 08",
			OpRealtimePulse, "[8 1 3 20 1 6 2 8]"},
		{"ESC B", BuzzerClone(3, 200), "1B 42 03 09", OpBuzzerClone, "[3 9]"},
		{"ESC ( A fn 48", BuzzerEpson(0, 2, 5), "1B 28 41 04 00 30 31 02 05", OpBuzzerEpson,
			"[48]"},
	} {
		if got := fmt.Sprintf("% X", c.got); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		commands, err := new(Decoder).Write(c.got)
		if err != nil || len(commands) != 1 {
			t.Errorf("%s: decoded as %v, %v", c.name, commands, err)
			continue
		}
		got := commands[0]
		if got.Op != c.op || fmt.Sprint(got.Args) != c.args || !bytes.Equal(got.Raw, c.got) {
			t.Errorf("%s: decoded as %+v, want %s %s", c.name, got, c.op, c.args)
		}
	}
}

func TestAProcessIDNeverHoldsACommandByte(t *testing.T) {
	got := ProcessID(Token{0x00, 0x1B, 0xFF, 0x10})
	if _, err := new(Decoder).Write(got); err != nil {
		t.Error(err)
	}
}
