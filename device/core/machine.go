package core

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"chit/device/wire"
)

// Machine is the device's state. It has one owner, the core loop.
type Machine struct {
	conf Config

	// memory is true between Started and StorageLost; lost is true after the latter.
	memory, lost bool
	ending       bool // nothing new is started any more
	meta         Meta
	base         time.Duration // lived time where Up is zero
	startUp      time.Duration
	boot         uint64 // of this process, 0 before the first Started, and on which journal
	bootJournal  string
	n            uint64 // the last number given
	nCommitted   uint64 // the highest reserved one that is surely on disk
	nVolatile    uint64 // the last number given under the volatile identity

	tickets  map[uint64]*ticket // by arrival: unfinished, or finished and unanswered
	byID     map[string]*ticket
	stale    map[uint64]*ticket // those that wait for a person's word
	waiting  int                // unfinished tickets, and the bytes they hold
	held     int
	printers []*printer

	session   string
	connected bool
	welcomed  bool
	asked     bool          // hello was said, and its welcome did not come yet
	helloAt   time.Duration // Up of that hello
	vain      int           // hellos without a welcome since the last one
	hostBase  int64         // host time in ms where Up is zero; 0 = unknown

	unseen   []unseen        // on paper since the last press, oldest first
	leaving  []*ticket       // finished and answered: their drop rides on the next commit
	left     []*ticket       // dropped by a decision that is not yet on disk
	commands map[string]bool // ids seen, a bounded memory against redelivery
	recent   []string
	view     view
}

// ticket is an open ticket and what only the memory knows of it.
type ticket struct {
	Open
	event    wire.Ticket
	size     int
	lease    time.Duration
	saidAt   time.Duration // Up of the last answer in this session
	dropped  bool          // answered; leaves the memory with the next commit
	unsure   bool          // age unknown since a power cut
	powerCut bool          // and nobody could tell it in time
	late     bool          // older than stalems: the paper says so
	suspect  suspicion     // of having ended the process before
}

func (t *ticket) unfinished() bool { return t.State == Received || t.State == Stale }

// New returns a machine without memory: it refuses tickets until [Started].
func New(conf Config) *Machine {
	m := &Machine{conf: conf, commands: map[string]bool{}}
	m.forget()
	for _, name := range conf.Printers {
		m.printers = append(m.printers, newPrinter(name))
	}
	return m
}

// forget drops everything that a journal would know.
func (m *Machine) forget() {
	m.tickets, m.byID = map[uint64]*ticket{}, map[string]*ticket{}
	m.stale = map[uint64]*ticket{}
	m.waiting, m.held, m.leaving, m.left, m.unseen = 0, 0, nil, nil, nil
	for _, p := range m.printers {
		p.job, p.queue, p.torn, p.tests = nil, nil, SlipNone, nil
		p.above, p.backlog = above{}, backlog{}
	}
}

// Hello is what a session is opened with: N is the highest number that may have been used.
func (m *Machine) Hello(session string) wire.Hello {
	h := wire.Hello{
		Device: m.conf.Device, Session: session, Version: m.conf.Version, Format: 1,
		Journal: m.meta.Journal, Boot: m.meta.Boot, N: m.nCommitted, Serial: m.meta.Serial,
	}
	if h.Journal == "" {
		h.Journal, h.Boot, h.N = VolatileJournal, m.conf.VolatileBoot, m.nVolatile
	}
	return h
}

// Committed says that all changes decided so far are on disk.
func (m *Machine) Committed() {
	if m.memory {
		m.nCommitted = m.meta.NReserved
		m.letGo()
		m.clearSuspects()
	}
}

// step is one call of Step: the machine, the time, and the decision as it grows.
type step struct {
	*Machine
	now   Now
	up    time.Duration
	lived time.Duration
	d     Decision
}

// Step decides what e, seen at now, means.
func (m *Machine) Step(now Now, e Event) Decision {
	s := &step{Machine: m, now: now, up: now.Up, lived: m.base + now.Up}
	switch e := e.(type) {
	case Started:
		s.started(e)
	case StorageLost:
		s.storageLost()
	case Stopping:
		s.stopping()
	case Connected:
		s.session, s.connected, s.welcomed = e.Session, true, false
		s.asked, s.helloAt, s.vain = true, s.up, 0
	case Greeted:
		if s.connected && e.Session == s.session {
			s.asked, s.helloAt = true, s.up
		}
	case Disconnected:
		s.session, s.connected, s.welcomed, s.asked = "", false, false, false
	case Welcomed:
		s.welcome(e.Welcome)
		s.puback(e.Handle)
	case TicketArrived:
		s.arrived(e)
	case TicketUnusable:
		s.unusable(e)
	case Recalled:
		s.recalled(e)
	case CommandArrived:
		s.command(e)
	case PrinterState:
		s.printerState(e)
	case PrintDone:
		s.printDone(e)
	case Resolved:
		s.resolved(e)
	case Cleared:
		s.clearedPrinter(e)
	case Button:
		s.pressed(e)
	case Tick:
		s.tick()
	}
	return s.finish()
}

// finish starts what can be started, tells people, and gathers what rides on the commit.
func (s *step) finish() Decision {
	for _, p := range s.printers {
		s.advance(p)
		s.watchBacklog(p)
	}
	s.outOfSight()
	s.insist()
	s.show()
	if s.memory && s.lived-s.meta.Lived >= LivedEvery {
		s.putMeta()
	}
	if s.memory && (len(s.d.Write) > 0 || s.n > s.meta.NReserved) {
		s.rideAlong()
	}
	// The paper is what a cook waits for: it leaves before the answers do.
	slices.SortStableFunc(s.d.Then, func(a, b Effect) int { return cmp.Compare(rank(a), rank(b)) })
	return s.d
}

func rank(e Effect) int {
	switch e.(type) {
	case Print, Resolve, ClearPrinter:
		return 0
	}
	return 1
}

// putMeta makes sure that this decision writes; rideAlong appends the counters themselves.
func (s *step) putMeta() { s.write(PutMeta{}) }

func (s *step) rideAlong() {
	if s.meta.NReserved < s.n+BlockN/2 {
		s.meta.NReserved = s.n + BlockN
	}
	s.meta.Lived, s.meta.Up = s.lived, s.up
	s.d.Write = slices.DeleteFunc(s.d.Write, func(c Change) bool { _, ok := c.(PutMeta); return ok })
	for _, t := range s.leaving {
		s.write(PutSeen{Day: t.Day, ID: t.ID, Record: t.record()}, DropOpen{Arrival: t.Arrival})
	}
	s.left = append(s.left, s.leaving...)
	s.leaving = nil
	s.dropDays()
	for _, p := range s.printers {
		if p.unitChanged {
			s.write(PutSetting{Key: UnitKey(p.name), Value: encodeUnit(p.state.Unit)})
			p.unitChanged = false
		}
	}
	meta := s.meta
	meta.Days = maps.Clone(s.meta.Days)
	s.write(PutMeta{Meta: meta})
}

func (s *step) write(c ...Change) { s.d.Write = append(s.d.Write, c...) }
func (s *step) then(e ...Effect)  { s.d.Then = append(s.d.Then, e...) }

func (s *step) puback(h Handle) {
	if h != 0 {
		s.then(Puback{Handle: h})
	}
}

func (m *Machine) printer(name string) *printer {
	for _, p := range m.printers {
		if p.name == name {
			return p
		}
	}
	return nil
}
