package core

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"chit/device/wire"
)

// arrived dedupes by id and digest (I2), else takes the ticket in.
func (s *step) arrived(e TicketArrived) {
	defer s.puback(e.Handle) // After the answers of this step, and after its commit.
	id, attempt := e.Ticket.ID, e.Ticket.Attempt
	if !s.memory {
		s.refuse(id, attempt, e.Digest, "storage", false)
		return
	}
	t, rec, found := s.recall(id, e.Known)
	switch {
	case found && rec.Digest != "" && rec.Digest != e.Digest:
		s.refuse(id, attempt, e.Digest, "digest", true)
	case t != nil && t.unfinished():
		s.again(t, e)
	case found && rec.Outcome == wire.OutcomePrinted:
		s.say(wire.Ack{
			Ticket: id, Attempt: attempt, Digest: e.Digest, Outcome: wire.OutcomeDuplicate,
			Evidence: rec.Evidence, Marked: rec.Marked,
		})
	case found && ended(rec.Outcome) && (attempt <= rec.Attempt || rec.Outcome == wire.OutcomeExpired):
		s.say(wire.Ack{
			Ticket: id, Attempt: attempt, Digest: e.Digest, Outcome: rec.Outcome,
			Reason: rec.Reason, Permanent: rec.Outcome == wire.OutcomeRefused,
		})
	default:
		// New, or wanted again after a recall or a refusal. A record that says stored without an
		// open ticket cannot be; should a file ever say so, the paper may exist.
		s.accept(e, found && (rec.Marked || rec.Outcome == wire.OutcomeStored))
	}
}

func ended(o wire.Outcome) bool {
	return o == wire.OutcomeRecalled || o == wire.OutcomeRefused || o == wire.OutcomeExpired
}

// recall finds what is known of id: the open ticket is newer than any look-up.
func (s *step) recall(id string, known Known) (*ticket, Record, bool) {
	if t := s.byID[id]; t != nil {
		return t, t.record(), true
	}
	if !known.Found || s.lived >= known.Record.Expires {
		return nil, Record{}, false
	}
	return nil, known.Record, true
}

// record is the journal's memory of an open ticket.
func (t *ticket) record() Record {
	r := Record{
		Digest: t.Digest, Outcome: wire.OutcomeStored, Attempt: t.Attempt, Arrival: t.Arrival,
		Expires: t.Expires,
	}
	if !t.unfinished() {
		r.Outcome, r.Evidence, r.Reason, r.Marked = t.Outcome, t.Evidence, t.Reason, t.Marked
	}
	return r
}

// again meets a ticket that is stored and not finished: a redelivery or a new attempt.
func (s *step) again(t *ticket, e TicketArrived) {
	if e.Ticket.Attempt > t.Attempt {
		t.Attempt = e.Ticket.Attempt
		if t.Recall != "" { // Handed over anew: it is wanted here again.
			t.Recall = ""
			s.wantedAgain(t)
			s.write(PutOpen{Open: t.Open})
		}
		t.lease = ms(e.Ticket.Lease)
		if until := s.lived + seconds(e.Ticket.Expires); until > t.Expires {
			t.Expires = until
		}
		s.handedAgain(t, e.Ticket)
		if s.speaksAnew(t, e.Ticket) {
			e.Ticket.Data = t.event.Data // Same digest: keep one copy.
			t.event = e.Ticket
			s.write(PutContent{Day: t.Day, Arrival: t.Arrival, Ticket: t.event})
		}
	}
	s.tell(t)
}

// speaksAnew is true where a later attempt wants other words on the paper, such as a mark, and the
// paper has not begun.
func (s *step) speaksAnew(t *ticket, w wire.Ticket) bool {
	if p := s.home(t.Printer); p.job != nil && p.job.intent.Arrival == t.Arrival {
		return false
	}
	o := t.event
	return w.Number != o.Number || w.Previous != o.Previous || w.Gaps != o.Gaps || w.As != o.As ||
		w.OnStale != o.OnStale ||
		!slices.Equal(w.Marks, o.Marks)
}

// accept stores a ticket and puts it in line.
func (s *step) accept(e TicketArrived, marked bool) {
	w := e.Ticket
	name := w.Printer
	if name == "" && len(s.conf.Printers) > 0 {
		name = s.conf.Printers[0]
	}
	switch {
	case w.Expires <= 0:
		s.say(wire.Ack{
			Ticket: w.ID, Attempt: w.Attempt, Digest: e.Digest, Outcome: wire.OutcomeExpired,
		})
		return
	case s.printer(name) == nil:
		s.refuse(w.ID, w.Attempt, e.Digest, "printer", true)
		return
	case s.waiting >= BacklogMax || s.held+len(w.Data) > BacklogBytesMax:
		s.refuse(w.ID, w.Attempt, e.Digest, "storage", false)
		return
	}
	if old := s.byID[w.ID]; old != nil {
		s.keep(old)
		delete(s.tickets, old.Arrival) // Its end is over; the new record replaces the old one.
		s.write(DropOpen{Arrival: old.Arrival})
	}
	s.meta.Arrivals++
	t := &ticket{event: w, lease: ms(w.Lease), Open: Open{
		Arrival: s.meta.Arrivals, Day: dayOf(s.lived), ID: w.ID, Digest: e.Digest, Printer: name,
		Kind: e.Kind, State: Received, Attempt: w.Attempt, Marked: marked,
		Stored: s.lived, Expires: s.lived + seconds(w.Expires), Stale: ms(w.Stale),
		Machine: s.meta.Machine, Host: s.host(),
		OlderThan: max(s.higher(w.ID, e.Kind), e.higher()),
	}}
	if w.Pred != "" && (s.waits(w.Pred) || !e.PredKnown && !s.here(w.Pred)) {
		t.Missing = w.Pred
	}
	s.wantedAgain(t)
	s.tickets[t.Arrival], s.byID[t.ID] = t, t
	s.hold(t)
	p := s.printer(name)
	p.queue = append(p.queue, t)
	s.keepDay(t.Day, t.Expires)
	s.write(PutSeen{Day: t.Day, ID: t.ID, Record: t.record()},
		PutContent{Day: t.Day, Arrival: t.Arrival, Ticket: w}, PutOpen{Open: t.Open})
	s.tell(t)
}

// here is true where an open ticket of this id has or will have paper.
func (m *Machine) here(id string) bool {
	t := m.byID[id]
	return t != nil && t.State != Ended
}

// waits is true where an open ticket of this id has no paper, and will have none without a person's
// word.
func (m *Machine) waits(id string) bool {
	t := m.byID[id]
	return t != nil && t.State == Stale
}

// higher is the highest seq of the same order at the same station that is open here and above
// id's own: its paper came or comes first (I6). Those that are answered the edge has looked up.
func (m *Machine) higher(id string, kind wire.Kind) int {
	own, err := wire.ParseTicketID(id)
	if err != nil || kind == wire.KindReprint || own.Made != "" {
		return 0
	}
	highest := 0
	for other, t := range m.byID {
		if !strings.HasPrefix(other, own.Order+"/") {
			continue
		}
		o, err := wire.ParseTicketID(other)
		if err == nil && o.Order == own.Order && o.Station == own.Station && o.Seq > own.Seq &&
			t.State != Ended && t.State != Stale {
			highest = max(highest, o.Seq)
		}
	}
	return highest
}

// unusable answers a ticket that cannot be taken. Nothing is remembered of it.
func (s *step) unusable(e TicketUnusable) {
	s.refuse(e.ID, e.Attempt, e.Digest, e.Reason, true)
	s.puback(e.Handle)
}

// end and settle write the open record only. The record of the id follows when the broker has the
// answer: that saves a page or two per ticket, and while a ticket is open, its open record speaks
// for it.

// end finishes a ticket that will never print here.
func (s *step) end(t *ticket, outcome wire.Outcome, reason string) {
	if !t.unfinished() {
		panic(fmt.Sprintf("core: ending %s in state %d", t.ID, t.State))
	}
	s.release(t)
	delete(s.stale, t.Arrival)
	t.State, t.Outcome, t.Evidence, t.Reason = Ended, outcome, "", reason
	t.N = 0 // The number of an earlier answer does not say this one.
	p := s.home(t.Printer)
	p.queue = slices.DeleteFunc(p.queue, func(q *ticket) bool { return q == t })
	s.tell(t)
	s.trim()
}

// settle records that a ticket is on paper.
func (s *step) settle(t *ticket, evidence wire.Evidence, marked bool) {
	if !t.unfinished() {
		panic(fmt.Sprintf("core: %s printed in state %d", t.ID, t.State))
	}
	s.then(Sound{Pattern: patternOf(t.Kind)})
	s.release(t)
	t.State, t.Outcome, t.Evidence, t.Marked = Printed, wire.OutcomePrinted, evidence, marked
	t.Torn, t.N = false, 0
	s.overtakes(t)
	s.tell(t)
	s.cameToLight(t)
	s.trim()
}

func patternOf(k wire.Kind) Pattern {
	switch k {
	case wire.KindChange:
		return SoundChange
	case wire.KindVoid:
		return SoundVoid
	}
	return SoundNew
}

// durationMax keeps foreign durations far from overflow: a hundred years.
const durationMax = 36500 * day

func ms(n int64) time.Duration { return bounded(n, time.Millisecond) }

func seconds(n int64) time.Duration { return bounded(n, time.Second) }

func bounded(n int64, unit time.Duration) time.Duration {
	if n > int64(durationMax/unit) {
		return durationMax
	}
	return time.Duration(max(n, 0)) * unit
}
