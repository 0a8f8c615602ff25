package layout

import (
	"strconv"

	"chit/device/layout/words"
	"chit/printer/document"
)

// Plain is the ticket of an event whose layout failed: LAYOUT FAILED, the reason, then the words of
// the content in the plainest form there is. It uses neither sizes nor pairs nor columns beyond its
// marks, so that what broke the layout is not met again; the marks of the ticket stay. The reason
// is the error's own English: it is for whoever repairs it.
func Plain(in Input, reason string) document.Document {
	s := newSheet(in)
	w := s.w
	s.doc.Add(label(w.LayoutFailed))
	if reason != "" {
		s.line(w.PlainReason, "reason", quoted(reason))
	}
	s.plainDuplicate()
	if s.reprint() {
		s.doc.Add(label(w.Reprint))
	}
	for _, m := range in.Event.Marks {
		s.line(w.PlainMark, "mark", string(m))
	}
	s.plainFacts()
	c := in.Content
	if of := in.Event.CopyOf; of != "" {
		s.doc.Add(label(words.Fill(w.CopyOf, "station", upperID(of))))
	}
	s.doc.Add(label(s.plainKind()))
	s.line("{also}", "also", s.also())
	s.line(w.PlainTicket, "ticket", in.Event.ID)
	s.line(w.PlainNumber, "number", in.Event.Number)
	s.line(w.PlainOrder, "order", flat(c.Order))
	s.line(w.PlainType, "type", flat(c.Type))
	s.line(w.Table, "table", flat(c.Table))
	if c.Guests > 0 {
		s.doc.Add(document.Text(w.Count(w.Guests, c.Guests), plain))
	}
	if c.Customer != nil && in.Options.ShowCustomer {
		for _, text := range []string{c.Customer.Name, c.Customer.Phone} {
			if text != "" {
				s.line(w.Customer, "customer", quoted(text))
			}
		}
	}
	s.line(w.Due, "time", flat(c.DueAt))
	s.line(w.Placed, "time", flat(c.PlacedAt))
	s.plainItems()
	if c.Note != "" {
		s.doc.Add(document.Text(w.Note+" "+quoted(c.Note), plain))
	}
	s.plainDuplicate()
	return s.doc
}

func (s *sheet) plainDuplicate() {
	if s.duplicate() {
		s.doc.Add(label(s.w.PossibleDuplicate))
	}
}

// plainKind is the kind as the banner says it; a kind of a later version is said as it came.
func (s *sheet) plainKind() string {
	switch kind := s.kind(); kind {
	case "new":
		return s.w.New
	case "change":
		return s.w.Change
	case "void":
		return s.w.Void
	case "notice":
		return s.w.Notice
	case "reprint":
		return s.w.Reprint
	default:
		return upperID(string(kind))
	}
}

func (s *sheet) plainItems() {
	course, seat := "", ""
	for _, item := range s.in.Content.Items {
		if item.Course != course || item.Seat != seat {
			course, seat = item.Course, item.Seat
			s.line(s.w.Course, "course", flat(course))
			s.line(s.w.Seat, "seat", flat(seat))
		}
		s.doc.Add(document.Text(strconv.Itoa(item.Quantity)+" "+flat(item.Name), plain))
		for _, m := range item.Modifiers {
			s.line("  - {modifier}", "modifier", flat(m))
		}
		if len(item.Allergens) > 0 {
			s.doc.Add(label(s.w.Allergy))
			s.line("  {allergens}", "allergens", s.allergens(item.Allergens))
		}
		if item.Note != "" {
			s.line("  {note}", "note", quoted(item.Note))
		}
	}
}

// plainFacts are the device's own facts about this paper, in the plainest form.
func (s *sheet) plainFacts() {
	facts, w := s.in.Facts, s.w
	for _, above := range facts.IgnoreAbove {
		if line := above.line(w); line != "" {
			s.line(w.IgnoreIfAbove, "what", line)
		}
	}
	s.line(w.MovedFrom, "station", facts.MovedFrom)
	if facts.OlderThan > 0 {
		s.doc.Add(label(words.Fill(w.OlderThan, "seq", strconv.Itoa(facts.OlderThan))))
	}
	s.line(w.NotPrintedHere, "ticket", facts.Missing)
	if facts.AfterPowerCut {
		s.doc.Add(label(w.PowerCutPlain))
	}
}

// line adds one line of plain text unless there is nothing to say.
func (s *sheet) line(phrase, name, value string) {
	if value != "" {
		s.doc.Add(document.Text(words.Fill(phrase, name, value), plain))
	}
}
