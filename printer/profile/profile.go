// Package profile holds the facts about printer models that bytes depend on.
//
// Identity strings lie (clones answer GS I with an Epson's name), so a profile is chosen by a
// person or is the safe one; what a unit can answer is probed by the session and not written here.
package profile

// Page is one code page a printer has: the n of ESC t n and the name of its encoding as
// golang.org/x/text or this package's tables spell it, such as "CP437", "CP858", "WINDOWS-1252".
type Page struct {
	Number   byte
	Encoding string
}

// Profile is one model's facts.
type Profile struct {
	Name string
	// Columns of font A (12 dots wide) on this paper: 48 at 80 mm, 32 at 58 mm.
	Columns int
	// WidthDots is the printable width at 203 dpi: 576 at 80 mm, 384 at 58 mm.
	WidthDots int
	// Pages is ordered by preference. "Safe" pages are the same number nearly everywhere.
	Pages []Page
	// CutFeed is the number of lines of font A between the print head and the blade.
	CutFeed int
	// Cutter is false where GS V only feeds.
	Cutter bool
	// Red is true where ESC r 1 selects a second colour.
	Red bool
	// BufferBytes is the receive buffer that may be counted on; strips stay below it.
	BufferBytes int
}
