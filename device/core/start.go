package core

import (
	"cmp"
	"slices"
	"time"

	"chit/device/wire"
)

// started takes over what the journal remembers.
func (s *step) started(e Started) {
	s.forget()
	reopened := s.lost
	s.memory, s.lost = true, false
	s.meta = e.State.Meta
	clean := s.meta.Clean || reopened // Neither ended a process over a ticket.
	s.meta.Clean = false
	s.meta.Boot = s.bootOf(e.State.Meta)
	s.liveOn(e.KernelBoot)
	// What may have been used counts as used: n never repeats, at the price of a gap.
	s.n, s.nCommitted = s.meta.NReserved, s.meta.NReserved
	s.startUp = s.up
	for _, p := range s.printers {
		p.above = decodeAbove(e.State.Settings[AboveKey(p.name)])
		if unit, ok := decodeUnit(e.State.Settings[UnitKey(p.name)]); ok && !p.known {
			p.state.Unit = unit
		}
	}
	for _, p := range s.printers {
		p.backlog = decodeBacklog(e.State.Settings[BacklogKey(p.name)])
	}
	open := slices.Clone(e.State.Open)
	slices.SortFunc(open, func(a, b Stored) int { return cmp.Compare(a.Open.Arrival, b.Open.Arrival) })
	for _, o := range open {
		s.takeBack(o)
	}
	s.takeBackIntents(e.State.Intents)
	s.takenBackBefore()
	if !clean {
		s.suspectFirst()
	}
	s.putMeta()
	if s.welcomed {
		for _, t := range s.byArrival() {
			s.tell(t) // The journal was reopened inside a session.
		}
	}
}

// bootOf numbers this process among the starts on its journal. One that opens its journal again
// keeps its number: the broker takes another for a crash, and counts it against the tickets at
// hand. That n does not repeat is the reserved block's doing.
func (m *Machine) bootOf(was Meta) uint64 {
	same := m.boot != 0 && m.bootJournal == was.Journal
	if !same || was.Boot != m.boot && was.Boot+1 != m.boot { // The first start may not be on disk.
		m.boot, m.bootJournal = was.Boot+1, was.Journal
	}
	return m.boot
}

// liveOn continues lived time: through a restart of the process in the same kernel boot nothing is
// missed; after a power cut the time since the kernel started is known to be lived, and no more.
func (s *step) liveOn(kernelBoot string) {
	same := kernelBoot != "" && kernelBoot == s.meta.KernelBoot && s.up >= s.meta.Up
	if same {
		s.base = s.meta.Lived - s.meta.Up
	} else {
		s.base = s.meta.Lived
		s.meta.Machine++
		s.meta.KernelBoot = kernelBoot
	}
	s.lived = s.base + s.up
}

func (s *step) takeBack(o Stored) {
	t := &ticket{Open: o.Open, event: o.Ticket, saidAt: s.up}
	t.lease = time.Duration(o.Ticket.Lease) * time.Millisecond
	s.tickets[t.Arrival], s.byID[t.ID] = t, t
	if !t.unfinished() {
		return
	}
	s.hold(t)
	t.unsure = t.State == Received && t.Machine != s.meta.Machine
	if t.State == Stale {
		s.stale[t.Arrival] = t
	}
	if t.State == Received {
		p := s.home(t.Printer)
		p.queue = append(p.queue, t)
	}
}

// takeBackIntents puts every open question before anything else of its printer.
func (s *step) takeBackIntents(intents map[string]Intent) {
	for name, in := range intents {
		p := s.home(name)
		if p.slipped {
			in.Trusted = false // The slip without memory moved the odometer, too.
		}
		p.slipped = false
		p.job = &job{intent: in, phase: resolving}
		if in.Slip == SlipNone {
			p.queue = slices.DeleteFunc(p.queue, func(t *ticket) bool { return t.Arrival == in.Arrival })
			if t := s.tickets[in.Arrival]; t != nil && t.unfinished() && t.Recall != "" {
				p.job.clear() // Perhaps once more; what matters is that the rest does not come out.
			}
		}
	}
}

// suspectFirst marks the tickets that the last process may have stumbled over: the one at the
// printer, else the first in line. Tickets behind them are not to blame, and neither is one that is
// never tried because its printer stays away: a start is counted when the ticket is about to be
// laid out again, see [step.counted].
func (s *step) suspectFirst() {
	for _, p := range s.printers {
		if t := s.first(p); t != nil {
			t.suspect = suspected
		}
	}
}

// suspicion is where a ticket of an earlier process stands that may have ended it.
//
//	suspected --counted, to be committed--> counting --committed--> cleared
type suspicion uint8

const (
	cleared suspicion = iota
	suspected
	counting
)

// counted reports whether t may be laid out now. A suspect is counted first, and that count is on
// disk before the layout that may end this process too.
func (s *step) counted(t *ticket) bool {
	if t.suspect == suspected {
		t.Starts++
		t.suspect = counting
		s.write(PutOpen{Open: t.Open})
	}
	return t.suspect == cleared
}

// clearSuspects lets the counted ones print with the next step.
func (m *Machine) clearSuspects() {
	for _, p := range m.printers {
		if len(p.queue) > 0 && p.queue[0].suspect == counting {
			p.queue[0].suspect = cleared
			p.wake = true
		}
	}
}

func (s *step) first(p *printer) *ticket {
	if p.job != nil {
		if t := s.tickets[p.job.intent.Arrival]; t != nil && t.unfinished() {
			return t
		}
	}
	if len(p.queue) > 0 {
		return p.queue[0]
	}
	return nil
}

// home is the printer of that name. A ticket for one that is no longer configured is shown as
// waiting for an absent printer, not lost.
func (m *Machine) home(name string) *printer {
	if p := m.printer(name); p != nil {
		return p
	}
	p := newPrinter(name)
	p.known = true // It is absent for good: its tickets are answered held, and people are called.
	m.printers = append(m.printers, p)
	return p
}

// hold counts an unfinished ticket against the backlog; release uncounts it and frees its content.
func (m *Machine) hold(t *ticket) {
	t.size = len(t.event.Data)
	m.waiting++
	m.held += t.size
}

func (m *Machine) release(t *ticket) {
	m.waiting--
	m.held -= t.size
	t.event = wire.Ticket{}
}

// stopping starts nothing more; what is at a printer may still end.
func (s *step) stopping() {
	s.ending = true
	if s.memory {
		s.meta.Clean = true
		s.putMeta()
	}
}

// storageLost forgets what was planned: nobody knows what of it is on disk.
func (s *step) storageLost() {
	s.forget()
	s.memory, s.lost = false, true
	s.view.silenced = false
}

// age judges a ticket whose age a power cut made unknown. wait is true while host time may still
// come.
func (s *step) age(t *ticket) (wait bool) {
	switch host := s.host(); {
	case host != 0 && s.storedAt(t) != 0:
		age := time.Duration(max(host-s.storedAt(t), 0)) * time.Millisecond
		t.Stored, t.unsure = s.lived-age, false
	case host == 0 && s.up < s.startUp+HostWait:
		return true
	default:
		t.unsure, t.powerCut = false, true
	}
	return false
}

// storedAt is the host's time of arrival, else of acceptance, in ms since 1970; 0 is unknown.
func (s *step) storedAt(t *ticket) int64 {
	if t.Host != 0 {
		return t.Host
	}
	if at, err := time.Parse(time.RFC3339, t.event.Time); err == nil {
		return at.UnixMilli()
	}
	return 0
}

// host is the host's time now, in ms since 1970, from the last welcome; a synchronised clock stands
// in for it. 0 is unknown.
func (s *step) host() int64 {
	switch {
	case s.hostBase != 0:
		return s.hostBase + s.up.Milliseconds()
	case s.now.Trusted:
		return s.now.Wall.UnixMilli()
	}
	return 0
}
