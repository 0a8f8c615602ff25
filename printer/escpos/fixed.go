package escpos

// The byte strings of this file hold no text and no size. Each call returns a slice of its own.

// ProcessID is the ordered fence that answers with our own token when everything before it has
// printed: the printer says 37 22 d1 d2 d3 d4 00. An invalid token is a bug of the caller, who
// makes tokens by [TokenOf]; its bytes are forced into 0x20-0x7E so that the stream stays whole.
//
// Source: Epson, GS ( H <Function 48>.
func ProcessID(t Token) []byte {
	command := []byte{0x1D, 0x28, 0x48, 0x06, 0x00, 0x30, 0x30}
	for _, b := range t {
		command = append(command, min(max(b, tokenFirst), tokenLast))
	}
	return command
}

// FencePaper is the ordered fence of printers without [ProcessID]: one byte 0xx0xxxx, sent when the
// line feeds before it have finished. Send nothing more until it arrives.
//
// Source: Epson, GS r, n = 1.
func FencePaper() []byte { return []byte{0x1D, 0x72, 0x01} }

// RealtimeStatus asks for one status byte at once, ahead of everything buffered: n 1 printer, 2
// cause of being offline, 3 cause of error, 4 paper. Another n gives 1, the harmless query.
//
// Source: Epson, DLE EOT.
func RealtimeStatus(n byte) []byte {
	if n < 1 || n > 4 {
		n = 1
	}
	return []byte{0x10, 0x04, n}
}

// Identity asks, in order, for a block 5F ... 00 of printer information: n 65 firmware version, 66
// maker, 67 model, 68 serial number, 69 language of the font.
//
// Source: Epson, GS I, "Printer information B".
func Identity(n byte) []byte { return []byte{0x1D, 0x49, n} }

// Counters of [Counter]. The cumulative ones cannot be set back.
const (
	CounterLineFeeds           = 20
	CounterCuts                = 50
	CounterLineFeedsCumulative = 148
	CounterCutsCumulative      = 178
)

// Counter asks, in order, for one maintenance counter: the printer says 5F, 1 to 10 digits, 00.
//
// Source: Epson, GS g 2.
func Counter(n uint16) []byte {
	return []byte{0x1D, 0x67, 0x32, 0x00, byte(n), byte(n >> 8)}
}

// EnableASB makes the printer say its four status bytes at once and at every change of drawer,
// online state, error and paper. ESC @ switches it off again.
//
// Source: Epson, GS a, n = 0x0F.
func EnableASB() []byte { return []byte{0x1D, 0x61, 0x0F} }

// Initialise is ESC @: the printer's settings as after power-on; an unfinished line is thrown away.
func Initialise() []byte { return []byte{0x1B, 0x40} }

// NULs is count zero bytes. Between commands they do nothing; after a torn image command they fill
// up what it still waits for. A negative count gives none.
func NULs(count int) []byte { return make([]byte, max(count, 0)) }

// Recover clears receive and print buffers and ends a recoverable error, such as a cutter jam.
// Tokens of what was cleared are never answered.
//
// Source: Epson, DLE ENQ, n = 2.
func Recover() []byte { return []byte{0x10, 0x05, 0x02} }

// ClearBuffers clears receive and print buffers without an error being there; the printer says
// 37 25 00. Tokens of what was cleared are never answered.
//
// Source: Epson, DLE DC4 (fn = 8).
func ClearBuffers() []byte {
	return []byte{0x10, 0x14, 0x08, 0x01, 0x03, 0x14, 0x01, 0x06, 0x02, 0x08}
}

// BuzzerClone sounds the buzzer of most clones times times, for a length of units x 50 to 100 ms
// that differs between makers; both are 1 to 9, else the nearest. An Epson does not know the
// command and may print its parameters, so only units known to have it get it.
//
// Source: clone manuals (Xprinter, Rongta), ESC B n t.
func BuzzerClone(times, units byte) []byte {
	return []byte{0x1B, 0x42, clamp(times, 1, 9), clamp(units, 1, 9)}
}

// BuzzerEpson sounds the buzzer of an Epson: sound pattern 1 to 7 (which sound it is depends on the
// model), times 1 to 63, in a cycle of tenths x 100 ms; what is out of range becomes the nearest.
//
// Source: Epson, ESC ( A <Function 48>, whose ranges of n and c depend on the model.
func BuzzerEpson(pattern, times, tenths byte) []byte {
	return []byte{
		0x1B, 0x28, 0x41, 0x04, 0x00, 0x30,
		0x30 + clamp(pattern, 1, 7), clamp(times, 1, 63), clamp(tenths, 1, 255),
	}
}

func clamp(b, low, high byte) byte { return min(max(b, low), high) }
