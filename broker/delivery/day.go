package delivery

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"chit/broker/entity"
	"chit/device/wire"
)

const (
	// KindDay is the closed business day of a station; id: "<day>/<station>".
	KindDay = "day"
	// ListNumbers is the list of deliveries whose number belongs to a day that is not closed yet, by
	// the instant at which the number was given.
	ListNumbers = "numbers"
	// DayKept is how long a closed day is kept.
	DayKept = 30 * 24 * time.Hour
)

// Day is what became of the running numbers of one station on one business day.
type Day struct {
	Format  int    `json:"v"`
	Station string `json:"station"`
	Day     string `json:"day"` // "2006-01-02"
	// Closed is when the day was closed, zero while it runs.
	Closed time.Time `json:"closed_at,omitzero"`
	// First and Last are the lowest and the highest number, 0 where none was given.
	First int `json:"first"`
	Last  int `json:"last"`
	Count int `json:"count"` // numbers given
	// Missing are numbers without paper at this station, each with what became of its ticket.
	Missing []Missing `json:"missing,omitempty"`
	// Voided are numbers on paper here that a void on paper here took back; Voids are those that the
	// voids themselves have, on paper or not.
	Voided []string `json:"voided,omitempty"`
	Voids  []string `json:"voids,omitempty"`
	// PossibleDuplicates are numbers whose paper says so; Doubled those with two papers for certain.
	PossibleDuplicates []string `json:"possible_duplicates,omitempty"`
	Doubled            []string `json:"doubled,omitempty"`
	// Jumps are runs of numbers that this store never gave: restored, it does not know which numbers
	// the lost time gave, and jumps over them.
	Jumps []Jump `json:"jumps,omitempty"`
}

// Missing is a number without paper.
type Missing struct {
	Number string `json:"number"`
	What   string `json:"what"` // moved, cancelled, dead or open
	// Why is the station it was moved to, why it was cancelled or died, or where it stands.
	Why string `json:"why,omitempty"`
}

// Jump is a run of numbers, both ends included.
type Jump struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// Lister is a store as far as days need it.
type Lister interface {
	entity.View
	Rows(list, tenant string, after entity.Row, limit int) ([]entity.Row, error)
}

// Numbered is a delivery with its row in [ListNumbers].
type Numbered struct {
	Row      entity.Row
	Delivery Delivery
}

// Unclosed lists what the days of a tenant that are not closed consist of.
func Unclosed(l Lister, tenant string) ([]Numbered, error) {
	const page = 512
	var list []Numbered
	var after entity.Row
	for {
		rows, err := l.Rows(ListNumbers, tenant, after, page)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			after = row
			d, version, err := Load(l, tenant, row.Key.ID)
			if err != nil {
				return nil, err
			}
			if version > 0 {
				list = append(list, Numbered{row, d})
			}
		}
		if len(rows) < page {
			return list, nil
		}
	}
}

// LoadDay reads a closed day; ok is false where there is none.
func LoadDay(view entity.View, tenant, station, day string) (d Day, ok bool, err error) {
	version, err := load(view, dayKey(tenant, station, day), &d)
	return d, version > 0, err
}

func dayKey(tenant, station, day string) entity.Key {
	return entity.Key{Tenant: tenant, Kind: KindDay, ID: day + "/" + station}
}

// Summarize says what became of a station's numbers of one day.
func Summarize(station, day string, deliveries []Delivery) Day {
	s := Day{Format: Format, Station: station, Day: day, Count: len(deliveries)}
	deliveries = slices.Clone(deliveries)
	slices.SortFunc(deliveries, func(a, b Delivery) int { return cmp.Compare(a.number(), b.number()) })
	voids := map[string][]row{} // by order, those on paper here
	for _, d := range deliveries {
		id, err := wire.ParseTicketID(d.Ticket)
		if d.Kind == wire.KindVoid && d.paperAtHome() && err == nil {
			voids[id.Order] = append(voids[id.Order], row{id: id, d: d})
		}
	}
	for _, d := range deliveries {
		s.add(d, voids)
	}
	return s
}

func (d Delivery) number() int {
	n, err := strconv.Atoi(d.Number)
	if err != nil {
		return 0 // A device's own, such as L7, belongs to no day of the broker's.
	}
	return n
}

// paperAtHome is true where the station's own printer made the paper.
func (d Delivery) paperAtHome() bool { return d.State == Settled && d.MovedTo == "" }

// add takes in the next number; they ascend.
func (s *Day) add(d Delivery, voids map[string][]row) {
	n := d.number()
	switch {
	case s.First == 0:
		s.First = n
		if n > 1 {
			s.Jumps = append(s.Jumps, Jump{1, n - 1})
		}
	case n > s.Last+1:
		s.Jumps = append(s.Jumps, Jump{s.Last + 1, n - 1})
	}
	s.Last = n
	if d.Kind == wire.KindVoid {
		s.Voids = append(s.Voids, d.Number)
	}
	if d.Marked {
		s.PossibleDuplicates = append(s.PossibleDuplicates, d.Number)
	}
	if len(d.Doubled) > 0 {
		s.Doubled = append(s.Doubled, d.Number)
	}
	if !d.paperAtHome() {
		s.Missing = append(s.Missing, d.missing())
		return
	}
	id, err := wire.ParseTicketID(d.Ticket)
	if err == nil && form(d.Kind) && slices.ContainsFunc(voids[id.Order], func(v row) bool {
		return v.takesBack(row{id: id, d: d})
	}) {
		s.Voided = append(s.Voided, d.Number)
	}
}

// takesBack reports whether the void v takes the paper of o back.
func (v row) takesBack(o row) bool {
	if v.d.family() != o.d.family() {
		return false
	}
	of := v.id
	if v.d.twin() { // It speaks about what its source does.
		if source, err := wire.ParseTicketID(v.d.Source); err == nil {
			of = source
		}
	}
	switch {
	case o.id.Seq != v.id.Seq:
		// One that was made for a late paper speaks of that paper alone.
		return o.id.Seq < v.id.Seq && (v.d.Pinned == nil || v.d.twin())
	case v.d.mutation(v.id):
		return false
	}
	return of.Made != ""
}

func (d Delivery) missing() Missing {
	switch {
	case d.State == Settled:
		return Missing{d.Number, "moved", d.MovedTo}
	case d.State == Cancelled, d.State == Dead:
		return Missing{d.Number, string(d.State), d.Reason}
	}
	return Missing{d.Number, "open", string(d.State)}
}

// CloseDay stores a day that is over and takes its numbers off the list. It may be repeated; should
// a number of that day have been given after all, it is added to the stored day.
type CloseDay struct {
	Tenant string
	Day    Day // as [Summarize] made it of Rows
	Rows   []entity.Row
}

// Identity implements [entity.Command].
func (c CloseDay) Identity() entity.Identity { return entity.Identity{} }

// Name implements desk.Named.
func (c CloseDay) Name() string { return "close-day" }

// Decide implements [entity.Command].
func (c CloseDay) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	var stored Day
	key := dayKey(c.Tenant, c.Day.Station, c.Day.Day)
	version, err := load(view, key, &stored)
	if err != nil {
		return entity.Commit{}, err
	}
	day := c.Day
	if day.Closed = now; version > 0 {
		day = stored.with(c.Day)
	}
	commit := entity.Commit{Paid: c.Rows}
	err = change(&commit, key, version, day, now.Add(DayKept))
	return commit, err
}

// with adds numbers that came after the day was closed. One that is known already, because the same
// close was asked for twice, adds nothing.
func (s Day) with(late Day) Day {
	if late.Count == 0 || late.First >= s.First && late.Last <= s.Last {
		return s
	}
	if late.First > s.Last+1 {
		s.Jumps = append(s.Jumps, Jump{s.Last + 1, late.First - 1})
	}
	s.First, s.Last = min(s.First, late.First), max(s.Last, late.Last)
	s.Count += late.Count
	s.Missing = append(s.Missing, late.Missing...)
	s.Voided = append(s.Voided, late.Voided...)
	s.Voids = append(s.Voids, late.Voids...)
	s.PossibleDuplicates = append(s.PossibleDuplicates, late.PossibleDuplicates...)
	s.Doubled = append(s.Doubled, late.Doubled...)
	return s
}

// words is the number with what became of it, for people.
func (m Missing) words() string {
	switch {
	case m.What == "moved":
		return m.Number + " moved to " + m.Why
	case m.What != string(Cancelled):
		return strings.TrimSpace(m.Number + " " + m.What + " " + m.Why)
	}
	switch m.Why {
	case ReasonNoPaper:
		return m.Number + " void not needed"
	case ReasonVoided, ReasonReplaced, ReasonDiscarded:
		return m.Number + " " + m.Why
	case ReasonCancelled:
		return m.Number + " cancelled"
	}
	return strings.TrimSpace(m.Number + " cancelled " + m.Why)
}

// slipMax bounds the text of a slip, in bytes: a notice's note has at most 1,000 characters.
const slipMax = 950

// Slip is the day for people, to be printed or shown: short lines, at most 950 bytes.
func (s Day) Slip() string {
	if s.Count == 0 {
		return fmt.Sprintf("Day %s, %s: no numbers.", s.Day, s.Station)
	}
	lines := []string{fmt.Sprintf("Day %s, %s: first %d, last %d, %d tickets.", s.Day, s.Station,
		s.First, s.Last, s.Count)}
	var missing []string
	for _, m := range s.Missing {
		missing = append(missing, m.words())
	}
	const void, restored = "Void tickets", "Not known here (restored)"
	var jumps []string
	for _, j := range s.Jumps {
		jumps = append(jumps, fmt.Sprintf("%d to %d", j.From, j.To))
	}
	for _, part := range []struct {
		name string
		list []string
	}{
		{"Missing", missing}, {"Voided", s.Voided}, {void, s.Voids},
		{"Possible duplicates", s.PossibleDuplicates},
		{"Printed twice", s.Doubled}, {restored, jumps},
	} {
		words := "none"
		if len(part.list) > 0 {
			words = strings.Join(part.list, ", ")
		} else if part.name == restored || part.name == "Printed twice" || part.name == void {
			continue
		}
		lines = append(lines, part.name+": "+words+".")
	}
	text := strings.Join(lines, " ")
	if len(text) <= slipMax {
		return text
	}
	counts := fmt.Sprintf("Too long for paper: %d missing, %d voided, %d possible duplicates, %d "+
		"printed twice. See chit day %s.", len(s.Missing), len(s.Voided), len(s.PossibleDuplicates),
		len(s.Doubled), s.Day)
	return lines[0] + " " + counts
}
