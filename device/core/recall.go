package core

import "chit/device/wire"

// recalled stops a ticket that has not started, and answers the truth about one that has.
func (s *step) recalled(e Recalled) {
	defer s.puback(e.Handle)
	r := e.Recall
	if !s.memory {
		return // Nothing can be promised; the broker repeats a recall until it is answered.
	}
	t, rec, found := s.recall(r.Ticket, e.Known)
	switch {
	case t != nil && t.unfinished() && r.Attempt < t.Attempt:
		// An old recall, told again: after it the ticket was handed over anew. It stops nothing.
		s.tell(t)
	case t != nil && t.State == Received && s.atPrinter(t):
		s.recallAtPrinter(t, r)
	case t != nil && t.unfinished() && t.Marked:
		// It will not start again, and yet there may be paper: the end that promises neither.
		t.Attempt, t.Recall = max(t.Attempt, r.Attempt), r.ID
		s.noteAbove(t, r)
		s.doubtful(t, t.Torn)
	case t != nil && t.unfinished():
		t.Attempt = max(t.Attempt, r.Attempt)
		s.end(t, wire.OutcomeRecalled, r.ID)
	case found && rec.Outcome == wire.OutcomePrinted:
		s.say(wire.Ack{
			Ticket: r.Ticket, Attempt: r.Attempt, Digest: rec.Digest, Outcome: wire.OutcomePrinted,
			Evidence: rec.Evidence, Marked: rec.Marked,
		})
	case t != nil:
		s.recallEnded(t, r)
	default:
		s.recallUnknown(r, rec, found)
	}
}

// recallAtPrinter stops what can be stopped of a ticket whose bytes may be in the printer. The
// answer follows what the printer says: printed, recalled where surely nothing came out, else
// refused, doubtful. It is not printed again for this attempt.
func (s *step) recallAtPrinter(t *ticket, r wire.Recall) {
	was := t.Open
	t.Recall, t.Attempt = r.ID, max(t.Attempt, r.Attempt)
	s.noteAbove(t, r)
	s.home(t.Printer).job.clear()
	if was != t.Open {
		s.write(PutOpen{Open: t.Open})
	}
	s.tell(t)
}

// recallEnded raises the attempt that may not start any more. A ticket that ended with a doubtful
// paper keeps saying how it ended: recalled would say that there is none.
func (s *step) recallEnded(t *ticket, r wire.Recall) {
	was := t.Open
	t.Attempt = max(t.Attempt, r.Attempt)
	if !t.Marked {
		t.Outcome, t.Reason = wire.OutcomeRecalled, r.ID
	}
	if t.Marked && t.Recall != r.ID && s.printer(t.Printer) != nil {
		t.Recall = r.ID // Not the recall that ended it, and not that one told again.
		s.noteAbove(t, r)
		s.settleAbove(s.home(t.Printer), t.Arrival, false)
	}
	if was != t.Open {
		t.N = 0
		s.keep(t)
	}
	s.tell(t)
}

// recallUnknown remembers a recall whose ticket is not here (still under way, or ended and answered
// long ago), so that a late copy of that attempt does not print.
func (s *step) recallUnknown(r wire.Recall, rec Record, found bool) {
	s.meta.Arrivals++
	t := &ticket{Open: Open{
		Arrival: s.meta.Arrivals, Day: dayOf(s.lived), ID: r.Ticket, State: Ended,
		Attempt: r.Attempt, Stored: s.lived, Expires: s.lived + RecallKept,
		Outcome: wire.OutcomeRecalled, Reason: r.ID, Machine: s.meta.Machine,
	}}
	if found {
		t.Digest, t.Attempt = rec.Digest, max(rec.Attempt, r.Attempt)
		t.Expires = max(t.Expires, rec.Expires)
		if t.Marked = rec.Marked; t.Marked && ended(rec.Outcome) {
			t.Outcome, t.Reason = rec.Outcome, rec.Reason // As in recallEnded.
		}
	}
	s.tickets[t.Arrival], s.byID[t.ID] = t, t
	s.keepDay(t.Day, t.Expires)
	s.write(PutSeen{Day: t.Day, ID: t.ID, Record: t.record()})
	s.tell(t)
	s.trim()
}

func (m *Machine) atPrinter(t *ticket) bool {
	p := m.home(t.Printer)
	return p.job != nil && p.job.intent.Arrival == t.Arrival && p.job.intent.Slip == SlipNone
}
