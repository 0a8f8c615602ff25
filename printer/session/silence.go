package session

import (
	"errors"
	"fmt"
	"time"

	"chit/printer/escpos"
)

// This file notices that a printer has stopped answering while it is waited for: its power was cut
// and the connection stands, or its cable is out and the link takes bytes no more. What became of
// the document stays unknown until it is resolved; but people, and the station's backup, need not
// wait for the longest ticket's time before they hear of it.

const (
	// pollsUnanswered is how many DLE EOT in a row a printer may leave unanswered before it is
	// called silent. One alone may be late: some units look at their input between two lines only.
	pollsUnanswered = 2
	// stallMax is how long a write may make no progress. The slowest impact printer frees half of a
	// 4 KB buffer in 11 s (4.7 lines of 40 characters a second).
	stallMax = 20 * time.Second
	// chunkBytes is what is written at a time, so that progress is seen: a serial port of 1200
	// baud, whose writes return when the bytes have left, takes 17 s for it.
	chunkBytes = 2048
	// fenceQuiet is the quiet after which a unit that pushes its status is asked whether it is
	// there while a GS r is open; see [Session.pace].
	fenceQuiet = 15 * time.Second
)

// silent is true where the printer does not answer what it is asked, or takes no bytes.
func (l *link) silent() bool { return l.stalled || l.missed >= pollsUnanswered }

// hold is the printer's own word, or that it says none any more. What it said last stands while it
// is waited for: clones were seen to answer nothing with an open cover.
func (l *link) hold() Hold {
	if hold := l.health.hold(); hold != HoldNone || !l.silent() {
		return hold
	}
	return HoldSilent
}

// watch polls a quiet printer, counts what it leaves unanswered, and answers when to look again.
func (s *Session) watch(l *link, now, deadline time.Time) time.Time {
	var due time.Time
	switch {
	case l.writing:
		due = time.Unix(0, l.progress.Load()).Add(stallMax)
		if l.stalled = !now.Before(due); l.stalled {
			due = now.Add(s.config.Timing.Poll)
		}
	case l.realtimePending():
		due = s.askAgain(l, now)
	default:
		return s.poll(l, now, deadline)
	}
	if due.Before(deadline) {
		return due
	}
	return deadline
}

// askAgain repeats a DLE EOT whose answer is overdue, and answers when the next one is due. At most
// one is open, and it is the same question each time, so that a late answer to the first is true of
// the last.
func (s *Session) askAgain(l *link, now time.Time) time.Time {
	due := l.asked.Add(s.config.Timing.Answer)
	if l.missed >= pollsUnanswered {
		due = l.asked.Add(s.pace(l))
	}
	if now.Before(due) {
		return due
	}
	l.missed++
	for n, kind := range realtimeKinds {
		if n > 0 && l.stream.Cancel(kind) {
			l.countPoll()
			l.stream.Expect(kind)
			l.start(escpos.RealtimeStatus(byte(n)))
			break
		}
	}
	return now.Add(s.config.Timing.Answer)
}

// awayTries is how many connections in a row must find the printer in the other way of being away
// before that is told.
const awayTries = 3

// away is what to call a printer that is not there after a connection ended with err. A printer
// that accepts a connection and says nothing, and refuses the next, has not changed: its board lets
// go of the old one late. So the first word stays until the other has been true several times in a
// row.
func (s *Session) away(err error) Hold {
	hold := HoldAbsent
	if errors.Is(err, errSilent) {
		hold = HoldSilent
	}
	was := s.state.Hold
	if hold == was || was != HoldAbsent && was != HoldSilent {
		s.otherwise = 0
		return hold
	}
	if s.otherwise++; s.otherwise < awayTries {
		return was
	}
	s.otherwise = 0
	return hold
}

// silence turns an unanswered question into errSilent, which ends the link.
func silence(err error) error {
	if errors.Is(err, errNoAnswer) {
		return fmt.Errorf("%w: %w", errSilent, err)
	}
	return err
}
