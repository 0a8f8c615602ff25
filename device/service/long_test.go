package service

import (
	"fmt"
	"strings"
	"testing"

	"chit/device/wire"
)

// A ticket is at most 1 m of paper (DESIGN section 5). One that is longer, in its plainest form
// too, is refused by name, and those behind it print.
func TestTicketOfMoreThanAMetreIsRefusedByName(t *testing.T) {
	k := newKitchen(t)
	k.handed("long", func(t *wire.Ticket) {
		c := wire.Content{ID: "long/1", Kitchen: "main", Station: "grill", Kind: wire.KindNew}
		for i := range 190 {
			name := fmt.Sprintf("Item %d %s", i, strings.Repeat("x", 150))
			c.Items = append(c.Items, wire.Item{Quantity: 1, Name: name})
		}
		var err error
		if t.Data, err = wire.CanonicalContent(c); err != nil {
			panic(err)
		}
	})
	k.sends("a1", 1)
	k.phone.untilSaid("refused long/1@grill", "printed a1/1@grill")
	k.papers(1)
	k.phone.mu.Lock()
	defer k.phone.mu.Unlock()
	for _, a := range k.phone.acks {
		if a.Outcome == wire.OutcomeRefused && (!a.Permanent || a.Reason != "too_long") {
			t.Errorf("answer %+v, want a permanent refusal: too_long", a)
		}
	}
}
