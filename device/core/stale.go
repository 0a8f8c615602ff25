package core

import (
	"slices"

	"chit/device/wire"
)

// Reasons of a ticket that will not print because it was too old.
const (
	// ReasonStale is also what a ticket that waits for a person's word is held for.
	ReasonStale     = "stale"
	ReasonNotWanted = "not-wanted"
)

// outdate does with a ticket that is too old to be cooked blindly what its kitchen wants: its paper
// says late, or a person is asked, or it is dropped. A half ticket that still hangs in the printer
// is cut off first.
func (s *step) outdate(t *ticket) {
	switch t.event.OnStale {
	case wire.OnStaleAsk:
		if t.Recall != "" {
			s.giveUp(t, ReasonStale) // Nobody needs to be asked: it is not wanted here any more.
			return
		}
		s.leaveLine(t)
		t.State = Stale
		s.stale[t.Arrival] = t
		s.write(PutOpen{Open: t.Open})
		s.tell(t)
	case wire.OnStaleDrop:
		s.giveUp(t, ReasonStale)
	default:
		t.late = true
	}
}

// giveUp ends a ticket that is not to be printed. Of one whose paper may exist already neither
// paper nor its absence is promised.
func (s *step) giveUp(t *ticket, reason string) {
	if t.Marked {
		reason = "doubtful"
	}
	s.end(t, wire.OutcomeRefused, reason)
}

func (s *step) leaveLine(t *ticket) {
	p := s.home(t.Printer)
	p.queue = slices.DeleteFunc(p.queue, func(q *ticket) bool { return q == t })
}

// approve puts a stale ticket back in line by a person's word. Its paper says late, and its age
// counts from now on.
func (s *step) approve(t *ticket) {
	if !slices.Contains(t.event.Marks, wire.MarkLate) {
		t.event.Marks = append(slices.Clone(t.event.Marks), wire.MarkLate)
		s.write(PutContent{Day: t.Day, Arrival: t.Arrival, Ticket: t.event})
	}
	s.wish(t)
	s.tell(t)
}

// handedAgain takes over how old the ticket may grow from a newer handing-over: the broker has
// judged its age then. A stale one is wanted again.
func (s *step) handedAgain(t *ticket, w wire.Ticket) {
	was, is := t.Stored+t.Stale, s.lived+ms(w.Stale)
	never := w.Stale == 0
	switch {
	case s.atPrinter(t):
	case t.State == Stale, never != (t.Stale == 0), !never && is > was+AnswerEvery:
		t.Stale = ms(w.Stale)
		s.wish(t)
	}
}

// wish starts the age of a ticket anew, and puts a stale one in line, by arrival: what waits behind
// it waits longer than what came later.
func (s *step) wish(t *ticket) {
	t.Stored, t.Machine, t.Host, t.unsure = s.lived, s.meta.Machine, s.host(), false
	if t.State == Stale {
		t.State = Received
		s.home(t.Printer).backlog.forget(t.ID)
		delete(s.stale, t.Arrival)
		s.line(t)
		s.overtaken(t)
	}
	s.write(PutOpen{Open: t.Open})
}

func (s *step) line(t *ticket) {
	p := s.home(t.Printer)
	at := 0
	// A reprint goes first, and what is being counted is at the head until its count is on disk.
	if len(p.queue) > 0 && (p.queue[0].Marked || p.queue[0].suspect == counting) {
		at = 1
	}
	for at < len(p.queue) && p.queue[at].Arrival < t.Arrival {
		at++
	}
	p.queue = slices.Insert(p.queue, at, t)
}

// overtaken finds what of the same order is on paper or at the printer already, and takes back the
// word of those in line behind t that it is missing (I6).
func (s *step) overtaken(t *ticket) {
	own, err := wire.ParseTicketID(t.ID)
	if err != nil || own.Made != "" {
		return
	}
	for _, o := range s.tickets {
		id, err := wire.ParseTicketID(o.ID)
		if err != nil || id.Order != own.Order || id.Station != own.Station || id.Made != "" {
			continue
		}
		out := o.State == Printed || o.State == Received && s.atPrinter(o)
		if out && id.Seq > own.Seq {
			t.OlderThan = max(t.OlderThan, id.Seq)
		}
		if o.Missing == t.ID && o.State == Received && !out {
			o.Missing = ""
			s.write(PutOpen{Open: o.Open})
		}
	}
}

// overtakes tells the stale tickets of the same order that a higher one is on paper before them. It
// may be forgotten here by the time a person wants them.
func (s *step) overtakes(t *ticket) {
	if len(s.stale) == 0 {
		return
	}
	own, err := wire.ParseTicketID(t.ID)
	if err != nil || own.Made != "" {
		return
	}
	for _, o := range s.stale {
		id, err := wire.ParseTicketID(o.ID)
		if err == nil && id.Order == own.Order && id.Station == own.Station && id.Made == "" &&
			id.Seq < own.Seq && o.OlderThan < own.Seq {
			o.OlderThan = own.Seq
			s.write(PutOpen{Open: o.Open})
		}
	}
}
