// Package profile holds the facts about printer models that bytes depend on.
//
// Identity strings lie (clones answer GS I with an Epson's name), so a profile is chosen by a
// person, or by [Auto] where name and behaviour of a unit fit together, or is the safe one; what a
// unit can answer is probed by the session and not written here.
//
// The facts are in models/*.txt, each with its source:
//
//	db        receipt-print-hq/escpos-printer-db, all of its models (CC-BY-4.0, see NOTICE)
//	rpe       NielsLeenheer/ReceiptPrinterEncoder 4.0.1 (MIT, see NOTICE)
//	epson     Epson, ESC t, "Character Code Tables"
//	research  makers' manuals and reports of users, such as "where the same number means something
//	          else"
//	default   nobody says: what is safe
//
// Where two sources disagree about a page, it is not used: a wrong page prints another letter, a
// missing one a drawn one. Such pages are kept as "without", for people who compare paper. Nor are
// pages of Hebrew, Arabic and Thai letters used, which a printer sets from left to right and
// without their marks, nor page 1 of katakana, which holds ideographs of half their width.
package profile

// Page is one code page a printer has: the n of ESC t n and the name of its encoding as
// golang.org/x/text or this package's tables spell it, such as "CP437", "CP858", "WINDOWS-1252".
type Page struct {
	Number   byte
	Encoding string
}

// Images is the command that a printer takes images by.
type Images uint8

// The ways to send an image. The zero value is a printer that gets none: what cannot be spelt
// cannot be printed there, and a ticket with such words is refused with a reason.
const (
	ImagesNone   Images = iota
	ImagesRaster        // GS v 0
	ImagesColumn        // ESC * 33, 24 dots high, or ESC * 0 and 1 on 9-pin impact heads
)

// Buzzer is the command that the printer's own buzzer obeys.
type Buzzer uint8

// The buzzers there are. The zero value has none.
const (
	BuzzerNone  Buzzer = iota
	BuzzerClone        // ESC B n t
	BuzzerEpson        // ESC ( A
)

// Profile is one model's facts.
type Profile struct {
	Name string
	// Refused says why tickets must not be sent to such a printer and what to do; empty for nearly
	// all. [ByName] gives out no such profile.
	Refused string
	// Vendor and Model are for people: "Epson", "TM-T20III".
	Vendor, Model string
	// Columns of font A (12 dots wide) on this paper: 48 at 80 mm, 32 at 58 mm.
	Columns int
	// ColumnsB of the small font B, 0 where the printer has none.
	ColumnsB int
	// WidthDots is the printable width: 576 at 80 mm and 203 dpi, 384 at 58 mm.
	WidthDots int
	// DPI is 203 unless set; 180 on older Epsons, and the horizontal one on impact heads.
	DPI int
	// Impact is true for needle printers: no GS ! and no GS B, sizes by ESC ! up to 2 by 2, marks
	// by colour and frame.
	Impact bool
	// Images says how images are sent, and StripBytes how large one image command may be, its
	// header counted; 0 means 4096.
	Images     Images
	StripBytes int
	// QR is true where GS ( k draws QR codes; elsewhere they are drawn as an image.
	QR     bool
	Buzzer Buzzer
	// Drawer is true where a cash drawer can be wired. No ticket ever opens one.
	Drawer bool
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
