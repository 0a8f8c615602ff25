package layout

import (
	"strconv"

	"chit/printer/document"
)

// Plain is the ticket of an event whose layout failed: LAYOUT FAILED, the reason, then the words of
// the content in the plainest form there is. It uses neither sizes nor pairs nor columns beyond its
// marks, so that what broke the layout is not met again; the marks of the ticket stay.
func Plain(in Input, reason string) document.Document {
	s := sheet{in: in, columns: columns(in.Options.Columns)}
	s.doc.Add(label("LAYOUT FAILED"))
	if reason != "" {
		s.line("Reason ", quoted(reason))
	}
	if s.duplicate() {
		s.doc.Add(label("POSSIBLE DUPLICATE"))
	}
	if s.reprint() {
		s.doc.Add(label("REPRINT"))
	}
	for _, m := range in.Event.Marks {
		s.line("Mark ", string(m))
	}
	s.plainFacts()
	c := in.Content
	if of := in.Event.CopyOf; of != "" {
		s.doc.Add(label("COPY OF " + upper(flat(of))))
	}
	s.doc.Add(label(upper(string(s.kind()))))
	s.line("", s.also())
	s.line("Ticket ", in.Event.ID)
	s.line("Number ", in.Event.Number)
	s.line("Order ", flat(c.Order))
	s.line("Type ", flat(c.Type))
	s.line("Table ", flat(c.Table))
	if c.Guests > 0 {
		s.line("", plural(c.Guests, "guest", "guests"))
	}
	if c.Customer != nil && in.Options.ShowCustomer {
		for _, text := range []string{c.Customer.Name, c.Customer.Phone} {
			if text != "" {
				s.line("Customer ", quoted(text))
			}
		}
	}
	s.line("Due ", flat(c.DueAt))
	s.line("Placed ", flat(c.PlacedAt))
	course, seat := "", ""
	for _, item := range c.Items {
		if item.Course != course || item.Seat != seat {
			course, seat = item.Course, item.Seat
			s.line("Course ", flat(course))
			s.line("Seat ", flat(seat))
		}
		s.line("", strconv.Itoa(item.Quantity)+" "+flat(item.Name))
		for _, m := range item.Modifiers {
			s.line("  - ", flat(m))
		}
		if len(item.Allergens) > 0 {
			s.doc.Add(label("ALLERGY:"))
			s.line("  ", upper(listed(item.Allergens)))
		}
		if item.Note != "" {
			s.line("  ", quoted(item.Note))
		}
	}
	if c.Note != "" {
		s.line("Note ", quoted(c.Note))
	}
	if s.duplicate() {
		s.doc.Add(label("POSSIBLE DUPLICATE"))
	}
	return s.doc
}

// plainFacts are the device's own facts about this paper, in the plainest form.
func (s *sheet) plainFacts() {
	facts := s.in.Facts
	for _, above := range facts.IgnoreAbove {
		s.line("", above+", IGNORE IF ABOVE")
	}
	s.line("Moved from ", facts.MovedFrom)
	if facts.OlderThan > 0 {
		s.doc.Add(label("OLDER THAN " + strconv.Itoa(facts.OlderThan) + " ABOVE"))
	}
	s.line("Not printed here: ", facts.Missing)
	if facts.AfterPowerCut {
		s.doc.Add(label("AFTER POWER CUT, CHECK TIME"))
	}
}

// line adds one line of plain text unless there is nothing to say.
func (s *sheet) line(name, value string) {
	if value != "" {
		s.doc.Add(document.Text(name+value, plain))
	}
}
