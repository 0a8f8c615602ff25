package virtual

import "time"

// condition is what is wrong, and what the sensors see.
type condition struct {
	coverOpen   bool
	paperOut    bool // stands still for it
	paperGone   bool // the roll is out; the sensor is only believed with the cover closed
	nearEnd     bool
	jammed      bool // something is stuck at the blade: every cut fails
	cutterError bool // the last cut failed; ends with DLE ENQ 1 or 2 or with the jam's removal
	hot         bool // auto-recoverable
	broken      bool // unrecoverable
	torn        bool // cover opened while printing: auto-recoverable until it closes
	drawer      bool // pin 3 high
}

func (c condition) offline() bool {
	return c.coverOpen || c.paperOut || c.cutterError || c.hot || c.broken
}

func (c condition) errored() bool { return c.cutterError || c.broken || c.recovers() }

// recovers is an error that ends by itself when its cause does.
func (c condition) recovers() bool { return c.hot || c.torn }

// bit is the value where the condition is true, else 0.
func bit(on bool, value byte) byte {
	if on {
		return value
	}
	return 0
}

// realtime is the answer to DLE EOT n: always 0xx1xx10. Source: Epson, DLE EOT.
func (c condition) realtime(n byte) byte {
	const fixed = 0x12
	switch n {
	case 1:
		return fixed | bit(c.drawer, 0x04) | bit(c.offline(), 0x08)
	case 2:
		return fixed | bit(c.coverOpen, 0x04) | bit(c.paperOut, 0x20) | bit(c.errored(), 0x40)
	case 3:
		return fixed | bit(c.cutterError, 0x08) | bit(c.broken, 0x20) | bit(c.recovers(), 0x40)
	default:
		return fixed | bit(c.nearEnd, 0x0C) | bit(c.paperOut, 0x60)
	}
}

// asb is the four-byte block of GS a; only its first byte has bit 4. Source: Epson, GS a.
func (c condition) asb() [4]byte {
	return [4]byte{
		0x10 | bit(c.drawer, 0x04) | bit(c.offline(), 0x08) | bit(c.coverOpen, 0x20),
		bit(c.cutterError, 0x08) | bit(c.broken, 0x20) | bit(c.recovers(), 0x40),
		c.paper(),
		0x0F,
	}
}

// paper is the answer to GS r 1: 0xx0xxxx. Source: Epson, GS r.
func (c condition) paper() byte { return bit(c.nearEnd, 0x03) | bit(c.paperOut, 0x0C) }

// Bits of GS a n.
const (
	asbDrawer, asbOnline, asbError, asbPaper, asbPanel = 0x01, 0x02, 0x04, 0x08, 0x40
)

// watched masks a block down to what GS a n asked to be told about.
func watched(n byte, b [4]byte) [4]byte {
	drawer, online, failed := n&asbDrawer != 0, n&asbOnline != 0, n&asbError != 0
	return [4]byte{
		b[0] & (bit(drawer, 0x04) | bit(online, 0x68)),
		b[1] & (bit(online, 0x01) | bit(failed, 0x6C) | bit(n&asbPanel != 0, 0x02)),
		b[2] & bit(n&asbPaper != 0, 0x0F),
	}
}

// changed pushes a status block where GS a asked for one and something it watches is different.
func (p *Printer) changed() {
	if p.asb == 0 || !p.can.ASB {
		return
	}
	block := p.status.asb()
	if watched(p.asb, block) != watched(p.asb, p.asbSaid) {
		p.pushASB(block)
	}
}

func (p *Printer) pushASB(block [4]byte) {
	p.asbSaid = block
	p.say(answerASB, block[:])
}

// enableASB is GS a n: a block at once, then one for each change. n = 0 ends it.
func (p *Printer) enableASB(n byte) {
	if !p.can.ASB {
		return
	}
	p.asb = n
	if n != 0 {
		p.pushASB(p.status.asb())
	}
}

// say answers at the time the mechanism has got to, or now for what happens at receipt.
func (p *Printer) say(kind answerKind, b []byte) { p.sayAt(p.moment(), kind, b) }

func (p *Printer) sayAt(at time.Time, kind answerKind, b []byte) {
	if !p.on || !p.connected && !p.conf.KeepAnswers {
		return
	}
	p.out.say(at, p.connected, kind, append([]byte(nil), b...))
}

// moment is the mechanism's own time while it works, which a late Advance makes up for, and the
// caller's otherwise.
func (p *Printer) moment() time.Time {
	if p.working {
		return p.clock
	}
	return p.now
}

// sayProcessID answers GS ( H fn 48: 37 22 d1 d2 d3 d4 00.
func (p *Printer) sayProcessID(id []byte) {
	if !p.can.ProcessID {
		return
	}
	b := append([]byte{0x37, 0x22}, id...)
	p.say(answerID, append(b, 0x00))
}

// sayBlock answers 5F, text, 00, the form of GS I and GS g 2.
func (p *Printer) sayBlock(text string) {
	b := append([]byte{0x5F}, text...)
	p.say(answerPlain, append(b, 0x00))
}
