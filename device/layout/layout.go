// Package layout turns a kitchen ticket into a document: what a cook needs, largest first.
//
// The package is pure. It knows neither printer nor clock: instants are printed as the order gives
// them, moved to the kitchen's zone where one is given. Everything a machine says about a ticket is
// a mark, white on black ([document.Style] Inverse); everything a guest or a cashier typed is
// plain, and free text is quoted, so no order can imitate a mark. A quantity above one is inverse
// too, but it is a number alone.
//
//	doc := layout.Ticket(layout.Input{Event: event, Content: content, Station: "Grill"})
//
// Fixed words are the kitchen's own ([Options].Language, package words); what was typed is never
// translated, but for the names of allergens. In the foot line the id and the marks keep their
// English names, so that support can read any paper. Left means where reading starts: what is drawn
// from right to left has its quantities at the right edge (printer/raster).
//
// What kitchens expect on paper: research/escpos.md section 4. Marks: DESIGN section 5.
package layout

import (
	"time"

	"chit/device/wire"
)

// Input is all that a ticket's paper depends on.
type Input struct {
	// Event is the envelope: number, previous, pred, gaps, marks, as and changes. Its Data is not
	// read.
	Event wire.Ticket
	// Content is Event.Data, decoded.
	Content wire.Content
	// Station is the station's name for people. Event.Station stands in where it is empty.
	Station string
	Options Options
	Facts   Facts
}

// Options are the kitchen's wishes and the printer's width.
type Options struct {
	// Columns of plain font A on the printer. 0 means 32, the narrowest paper, so that nothing
	// overflows: large text is made smaller until it fits.
	Columns int
	// ShowCustomer puts the customer's name and phone on the paper.
	ShowCustomer bool
	// Location is the kitchen's zone. Where it is nil, times keep the offset they were given with.
	Location *time.Location
	// Language is the tag of a catalogue of package words; "" and unknown ones are English.
	Language string
	// Size of what a cook reads while cooking: items and what belongs to them, notes, facts.
	Size Size
	// Template says which blocks there are and in which order; the zero value is the usual paper.
	Template Template
	// Codes is true where the printer shall print QR codes. Elsewhere the foot line has the id alone.
	Codes bool
	// Address is put before the ticket's id in the QR code, such as "https://example.com/t/"; "" makes
	// it "chit:". It is the kitchen's own: no order's text is ever in a QR code.
	Address string
	// Compact leaves out what costs paper and tells the cook nothing: frames, the QR code, large
	// sizes. It is for tickets that would be too long otherwise.
	Compact bool
}

// Facts are what the device alone knows about this piece of paper.
type Facts struct {
	// PrintedAt is now, where the device knows the time; it is printed with the time that the ticket
	// took to paper. The zero value prints nothing.
	PrintedAt time.Time
	// PossibleDuplicate is true where this ticket may already be on paper. It adds to the mark of the
	// same name.
	PossibleDuplicate bool
	// AfterPowerCut prints PRINTED AFTER POWER CUT, CHECK TIME {placed_at}: the age is unknown.
	AfterPowerCut bool
	// MovedFrom names the station or printer that had the ticket before. With the mark moved and no
	// name the paper says MOVED alone.
	MovedFrom string
	// OlderThan is the seq of the same order that was already handed over: OLDER THAN {seq} ABOVE.
	// 0 means there is none.
	OlderThan int
	// Missing is the id of the station's previous ticket of this order where it never reached this
	// printer; the paper names it.
	Missing string
	// IgnoreAbove are tickets of this printer that were printed elsewhere while it was away, such as
	// "41 WAS MOVED TO BAR, IGNORE IF ABOVE".
	IgnoreAbove []Above
}
