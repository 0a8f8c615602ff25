package virtual

import "bytes"

// Bytes of the real-time commands.
const (
	dle = 0x10
	eot = 0x04
	enq = 0x05
	dc4 = 0x14
)

// clearParameters are what DLE DC4 8 must be followed by, so that no accident clears a buffer.
var clearParameters = []byte{0x01, 0x03, 0x14, 0x01, 0x06, 0x02, 0x08}

// realtimeTail is how many bytes follow the two that name a real-time command, by its third byte.
func realtimeTail(second, third byte) (int, bool) {
	switch {
	case second == eot && third >= 1 && third <= 4:
		return 0, true
	case second == eot && (third == 7 || third == 8 || third == 18):
		return 1, true
	case second == enq && third <= 2:
		return 0, true
	case second == dc4 && (third == 1 || third == 2):
		return 2, true
	case second == dc4 && third == 3:
		return 5, true
	case second == dc4 && third == 7:
		return 1, true
	case second == dc4 && third == 8:
		return len(clearParameters), true
	}
	return 0, false
}

// scanner finds real-time commands in a stream, also where their bytes are image data: the printer
// looks at bytes, not at what they belong to.
type scanner struct {
	have []byte
	need int // bytes of the whole command, once known
}

// next takes one byte and returns the command it completes.
func (s *scanner) next(b byte) []byte {
	s.have = append(s.have, b)
	switch len(s.have) {
	case 1:
		if b != dle {
			s.have = s.have[:0]
		}
		return nil
	case 2:
		if b != eot && b != enq && b != dc4 {
			s.restart(b)
		}
		return nil
	case 3:
		tail, known := realtimeTail(s.have[1], b)
		if !known {
			s.restart(b)
			return nil
		}
		s.need = 3 + tail
	}
	if len(s.have) < s.need {
		return nil
	}
	command := s.have
	*s = scanner{}
	return command
}

func (s *scanner) restart(b byte) {
	*s = scanner{}
	if b == dle {
		s.have = append(s.have, b)
	}
}

// obey acts on a real-time command at receipt, ahead of everything buffered and also while offline.
func (p *Printer) obey(command []byte) {
	if !p.can.Realtime {
		return
	}
	switch n := command[2]; command[1] {
	case eot:
		if n <= 4 {
			p.sayAt(p.now, answerPlain, []byte{p.status.realtime(n)})
		}
	case enq:
		p.recover(n)
	case dc4:
		p.obeyDC4(n, command[3:])
	}
}

// recover is DLE ENQ. n 0 is a press of FEED and does nothing here: paper is fed by hands.
func (p *Printer) recover(n byte) {
	// "DLE ENQ 1 and 2 work only for recoverable errors; ignored otherwise."
	if n == 0 || !p.status.cutterError {
		return
	}
	p.status.cutterError = false
	if n == 2 {
		p.forget()
	}
	p.changed()
	p.resume(p.now)
}

func (p *Printer) obeyDC4(n byte, parameters []byte) {
	switch n {
	case 1:
		if !p.set.pulseOff {
			p.note("event", "drawer pulse (real time)", p.received)
		}
	case 2:
		if !p.set.powerDownOff && parameters[0] == 0x01 && parameters[1] == 0x08 {
			p.sayAt(p.now, answerPlain, []byte{0x3B, 0x30, 0x00})
			p.PowerOff(p.now)
		}
	case 3:
		p.note("event", "buzzer (real time)", p.received)
	case 8:
		if p.can.Clear && bytes.Equal(parameters, clearParameters) {
			p.forget()
			p.status.cutterError = false
			p.changed()
			p.sayAt(p.now, answerPlain, []byte{0x37, 0x25, 0x00})
		}
	}
}
