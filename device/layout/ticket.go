package layout

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"chit/device/wire"
	"chit/printer/document"
)

// Ticket lays one ticket out.
func Ticket(in Input) document.Document {
	s := sheet{in: in, columns: columns(in.Options.Columns)}
	s.marksAbove()
	s.heading()
	s.facts()
	s.changes()
	s.items()
	s.note()
	s.foot()
	return s.doc
}

// sheet is one ticket while it is laid out.
type sheet struct {
	in      Input
	columns int
	doc     document.Document
	// marking is true while only marks have been printed.
	marking bool
}

// kind is what the ticket tells the station; a reprint repeats what its content says.
func (s *sheet) kind() wire.Kind {
	if as := s.in.Event.As; as != "" && as != wire.KindReprint {
		return as
	}
	return s.in.Content.Kind
}

func (s *sheet) marked(m wire.Mark) bool { return slices.Contains(s.in.Event.Marks, m) }

func (s *sheet) duplicate() bool {
	return s.in.Facts.PossibleDuplicate || s.marked(wire.MarkPossibleDuplicate)
}

func (s *sheet) reprint() bool {
	return s.in.Event.As == wire.KindReprint || s.in.Content.Kind == wire.KindReprint ||
		s.marked(wire.MarkReprint)
}

// banner adds a mark over the full width, at most that many times as large as plain text. Two marks
// have white between them: black that runs together reads as one.
func (s *sheet) banner(text string, largest document.Size) {
	if s.marking {
		s.doc.Add(document.Feed{Lines: 1})
	}
	s.doc.Add(banner(text, largest, s.columns)...)
	s.marking = true
}

// marksAbove prints what the cook must know before the order itself.
func (s *sheet) marksAbove() {
	facts := s.in.Facts
	for _, line := range facts.IgnoreAbove {
		s.banner(line+", IGNORE IF ABOVE", 1)
	}
	if s.duplicate() {
		s.banner("POSSIBLE DUPLICATE", 4)
	}
	if s.marked(wire.MarkMoved) || facts.MovedFrom != "" {
		s.moved()
	}
	if facts.OlderThan > 0 {
		s.banner("OLDER THAN "+strconv.Itoa(facts.OlderThan)+" ABOVE", 2)
	}
	if facts.Missing != "" {
		s.banner("NOT PRINTED HERE: "+facts.Missing, 1)
	}
	if facts.AfterPowerCut {
		s.banner("PRINTED AFTER POWER CUT, CHECK TIME "+s.placed(), 2)
	}
	if s.marked(wire.MarkLate) {
		s.banner("LATE", 3)
	}
}

// moved names the printer that had the ticket. Where the old one did not answer its recall the
// ticket is also a possible duplicate, and the cook is told whom to ask (DESIGN section 5).
func (s *sheet) moved() {
	from := cmp.Or(s.in.Facts.MovedFrom, upper(flat(s.in.Event.From)))
	switch {
	case from == "":
		s.banner("MOVED", 2)
	case s.duplicate():
		s.banner("MOVED, ASK "+from, 2)
	default:
		s.banner("MOVED FROM "+from, 2)
	}
}

// placed is the instant the order was placed, or "UNKNOWN": no other text may stand in a mark.
func (s *sheet) placed() string {
	if t, ok := instant(s.in.Content.PlacedAt, s.in.Options.Location); ok {
		return upper(t.Format("2 Jan 15:04"))
	}
	return "UNKNOWN"
}

// heading is the station, the kind, the order's name and its running number.
func (s *sheet) heading() {
	station := s.in.Station
	if station == "" {
		station = s.in.Event.Station
	}
	if station == "" {
		station = s.in.Content.Station
	}
	if station != "" {
		s.banner(upper(station), 2)
	}
	if of := s.in.Event.CopyOf; of != "" {
		s.banner("COPY OF "+upper(flat(of)), 2)
	}
	if s.reprint() {
		s.banner("REPRINT", 3)
	}
	switch s.kind() {
	case wire.KindChange:
		s.banner("CHANGE", 3)
	case wire.KindVoid:
		s.banner("VOID", 4)
	case wire.KindNotice:
		s.banner("NOTICE", 3)
	}
	s.marking = false
	if name := s.name(); name != "" {
		s.doc.Add(largest(name, s.columns))
	}
	s.number()
	if also := s.also(); also != "" {
		s.doc.Add(document.Text(also, bold))
	}
}

// also names the other stations that make a part of the same, so that it is ready together.
func (s *sheet) also() string {
	if s.in.Event.AlsoAt == "" {
		return ""
	}
	return "ALSO AT " + upper(flat(strings.ReplaceAll(s.in.Event.AlsoAt, ",", ", ")))
}

// name is what the order is called across the kitchen. An order without a short name is called by
// its id, as the ticket's id spells it: a paper must never be nobody's.
func (s *sheet) name() string {
	if name := flat(s.in.Content.Order); name != "" {
		return name
	}
	if id, err := wire.ParseTicketID(s.in.Event.ID); err == nil {
		return id.Order
	}
	order, _, _ := wire.ParseContentID(s.in.Content.ID) // "" where the id is none.
	return order
}

// number prints "41 · previous 40" and what became of numbers between (DESIGN section 2).
func (s *sheet) number() {
	left := []document.Span{}
	if s.kind() == wire.KindNew && !s.reprint() {
		left = append(left, document.Span{Text: "NEW", Style: bold})
	}
	number := s.in.Event.Number
	if number == "" {
		if len(left) > 0 {
			s.doc.Add(document.Line{Spans: left})
		}
		return
	}
	before := " · first today"
	switch s.in.Event.Previous {
	case "":
	case wire.PreviousUnknown:
		before = " · previous unknown (restored)"
	default:
		before = " · previous " + s.in.Event.Previous
	}
	right := []document.Span{{Text: number, Style: tall}, {Text: before}}
	if len(left) == 0 {
		s.doc.Add(document.Line{Spans: right})
	} else {
		s.doc.Add(document.Pair{Left: left, Right: right})
	}
	s.gaps()
}

func (s *sheet) gaps() {
	if s.in.Event.Gaps == "" {
		return
	}
	gaps, err := wire.ParseGaps(s.in.Event.Gaps)
	if err != nil {
		// The line is a comfort, the ticket is the duty: print it, with what the broker said.
		s.doc.Add(document.Text("Numbers between: "+quoted(s.in.Event.Gaps), plain))
		return
	}
	for _, g := range gaps {
		text := g.Number + " " + g.What
		if g.What == wire.GapEarlier {
			text = g.Number + " printed earlier, as another number"
		}
		if g.To != "" {
			text += " to " + g.To
		}
		s.doc.Add(document.Text(text, bold))
	}
}

// facts are type, table, guests, times and customer.
func (s *sheet) facts() {
	c := s.in.Content
	var left, right []document.Span
	if c.Type != "" {
		left = append(left, document.Span{Text: upper(flat(c.Type)), Style: tall})
	}
	if c.Table != "" {
		right = append(right, document.Span{Text: "Table " + flat(c.Table), Style: tall})
	}
	if c.Guests > 0 {
		text := plural(c.Guests, "guest", "guests")
		if len(right) > 0 {
			text = " · " + text
		}
		right = append(right, document.Span{Text: text})
	}
	switch {
	case len(left) > 0 && len(right) > 0:
		s.doc.Add(document.Pair{Left: left, Right: right})
	case len(left)+len(right) > 0:
		s.doc.Add(document.Line{Spans: append(left, right...)})
	}
	s.times()
	if customer := c.Customer; customer != nil && s.in.Options.ShowCustomer {
		for _, text := range []string{customer.Name, customer.Phone} {
			if text != "" {
				s.doc.Add(document.Text("Customer "+quoted(text), plain))
			}
		}
	}
}

// times prints the due time large: it is what the cook plans by.
func (s *sheet) times() {
	c, zone := s.in.Content, s.in.Options.Location
	var left, right []document.Span
	if c.DueAt != "" {
		left = append(left, document.Span{Text: "Due " + due(c.DueAt, c.PlacedAt, zone), Style: tall})
	}
	if c.PlacedAt != "" {
		right = append(right, document.Span{Text: "Placed " + clock(c.PlacedAt, zone)})
	}
	switch {
	case len(left) > 0 && len(right) > 0:
		s.doc.Add(document.Pair{Left: left, Right: right})
	case len(left)+len(right) > 0:
		s.doc.Add(document.Line{Spans: append(left, right...)})
	}
}

// foot is the ticket's id with its marks, and the duplicate mark once more: paper is torn off and
// folded, so the mark must be seen from either end.
func (s *sheet) foot() {
	s.doc.Add(document.Rule{})
	id := s.in.Event.ID
	if id == "" {
		id = s.in.Content.ID
	}
	foot := id
	if s.in.Event.Attempt > 1 {
		foot += " · attempt " + strconv.Itoa(s.in.Event.Attempt)
	}
	for _, m := range s.in.Event.Marks {
		foot += " · " + string(m)
	}
	if s.in.Facts.PossibleDuplicate && !s.marked(wire.MarkPossibleDuplicate) {
		foot += " · " + string(wire.MarkPossibleDuplicate)
	}
	s.doc.Add(document.Text(foot, plain))
	if s.duplicate() {
		s.banner("POSSIBLE DUPLICATE", 4)
	}
}
