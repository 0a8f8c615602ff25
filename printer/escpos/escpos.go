// Package escpos speaks ESC/POS in both directions: it encodes a document for a profile and decodes
// a stream strictly.
//
// It is pure: bytes in, values out. Sources are named beside each command; most are Epson's ESC/POS
// Command Reference, cited by command name.
package escpos

import (
	"chit/printer/document"
	"chit/printer/profile"
)

// Token is the 4-byte process id of GS ( H fn 48, each byte 0x20 to 0x7E. Tokens ascend, so that a
// later one answered implies the earlier ones.
type Token [4]byte

// Paper is one encoded document.
type Paper struct {
	// Body starts from a known state (ESC @, FS ., ESC R 0, GS a 15, ESC t of the profile's first
	// page) and ends with the feed that brings the last line past the blade; it holds no cut and no
	// fence.
	Body []byte
	// Breaks are places in Body, ascending, at which a host may pause: everything before is printed
	// lines and whole images. Cables that cannot hold the host back are fed by them.
	Breaks []int
	// Cut is the cut command alone, empty where the profile has no cutter.
	Cut []byte
	// LineFeeds and Cuts are what the printer's maintenance counters (GS g 2: 20 and 50) grow by
	// when this document comes out whole.
	LineFeeds, Cuts int
	// Raster is true where any line or code was drawn instead of spelt: what the printer's counters
	// make of it is another matter than of text.
	Raster bool
	// Replaced lists the runes printed as another form: control characters, which print as their
	// code points, letters of one meaning, what no font of the drawer has and, with
	// [Encoder].Substitute, what can be neither spelt nor drawn. Empty in almost every ticket.
	Replaced []rune
	// HeightDots is the paper length at 203 dpi, about 8 dots a millimetre.
	HeightDots int
}

// Encoder turns documents into the bytes of one printer.
type Encoder struct {
	Profile profile.Profile
	// Drawer draws what the profile's pages cannot spell; nil where nothing is drawn.
	Drawer Drawer
	// Substitute prints the code point of what can be neither spelt nor drawn, instead of refusing
	// the document. It is for paper that must come out whatever it says: the plain form of a ticket
	// whose layout failed, and slips. Words of an order are refused instead, so that nobody cooks
	// without having been able to read them.
	Substitute bool
}

// Encode turns d into the bytes of one ticket. The error names what cannot be printed; it wraps
// [ErrTooLong], [ErrDocument], [ErrProfile] or [ErrUnprintable].
//
// Text is sanitised before anything else, so that no text can produce a command byte: after it
// every character has a byte 0x20 or above on a page of the profile. A paragraph with a word that
// no page can spell, or that is struck out, is drawn as a whole. All lines together use as few page
// switches as possible. Letters wrap at the profile's columns; each takes one column times its
// width.
//
// LineFeeds follows the odometer's rule: every LF counts 1 and every ESC d n counts n; CR, ESC J,
// images of GS v 0, codes of GS ( k and what a cut feeds count 0. HeightDots takes the default line
// spacing (34 dots at 203 dpi, or the tallest character where that is more).
func (e Encoder) Encode(d document.Document) (Paper, error) { return e.encode(d) }

// Encode is [Encoder].Encode without a drawer.
func Encode(d document.Document, p profile.Profile) (Paper, error) {
	return Encoder{Profile: p}.Encode(d)
}

// Drawer draws the lines that no code page of a profile can spell. printer/raster has the one that
// the daemon uses.
type Drawer interface {
	// Line draws one paragraph, wrapped as a speller would wrap it: one image a physical line, from
	// top to bottom. Every image is grid.WidthDots wide.
	Line(line document.Line, grid Grid) ([]Image, error)
	// Pair draws both texts on one line where they fit, else the right one on lines of its own.
	Pair(pair document.Pair, grid Grid) ([]Image, error)
}

// Grid is where drawn text must stand so that it lines up with spelt text above and below.
type Grid struct {
	// Columns of font A, and the width of the paper in dots.
	Columns, WidthDots int
	// CellDots is the width of one column, LineDots the least height of a line.
	CellDots, LineDots int
	// RightToLeft is the document's, which see.
	RightToLeft bool
}

// Image is black dots on paper.
type Image struct {
	WidthDots, HeightDots int
	// Rows holds HeightDots rows of (WidthDots+7)/8 bytes; the most significant bit is the leftmost
	// dot, 1 is black.
	Rows []byte
	// Missing lists the runes that no font has. They are drawn as their code points.
	Missing []rune
}
