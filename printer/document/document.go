// Package document says what is on a kitchen ticket before a printer is known.
//
// A [Document] is a list of blocks from top to bottom. It speaks of columns, sizes and emphasis and
// never of bytes or dots; the escpos package turns it into a printer's language for one profile,
// wrapping lines at that profile's columns. It holds no clock and no I/O, and it trusts no text:
// replacing control characters is the encoder's duty.
package document

// Document is one piece of paper from its first line to its cut.
type Document struct {
	Blocks []Block
	// RightToLeft is true where the reader's language runs from right to left: then every line and
	// pair begins at the right edge, also one whose own words run the other way, so that quantities
	// stand below each other. Left and Right then mean the beginning and the end of a line. A printer
	// that takes no images sets its letters from left to right all the same.
	RightToLeft bool
}

// Add appends blocks and returns the document, so that layouts read from top to bottom.
func (d *Document) Add(blocks ...Block) *Document {
	d.Blocks = append(d.Blocks, blocks...)
	return d
}

// Block is one of [Line], [Pair], [Rule], [Feed], [Box], [QR].
//
// A document has no cut: every document ends with exactly one, which the encoder adds.
type Block interface{ block() }

// Align is where a line stands on the paper.
type Align uint8

// The three places of a line.
const (
	Left Align = iota
	Centre
	Right
)

// Size is a magnification of the printer's font A, 1 to 8; 0 means 1.
type Size uint8

// Style is how a span looks. The zero value is the printer's plain font.
type Style struct {
	Width, Height Size
	Bold          bool
	Underline     bool
	// Inverse is white on black. Only marks that text cannot imitate use it: free text never does.
	Inverse bool
	// Red asks for the second colour and changes nothing where the paper has one colour.
	Red bool
	// Strike is a line through the middle, for what is not wanted any more. No printer has a command
	// for it: it is drawn, or said in signs where nothing can be drawn.
	Strike bool
}

// Span is text of one style. Spaces may be broken at the line's end; NoBreak forbids it inside the
// span.
type Span struct {
	Text    string
	Style   Style
	NoBreak bool
}

// Line is one paragraph of spans, wrapped by grapheme at the profile's columns.
type Line struct {
	Align Align
	Spans []Span
	// Indent and Hang are columns of plain font A before the first and the following physical lines.
	Indent, Hang int
}

// Pair has one text at the left edge and one at the right edge of the same physical line. Where
// both do not fit, the right one goes to a line of its own.
type Pair struct {
	Left, Right []Span
}

// Rule is a full-width line drawn with one repeated character, '-' where Char is 0.
type Rule struct {
	Char rune
}

// Feed is a number of empty lines of plain font A.
type Feed struct {
	Lines int
}

// Box is a frame around lines, for what must not be missed. The lines are wrapped inside it.
type Box struct {
	Lines []Line
	// Red asks for the frame in the second colour.
	Red bool
}

// QR is a QR code of our own address of something, never of a guest's text.
type QR struct {
	// Data is 1 to 200 bytes of printable ASCII.
	Data string
	// Module is the edge of one module in dots, 2 to 8; 0 means 4.
	Module int
	// Beside are lines to the right of the code where the paper is wide enough, below it elsewhere.
	Beside []Line
}

func (Line) block() {}
func (Pair) block() {}
func (Rule) block() {}
func (Feed) block() {}
func (Box) block()  {}
func (QR) block()   {}

// Text is a one-span line in the given style.
func Text(s string, style Style) Line {
	return Line{Spans: []Span{{Text: s, Style: style}}}
}
