package core

import (
	"cmp"
	"slices"
	"time"

	"chit/device/wire"
)

// next gives the identity of one signed message. (journal, boot, n) never repeats: n comes from a
// block whose reservation is on disk before the message leaves, because a decision that passes the
// block's end writes the next reservation itself. Without memory the rest of the last block is used
// up, and then an identity that lives as long as the process.
func (s *step) next() (journal string, boot, n uint64) {
	if !s.memory && (s.meta.Journal == "" || s.n >= s.nCommitted) {
		s.nVolatile++
		return VolatileJournal, s.conf.VolatileBoot, s.nVolatile
	}
	s.n++
	return s.meta.Journal, s.meta.Boot, s.n
}

func (s *step) issued() int64 {
	if host := s.host(); host != 0 {
		return host / 1000
	}
	return max(s.now.Wall.Unix(), 0)
}

// say sends a; outside a welcomed session nothing is sent, and the next welcome makes up for it.
func (s *step) say(a wire.Ack) (n uint64) {
	if !s.welcomed {
		return 0
	}
	a.Device, a.IssuedAt = s.conf.Device, s.issued()
	a.Journal, a.Boot, a.N = s.next()
	s.then(Answer{Ack: a})
	return a.N
}

// tell answers where an open ticket stands. The number of a final answer is stored with the
// ticket: an older number would be passed by the broker's n_seen although the newest answer was
// lost.
func (s *step) tell(t *ticket) {
	a := wire.Ack{
		Ticket: t.ID, Attempt: t.Attempt, Digest: t.Digest,
		Outcome: t.Outcome, Evidence: t.Evidence, Reason: t.Reason, Marked: t.Marked,
	}
	switch t.State {
	case Received:
		a.Outcome, a.Evidence, a.Reason, a.Marked = wire.OutcomeStored, wire.EvidenceStored, "", false
		if hold := s.home(t.Printer).reason(); hold != "" {
			a.Outcome, a.Reason = wire.OutcomeHeld, hold
		}
	case Stale:
		a.Outcome, a.Evidence, a.Reason = wire.OutcomeHeld, wire.EvidenceStored, ReasonStale
		a.Marked = false
	case Ended:
		a.Permanent, a.Marked = t.Outcome == wire.OutcomeRefused, false
	}
	if n := s.say(a); n != 0 {
		t.N = n
	}
	t.saidAt = s.up
	if !t.unfinished() {
		s.write(PutOpen{Open: t.Open})
	}
}

// refuse answers no to a ticket that is not open here.
func (s *step) refuse(id string, attempt int, digest, reason string, permanent bool) {
	s.say(wire.Ack{
		Ticket: id, Attempt: attempt, Digest: digest,
		Outcome: wire.OutcomeRefused, Reason: reason, Permanent: permanent,
	})
}

// welcome ends what the broker has the last answer of, and repeats the newest answer of all others.
func (s *step) welcome(w wire.Welcome) {
	if !s.connected {
		return // Of a session that is over.
	}
	if w.Session != s.session {
		// Of a session that is over, too; unless an old hello that an engine repeated has made the
		// broker believe that this one is. Its own welcome tells.
		if !s.asked {
			s.asked, s.helloAt, s.vain = true, s.up, 0
		}
		return
	}
	// A welcome that is told again, or was long under way, holds old time: within a session host time
	// goes back by no message.
	if base := w.Now - s.up.Milliseconds(); !s.welcomed || base > s.hostBase {
		s.hostBase = base
	}
	if !s.welcomed {
		s.newSession()
	}
	s.welcomed, s.asked, s.vain = true, false, 0
	if !s.memory {
		return
	}
	for _, t := range s.byArrival() {
		if t.dropped {
			continue
		}
		if !t.unfinished() && t.N != 0 && w.Journal == s.meta.Journal && t.N <= w.NSeen {
			s.drop(t)
			continue
		}
		s.tell(t)
	}
	s.tellBacklogWord()
}

func (m *Machine) byArrival() []*ticket {
	all := make([]*ticket, 0, len(m.tickets))
	for _, t := range m.tickets {
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b *ticket) int { return cmp.Compare(a.Arrival, b.Arrival) })
	return all
}

// drop forgets a finished ticket: its end moves from its open record to the record of its id.
// Both ride on the next commit, and the memory lets go after it, because until then a look-up
// finds the old record.
func (s *step) drop(t *ticket) {
	if t.dropped {
		return
	}
	t.dropped = true
	s.leaving = append(s.leaving, t)
}

// keep takes a drop back: there is a newer answer that the broker does not have.
func (s *step) keep(t *ticket) {
	gone := func(o *ticket) bool { return o == t }
	t.dropped = false
	s.leaving, s.left = slices.DeleteFunc(s.leaving, gone), slices.DeleteFunc(s.left, gone)
}

// letGo ends what drop began.
func (m *Machine) letGo() {
	for _, t := range m.left {
		delete(m.tickets, t.Arrival)
		if m.byID[t.ID] == t {
			delete(m.byID, t.ID)
		}
	}
	m.left = nil
}

// trim bounds the finished tickets that wait for the next hello.
func (s *step) trim() {
	if len(s.tickets)-s.waiting-len(s.leaving)-len(s.left) <= UnansweredMax {
		return
	}
	var oldest *ticket
	for _, t := range s.tickets {
		if !t.unfinished() && !t.dropped && (oldest == nil || t.Arrival < oldest.Arrival) {
			oldest = t
		}
	}
	s.drop(oldest)
}

// prolong repeats the answer of unfinished tickets before their lease ends, so that a ticket that
// waits for a roll of paper never counts as unanswered.
func (s *step) prolong() {
	if !s.welcomed || !s.memory {
		return
	}
	for _, t := range s.byArrival() {
		// A stale one has no lease: it is said once, and at each welcome.
		if t.State == Received && s.up >= t.sayAgain() {
			s.tell(t)
		}
	}
}

func (t *ticket) sayAgain() time.Duration {
	lease := t.lease
	if lease <= 0 {
		lease = 30 * time.Second // DESIGN section 2: lease.
	}
	return t.saidAt + max(lease/2, AnswerEvery)
}
