package virtual

import (
	"time"

	"chit/printer/escpos"
)

// Character cells at 203 dpi: font A 12x24, font B 9x17.
const (
	cellWidthA, cellHeightA = 12, 24
	cellWidthB, cellHeightB = 9, 17
	widthDotsMax            = 832 // 112 mm paper, the widest there is
)

// chunkBytes is how much the mechanism takes out of the receive buffer at a time.
const chunkBytes = 64

// Printer is one printer. It is not safe for use by several goroutines; times must not go back.
//
// Its life, seen from the host:
//
//	online --paper end, cover, cutter, hot head--> offline --put right--> online (buffer kept)
//	any    --power off--> off --power on--> online (buffer, answers and settings forgotten)
type Printer struct {
	conf Config
	can  Capabilities
	now  time.Time

	// The buffer and what was taken out of it and is not done yet.
	buffer   []byte
	received int64 // bytes accepted since New
	executed int64 // stream offset after the last command begun
	live     scanner
	decoder  *escpos.Decoder
	base     int64 // stream offset at which decoder began
	pending  []escpos.Command
	steps    []step
	doing    *step
	doneAt   time.Time
	clock    time.Time // how far the mechanism has got
	working  bool      // within run

	set     settings
	line    lineBuffer
	heldID  []byte         // a process id that waits for its unfinished line
	symbols map[int]symbol // by cn of GS ( k
	stored  []Image        // by GS ( L, not printed yet

	on, connected, hungUp bool
	unplugged             bool      // the data cable is out
	powerOnAt             time.Time // zero: not by itself
	status                condition
	asb                   byte
	asbSaid               [4]byte

	out   outbox
	armed []Fault
	blade blade
	slow  float64 // lines per second of the fault slow, 0 without it

	count, saved odometer
	loses        bool // the fault odometer-loses

	paper    paper
	finished []Sheet
	dropped  int // sheets that nobody took in time
	log      marks
}

// New is a printer that is switched on, has paper, and has nobody connected.
func New(c Config) *Printer {
	c = c.withDefaults()
	p := &Printer{conf: c, can: c.Can, on: true}
	p.count = odometer{feeds: c.LineFeeds, cuts: c.Cuts, feedsAll: c.LineFeeds, cutsAll: c.Cuts}
	p.saved = p.count
	p.paper = newPaper(1, 0, c)
	p.forget()
	p.initialise()
	for _, f := range c.Faults {
		p.Raise(time.Time{}, f)
	}
	return p
}

// Connect says that a client is there; answers kept for it become readable.
func (p *Printer) Connect(now time.Time) {
	p.Advance(now)
	p.connected, p.hungUp = true, false
}

// Disconnect says that the client is gone. Received bytes stay and are printed; answers that it did
// not take are kept or lost as Config.KeepAnswers says.
func (p *Printer) Disconnect(now time.Time) {
	p.Advance(now)
	p.connected = false
	if !p.conf.KeepAnswers {
		p.out.clear()
	}
}

// Receive offers bytes and returns how many were accepted: fewer than offered where the buffer is
// full, the cable is out, or the connection fell ([Printer.HungUp]). A printer without power
// accepts and loses everything, as the first write on a dead connection does.
func (p *Printer) Receive(now time.Time, b []byte) int {
	p.Advance(now)
	switch {
	case p.unplugged:
		return 0
	case !p.on:
		return len(b)
	}
	if p.idle() {
		p.clock = now
		p.saved = p.count // The odometer is saved while nothing moves.
	}
	taken := 0
	for taken < len(b) && !p.hungUp && !p.unplugged {
		n := min(p.room(), len(b)-taken, p.bytesToFault())
		if n == 0 {
			break
		}
		p.accept(b[taken : taken+n])
		taken += n
		p.run(now)
		p.fireBytes(int64(n))
		p.run(now)
	}
	return taken
}

func (p *Printer) room() int { return max(0, p.conf.BufferBytes-len(p.buffer)) }

// accept puts bytes into the buffer and obeys the real-time commands among them, wherever they
// stand. They stay in the buffer too, where they may be part of an image.
func (p *Printer) accept(b []byte) {
	for _, c := range b {
		if !p.on {
			return
		}
		p.buffer = append(p.buffer, c)
		p.received++
		if command := p.live.next(c); command != nil {
			p.obey(command)
		}
	}
}

// Advance moves the mechanism on to now.
func (p *Printer) Advance(now time.Time) {
	if now.After(p.now) {
		p.now = now
	}
	if !p.on && !p.powerOnAt.IsZero() && !p.powerOnAt.After(now) {
		p.PowerOn(p.powerOnAt)
	}
	p.run(now)
}

// Wake says when [Printer.Advance] should be called next, and false where only bytes or hands can
// change anything. A time that is past means at once.
func (p *Printer) Wake() (time.Time, bool) {
	var at time.Time
	earliest := func(t time.Time) {
		if at.IsZero() || t.Before(at) {
			at = t
		}
	}
	if p.doing != nil && !p.halted() {
		earliest(p.doneAt)
	}
	if due, ok := p.out.due(); ok && p.connected && !p.unplugged {
		earliest(due)
	}
	if !p.on && !p.powerOnAt.IsZero() {
		earliest(p.powerOnAt)
	}
	return at, !at.IsZero()
}

// Answers takes the bytes that are due to go back to the client; nil while nobody is connected.
func (p *Printer) Answers() []byte {
	if !p.connected || p.unplugged {
		return nil
	}
	return p.out.take(p.now)
}

// Undelivered gives back bytes of [Printer.Answers] that did not reach the client.
func (p *Printer) Undelivered(b []byte) {
	if p.conf.KeepAnswers && p.on && len(b) > 0 {
		p.out.putBack(p.now, b)
	}
}

// HungUp is true where the printer's side ended the connection (power off, the fault drop) until
// the next [Printer.Connect].
func (p *Printer) HungUp() bool { return p.hungUp }

// Connected is true between Connect and Disconnect.
func (p *Printer) Connected() bool { return p.connected }

// Plugged is false while the data cable is out.
func (p *Printer) Plugged() bool { return !p.unplugged }

// Head is the length of the paper that hangs in the machine, in dots from its top edge to the print
// head.
func (p *Printer) Head() int { return p.paper.head }

// On is false while the power is off; nobody can connect then.
func (p *Printer) On() bool { return p.on }

// Sheets takes the pieces of paper that were finished since the last call, oldest first.
func (p *Printer) Sheets() []Sheet {
	s := p.finished
	p.finished = nil
	return s
}

// Pending is the paper that hangs in the machine, from the last cut to the print head.
func (p *Printer) Pending() Sheet { return p.paper.snapshot(p.executed) }

// Errors lists what the printer objected to since it was made, oldest first, at most ErrorsMax.
func (p *Printer) Errors() []Mark { return p.log.errors }

// Events lists buzzers, drawer pulses, faults and hands since the printer was made, oldest first,
// at most EventsMax.
func (p *Printer) Events() []Mark { return p.log.events }

// Buffered is the number of received bytes that the mechanism has not taken yet.
func (p *Printer) Buffered() int { return len(p.buffer) }

// Idle is true where nothing is left to print.
func (p *Printer) Idle() bool { return p.idle() }

// Hanging is true where print stands above the blade, for a hand to tear off.
func (p *Printer) Hanging() bool {
	return !p.paper.sheet.Blank() && p.paper.head > p.paper.blade
}

// Counters are the odometer's line feeds and cuts, whether GS g 2 is answered or not.
func (p *Printer) Counters() (lineFeeds, cuts uint64) { return p.count.feeds, p.count.cuts }

// consumed is the stream offset up to which bytes were taken out of the buffer.
func (p *Printer) consumed() int64 { return p.received - int64(len(p.buffer)) }

func (p *Printer) idle() bool {
	return len(p.buffer) == 0 && len(p.pending) == 0 && len(p.steps) == 0 && p.doing == nil
}

// forget drops all that was received and not printed; settings stay.
func (p *Printer) forget() {
	p.buffer, p.pending, p.steps, p.doing = nil, nil, nil, nil
	p.decoder, p.base, p.executed = new(escpos.Decoder), p.received, p.received
	p.line, p.heldID, p.live = lineBuffer{}, nil, scanner{}
	p.stored = nil
}
