package core

import "time"

// tick does what became due. Everything is judged when read; a tick only wakes.
func (s *step) tick() {
	if s.asked && s.up >= s.helloAt+HelloEvery {
		s.helloAt = s.up
		s.vain++
		s.then(Greet{Renew: s.vain%HellosMax == 0})
	}
	if !s.memory {
		return
	}
	for _, t := range s.byArrival() {
		if t.unfinished() && !s.atPrinter(t) && !t.unsure {
			s.judge(t)
		}
	}
	s.prolong()
}

// Next is when the machine must be asked again, as Up of [Now]; false where only events matter.
func (m *Machine) Next(now Now) (time.Duration, bool) {
	var next time.Duration
	due := func(at time.Duration) {
		if next == 0 || at < next {
			next = max(at, now.Up+time.Millisecond)
		}
	}
	if m.view.cause != "" && !m.view.silenced {
		due(m.view.alarmAt + AlarmEvery)
	}
	if at, ok := m.dueUnseen(now); ok {
		due(at)
	}
	if m.asked {
		due(m.helloAt + HelloEvery)
	}
	for _, p := range m.printers {
		if m.alarming(p) && now.Up < p.since+AlarmGrace {
			due(p.since + AlarmGrace)
		}
		if p.pause > now.Up {
			due(p.pause)
		}
		if p.wake {
			due(now.Up)
		}
		// What is late by then waits for the printer, not for time.
		if at, news := p.backlog.dueAt(); news && m.memory && at-m.base > now.Up {
			due(at - m.base)
		}
	}
	if !m.memory {
		return next, next != 0
	}
	due(m.meta.Lived - m.base + LivedEvery)
	for _, t := range m.tickets {
		if !t.unfinished() {
			continue
		}
		if m.welcomed && t.State == Received {
			due(t.sayAgain())
		}
		switch {
		case m.atPrinter(t):
			// Paper has begun: neither age ends it.
		case t.unsure:
			if end := m.startUp + HostWait; end > now.Up {
				due(end)
			}
		case t.ages():
			due(min(t.Stored+t.Stale, t.Expires) - m.base)
		default:
			due(t.Expires - m.base)
		}
	}
	return next, next != 0
}
