package core

import (
	"errors"
	"reflect"
	"time"

	"chit/device/wire"
	"chit/printer/session"
)

// view is what people and the broker were shown last.
type view struct {
	status   wire.Status
	light    Light
	cause    string        // of the alarm that sounds
	alarmAt  time.Duration // Up of the last alarm
	insistAt time.Duration // Up of the last repeated pattern
	silenced bool
}

// printerState takes a session's word. A change of hold is told once to every ticket that waits
// here.
func (s *step) printerState(e PrinterState) {
	if p := s.printer(e.Printer); p != nil {
		s.setState(p, e.State)
	}
}

func (s *step) setState(p *printer, state session.State) {
	old, known, told := p.state, p.known, p.reason()
	if state.Hold == session.HoldAbsent && state.Unit == (session.Unit{}) {
		state.Unit = old.Unit // Not valid while absent; what was learned stays.
	}
	p.state, p.known = state, true
	a, b := old.Unit, state.Unit
	a.Counters, b.Counters = session.Counters{}, session.Counters{}
	p.unitChanged = p.unitChanged || a != b
	if known && old.Hold == state.Hold {
		return
	}
	p.since = s.up
	if !s.memory || p.reason() == told {
		return
	}
	if p.job != nil {
		if t := s.tickets[p.job.intent.Arrival]; t != nil && t.unfinished() {
			s.tell(t)
		}
	}
	for _, t := range p.queue {
		s.tell(t)
	}
}

// show tells people what changed: status, lamp and alarm.
func (s *step) show() {
	if status := s.status(); !reflect.DeepEqual(status, s.view.status) {
		s.view.status = status
		if s.connected {
			s.then(StatusChanged{Status: status})
		}
	}
	cause := s.cause()
	if light := s.light(cause); light != s.view.light {
		s.view.light = light
		s.then(Lamp{Light: light})
	}
	if cause != s.view.cause {
		s.view.cause, s.view.silenced, s.view.alarmAt = cause, false, s.up-AlarmEvery
	}
	if cause != "" && !s.view.silenced && s.up-s.view.alarmAt >= AlarmEvery {
		s.view.alarmAt = s.up
		s.then(Sound{Pattern: SoundAlarm})
	}
}

// cause is why a person is needed now, "" if nobody is.
func (s *step) cause() string {
	cause := ""
	if s.lost {
		cause = "storage "
	}
	for _, p := range s.printers {
		if s.alarming(p) && s.up >= p.since+grace(p.state.Hold) {
			cause += p.name + ":" + p.reason() + " "
		}
	}
	return cause
}

// alarming is true where tickets wait on a printer that a person must see to.
func (m *Machine) alarming(p *printer) bool {
	return p.known && !p.state.Ready() && (p.job != nil || len(p.queue) > 0)
}

// grace keeps short losses of a link from calling people.
func grace(h session.Hold) time.Duration {
	if h == session.HoldAbsent || h == session.HoldSilent {
		return AlarmGrace
	}
	return 0
}

func (s *step) light(cause string) Light {
	if cause != "" {
		return LightAlarm
	}
	for _, p := range s.printers {
		if !p.known || !p.state.Ready() {
			return LightHeld
		}
	}
	if !s.welcomed {
		return LightOffline
	}
	if s.workWaits() {
		return LightWaiting
	}
	return LightReady
}

// workWaits is true where tickets wait for a printer or a person, other than the one that prints.
func (s *step) workWaits() bool {
	waiting := s.waiting
	for _, p := range s.printers {
		if p.job == nil || p.job.intent.Slip != SlipNone {
			continue
		}
		if t := s.tickets[p.job.intent.Arrival]; t != nil && t.unfinished() {
			waiting--
		}
	}
	return waiting > 0 || s.conf.Attended && len(s.unseen) > 0
}

// Status is the newest content of the status hint.
func (m *Machine) Status() wire.Status { return m.view.status }

func (s *step) status() wire.Status {
	st := wire.Status{
		State: "online", Session: s.session, Boot: s.meta.Boot, Journal: s.meta.Journal,
		Version: s.conf.Version,
	}
	if s.lost {
		st.Degraded = "storage"
	}
	for _, p := range s.printers {
		ps := wire.PrinterStatus{
			Name: p.name, Held: string(p.state.Hold), PaperLow: p.state.PaperLow,
			Unit: p.state.Unit.Fingerprint, Fence: fence(p.state.Unit),
		}
		if ps.Held != "" {
			// A working printer's line changes with every ticket and says nothing.
			if ps.Waiting = len(p.queue); p.job != nil && p.job.intent.Slip == SlipNone {
				ps.Waiting++
			}
		}
		st.Printers = append(st.Printers, ps)
	}
	return st
}

func fence(u session.Unit) string {
	switch {
	case u.ProcessID:
		return string(wire.EvidenceConfirmed)
	case u.Fence:
		return string(wire.EvidenceFenced)
	}
	return string(wire.EvidenceSent)
}

// commandsMax is how many command ids are remembered against redelivery.
const commandsMax = 64

// command does what can be done now. A redelivered command is not done twice in one process.
func (s *step) command(e CommandArrived) {
	defer s.puback(e.Handle)
	c := e.Command
	if s.commands[c.ID] {
		return
	}
	s.commands[c.ID] = true
	if s.recent = append(s.recent, c.ID); len(s.recent) > commandsMax {
		delete(s.commands, s.recent[0])
		s.recent = s.recent[1:]
	}
	name := c.Args["printer"]
	if name == "" && len(s.printers) > 0 {
		name = s.printers[0].name
	}
	switch p := s.printer(name); {
	case c.Do != "test-print" && c.Do != "backlog" && c.Do != "backlog-answer":
		s.reply(c.ID, errors.New("not built yet: "+c.Do), nil)
	case !s.memory:
		s.reply(c.ID, errNoMemory, nil)
	case c.Do == "backlog-answer":
		s.backlogAnswer(c)
	case p == nil:
		s.reply(c.ID, errors.New("no such printer: "+name), nil)
	case c.Do == "backlog":
		s.backlogCommand(c, p)
	case !p.known || !p.state.Ready():
		s.reply(c.ID, errHeld(p), nil)
	default:
		p.tests = append(p.tests, c.ID)
	}
}

func (s *step) reply(command string, err error, result map[string]string) {
	if command == "" || !s.welcomed {
		return
	}
	r := wire.Reply{
		Device: s.conf.Device, Command: command, OK: err == nil, Result: result,
		IssuedAt: s.issued(),
	}
	if err != nil {
		r.Error = err.Error()
	}
	r.Journal, r.Boot, r.N = s.next()
	s.then(Reply{Reply: r})
}
