package core

import (
	"slices"
	"time"
)

func dayOf(lived time.Duration) uint32 { return uint32(max(lived, 0) / day) }

// keepDay notes that the ids of day d must be kept until expires. Ends are rounded up to whole
// days, so that the note changes once a day and not with every ticket.
func (m *Machine) keepDay(d uint32, expires time.Duration) {
	if m.meta.Days == nil {
		m.meta.Days = map[uint32]uint32{}
	}
	m.meta.Days[d] = max(m.meta.Days[d], dayOf(expires)+1)
}

// dropDays drops the days of ids whose last end has passed and erases old contents. Both ages are
// lived time only: the device forgets late, never early (I3).
func (s *step) dropDays() {
	today := dayOf(s.lived)
	var past []uint32
	for d, last := range s.meta.Days {
		if today >= last && !s.needsDay(d, false) {
			past = append(past, d)
		}
	}
	slices.Sort(past)
	for _, d := range past {
		delete(s.meta.Days, d)
		s.write(DropSeen{Day: d})
	}
	for d := s.meta.Contents; time.Duration(d+1)*day+ContentKept <= s.lived; d++ {
		if s.needsDay(d, true) {
			break // A ticket that waits for its printer needs its content, however old.
		}
		s.write(DropContent{Day: d})
		s.meta.Contents = d + 1
	}
}

func (m *Machine) needsDay(d uint32, unfinished bool) bool {
	for _, t := range m.tickets {
		if t.Day == d && (!unfinished || t.unfinished()) {
			return true
		}
	}
	return false
}
