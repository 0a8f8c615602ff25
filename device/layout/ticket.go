package layout

import (
	"chit/device/wire"
	"chit/printer/document"
)

// Ticket lays one ticket out.
func Ticket(in Input) document.Document {
	return document.Document{}
}

// Plain is the ticket of an event whose layout stopped the program twice: LAYOUT FAILED, then the
// words of content in the plainest form there is. reason is printed under the mark.
func Plain(event wire.Ticket, content wire.Content, reason string) document.Document {
	return document.Document{}
}
