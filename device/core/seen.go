package core

import (
	"slices"
	"time"

	"chit/device/wire"
)

// Bounds of what a press of the button speaks for, and of how long it is asked for.
const (
	// SeenMax is how many tickets one press can say to be seen: the newest.
	SeenMax = 64
	// SeenWithin is how old paper may be, in lived time, for a press to speak for it. Nobody looks
	// half an hour back before pressing.
	SeenWithin = 30 * time.Minute
	// InsistFor is how long after its paper the pattern of an unseen ticket is repeated.
	InsistFor = 10 * time.Minute
)

// unseen is a ticket on paper here of which nobody has said yet that it was seen.
//
// The list is kept in memory alone: to keep it on disk would cost every ticket more bytes, and a
// process that starts anew must not let a press speak for paper of which it knows less. What came
// out before such a start keeps the evidence it had.
type unseen struct {
	open Open          // as it stood when the paper came out
	at   time.Duration // lived time of that
}

// cameToLight notes that a ticket's paper can be seen from now on.
func (s *step) cameToLight(t *ticket) {
	if !s.insists() {
		s.view.insistAt = s.up // The first repetition is due one pause after the ticket's own sound.
	}
	s.unseen = append(s.unseen, unseen{open: t.Open, at: s.lived})
	if extra := len(s.unseen) - SeenMax; extra > 0 {
		s.unseen = slices.Delete(s.unseen, 0, extra)
	}
}

// pressed silences the alarm until the next change. A short press raises every ticket that came out
// since the last one to seen; a long one prints what is stale.
func (s *step) pressed(e Button) {
	s.view.silenced = true
	p := Pressed{Handle: e.Handle}
	if e.Long {
		p.Wanted = s.printBacklog()
	} else {
		s.outOfSight()
		for _, u := range s.unseen {
			s.see(u, &p)
		}
		s.unseen = nil
	}
	if p.Seen > 0 || p.Handle != 0 {
		s.then(p)
	}
}

// see raises one ticket's evidence, where the printer has proven that there is paper: somebody who
// presses does not count the tickets, and must not vouch for one that a mute printer swallowed.
//
// The open record is written anew, also where it was dropped because the broker had its last
// answer: so the better answer is on disk before it leaves, and is repeated at each hello until the
// broker has it.
func (s *step) see(u unseen, p *Pressed) {
	t := s.byID[u.open.ID]
	switch {
	case u.open.Evidence.Rank() <= wire.EvidenceSent.Rank():
		p.Unproven++
		return
	case t == nil && s.lived >= u.open.Expires:
		return // Forgotten, as it was promised.
	case t == nil:
		t = &ticket{Open: u.open}
		s.tickets[t.Arrival], s.byID[t.ID] = t, t
		s.keepDay(t.Day, t.Expires)
	case t.State != Printed || t.Arrival != u.open.Arrival:
		return // The id came again after its end, and this paper is another one's.
	}
	s.keep(t)
	t.Evidence, t.N = wire.EvidenceSeen, 0
	s.tell(t)
	s.trim()
	p.Seen++
}

// outOfSight ends the wait for tickets that a press would no longer speak for.
func (s *step) outOfSight() {
	s.unseen = slices.DeleteFunc(s.unseen, func(u unseen) bool { return s.lived-u.at >= SeenWithin })
}

// insist repeats a pattern in the pause that the kitchen wants.
func (s *step) insist() {
	if s.insists() && s.up >= s.view.insistAt+s.conf.Insist {
		s.view.insistAt = s.up
		s.then(Sound{Pattern: s.insistent(s.lived)})
	}
}

func (s *step) insists() bool { return s.conf.Insist > 0 && s.insistent(s.lived) != "" }

// insistent is the most urgent pattern of the tickets that nobody has seen, "" for none: a void
// must not be covered by the new tickets behind it.
func (m *Machine) insistent(lived time.Duration) Pattern {
	urgent := Pattern("")
	for _, u := range m.unseen {
		pattern := patternOf(u.open.Kind)
		if lived-u.at < InsistFor && urgency(pattern) > urgency(urgent) {
			urgent = pattern
		}
	}
	return urgent
}

func urgency(p Pattern) int {
	return slices.Index([]Pattern{SoundNew, SoundChange, SoundVoid, SoundAlarm}, p)
}

// dueUnseen is when the unseen tickets want something next, as Up; false where they want nothing.
func (m *Machine) dueUnseen(now Now) (time.Duration, bool) {
	if len(m.unseen) == 0 {
		return 0, false
	}
	due := m.unseen[len(m.unseen)-1].at + SeenWithin - m.base
	if m.conf.Insist > 0 && m.insistent(m.base+now.Up) != "" {
		due = min(due, m.view.insistAt+m.conf.Insist)
	}
	return due, true
}
