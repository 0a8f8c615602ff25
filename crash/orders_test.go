package crash

import (
	"fmt"
	"time"

	"chit/device/wire"
)

// order is one ticket; its content follows from its id, so that it can be posted again.
func order(name string, seq int, station string, kind wire.Kind) wire.Content {
	c := wire.Content{
		ID: fmt.Sprintf("%s/%d", name, seq), Kitchen: "main", Station: station, Kind: kind,
		Order: name, Type: "take-away",
		PlacedAt: time.Date(2026, 3, 14, 18, 30, 0, 0, time.UTC).Format(time.RFC3339),
	}
	switch kind {
	case wire.KindNotice:
		c.Type, c.Note = "", "86 the lamb"
	case wire.KindVoid:
		c.Note = "guest has left"
		fallthrough
	default:
		c.Items = []wire.Item{
			{Quantity: seq, Name: "Pizza Margherita", Modifiers: []string{"NO basil"}},
			{Quantity: 1, Name: "Tagliatelle al ragù", Note: "well done", Allergens: []string{"gluten"}},
		}
	}
	return c
}

// inFlight are several tickets at once: an order with two notices behind it, and another one at the
// other station, if there is one. None of them ends another: all must come out.
func inFlight(name, station, other string) []wire.Content {
	return []wire.Content{
		order(name+"a", 1, station, wire.KindNew),
		order(name+"b", 1, other, wire.KindNew),
		order(name+"a", 2, station, wire.KindNotice),
		order(name+"a", 3, station, wire.KindNotice),
	}
}
