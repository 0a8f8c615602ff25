package virtual

import "time"

// cellWidthA and the like are the character cells at 203 dpi: font A 12x24, font B 9x17.
const (
	cellWidthA, cellHeightA = 12, 24
	cellWidthB, cellHeightB = 9, 17
	widthDotsMax            = 832 // 112 mm paper, the widest there is
)

// Printer is one printer. It is not safe for use by several goroutines; times must not go back.
type Printer struct{ conf Config }

// New is a printer that is switched on, has paper, and has nobody connected.
func New(c Config) *Printer { return &Printer{conf: c.withDefaults()} }

// Connect says that a client is there; answers kept for it become readable.
func (p *Printer) Connect(now time.Time) {}

// Disconnect says that the client is gone. Received bytes stay and are printed.
func (p *Printer) Disconnect(now time.Time) {}

// Receive offers bytes and returns how many fitted into the buffer.
func (p *Printer) Receive(now time.Time, b []byte) int { return 0 }

// Advance moves the mechanism on to now.
func (p *Printer) Advance(now time.Time) {}

// Wake says when [Printer.Advance] should be called next, and false where only bytes or hands can
// change anything.
func (p *Printer) Wake() (time.Time, bool) { return time.Time{}, false }

// Answers takes the bytes that are due to go back to the client.
func (p *Printer) Answers() []byte { return nil }

// Sheets takes the pieces of paper that were finished since the last call.
func (p *Printer) Sheets() []Sheet { return nil }

// Pending is the paper that hangs in the machine.
func (p *Printer) Pending() Sheet { return Sheet{} }

// Errors lists what the printer objected to since it was made, oldest first.
func (p *Printer) Errors() []Mark { return nil }
