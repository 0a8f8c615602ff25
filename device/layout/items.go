package layout

import (
	"strconv"
	"strings"

	"chit/device/layout/words"
	"chit/device/wire"
	"chit/printer/document"
)

// changes prints what a change ticket adds, removes and alters, before the complete new items: the
// cook who has the earlier ticket in hand needs the difference, the next one needs the whole.
func (s *sheet) changes() {
	if s.kind() != wire.KindChange {
		return
	}
	s.doc.Add(document.Rule{})
	c := s.in.Event.Changes
	if c == nil {
		s.doc.Add(label(s.w.ChangesUnknown))
		return
	}
	for _, item := range c.Added {
		s.item(item, s.w.Added, false)
	}
	for _, item := range c.Removed {
		s.item(item, s.w.Removed, true)
	}
	for i, item := range c.Altered {
		s.item(item, s.w.Changed, false)
		if i < len(c.Was) {
			s.doc.Add(s.was(c.Was[i]))
		}
	}
}

// was is the item as it stood before: "(was 2 Margherita, no onion)".
func (s *sheet) was(item wire.Item) document.Line {
	parts := []string{strconv.Itoa(item.Quantity) + " " + flat(item.Name)}
	for _, m := range item.Modifiers {
		parts = append(parts, flat(m))
	}
	if len(item.Allergens) > 0 {
		parts = append(parts, words.Fill(s.w.WasAllergy, "allergens", s.allergens(item.Allergens)))
	}
	if item.Note != "" {
		parts = append(parts, quoted(item.Note))
	}
	if item.Course != "" {
		parts = append(parts, words.Fill(s.w.Course, "course", flat(item.Course)))
	}
	if item.Seat != "" {
		parts = append(parts, words.Fill(s.w.Seat, "seat", flat(item.Seat)))
	}
	indent := s.indent()
	return document.Line{Indent: indent, Hang: indent, Spans: []document.Span{
		{Text: words.Fill(s.w.Was, "item", strings.Join(parts, ", ")), Style: s.body.fact},
	}}
}

// items prints every item under the headings of its course and seat.
func (s *sheet) items() {
	c := s.in.Content
	s.doc.Add(document.Rule{})
	if s.kind() == wire.KindChange && len(c.Items) > 0 {
		s.doc.Add(document.Text(s.w.CompleteNow, bold))
	}
	void := s.kind() == wire.KindVoid
	if void && len(c.Items) == 0 {
		s.banner(s.w.DoNotMake, 2)
		return
	}
	course, seat := "", ""
	for _, item := range c.Items {
		if item.Course != course {
			course = item.Course
			seat = ""
			if course != "" {
				s.doc.Add(heading(words.Fill(s.w.Course, "course", flat(course))))
			}
		}
		if item.Seat != seat {
			seat = item.Seat
			if seat != "" {
				s.doc.Add(heading(words.Fill(s.w.Seat, "seat", flat(seat))))
			}
		}
		mark := ""
		if void {
			mark = s.w.Void
		}
		s.item(item, mark, void)
	}
}

// indent is where modifiers and notes stand: under the name of an item with a one-digit quantity,
// which takes three characters of its width and a space.
func (s *sheet) indent() int { return 3*int(s.body.quantity.Width) + 1 }

// item prints one item: quantity first, white on black above one, then the name, then everything
// about it on lines of its own. A mark such as VOID stands on the line before. An item that is out
// is neither large nor bold, and struck out.
func (s *sheet) item(item wire.Item, mark string, out bool) {
	if mark != "" {
		s.doc.Add(label(mark))
	}
	quantity := document.Span{
		Text: " " + strconv.Itoa(item.Quantity) + " ", NoBreak: true, Style: s.body.quantity,
	}
	quantity.Style.Inverse = item.Quantity > 1
	name := s.body.name
	if out {
		quantity.Style = document.Style{Width: quantity.Style.Width}
		name = document.Style{Strike: true}
	}
	hang := int(quantity.Style.Width)*len(quantity.Text) + 1
	s.doc.Add(document.Line{Hang: hang, Spans: []document.Span{
		quantity, {Text: " "}, {Text: flat(item.Name), Style: name},
	}})
	for _, m := range item.Modifiers {
		s.modifier(flat(m), out)
	}
	if len(item.Allergens) > 0 {
		s.allergy(item.Allergens, out)
	}
	if item.Note != "" {
		s.doc.Add(s.indented(document.Span{Text: quoted(item.Note), Style: s.detail(out)}))
	}
}

func (s *sheet) detail(out bool) document.Style {
	if out {
		return plain
	}
	return s.body.detail
}

func (s *sheet) indented(spans ...document.Span) document.Line {
	indent := s.indent()
	return document.Line{Indent: indent, Hang: indent + 2, Spans: spans}
}

// modifier prints one modifier as it came. The word that takes away or adds is taller, and that
// which takes away is underlined too: cooks who overlook it make the dish wrong.
func (s *sheet) modifier(text string, out bool) {
	style := s.detail(out)
	m := words.Sensed(text)
	if out || m.Sense == words.Plain {
		s.doc.Add(s.indented(document.Span{Text: "- " + text, Style: style}))
		return
	}
	strong := style
	strong.Underline = m.Sense == words.Without
	if !s.in.Options.Compact {
		strong.Height = max(strong.Height, 1) + 1
	}
	spans := []document.Span{
		{Text: "- " + m.Before, Style: style}, {Text: m.Word, Style: strong},
	}
	if m.After != "" {
		spans = append(spans, document.Span{Text: m.After, Style: style})
	}
	s.doc.Add(s.indented(spans...))
}

// allergens are named in the kitchen's language, where they are known ones, in capitals.
func (s *sheet) allergens(list []string) string {
	parts := make([]string, len(list))
	for i, one := range list {
		parts[i] = s.w.Upper(flat(s.w.Allergen(flat(one))))
	}
	return strings.Join(parts, ", ")
}

// allergy is read in a hurry and must not be missed: the label is a mark, the words are in
// capitals, tall and red, in a frame. They come from the order, so they are not white on black. For
// an item that is out they are said without a frame: nobody eats it.
func (s *sheet) allergy(list []string, out bool) {
	line := document.Line{Spans: []document.Span{
		{
			Text: " " + s.w.Allergy + " ", NoBreak: true,
			Style: document.Style{Height: 2, Bold: true, Inverse: true, Red: true},
		},
		{Text: " " + s.allergens(list), Style: s.body.allergen},
	}}
	line.Spans[1].Style.Underline, line.Spans[1].Style.Red = true, true
	if out || s.in.Options.Compact {
		line.Indent, line.Hang = 2, 4
		s.doc.Add(line)
		return
	}
	s.doc.Add(document.Box{Red: true, Lines: []document.Line{line}})
}

// note is the note of the whole order; on a notice it is the message.
func (s *sheet) note() {
	if s.in.Content.Note == "" {
		return
	}
	s.doc.Add(document.Feed{Lines: 1}, document.Line{Hang: 2, Spans: []document.Span{
		{Text: s.w.Note + " "}, {Text: quoted(s.in.Content.Note), Style: s.body.note},
	}})
}
