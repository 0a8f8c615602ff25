package layout

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"chit/device/layout/words"
	"chit/device/wire"
	"chit/printer/document"
)

// Ticket lays one ticket out. It cannot fail: what a template leaves out that a cook must have is
// printed all the same.
func Ticket(in Input) document.Document {
	s := newSheet(in)
	s.marksAbove()
	template := in.Options.Template
	if template.Check() != nil {
		template = Template{}
	}
	for _, b := range template.blocks() {
		s.block(b)
	}
	if s.duplicate() {
		s.banner(s.w.PossibleDuplicate, 4)
	}
	return s.doc
}

// sheet is one ticket while it is laid out.
type sheet struct {
	in      Input
	columns int
	w       *words.Words
	body    body
	doc     document.Document
	// marked is how long the document was after its last banner.
	marked int
}

func newSheet(in Input) *sheet {
	w, _ := words.For(in.Options.Language)
	options := in.Options
	if size := options.Template.ItemSize; size != nil {
		options.Size = *size
	}
	return &sheet{in: in, columns: columns(options.Columns), w: w, body: options.body(),
		doc: options.paper()}
}

func (s *sheet) block(b Block) {
	switch b {
	case BlockStation:
		s.station()
	case BlockKind:
		s.kindOf()
	case BlockOrder:
		s.order()
	case BlockNumber:
		s.number()
	case BlockAlso:
		s.alsoAt()
	case BlockFacts:
		s.facts()
	case BlockTimes:
		s.times()
	case BlockCustomer:
		s.customer()
	case BlockChanges:
		s.changes()
	case BlockItems:
		s.items()
	case BlockNote:
		s.note()
	case BlockQR:
		s.code()
	case BlockFoot:
		s.foot()
	}
}

// kind is what the ticket tells the station; a reprint repeats what its content says.
func (s *sheet) kind() wire.Kind {
	if as := s.in.Event.As; as != "" && as != wire.KindReprint {
		return as
	}
	return s.in.Content.Kind
}

func (s *sheet) has(m wire.Mark) bool { return slices.Contains(s.in.Event.Marks, m) }

func (s *sheet) duplicate() bool {
	return s.in.Facts.PossibleDuplicate || s.has(wire.MarkPossibleDuplicate)
}

func (s *sheet) reprint() bool {
	return s.in.Event.As == wire.KindReprint || s.in.Content.Kind == wire.KindReprint ||
		s.has(wire.MarkReprint)
}

// banner adds a mark over the full width, at most that many times as large as plain text. Two marks
// have white between them: black that runs together reads as one.
func (s *sheet) banner(text string, largest document.Size) {
	if s.marked == len(s.doc.Blocks) && s.marked > 0 {
		s.doc.Add(document.Feed{Lines: 1})
	}
	if s.in.Options.Compact {
		largest = min(largest, 2)
	}
	s.doc.Add(banner(text, largest, s.columns)...)
	s.marked = len(s.doc.Blocks)
}

// marksAbove prints what the cook must know before the order itself.
func (s *sheet) marksAbove() {
	facts, w := s.in.Facts, s.w
	for _, a := range facts.IgnoreAbove {
		if line := a.line(w); line != "" {
			s.banner(words.Fill(w.IgnoreIfAbove, "what", line), 1)
		}
	}
	if s.duplicate() {
		s.banner(w.PossibleDuplicate, 4)
	}
	if s.has(wire.MarkMoved) || facts.MovedFrom != "" {
		s.moved()
	}
	if facts.OlderThan > 0 {
		s.banner(words.Fill(w.OlderThan, "seq", strconv.Itoa(facts.OlderThan)), 2)
	}
	if facts.Missing != "" {
		s.banner(words.Fill(w.NotPrintedHere, "ticket", facts.Missing), 1)
	}
	if facts.AfterPowerCut {
		s.banner(words.Fill(w.PowerCut, "time", s.placed()), 2)
	}
	if s.has(wire.MarkLate) {
		s.banner(w.Late, 3)
	}
}

// moved names the printer that had the ticket. Where the old one did not answer its recall the
// ticket is also a possible duplicate, and the cook is told whom to ask (DESIGN section 5).
func (s *sheet) moved() {
	from := cmp.Or(s.in.Facts.MovedFrom, s.w.Upper(flat(s.in.Event.From)))
	switch {
	case from == "":
		s.banner(s.w.Moved, 2)
	case s.duplicate():
		s.banner(words.Fill(s.w.MovedAsk, "station", from), 2)
	default:
		s.banner(words.Fill(s.w.MovedFrom, "station", from), 2)
	}
}

// placed is the instant the order was placed, or "UNKNOWN": no other text may stand in a mark.
func (s *sheet) placed() string {
	if t, ok := instant(s.in.Content.PlacedAt, s.in.Options.Location); ok {
		return s.w.Upper(date(t, s.w, false) + " " + t.Format(clockForm))
	}
	return s.w.TimeUnknown
}

func (s *sheet) station() {
	station := cmp.Or(s.in.Station, s.in.Event.Station, s.in.Content.Station)
	if station != "" {
		s.banner(s.w.Upper(station), cmp.Or(s.in.Options.Template.StationSize, 2))
	}
}

// kindOf says what is to be done with this paper. NEW is said with the number, where there is one:
// it is what cooks expect.
func (s *sheet) kindOf() {
	own := s.in.Options.Template.KindSize
	if of := s.in.Event.CopyOf; of != "" {
		s.banner(words.Fill(s.w.CopyOf, "station", upperID(of)), cmp.Or(own, 2))
	}
	if s.reprint() {
		s.banner(s.w.Reprint, cmp.Or(own, 3))
	}
	switch s.kind() {
	case wire.KindChange:
		s.banner(s.w.Change, cmp.Or(own, 3))
	case wire.KindVoid:
		s.banner(s.w.Void, cmp.Or(own, 4))
	case wire.KindNotice:
		s.banner(s.w.Notice, cmp.Or(own, 3))
	case wire.KindNew:
		if !s.in.Options.Template.has(BlockNumber) && !s.reprint() {
			s.doc.Add(label(s.w.New))
		}
	}
}

func (s *sheet) order() {
	name := s.name()
	if name == "" {
		return
	}
	size := cmp.Or(s.in.Options.Template.OrderSize, 4)
	if s.in.Options.Compact {
		size = min(size, 2)
	}
	line := largest(name, size, s.columns)
	if s.in.Options.Template.OrderLeft {
		line.Align = document.Left
	}
	s.doc.Add(line)
}

func (s *sheet) alsoAt() {
	also := s.also()
	if also == "" {
		return
	}
	s.doc.Add(document.Text(also, bold))
	if n, of := s.oneOf(); of > 1 {
		s.doc.Add(document.Text(words.Fill(s.w.OneOf, "n", strconv.Itoa(n), "of", strconv.Itoa(of)),
			plain))
	}
}

// also names the other stations that make a part of the same, so that it is ready together.
func (s *sheet) also() string {
	if s.in.Event.AlsoAt == "" {
		return ""
	}
	return words.Fill(s.w.AlsoAt, "stations",
		upperID(strings.ReplaceAll(s.in.Event.AlsoAt, ",", ", ")))
}

// oneOf counts this ticket among those of the same mutation, by the names of their stations, so
// that whoever puts the order together knows how many papers there are. Copies do not count.
func (s *sheet) oneOf() (n, of int) {
	own := s.in.Event.Station
	if own == "" || s.in.Event.CopyOf != "" {
		return 0, 0
	}
	all := append(strings.Split(s.in.Event.AlsoAt, ","), own)
	slices.Sort(all)
	return slices.Index(all, own) + 1, len(all)
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
		left = append(left, label(s.w.New).Spans...)
	}
	number := s.in.Event.Number
	if number == "" {
		if len(left) > 0 {
			s.doc.Add(document.Line{Spans: left})
		}
		return
	}
	before := s.w.FirstToday
	switch s.in.Event.Previous {
	case "":
	case wire.PreviousUnknown:
		before = s.w.PreviousUnknown
	default:
		before = words.Fill(s.w.Previous, "number", s.in.Event.Previous)
	}
	right := []document.Span{{Text: number, Style: tall}, {Text: " · " + before}}
	s.pair(left, right)
	s.gaps()
}

// pair puts two texts at the edges of one line, or the one that there is on a line.
func (s *sheet) pair(left, right []document.Span) {
	switch {
	case len(left) > 0 && len(right) > 0:
		s.doc.Add(document.Pair{Left: left, Right: right})
	case len(left)+len(right) > 0:
		s.doc.Add(document.Line{Spans: append(left, right...)})
	}
}

func (s *sheet) gaps() {
	if s.in.Event.Gaps == "" {
		return
	}
	gaps, err := wire.ParseGaps(s.in.Event.Gaps)
	if err != nil {
		// The line is a comfort, the ticket is the duty: print it, with what the broker said.
		s.doc.Add(document.Text(words.Fill(s.w.GapsUnread, "gaps", quoted(s.in.Event.Gaps)), plain))
		return
	}
	for _, g := range gaps {
		s.doc.Add(document.Text(s.gap(g), bold))
	}
}

// gap is what became of a number. A newer broker may know more ways than this device: its word is
// printed as it is.
func (s *sheet) gap(g wire.Gap) string {
	phrase := "{number} " + g.What
	switch g.What {
	case wire.GapEarlier:
		phrase = s.w.GapEarlier
	case "cancelled":
		phrase = s.w.GapCancelled
	case "dead":
		phrase = s.w.GapDead
	case "moved":
		phrase = s.w.GapMoved
		if g.To != "" {
			phrase = s.w.GapMovedTo
		}
	}
	return words.Fill(phrase, "number", g.Number, "station", g.To)
}

// foot is the ticket's id with its marks, in words that support can read in every kitchen.
func (s *sheet) foot() {
	s.doc.Add(document.Rule{})
	foot := s.id()
	if s.in.Event.Attempt > 1 {
		foot += " · " + words.Fill(s.w.Attempt, "n", strconv.Itoa(s.in.Event.Attempt))
	}
	for _, m := range s.in.Event.Marks {
		foot += " · " + string(m)
	}
	if s.in.Facts.PossibleDuplicate && !s.has(wire.MarkPossibleDuplicate) {
		foot += " · " + string(wire.MarkPossibleDuplicate)
	}
	s.doc.Add(document.Text(foot, plain))
}

func (s *sheet) id() string { return cmp.Or(s.in.Event.ID, s.in.Content.ID) }
