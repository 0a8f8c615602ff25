// Package layout turns a kitchen ticket into a document: what a cook needs, largest first.
//
// The package is pure. It knows neither printer nor clock: instants are printed as the order gives
// them, moved to the kitchen's zone where one is given. Everything a machine says about a ticket is
// a mark, white on black ([document.Style] Inverse); everything a guest or a cashier typed is
// plain, and free text is quoted, so no order can imitate a mark. A quantity above one and an
// allergen are inverse too, but they stand behind words that this package writes.
//
//	doc := layout.Ticket(layout.Input{Event: event, Content: content, Station: "Grill"})
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
}

// Facts are what the device alone knows about this piece of paper.
type Facts struct {
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
	// IgnoreAbove holds lines such as "41 WAS MOVED TO bar": tickets of this printer that were
	// printed elsewhere while it was away. Each ends with IGNORE IF ABOVE.
	IgnoreAbove []string
}
