package escpos

import "fmt"

// shape is one command of fixed length: the number of its parameter bytes and a check of them.
type shape struct {
	op    Op
	bytes int
	wide  bool // the parameters are 16-bit numbers, low byte first
	check func(args []byte) bool
}

func upTo(max byte) func([]byte) bool {
	return func(a []byte) bool { return a[0] <= max || a[0] >= '0' && a[0] <= '0'+max }
}

func between(low, high byte) func([]byte) bool {
	return func(a []byte) bool { return a[0] >= low && a[0] <= high }
}

func oneOf(values ...byte) func([]byte) bool {
	return func(a []byte) bool {
		for _, v := range values {
			if a[0] == v {
				return true
			}
		}
		return false
	}
}

// controls are the commands of one byte.
var controls = map[byte]Op{0x0A: OpLF, 0x0C: OpFF, 0x0D: OpCR, 0x09: OpHT, 0x18: OpCAN}

// fixed is keyed by prefix. Ranges are those of Epson's Command Reference, the widest of all models
// where models differ.
var fixed = map[string]shape{
	"\x1B@":  {op: OpInit},
	"\x1B!":  {op: OpPrintMode, bytes: 1},
	"\x1Bt":  {op: OpCodePage, bytes: 1},
	"\x1BR":  {op: OpCharset, bytes: 1, check: between(0, 82)},
	"\x1BE":  {op: OpBold, bytes: 1},
	"\x1BG":  {op: OpDoubleStrike, bytes: 1},
	"\x1B-":  {op: OpUnderline, bytes: 1, check: upTo(2)},
	"\x1Ba":  {op: OpAlign, bytes: 1, check: upTo(2)},
	"\x1BM":  {op: OpFont, bytes: 1, check: fontArg},
	"\x1Bd":  {op: OpFeedLines, bytes: 1},
	"\x1BJ":  {op: OpFeedDots, bytes: 1},
	"\x1B3":  {op: OpLineSpacing, bytes: 1},
	"\x1B2":  {op: OpDefaultSpace},
	"\x1B ":  {op: OpCharSpacing, bytes: 1},
	"\x1Br":  {op: OpColour, bytes: 1, check: upTo(1)},
	"\x1B{":  {op: OpUpsideDown, bytes: 1},
	"\x1BV":  {op: OpRotate, bytes: 1, check: upTo(2)},
	"\x1B4":  {op: OpItalic, bytes: 1},
	"\x1B$":  {op: OpAbsolute, bytes: 2, wide: true},
	"\x1B\\": {op: OpRelative, bytes: 2, wide: true},
	"\x1Bp":  {op: OpPulse, bytes: 3, check: upTo(1)},
	"\x1BB": {op: OpBuzzerClone, bytes: 2, check: func(a []byte) bool {
		return a[0] >= 1 && a[0] <= 9 && a[1] >= 1 && a[1] <= 9
	}},
	"\x1Bc3": {op: OpSensorsOut, bytes: 1},
	"\x1Bc4": {op: OpSensorsStop, bytes: 1},
	"\x1Bc5": {op: OpPanel, bytes: 1},
	"\x1B=":  {op: OpSelect, bytes: 1},
	"\x1Bi":  {op: OpFullCutOld},
	"\x1Bm":  {op: OpPartCutOld},

	"\x1C&": {op: OpKanjiOn},
	"\x1C.": {op: OpKanjiOff},
	"\x1CC": {op: OpKanjiCode, bytes: 1, check: upTo(2)},
	"\x1C-": {op: OpKanjiUnderline, bytes: 1, check: upTo(2)},
	"\x1C!": {op: OpKanjiMode, bytes: 1},
	"\x1CW": {op: OpKanjiQuad, bytes: 1},
	"\x1CS": {op: OpKanjiSpacing, bytes: 2},

	"\x1D!":      {op: OpSize, bytes: 1, check: func(a []byte) bool { return a[0]&0x88 == 0 }},
	"\x1DB":      {op: OpInverse, bytes: 1},
	"\x1Da":      {op: OpASB, bytes: 1},
	"\x1Dr":      {op: OpStatus, bytes: 1, check: oneOf(1, 2, 4, '1', '2', '4')},
	"\x1DI":      {op: OpIdentity, bytes: 1, check: identityArg},
	"\x1DL":      {op: OpLeftMargin, bytes: 2, wide: true},
	"\x1DW":      {op: OpAreaWidth, bytes: 2, wide: true},
	"\x1DP":      {op: OpMotionUnits, bytes: 2},
	"\x1Db":      {op: OpSmooth, bytes: 1},
	"\x1Dh":      {op: OpBarHeight, bytes: 1, check: between(1, 255)},
	"\x1Dw":      {op: OpBarWidth, bytes: 1, check: barWidthArg},
	"\x1DH":      {op: OpBarText, bytes: 1, check: upTo(3)},
	"\x1Df":      {op: OpBarFont, bytes: 1, check: upTo(4)},
	"\x1Dg2\x00": {op: OpCounter, bytes: 2, wide: true},
	"\x1Dg0\x00": {op: OpCounterReset, bytes: 2, wide: true},

	"\x12q": {op: OpStatusSII, bytes: 1, check: upTo(0)},
}

// fontArg: fonts A to E, as numbers or digits, and the special fonts A and B.
func fontArg(a []byte) bool { return upTo(4)(a) || a[0] == 'a' || a[0] == 'b' }

// identityArg: 1-3 and 49-51 give one byte, 33-36, 65-69, 96, 110 and 111-112 a block.
func identityArg(a []byte) bool {
	n := a[0]
	return n >= 1 && n <= 4 || n >= 33 && n <= 36 || n >= 49 && n <= 51 ||
		n >= 65 && n <= 69 || n == 96 || n >= 110 && n <= 112
}

func barWidthArg(a []byte) bool { return a[0] >= 1 && a[0] <= 6 || a[0] >= 68 && a[0] <= 76 }

// prefixes holds every proper prefix of a key of fixed or variable, so that an unknown command is
// seen at its first wrong byte.
var prefixes = func() map[string]bool {
	all := map[string]bool{}
	note := func(key string) {
		for i := 1; i < len(key); i++ {
			all[key[:i]] = true
		}
	}
	for key := range fixed {
		note(key)
	}
	for key := range variable {
		note(key)
	}
	return all
}()

// keyBytesMax is the longest key: GS g 2 m.
const keyBytesMax = 4

// lookUp finds the command that b starts with; klen is the length of its key.
func lookUp(b []byte) (fixedShape *shape, measured *measure, klen int) {
	for n := 2; n <= min(len(b), keyBytesMax); n++ {
		if s, ok := fixed[string(b[:n])]; ok {
			return &s, nil, n
		}
		if m, ok := variable[string(b[:n])]; ok {
			return nil, &m, n
		}
	}
	return nil, nil, 0
}

// length returns how many bytes the command that starts with b needs, as far as b tells: more than
// len(b) while it is not complete. reason is not empty where b starts no known command.
func length(b []byte) (need int, reason string) {
	if b[0] == dle {
		return liveNeed(b)
	}
	if _, ok := controls[b[0]]; ok {
		return 1, ""
	}
	s, m, n := lookUp(b)
	switch {
	case s != nil:
		return n + s.bytes, ""
	case m != nil:
		return m.length(b, n)
	case len(b) < keyBytesMax && prefixes[string(b)]:
		return len(b) + 1, ""
	}
	return 0, "unknown command"
}

// liveNeed is length for the queued place of a real-time command.
func liveNeed(b []byte) (need int, reason string) {
	if len(b) < 3 {
		if len(b) == 2 && b[1] != eot && b[1] != enq && b[1] != dc4 {
			return 0, "unknown command"
		}
		return len(b) + 1, ""
	}
	need = liveLength(b[1], b[2])
	if need == 0 || need == len(b) && !liveWhole(b) {
		return 0, "real-time command with unknown parameters"
	}
	return need, ""
}

// parse makes the value of the complete command b.
func parse(b []byte) (Command, string) {
	raw := append([]byte(nil), b...)
	if op, ok := controls[b[0]]; ok {
		return Command{Op: op, Raw: raw}, ""
	}
	s, m, n := lookUp(raw)
	if m != nil {
		return m.parse(raw, n)
	}
	args := raw[n:]
	if s.check != nil && !s.check(args) {
		return Command{}, fmt.Sprintf("%s with parameter %d", s.op, args[0])
	}
	c := Command{Op: s.op, Raw: raw}
	for i := 0; i < len(args); i++ {
		if s.wide {
			c.Args = append(c.Args, word(args[i], args[i+1]))
			i++
			continue
		}
		c.Args = append(c.Args, int(args[i]))
	}
	if s.op == OpRelative && c.Args[0] >= 1<<15 {
		c.Args[0] -= 1 << 16
	}
	return c, ""
}

func word(low, high byte) int { return int(low) | int(high)<<8 }
