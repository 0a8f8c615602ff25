package escpos

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// tell prints commands as "op[args]'data'", with ! for Inside.
func tell(commands []Command) string {
	var out []string
	for _, c := range commands {
		s := string(c.Op)
		if len(c.Args) > 0 {
			s += fmt.Sprint(c.Args)
		}
		if len(c.Data) > 0 {
			s += fmt.Sprintf("%q", c.Data)
		}
		if c.Inside {
			s += "!"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func TestDecoderKnowsItsCommands(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"\x0A\x0D\x09\x0C\x18", "LF CR HT FF CAN"},
		{"\x00\x00\x00A", `NUL text"A"`},
		{"caf\x82", `text"caf\x82"`},
		{"\x1B@\x1B!\x38\x1Bt\x10\x1BR\x00", "ESC @ ESC ![56] ESC t[16] ESC R[0]"},
		{"\x1BE\x01\x1BG\x00\x1B-\x02\x1B-1\x1Ba\x02\x1BM\x01",
			"ESC E[1] ESC G[0] ESC -[2] ESC -[49] ESC a[2] ESC M[1]"},
		{"\x1Bd\x04\x1BJ\xFF\x1B3\x1E\x1B2\x1B \x02\x1Br\x01",
			"ESC d[4] ESC J[255] ESC 3[30] ESC 2 ESC SP[2] ESC r[1]"},
		{"\x1B{\x01\x1BV\x00\x1B$\x01\x02\x1B\\\xFF\xFF\x1B\\\x01\x00",
			"ESC {[1] ESC V[0] ESC $[513] ESC \\[-1] ESC \\[1]"},
		{"\x1BD\x08\x10\x00\x1BD\x00", "ESC D[8 16] ESC D"},
		{"\x1Bp\x00\x32\x32\x1BB\x03\x01", "ESC p[0 50 50] ESC B[3 1]"},
		{"\x1B(A\x04\x000123", `ESC ( A[48]"123"`},
		{"\x1B(A\x05\x00adn12", `ESC ( A[97]"dn12"`},
		{"\x1Bc3\x0F\x1Bc4\x03\x1Bc5\x01\x1B=\x01\x1Bi\x1Bm",
			"ESC c 3[15] ESC c 4[3] ESC c 5[1] ESC =[1] ESC i ESC m"},
		{"\x1B*\x00\x02\x00ab", `ESC *[0 2]"ab"`},
		{"\x1B*\x21\x01\x00abc\x0A", `ESC *[33 1]"abc" LF`},
		{"\x1C&\x1C.\x1CC\x01\x1C(C\x02\x0002\x1C(e\x02\x003\x01",
			`FS & FS . FS C[1] FS ( C"02" FS ( e"3\x01"`},
		{"\x1C-\x02\x1C!\x84\x1CW\x01\x1CS\x00\x02\x1C(A\x02\x000\x01",
			`FS -[2] FS ![132] FS W[1] FS S[0 2] FS ( A[48]"\x01"`},
		{"\x1B4\x01\x1BMa\x1DVb\x02\x12q\x00", "ESC 4[1] ESC M[97] GS V[98 2] DC2 q[0]"},
		{"\x1D(L\x0C\x000p0\x01\x021\x09\x00\x01\x00\xFF\x80\x1D(L\x02\x0002",
			`GS ( L[112 1 2 49 9 1]"\xff\x80" GS ( L[50]`},
		{"\x1D8L\x0C\x00\x00\x000q0\x01\x011\x01\x00\x09\x00\xFF\x80",
			`GS ( L[113 1 1 49 1 9]"\xff\x80"`},
		{"\x1D(k\x04\x001A2\x00\x1D(k\x03\x001C\x04\x1D(k\x04\x001P0x\x1D(k\x03\x001Q0",
			`GS ( k[49 65]"2\x00" GS ( k[49 67]"\x04" GS ( k[49 80]"0x" GS ( k[49 81]"0"`},
		{"\x1D!\x77\x1DB\x01\x1Da\x0F\x1Dr\x01\x1Dr2\x1DI\x43",
			"GS ![119] GS B[1] GS a[15] GS r[1] GS r[50] GS I[67]"},
		{"\x1DV\x00\x1DV1\x1DVB\x00\x1DVA\x05", "GS V[0] GS V[49] GS V[66 0] GS V[65 5]"},
		{"\x1Dv0\x00\x02\x00\x02\x00\x1B@\x0A\xFF", `GS v 0[0 2 2]"\x1b@\n\xff"`},
		{"\x1D(H\x06\x0000\x20~AB\x1D(H\x03\x0010\x02", `GS ( H[48]" ~AB" GS ( H[49]"\x02"`},
		{"\x1Dg2\x00\x14\x00\x1Dg0\x00\x32\x00", "GS g 2[20] GS g 0[50]"},
		{"\x1DL\x10\x01\x1DW\x40\x02\x1DP\xB4\xB4\x1Db\x01",
			"GS L[272] GS W[576] GS P[180 180] GS b[1]"},
		{"\x1D(N\x02\x0001\x1D(D\x03\x00\x14\x01\x00", `GS ( N"01" GS ( D"\x14\x01\x00"`},
		{"\x1D(k\x03\x001C\x05", `GS ( k[49 67]"\x05"`},
		{"\x1Dh\x50\x1Dw\x02\x1DH\x02\x1Df\x01", "GS h[80] GS w[2] GS H[2] GS f[1]"},
		{"\x1Dk\x04AB\x00\x1Dk\x49\x03{A1", `GS k[4]"AB" GS k[73]"{A1"`},
		{"\x10\x04\x01\x10\x05\x02\x10\x14\x01\x00\x02", "DLE EOT[1] DLE ENQ[2] DLE DC4[1 0 2]"},
		{"\x10\x04\x07\x01A", `DLE EOT[7 1] text"A"`},
	} {
		got, err := new(Decoder).Write([]byte(c.in))
		if err != nil || tell(got) != c.want {
			t.Errorf("%q:\n got %s, %v\nwant %s", c.in, tell(got), err, c.want)
		}
		// The same byte by byte, where only text and NULs may come in more pieces.
		d, one := new(Decoder), []Command(nil)
		var raw []byte
		for i := range len(c.in) {
			commands, err := d.Write([]byte{c.in[i]})
			if err != nil {
				t.Errorf("%q: byte %d: %v", c.in, i, err)
			}
			one = append(one, commands...)
		}
		for _, command := range one {
			if command.Offset != int64(len(raw)) {
				t.Errorf("%q: %s at %d, want %d", c.in, command.Op, command.Offset, len(raw))
			}
			raw = append(raw, command.Raw...)
		}
		if string(raw) != c.in || d.Pending() != 0 || d.Offset() != int64(len(c.in)) {
			t.Errorf("%q byte by byte: %q, %d pending", c.in, raw, d.Pending())
		}
	}
}

func TestDecoderRefusesWhatItDoesNotKnowAndGoesOn(t *testing.T) {
	for _, c := range []struct {
		name, in  string
		offset    int64
		raw, want string
	}{
		{"a control character", "A\x01B", 1, "\x01", `text"A" text"B"`},
		{"an ESC command", "\x1B\x99B", 0, "\x1B\x99", `text"B"`},
		{"a GS ( family", "\x1D(ZB", 0, "\x1D(Z", `text"B"`},
		{"a GS g counter group", "\x1Dg2\x01B", 0, "\x1Dg2\x01", `text"B"`},
		{"ESC a 3", "\x1Ba\x03\x0A", 0, "\x1Ba\x03", "LF"},
		{"GS ! with high bits", "\x1D!\x80\x0A", 0, "\x1D!\x80", "LF"},
		{"GS r 3", "\x1Dr\x03\x0A", 0, "\x1Dr\x03", "LF"},
		{"GS V 99", "\x1DVc\x0A", 0, "\x1DVc", "LF"},
		{"ESC B 0 1", "\x1BB\x00\x01\x0A", 0, "\x1BB\x00\x01", "LF"},
		{"GS ( H with a byte out of range", "\x1D(H\x06\x0000ABC\x1F\x0A", 0,
			"\x1D(H\x06\x0000ABC\x1F", "LF"},
		{"GS ( H fn 50", "\x1D(H\x03\x0020A\x0A", 0, "\x1D(H\x03\x0020A", "LF"},
		{"GS ( H too short", "\x1D(H\x02\x00\x0A", 0, "\x1D(H\x02\x00", "LF"},
		{"a raster of no width", "\x1Dv0\x00\x00\x00\x01\x00\x0A", 0,
			"\x1Dv0\x00\x00\x00\x01\x00", "LF"},
		{"a raster over 1 MiB", "\x1Dv0\x00\xFF\xFF\xFF\xFF\x0A", 0,
			"\x1Dv0\x00\xFF\xFF\xFF\xFF", "LF"},
		{"a logo of the printer's own memory", "\x1D(L\x06\x000E  \x01\x01\x0A", 0,
			"\x1D(L\x06\x000E  \x01\x01", "LF"},
		{"graphics with too few rows", "\x1D(L\x0B\x000p0\x01\x011\x09\x00\x01\x00\xFF\x0A", 0,
			"\x1D(L\x0B\x000p0\x01\x011\x09\x00\x01\x00\xFF", "LF"},
		{"graphics of 16 MiB", "\x1D8L\x00\x00\x00\x01\x0A", 0, "\x1D8L\x00\x00\x00\x01", "LF"},
		{"a QR function that is none", "\x1D(k\x03\x001Z1\x0A", 0, "\x1D(k\x03\x001Z1", "LF"},
		{"a code that is none", "\x1D(k\x03\x007Q0\x0A", 0, "\x1D(k\x03\x007Q0", "LF"},
		{"a colour that is none", "\x1D(N\x02\x0004\x0A", 0, "\x1D(N\x02\x0004", "LF"},
		{"a Kanji font that is none", "\x1C(A\x02\x000\x09\x0A", 0, "\x1C(A\x02\x000\x09", "LF"},
		{"33 tabs", "\x1BD" + strings.Repeat("a", 33) + "\x0A", 0, "\x1BD" + strings.Repeat("a",
			14), "LF"},
		{"DLE of nothing", "\x10A\x0A", 0, "\x10A", "LF"},
		{"DLE EOT 9", "\x10\x04\x09\x0A", 0, "\x10\x04\x09", "LF"},
		{"a wrong DLE DC4 8", "\x10\x14\x08\x01\x03\x14\x01\x06\x02\x09\x0A", 0,
			"\x10\x14\x08\x01\x03\x14\x01\x06\x02\x09", "LF"},
	} {
		d := new(Decoder)
		got, err := d.Write([]byte(c.in))
		var unknown *UnknownError
		if !errors.As(err, &unknown) {
			t.Errorf("%s: %s, %v", c.name, tell(got), err)
			continue
		}
		if unknown.Offset != c.offset || string(unknown.Raw) != c.raw || unknown.Reason == "" {
			t.Errorf("%s: %v, want offset %d, % X", c.name, unknown, c.offset, c.raw)
		}
		if tell(got) != c.want || d.Unknown() != 1 {
			t.Errorf("%s: %s and %d errors, want %s and 1", c.name, tell(got), d.Unknown(), c.want)
		}
	}
}

func TestDecoderBoundsItsErrorsAndCountsAll(t *testing.T) {
	d := new(Decoder)
	_, err := d.Write(bytes.Repeat([]byte{0x01}, 1000))
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) != errorsPerWrite || d.Unknown() != 1000 {
		t.Errorf("%d errors counted, %v", d.Unknown(), err)
	}
}

// Epson, "Notes of real-time commands": they are obeyed in image data too, which keeps its bytes.
func TestRealTimeCommandsActAtReceipt(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"inside a raster", "\x1Dv0\x00\x04\x00\x01\x00\xFF\x10\x04\x01",
			`DLE EOT[1]! GS v 0[0 4 1]"\xff\x10\x04\x01"`},
		{"from a raster into the commands", "\x1Dv0\x00\x01\x00\x01\x00\x10\x1B@",
			`GS v 0[0 1 1]"\x10" ESC @`},
		{"swallowed as a parameter", "\x1Ba\x10\x04\x01", `DLE EOT[1]!`},
		{"inside another's parameters", "\x10\x14\x03\x10\x04\x01\x00\x00A",
			`DLE EOT[1]! DLE DC4[3 16 4 1 0 0] text"A"`},
		{"ended by a NUL after a raster", "\x1Dv0\x00\x02\x00\x01\x00\x10\x05\x00",
			`GS v 0[0 2 1]"\x10\x05" DLE ENQ[0]! NUL`},
		{"before text of the same call", "\x10\x04\x02ABC", `DLE EOT[2] text"ABC"`},
	} {
		got, _ := new(Decoder).Write([]byte(c.in))
		if tell(got) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, tell(got), c.want)
		}
	}
	d := new(Decoder)
	first, err := d.Write([]byte("\x1Dv0\x00\x04\x00\x01\x00\xFF\x10\x04\x01")[:12])
	if err != nil || tell(first) != `DLE EOT[1]! GS v 0[0 4 1]"\xff\x10\x04\x01"` {
		t.Errorf("%s, %v", tell(first), err)
	}
	first, _ = d.Write([]byte("\x1Dv0\x00\x05\x00\x01\x00\xFF\x10\x04\x01"))
	if tell(first) != "DLE EOT[1]!" || d.Pending() != 12 || first[0].Offset != 12+9 {
		t.Errorf("with the raster unfinished: %s, %d pending", tell(first), d.Pending())
	}
}

// FuzzDecoder: any bytes, in any pieces, are told of exactly once, as commands or as errors.
func FuzzDecoder(f *testing.F) {
	f.Add([]byte("\x1B@\x1C.Hello\x0A\x1DVB\x00"), uint8(3))
	f.Add([]byte("\x1Dv0\x00\x04\x00\x01\x00\xFF\x10\x04\x01\x10\x05\x02"), uint8(1))
	f.Add([]byte("\x1D(H\x06\x0000ABCD\x1Dg2\x00\x14\x00"), uint8(7))
	f.Add(ClearBuffers(), uint8(2))
	for _, s := range []string{
		"\x1D8L\x0C\x00\x00\x000p0\x01\x021\x09\x00\x01\x00\xFF\x80\x1D(L\x02\x0002",
		"\x1D(k\x04\x001A2\x00\x1D(k\x04\x001P0x\x1C(A\x02\x000\x01\x12q\x00",
	} {
		f.Add([]byte(s), uint8(4))
	}
	f.Add([]byte("\x1BD\x01\x02\x1Dk\x04ABC\x00\x1B*\x21\x01\x00abc"), uint8(5))
	f.Fuzz(func(t *testing.T, b []byte, piece uint8) {
		d, live := new(Decoder), 0
		covered := int64(0)
		for rest := b; len(rest) > 0; {
			n := min(len(rest), int(piece)+1)
			commands, err := d.Write(rest[:n])
			rest = rest[n:]
			for _, c := range commands {
				if end := c.Offset + int64(len(c.Raw)); c.Offset < 0 || end > int64(len(b)) ||
					!bytes.Equal(b[c.Offset:end], c.Raw) {
					t.Fatalf("%+v is not at its offset", c)
				}
				if len(c.Raw) == 0 {
					t.Fatalf("%+v is empty", c)
				}
				switch c.Op {
				case OpRealtimeStatus, OpRealtimeRequest, OpRealtimePulse:
					live++
				}
				if !c.Inside {
					covered += int64(len(c.Raw))
				}
			}
			if err != nil && d.Unknown() == 0 {
				t.Fatalf("an error that is not counted: %v", err)
			}
		}
		if want := len(LiveCommands(b)); live != want {
			t.Fatalf("% X: %d real-time commands, want %d", b, live, want)
		}
		whole := d.Unknown() > 0 || covered+int64(d.Pending()) == d.Offset()
		if d.Offset() != int64(len(b)) || !whole {
			t.Fatalf("% X: %d bytes covered, %d pending", b, covered, d.Pending())
		}
	})
}
