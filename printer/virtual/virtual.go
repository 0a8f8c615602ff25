// Package virtual is a receipt printer in software: bytes go in, answers and paper come out.
//
// It is pure: time comes in as an argument, answers and paper go out as values. The serve folder
// puts it behind a socket. It is strict: a command it does not know is an error that is kept on the
// paper's record, and counts of paper are its own, never those of the program under test.
//
//	p := virtual.New(virtual.ConfigFor(facts))
//	p.Connect(now)
//	n := p.Receive(now, bytes)      // n < len(bytes): the buffer is full, offer the rest later
//	p.Advance(now)                  // again whenever Wake says so
//	answer(p.Answers())
//	keep(p.Sheets())
//
// What it copies from real machines: a bounded receive buffer; real-time commands that act when
// their bytes arrive, also inside image data and while offline; everything else in order, when the
// mechanism reaches it; a blade that stands above the print head, so that a cut without a feed goes
// through the last lines; a buffer that survives paper end and does not survive a power cut.
//
// What it does not copy: page mode, macros, user-defined characters, heat and ink.
//
// Facts: research/escpos.md section 2, which cites Epson's ESC/POS Command Reference by command.
package virtual

import (
	"chit/printer/escpos"
	"chit/printer/profile"
)

// Limits and defaults. Lengths are dots at 203 dpi, about 8 to a millimetre.
const (
	// BufferBytes is the default receive buffer, the smallest class that is sold.
	BufferBytes = 4096
	// WidthDots is the default printable width, 80 mm paper.
	WidthDots = 576
	// BladeDots is the default distance from the print head up to the blade, 12 mm.
	BladeDots = 96
	// SheetDotsMax is the longest piece of paper; what is longer is torn off with the mark "torn".
	SheetDotsMax = 40_000
	// ErrorsMax and EventsMax bound what is remembered; later ones are only counted.
	ErrorsMax, EventsMax = 1000, 1000
	// SheetsMax bounds the sheets that nobody has taken yet; the oldest are dropped and counted.
	SheetsMax = 10_000
	// AnswerBytesMax bounds answers that nobody reads; the oldest are lost, as in a real board.
	AnswerBytesMax = 4096
)

// Config says which printer to be. The zero value of every number means its default.
type Config struct {
	// WidthDots is the printable width: 576 at 80 mm, 384 at 58 mm.
	WidthDots int
	// Columns of font A before a line wraps; 0 means as many as WidthDots holds.
	Columns int
	// CellDots and CellDotsB are the widths of one column of fonts A and B; 0 means 12 and 9.
	CellDots, CellDotsB int
	// Pages is what ESC t n selects. Empty means CP437 at 0 alone.
	Pages []profile.Page
	// Kanji names the encoding of the ideographs in the printer's ROM: SHIFT-JIS, GB18030, BIG5 or
	// EUC-KR. Empty means that it has none, and Kanji mode only spoils text.
	Kanji string
	// Impact is true for needle printers, on which CR takes the head back to print a line twice.
	Impact bool
	// BufferBytes is the receive buffer; [Printer.Receive] takes no more than fits.
	BufferBytes int
	// LinesPerSecond is the mechanism's speed in lines of 30 dots; 0 prints without taking time.
	LinesPerSecond float64
	// BladeDots is how far the blade stands above the head. Negative means at the head.
	BladeDots int
	Can       Capabilities
	// Lacks lists commands that this model does not have: each is an error on the paper's record.
	Lacks    []escpos.Op
	Identity Identity
	// KeepAnswers is true where answers that found no client wait for the next one ("late answers");
	// false loses them.
	KeepAnswers bool
	// LineFeeds and Cuts are what the odometer of a used printer begins with.
	LineFeeds, Cuts uint64
	// Faults are raised at the start, each as [Printer.Raise] does.
	Faults []Fault
}

// Capabilities are what a printer can do at all. [Everything] is a good Epson.
type Capabilities struct {
	ProcessID   bool // GS ( H fn 48 is answered
	Fence       bool // GS r is answered
	Realtime    bool // DLE EOT is answered, DLE ENQ and DLE DC4 obeyed
	Clear       bool // of those also DLE DC4 8, which clears the buffers
	ASB         bool // GS a is obeyed
	Odometer    bool // GS g 2 is answered
	Identity    bool // GS I is answered
	Cutter      bool // GS V cuts; without it only feeds
	Red         bool // ESC r 1 selects a second colour
	RasterFeeds bool // 24 rows of a raster strip count as one line feed of the odometer
	KanjiFirst  bool // starts, and restarts at ESC @, with Kanji mode on, as most Chinese clones do
}

// Everything is the best printer: all answers, a cutter, one colour, Kanji off.
func Everything() Capabilities {
	return Capabilities{ProcessID: true, Fence: true, Realtime: true, Clear: true, ASB: true,
		Odometer: true, Identity: true, Cutter: true}
}

// Identity is what GS I says. Real ones lie: clones answer with an Epson's name.
type Identity struct {
	Maker, Model, Firmware, Serial string
	// ModelID is the one-byte answer to GS I 1; 0 means 0x20.
	ModelID byte
}

// ConfigFor is a printer that has the facts of a profile and can do everything else.
func ConfigFor(p profile.Profile) Config {
	can := Everything()
	can.Cutter, can.Red = p.Cutter, p.Red
	blade := p.CutFeed * cellHeightA
	if blade == 0 {
		blade = -1
	}
	c := Config{WidthDots: p.WidthDots, Columns: p.Columns, Pages: p.Pages, Impact: p.Impact,
		BufferBytes: p.BufferBytes, BladeDots: blade, Can: can}
	if p.Columns*cellWidthA > p.WidthDots {
		c.CellDots = p.WidthDots / p.Columns // Needles: fewer dots to the inch than lines of text need.
	}
	if p.ColumnsB*cellWidthB > p.WidthDots {
		c.CellDotsB = p.WidthDots / p.ColumnsB
	}
	return c
}

// StrictConfigFor is [ConfigFor] without the commands that the profile does not speak of: a printer
// that objects to whatever an encoder may not rely on.
func StrictConfigFor(p profile.Profile) Config {
	c := ConfigFor(p)
	lacks := func(ops ...escpos.Op) { c.Lacks = append(c.Lacks, ops...) }
	if !p.QR {
		lacks(escpos.OpSymbol)
	}
	switch p.Images {
	case profile.ImagesRaster:
		lacks(escpos.OpBitImage, escpos.OpGraphics)
	case profile.ImagesColumn:
		lacks(escpos.OpRaster, escpos.OpGraphics)
	default:
		lacks(escpos.OpRaster, escpos.OpGraphics, escpos.OpBitImage)
	}
	if p.Impact {
		lacks(escpos.OpSize, escpos.OpInverse, escpos.OpBarcode, escpos.OpLeftMargin, escpos.OpAreaWidth)
	}
	if p.Buzzer != profile.BuzzerClone {
		lacks(escpos.OpBuzzerClone)
	}
	if p.Buzzer != profile.BuzzerEpson {
		lacks(escpos.OpBuzzerEpson)
	}
	if !p.Red {
		lacks(escpos.OpColour2)
	}
	return c
}

// withDefaults fills in what was left zero.
func (c Config) withDefaults() Config {
	if c.WidthDots <= 0 {
		c.WidthDots = WidthDots
	}
	c.WidthDots = min(c.WidthDots, widthDotsMax)
	if c.CellDots <= 0 {
		c.CellDots = cellWidthA
	}
	c.CellDots = min(c.CellDots, c.WidthDots)
	if c.CellDotsB <= 0 {
		c.CellDotsB = cellWidthB
	}
	if c.Columns <= 0 || c.Columns*c.CellDots > c.WidthDots {
		c.Columns = max(1, c.WidthDots/c.CellDots)
	}
	if c.BufferBytes <= 0 {
		c.BufferBytes = BufferBytes
	}
	if len(c.Pages) == 0 {
		c.Pages = []profile.Page{{Number: 0, Encoding: "CP437"}}
	}
	switch {
	case c.BladeDots == 0:
		c.BladeDots = BladeDots
	case c.BladeDots < 0:
		c.BladeDots = 0
	}
	if c.Identity == (Identity{}) {
		c.Identity = Identity{Maker: "CHIT", Model: "VIRTUAL-80", Firmware: "1.00", Serial: "V0000001"}
	}
	if c.Identity.ModelID == 0 {
		c.Identity.ModelID = 0x20
	}
	return c
}
