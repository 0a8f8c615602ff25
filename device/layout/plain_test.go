package layout

import (
	"strings"
	"testing"

	"chit/device/wire"
	"chit/printer/document"
)

// What broke the layout must not cost the cook a word: the plain form says all that the ticket
// says.
func TestThePlainFormLeavesNothingOut(t *testing.T) {
	in := Input{
		Event: wire.Ticket{ID: "o/2@grill", Number: "41", Marks: []wire.Mark{wire.MarkLate}},
		Content: wire.Content{
			ID: "o/2", Kind: wire.KindNew, Order: "Núria", Type: "dine-in", Table: "T7", Guests: 3,
			PlacedAt: "2026-03-01T18:00:00Z", DueAt: "2026-03-01T18:30:00Z", Note: "birthday",
			Customer: &wire.Customer{Name: "Anna", Phone: "0123"},
			Items: []wire.Item{{Quantity: 2, Name: "soup", Modifiers: []string{"hot"}, Note: "no salt",
				Allergens: []string{"nuts"}, Course: "starter", Seat: "4B"}},
		},
		Options: Options{Columns: 32, ShowCustomer: true},
		Facts: Facts{PossibleDuplicate: true, AfterPowerCut: true, MovedFrom: "bar", OlderThan: 3,
			Missing: "o/1@grill", IgnoreAbove: []Above{{Number: "40", Reason: "moved", MovedTo: "bar"}}},
	}
	var all strings.Builder
	each(Plain(in, "broken"), func(s document.Span) { all.WriteString(s.Text + "\n") })
	for _, want := range []string{"LAYOUT FAILED", "broken", "POSSIBLE DUPLICATE", "late", "o/2@grill",
		"41", "Núria", "dine-in", "T7", "3 guests", "2026-03-01T18:00", "2026-03-01T18:30", "birthday",
		"Anna", "0123", "2 soup", "hot", "no salt", "NUTS", "starter", "4B", "bar", "OLDER THAN 3 ABOVE",
		"o/1@grill", "CHECK TIME", "40 WAS MOVED TO BAR, IGNORE IF ABOVE"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("%q is not on the paper:\n%s", want, all.String())
		}
	}
	in.Options.ShowCustomer = false
	each(Plain(in, ""), func(s document.Span) {
		if strings.Contains(s.Text, "Anna") {
			t.Error("the customer is on a paper that should not name him")
		}
	})
}
