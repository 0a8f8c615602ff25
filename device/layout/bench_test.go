package layout

import (
	"fmt"
	"testing"

	"chit/device/wire"
	"chit/printer/document"
	"chit/printer/escpos"
	"chit/printer/profile"
)

// fortyLines is a busy table: about forty lines of paper, all of it spelt.
func fortyLines() Input {
	in := dinner()
	in.Options.Columns = 48
	in.Content.Items = nil
	for i := range 10 {
		in.Content.Items = append(in.Content.Items, wire.Item{
			Quantity: 1 + i%3, Name: fmt.Sprintf("Dish number %d with a name", i),
			Modifiers: []string{"NO onion", "medium"}, Note: "on the side",
		})
	}
	in.Content.Items[3].Allergens = []string{"peanuts"}
	return in
}

// BenchmarkTicket lays forty lines out. The bound of layout and encoding together is 1 ms.
func BenchmarkTicket(b *testing.B) {
	in := fortyLines()
	b.ReportAllocs()
	for b.Loop() {
		Ticket(in)
	}
}

// BenchmarkTicketToBytes lays forty lines out and encodes them.
func BenchmarkTicketToBytes(b *testing.B) {
	in, encoder := fortyLines(), escpos.Encoder{Profile: profile.Safe80()}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := encoder.Encode(Ticket(in)); err != nil {
			b.Fatal(err)
		}
	}
}

func TestTheBenchmarksTicketHasFortyLines(t *testing.T) {
	lines := 0
	for _, block := range Ticket(fortyLines()).Blocks {
		if _, ok := block.(document.Line); ok {
			lines++
		}
	}
	if lines < 38 || lines > 50 {
		t.Errorf("%d lines", lines)
	}
}
