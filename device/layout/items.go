package layout

import (
	"strconv"
	"strings"

	"chit/device/wire"
	"chit/printer/document"
)

// changes prints what a change ticket adds, removes and alters, before the complete new items: the
// cook who has the earlier ticket in hand needs the difference, the next one needs the whole.
func (s *sheet) changes() {
	s.doc.Add(document.Rule{})
	if s.kind() != wire.KindChange {
		return
	}
	if c := s.in.Event.Changes; c == nil {
		s.doc.Add(label("WHAT CHANGED IS NOT KNOWN"))
	} else {
		for _, item := range c.Added {
			s.item(item, "ADDED")
		}
		for _, item := range c.Removed {
			s.item(item, "REMOVED")
		}
		for i, item := range c.Altered {
			s.item(item, "CHANGED")
			if i < len(c.Was) {
				s.doc.Add(was(c.Was[i]))
			}
		}
	}
	s.doc.Add(document.Rule{})
	if len(s.in.Content.Items) > 0 {
		s.doc.Add(document.Text("COMPLETE ORDER NOW", bold))
	}
}

// was is the item as it stood before: "(was 2 Margherita, no onion)".
func was(item wire.Item) document.Line {
	parts := []string{strconv.Itoa(item.Quantity) + " " + flat(item.Name)}
	for _, m := range item.Modifiers {
		parts = append(parts, flat(m))
	}
	if len(item.Allergens) > 0 {
		parts = append(parts, "allergy "+upper(listed(item.Allergens)))
	}
	if item.Note != "" {
		parts = append(parts, quoted(item.Note))
	}
	for _, place := range []struct{ name, value string }{
		{"course ", item.Course}, {"seat ", item.Seat},
	} {
		if place.value != "" {
			parts = append(parts, place.name+flat(place.value))
		}
	}
	return document.Line{
		Indent: itemIndent, Hang: itemIndent,
		Spans: []document.Span{{Text: "(was " + strings.Join(parts, ", ") + ")"}},
	}
}

// items prints every item under the headings of its course and seat.
func (s *sheet) items() {
	c := s.in.Content
	void := s.kind() == wire.KindVoid
	if void && len(c.Items) == 0 {
		s.banner("DO NOT MAKE ANYTHING OF THIS ORDER", 2)
		return
	}
	course, seat := "", ""
	for _, item := range c.Items {
		if item.Course != course {
			course = item.Course
			seat = ""
			if course != "" {
				s.doc.Add(heading("Course " + flat(course)))
			}
		}
		if item.Seat != seat {
			seat = item.Seat
			if seat != "" {
				s.doc.Add(heading("Seat " + flat(seat)))
			}
		}
		if void {
			s.item(item, "VOID")
		} else {
			s.item(item, "")
		}
	}
}

// itemIndent is where modifiers and notes stand: under the name of an item with a one-digit
// quantity, which takes three double-width characters and a space.
const itemIndent = 7

// item prints one item: quantity first, white on black above one, then the name, then everything
// about it on lines of its own. A mark such as VOID stands on the line before.
func (s *sheet) item(item wire.Item, mark string) {
	out := mark == "VOID" || mark == "REMOVED"
	if mark != "" {
		s.doc.Add(label(mark))
	}
	quantity := document.Span{
		Text:    " " + strconv.Itoa(item.Quantity) + " ",
		NoBreak: true,
		Style:   document.Style{Width: 2, Height: 2, Bold: true, Inverse: item.Quantity > 1},
	}
	name := tall
	// Marked out: neither large nor bold, with a line under it where printers cannot strike through.
	if out {
		quantity.Style.Height, quantity.Style.Bold, quantity.Style.Inverse = 1, false, false
		name = document.Style{Underline: true}
	}
	hang := 2*len(quantity.Text) + 1
	s.doc.Add(document.Line{Hang: hang, Spans: []document.Span{
		quantity, {Text: " "}, {Text: flat(item.Name), Style: name},
	}})
	style := bold
	if out {
		style = plain
	}
	for _, m := range item.Modifiers {
		s.doc.Add(indented("- "+flat(m), style))
	}
	if len(item.Allergens) > 0 {
		s.doc.Add(allergy(item.Allergens))
	}
	if item.Note != "" {
		s.doc.Add(indented(quoted(item.Note), style))
	}
}

// allergy is read in a hurry and must not be missed: the label is a mark, the words are in
// capitals, double height and red. They come from the order, so they are not white on black.
func allergy(allergens []string) document.Line {
	return document.Line{Indent: 2, Hang: 4, Spans: []document.Span{
		{
			Text: " ALLERGY: ", NoBreak: true,
			Style: document.Style{Height: 2, Bold: true, Inverse: true, Red: true},
		},
		{
			Text:  " " + upper(listed(allergens)),
			Style: document.Style{Height: 2, Bold: true, Underline: true, Red: true},
		},
	}}
}

// note is the note of the whole order; on a notice it is the message.
func (s *sheet) note() {
	if s.in.Content.Note == "" {
		return
	}
	s.doc.Add(document.Feed{Lines: 1}, document.Line{Hang: 2, Spans: []document.Span{
		{Text: "Note "}, {Text: quoted(s.in.Content.Note), Style: tall},
	}})
}
