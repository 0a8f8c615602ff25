package escpos

// Real-time commands are found by looking at the last bytes received, whatever they belong to. The
// longest is DLE DC4 fn 8 with ten bytes.
const liveBytesMax = 10

const (
	dle = 0x10
	eot = 0x04
	enq = 0x05
	dc4 = 0x14
)

// clearBuffers is all of DLE DC4 fn 8: its seven parameters are fixed.
var clearBuffers = [liveBytesMax]byte{dle, dc4, 0x08, 0x01, 0x03, 0x14, 0x01, 0x06, 0x02, 0x08}

// liveLength returns how many bytes the real-time command that starts with DLE b1 b2 has, or 0
// where there is none.
//
// Source: Epson, DLE EOT (n 1-4; 7, 8 and 18 take one byte more), DLE ENQ (0-2, 3 on some models),
// DLE DC4 (fn 1 pulse, 2 power-off, 3 buzzer, 7 specified status, 8 clear buffers).
func liveLength(b1, b2 byte) int {
	switch {
	case b1 == eot && b2 >= 1 && b2 <= 4:
		return 3
	case b1 == eot && (b2 == 7 || b2 == 8 || b2 == 18):
		return 4
	case b1 == enq && b2 <= 3:
		return 3
	case b1 == dc4 && (b2 == 1 || b2 == 2):
		return 5
	case b1 == dc4 && b2 == 3:
		return 8
	case b1 == dc4 && b2 == 7:
		return 4
	case b1 == dc4 && b2 == 8:
		return liveBytesMax
	}
	return 0
}

// liveWhole tells whether b is exactly one real-time command.
func liveWhole(b []byte) bool {
	if len(b) < 3 || b[0] != dle || liveLength(b[1], b[2]) != len(b) {
		return false
	}
	if b[1] != dc4 {
		return true
	}
	switch b[2] {
	case 1: // Pulse: pin 0 or 1, for 1 to 8 times 100 ms.
		return b[3] <= 1 && b[4] >= 1 && b[4] <= 8
	case 2: // Power-off: its parameters are fixed.
		return b[3] == 1 && b[4] == 8
	case 8:
		return [liveBytesMax]byte(b) == clearBuffers
	}
	return true
}

// LiveCommands returns the offsets of all real-time commands in b, in ascending order. A printer
// obeys them wherever they stand, also inside images and parameters, so an encoded document must
// hold none.
//
// It errs on the side of finding too much: the parameters of DLE DC4 fn 3 and 7, which differ
// between models, are taken to be anything.
//
// Source: Epson, "Notes of real-time commands"; research/escpos.md 3.7.
func LiveCommands(b []byte) []int {
	var found []int
	for i := 0; i+2 < len(b); i++ {
		if b[i] != dle {
			continue
		}
		if n := liveLength(b[i+1], b[i+2]); n != 0 && i+n <= len(b) && liveWhole(b[i:i+n]) {
			found = append(found, i)
		}
	}
	return found
}

// liveCommand makes the command value of one whole real-time command.
func liveCommand(raw []byte, offset int64, inside bool) Command {
	c := Command{Offset: offset, Raw: append([]byte(nil), raw...), Inside: inside}
	switch raw[1] {
	case eot:
		c.Op = OpRealtimeStatus
	case enq:
		c.Op = OpRealtimeRequest
	default:
		c.Op = OpRealtimePulse
	}
	for _, b := range raw[2:] {
		c.Args = append(c.Args, int(b))
	}
	return c
}
