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
	c := in.Content
	s.doc.Add(label(upper(string(s.kind()))))
	s.line("Ticket ", in.Event.ID)
	s.line("Number ", in.Event.Number)
	s.line("Order ", flat(c.Order))
	s.line("Type ", flat(c.Type))
	s.line("Table ", flat(c.Table))
	s.line("Due ", flat(c.DueAt))
	s.line("Placed ", flat(c.PlacedAt))
	for _, item := range c.Items {
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

// line adds one line of plain text unless there is nothing to say.
func (s *sheet) line(name, value string) {
	if value != "" {
		s.doc.Add(document.Text(name+value, plain))
	}
}
