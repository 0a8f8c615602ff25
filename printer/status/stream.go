package status

import "fmt"

// BlockBytesMax is the longest block accepted, header and NUL included. Epson's longest (GS I) has
// 82 bytes.
const BlockBytesMax = 128

// expectMax bounds the questions under way at once; the session asks one at a time.
const expectMax = 64

const (
	headerID   = 0x37 // GS ( H and DLE DC4 8: an identifier follows
	headerASB2 = 0x39 // extended ASB, FS ( e: 39 A 40 00
	headerA    = 0x3D // GS I, printer information A
	headerText = 0x5F // GS I, printer information B, and GS g 2

	idProcess = 0x22
	idOffline = 0x23
	idCleared = 0x25

	xon  = 0x11
	xoff = 0x13
)

// Kind is a question whose answer's bytes do not say what they answer.
type Kind uint8

// The questions to announce by [Stream.Expect] before their bytes are sent. Process ids, clear
// responses and ASB say themselves what they are and need no announcement.
const (
	ExpectPrinter  Kind = iota + 1 // DLE EOT 1
	ExpectOffline                  // DLE EOT 2
	ExpectError                    // DLE EOT 3
	ExpectPaper                    // DLE EOT 4
	ExpectFence                    // GS r 1
	ExpectIdentity                 // GS I 65-69
	ExpectCounter                  // GS g 2
)

func (k Kind) realtime() bool { return k >= ExpectPrinter && k <= ExpectPaper }

// Stream parses everything a printer says on one connection. The zero value is ready. It is owned
// by one goroutine.
//
// Real-time questions are answered in the order in which they were asked, and so are queued ones;
// between the two there is no order. A byte or block that does not fit the oldest open question of
// its family is [Unknown] and leaves the question open, so that garbage costs time and never yields
// a success. XON and XOFF may be wedged between any two bytes.
//
// What no parser can tell: on a connection opened in the middle of an ASB block, its tail looks
// like an answer to GS r. So read a new connection empty before the first fence.
type Stream struct {
	asked [2][]Kind // queued, real-time
	part  []byte    // a block or ASB that is not complete
	stray []byte    // bytes that answer nothing, to be reported as one
	why   string
}

func (s *Stream) queue(k Kind) *[]Kind {
	if k.realtime() {
		return &s.asked[1]
	}
	return &s.asked[0]
}

// Expect announces that the question k is about to be sent. It returns false where 64 questions of
// the family are open already; then the printer is not listening and k is not noted.
func (s *Stream) Expect(k Kind) bool {
	q := s.queue(k)
	if len(*q) >= expectMax {
		return false
	}
	*q = append(*q, k)
	return true
}

// Cancel withdraws the oldest open question k, whose time is over, and tells whether there was one.
// Should its answer still come, it is Unknown, or is taken for that of the same question asked
// again: read the connection empty in between.
func (s *Stream) Cancel(k Kind) bool {
	q := s.queue(k)
	for i, open := range *q {
		if open == k {
			*q = append((*q)[:i:i], (*q)[i+1:]...)
			return true
		}
	}
	return false
}

// Awaits returns how many questions k are open.
func (s *Stream) Awaits(k Kind) int {
	n := 0
	for _, open := range *s.queue(k) {
		if open == k {
			n++
		}
	}
	return n
}

// Reset forgets all questions, for a new connection, and returns the bytes of an unfinished block
// as Unknown.
func (s *Stream) Reset() []Event {
	s.asked = [2][]Kind{}
	var out []Event
	s.waste("unfinished", s.part...)
	s.part = nil
	return s.flush(out)
}

// Write takes what was read and returns what it says, in order.
func (s *Stream) Write(p []byte) []Event {
	var out []Event
	for _, b := range p {
		if b == xon || b == xoff {
			out = append(s.flush(out), Flow{On: b == xon})
			continue
		}
		if len(s.part) > 0 && !s.continues(b) {
			s.waste("torn block", s.part...)
			s.part = nil
		}
		if len(s.part) > 0 {
			s.part = append(s.part, b)
		} else if s.opens(b) {
			s.part = append(s.part[:0:0], b)
		} else {
			out = s.single(b, out)
			continue
		}
		if event, done := s.complete(); done {
			out = s.emit(out, event)
		}
	}
	return s.flush(out)
}

// opens tells whether b is the first byte of something longer.
func (s *Stream) opens(b byte) bool {
	switch b {
	case headerID, headerASB2, headerA, headerText:
		return true
	}
	return b&familyMask == familyASB
}

// continues tells whether b can be the next byte of the unfinished part. One that cannot ends it.
func (s *Stream) continues(b byte) bool {
	n := len(s.part)
	switch s.part[0] {
	case headerID:
		switch {
		case n == 1:
			return b == idProcess || b == idOffline || b == idCleared
		case s.part[1] == idCleared:
			return b == 0
		case s.part[1] == idOffline:
			return b == 0 || b >= 0x40 && b <= 0x7F && n < 12 // 0 to 10 causes
		case n == 6:
			return b == 0
		}
		return b >= 0x20 && b <= 0x7E
	case headerASB2, headerA, headerText:
		return b == 0 || b >= 0x20 && b <= 0x7E && n < BlockBytesMax-1
	}
	return b&tailMask == 0 // bytes 2 to 4 of ASB
}

// complete returns the event of the part, where it is whole.
func (s *Stream) complete() (Event, bool) {
	n := len(s.part)
	last := s.part[n-1]
	switch s.part[0] {
	case headerID, headerASB2, headerA, headerText:
		if n < 2 || last != 0 {
			return nil, false
		}
	default:
		if n < 4 {
			return nil, false
		}
	}
	part := s.part
	s.part = nil
	switch part[0] {
	case headerID:
		return s.identified(part), true
	case headerText:
		return s.text(part), true
	case headerASB2, headerA:
		return Unknown{Raw: part, Reason: "block nobody asked for"}, true
	}
	asb, err := ParseASB([4]byte(part))
	if err != nil {
		return Unknown{Raw: part, Reason: err.Error()}, true
	}
	return asb, true
}

// identified is a whole block 37 ... 00.
func (s *Stream) identified(part []byte) Event {
	switch part[1] {
	case idCleared:
		return Cleared{}
	case idOffline:
		return WentOffline{Causes: part[2 : len(part)-1]}
	}
	id, err := ParseProcessID(part)
	if err != nil {
		return Unknown{Raw: part, Reason: err.Error()}
	}
	return id
}

// text is a whole block 5F ... 00: a counter or an identity, as the oldest queued question says.
func (s *Stream) text(part []byte) Event {
	unasked := Unknown{Raw: part, Reason: "text block nobody asked for"}
	if len(s.asked[0]) == 0 {
		return unasked
	}
	var event Event
	var err error
	switch s.asked[0][0] {
	case ExpectCounter:
		event, err = ParseCounter(part)
	case ExpectIdentity:
		event, err = ParseIdentity(part)
	default:
		return unasked
	}
	if err != nil {
		return Unknown{Raw: part, Reason: err.Error()}
	}
	s.asked[0] = s.asked[0][1:]
	return event
}

// single is one byte outside any block: the answer to the oldest question of its family, or
// nothing.
func (s *Stream) single(b byte, out []Event) []Event {
	asked, why := &s.asked[0], "queued answer nobody asked for"
	switch {
	case b&familyMask == familyAnswer:
		asked, why = &s.asked[1], "real-time answer nobody asked for"
	case b&tailMask != 0:
		s.waste("no status byte", b)
		return out
	}
	if len(*asked) == 0 {
		s.waste(why, b)
		return out
	}
	event, err := answer((*asked)[0], b)
	if err != nil {
		s.waste(err.Error(), b)
		return out
	}
	*asked = (*asked)[1:]
	return s.emit(out, event)
}

// answer reads b as the one-byte answer to k.
func answer(k Kind, b byte) (Event, error) {
	switch k {
	case ExpectPrinter:
		return ParsePrinter(b)
	case ExpectOffline:
		return ParseOffline(b)
	case ExpectError:
		return ParseError(b)
	case ExpectPaper:
		return ParsePaper(b)
	case ExpectFence:
		return ParseFence(b)
	}
	return nil, fmt.Errorf("status: %02X where a text block is awaited: %w", b, ErrNotStatus)
}

// waste keeps bytes that answer nothing until the next event or the end of the call.
func (s *Stream) waste(why string, b ...byte) {
	if len(s.stray) == 0 {
		s.why = why
	}
	s.stray = append(s.stray, b...)
}

func (s *Stream) emit(out []Event, e Event) []Event { return append(s.flush(out), e) }

func (s *Stream) flush(out []Event) []Event {
	if len(s.stray) == 0 {
		return out
	}
	out = append(out, Unknown{Raw: s.stray, Reason: s.why})
	s.stray = nil
	return out
}
