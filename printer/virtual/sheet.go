package virtual

import (
	"fmt"
	"strings"
	"time"
)

// Style is how a run of text looks.
type Style struct {
	FontB                              bool
	Cell                               int // dots of one column; 0 means 12, or 9 in font B
	Width, Height                      int // magnification by GS !, 1 to 8
	Bold, Inverse, Red, Upside, Turned bool
	Italic                             bool
	Underline                          int // dots, 0 to 2
}

// Run is text of one style. X is the left edge in dots from the left edge of the printable area.
type Run struct {
	X, Width int
	Text     string
	Style    Style
}

// Line is one printed line. Y is its top in dots from the top of the sheet.
type Line struct {
	Y, Height int
	Runs      []Run
	Offset    int64 // of the byte that printed it
	Upside    bool
	// Mirror is the sum of the left and right edge of the printing area, about whose middle ESC {
	// turns the line.
	Mirror int
}

// Image is printed dots: eight to a byte, most significant first, rows of (Width+7)/8 bytes.
type Image struct {
	X, Y, Width, Height int
	ScaleX, ScaleY      int // 1 or 2
	Bits                []byte
	Red                 bool
	Offset              int64
}

// Box is a bar code or a two-dimensional symbol. Label names its kind, Data is what it says.
type Box struct {
	X, Y, Width, Height int
	Label, Data         string
	// Bits are its dots, as in [Image]; none where this printer can only draw a labelled frame.
	Bits []byte
	// Captions are the lines of GS H above and below the bars. Y is from the top of the box.
	Captions []Line
	Red      bool
	Offset   int64
}

// Mark is something that happened while this piece of paper was in the machine.
type Mark struct {
	Y      int       `json:"y"`
	At     time.Time `json:"at"`
	Offset int64     `json:"offset"`
	// Kind is one of "cut", "torn", "error", "event", "fault".
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// Cut is how a sheet ended.
type Cut string

// The ways paper ends. The empty Cut is paper that still hangs in the machine.
const (
	CutNone    Cut = ""
	CutFull    Cut = "full"
	CutPartial Cut = "partial"
	Torn       Cut = "torn"
)

// Sheet is one piece of paper, from cut to cut.
type Sheet struct {
	Number int // from 1
	// Start and End are offsets in the byte stream: of the first byte that moved this paper, and
	// after the last.
	Start, End int64
	WidthDots  int
	HeightDots int
	CellDots   int // of one column of font A; 0 means 12
	// Needles is true where the dots are taller than wide.
	Needles bool
	Cut     Cut
	CutAt   time.Time
	Lines   []Line
	Images  []Image
	Boxes   []Box
	Marks   []Mark
}

// Errors lists what this printer objected to while the sheet was made: unknown commands, characters
// that its page cannot spell, a cut through a line.
func (s Sheet) Errors() []string {
	var out []string
	for _, m := range s.Marks {
		if m.Kind == "error" {
			out = append(out, fmt.Sprintf("at byte %d: %s", m.Offset, m.Text))
		}
	}
	return out
}

// Blank is true where nothing was printed on the sheet.
func (s Sheet) Blank() bool { return len(s.Lines) == 0 && len(s.Images) == 0 && len(s.Boxes) == 0 }

// Text is the sheet as plain text: runs stand in their columns, each 30 dots of blank paper between
// two lines are an empty line, images and symbols are named in brackets. It ends with a newline
// unless the sheet is blank.
func (s Sheet) Text() string { return s.text(false) }

// Styled is [Sheet.Text] with each run's style before it in braces, where it is not plain, and with
// the marks at the end. It is meant for golden files.
func (s Sheet) Styled() string {
	var b strings.Builder
	b.WriteString(s.text(true))
	for _, m := range s.Marks {
		fmt.Fprintf(&b, "-- %s %s\n", m.Kind, m.Text)
	}
	return b.String()
}
