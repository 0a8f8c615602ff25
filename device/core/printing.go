package core

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"chit/device/wire"
	"chit/printer/escpos"
	"chit/printer/session"
)

// printer is one printer as the machine sees it.
type printer struct {
	name        string
	state       session.State
	known       bool // a state was reported in this process
	unitChanged bool
	since       time.Duration // Up of the last change of hold

	slipped bool          // a slip without memory came out since the intent was written
	job     *job          // the one open intent
	queue   []*ticket     // in line behind it, by arrival; a reprint goes first
	torn    Slip          // a ticket hangs in the printer: this slip and a cut come first
	tests   []string      // commands that wait for a test print
	slipAt  time.Duration // Up of the last memoryless slip, 0 = none
	pause   time.Duration
	wake    bool // the first in line waited for a commit, which is made
	above   above
	backlog backlog
}

// job is an open intent: at the printer, or a question about it.
type job struct {
	intent Intent
	phase  phase
	asked  bool
	test   string // the command that wants to know

	clearing clearing
	clears   int  // tries
	cleared  bool // the printer confirmed it
}

// phase of an open intent.
//
//	printing --result--> cleared
//	    +--unknown--> resolving --answer--> cleared
//	(start) ----------^
type phase uint8

const (
	printing phase = iota
	resolving
)

func newPrinter(name string) *printer {
	return &printer{name: name, state: session.State{Hold: session.HoldAbsent}}
}

// reason is the word for a ticket that waits here, "" while the printer works or is not known yet.
func (p *printer) reason() string {
	if !p.known {
		return ""
	}
	return string(p.state.Hold)
}

// advance gives the printer its next work: first the open question, then what the paper needs, then
// the next in line. There is at most one intent, and it is part of this decision's commit (I4).
func (s *step) advance(p *printer) {
	p.wake = false
	if s.lost {
		s.memorylessSlip(p)
		return
	}
	if !s.memory || !p.known || s.ending || s.up < p.pause {
		return
	}
	if p.job != nil {
		s.atWork(p)
		return
	}
	for p.state.Ready() && p.job == nil {
		switch {
		case p.torn != SlipNone:
			s.slip(p, p.torn, "")
		case p.slipAbove():
			s.slip(p, SlipAbove, "")
		case len(p.tests) > 0:
			s.slip(p, SlipTest, p.tests[0])
			p.tests = p.tests[1:]
		case s.backlogDue(p):
			s.backlogSlip(p)
		case len(p.queue) == 0:
			return
		case !s.fit(p.queue[0]):
			if len(p.queue) > 0 && p.queue[0].unsure {
				return // Strictly in order: what is behind it waits too.
			}
		case p.queue[0].Torn:
			s.slip(p, SlipTorn, "")
		case !s.counted(p.queue[0]):
			return // Its count is part of this commit; the layout comes after it.
		default:
			s.begin(p, p.queue[0])
		}
	}
}

// fit judges whether the first in line may print now. What may not for itself leaves the line.
func (s *step) fit(t *ticket) bool {
	if t.unsure && s.age(t) {
		return false
	}
	s.judge(t)
	return t.State == Received
}

// judge ends a ticket that is expired, and does with one that is too old what its kitchen wants.
func (s *step) judge(t *ticket) {
	switch {
	case s.lived >= t.Expires:
		s.end(t, wire.OutcomeExpired, "")
	case t.ages() && !t.unsure && s.lived-t.Stored >= t.Stale:
		s.outdate(t)
	}
}

// ages is true while the passing of stalems still changes what becomes of the ticket. A half ticket
// in the printer is cut off first.
func (t *ticket) ages() bool {
	return t.State == Received && t.Stale > 0 && !t.late && !t.Torn
}

// begin writes the intent of t and hands its paper to the printer.
func (s *step) begin(p *printer, t *ticket) {
	list, last, _ := p.says()
	paper, marked, err := s.paper(p, t, list)
	if errors.Is(err, errAbove) {
		s.slip(p, SlipAbove, "") // The ticket comes after it.
		return
	}
	if err != nil {
		reason := "poison"
		switch {
		case errors.Is(err, escpos.ErrTooLong):
			reason = wire.ReasonTooLong // No defect: the order is longer than a ticket may be.
		case errors.Is(err, escpos.ErrUnprintable):
			reason = wire.ReasonUnprintable // Nor is it: this printer has no letters for it.
		}
		s.end(t, wire.OutcomeRefused, reason)
		return
	}
	p.queue = p.queue[1:]
	s.start(p, Intent{Arrival: t.Arrival, Marked: marked}, session.Job{Paper: paper}, t.ID)
	s.told(p, last)
}

// start completes an intent and prints. The token is new with every intent.
func (s *step) start(p *printer, in Intent, work session.Job, id string) {
	s.meta.Tokens++
	work.Token = escpos.TokenOf(s.meta.Tokens)
	work.Before = p.state.Unit.Counters
	q := session.NewIntent(p.state.Unit, work)
	in.Token, in.Fingerprint, in.Before = q.Token, q.Fingerprint, q.Before
	in.LineFeeds, in.Cuts, in.Trusted = q.LineFeeds, q.Cuts, q.Trusted
	in.Raster, in.Boot = work.Paper.Raster, s.meta.Boot
	p.job = &job{intent: in}
	s.write(PutIntent{Printer: p.name, Intent: in})
	s.then(Print{Printer: p.name, Arrival: in.Arrival, Ticket: id, Job: work})
}

// printDone records a result.
func (s *step) printDone(e PrintDone) {
	p := s.printer(e.Printer)
	if p == nil || p.job == nil || p.job.intent.Token != e.Token {
		return // Of a slip without memory, or already resolved.
	}
	j, r := p.job, e.Result
	p.read(r.Counters)
	switch {
	case r.Evidence > session.None:
		s.cameOut(p, j, r.Evidence)
	case r.Started:
		// Unknown. The intent stays, and the printer is asked before anything else prints.
		j.phase, j.asked = resolving, false
		p.pause = s.up + RetryPause
		return
	default:
		s.notStarted(p, j, r)
	}
	s.close(p)
}

// read takes over a newer reading of the odometer.
func (p *printer) read(c session.Counters) {
	if c.Known {
		p.state.Unit.Counters = c
	}
}

// close removes the intent, or lets the next one replace it in the same commit.
func (s *step) close(p *printer) {
	p.job = nil
	s.advance(p)
	if p.job == nil {
		s.write(ClearIntent{Printer: p.name})
	}
}

func (s *step) cameOut(p *printer, j *job, e session.Evidence) {
	t := s.tickets[j.intent.Arrival]
	s.heardAbove(p, j.intent.Token)
	switch j.intent.Slip {
	case SlipNone:
		if t != nil && t.unfinished() {
			if t.Recall != "" {
				s.dropAbove(p, t.Arrival) // It counts: ignored, the order would be made by nobody.
			}
			s.settle(t, evidenceOf(e), j.intent.Marked)
		}
	case SlipTorn, SlipCut:
		p.torn = SlipNone
		if j.intent.Arrival != 0 {
			s.cutAbove(p, j.intent.Arrival)
		}
		if t != nil && t.Torn {
			t.Torn = false
			s.write(PutOpen{Open: t.Open})
		}
	case SlipBacklog:
		s.then(Sound{Pattern: SoundNew})
		s.backlogTold(p)
	case SlipTest:
		s.reply(j.test, nil, map[string]string{"evidence": string(evidenceOf(e))})
	}
}

func evidenceOf(e session.Evidence) wire.Evidence {
	switch e {
	case session.Sent:
		return wire.EvidenceSent
	case session.Counted:
		return wire.EvidenceCounted
	case session.Fenced:
		return wire.EvidenceFenced
	case session.Confirmed:
		return wire.EvidenceConfirmed
	}
	return wire.EvidenceUnknown
}

// errHeld says why nothing can be printed now, and what to do about it.
func errHeld(p *printer) error {
	words := p.state.Hold.Words()
	return fmt.Errorf("the printer is held (%s): it is %s. %s", p.state.Hold, words.Is, words.Do)
}

// notStarted puts the work back: surely no byte left, so no mark is due.
func (s *step) notStarted(p *printer, j *job, r session.Result) {
	if r.Hold != session.HoldNone && p.state.Hold == session.HoldNone {
		s.setState(p, session.State{Hold: r.Hold, Unit: p.state.Unit, PaperLow: p.state.PaperLow})
	}
	if !errors.Is(r.Err, session.ErrMoved) {
		p.pause = s.up + RetryPause
	}
	switch j.intent.Slip {
	case SlipNone:
		s.putBack(p, j.intent.Arrival)
	case SlipTorn, SlipCut:
		if j.intent.Arrival == 0 {
			p.torn = j.intent.Slip
		}
	case SlipTest:
		s.reply(j.test, errHeld(p), nil)
	}
}

func (s *step) putBack(p *printer, arrival uint64) {
	t := s.tickets[arrival]
	switch {
	case t == nil || !t.unfinished():
		return
	case t.Recall != "" && !t.Marked:
		s.dropAbove(p, arrival)
		s.end(t, wire.OutcomeRecalled, t.Recall)
	case t.Recall != "":
		s.doubtful(t, t.Torn)
	default:
		p.queue = slices.Insert(p.queue, 0, t)
	}
}

// resolved ends the question about an interrupted document.
func (s *step) resolved(e Resolved) {
	p := s.printer(e.Printer)
	if p == nil || p.job == nil || p.job.intent.Token != e.Token || p.job.phase != resolving {
		return
	}
	j, r := p.job, e.Resolution
	p.read(r.Counters)
	if e.Err != nil || r.Err != nil {
		j.asked, p.pause = false, s.up+RetryPause
		return
	}
	if r.Evidence > session.None {
		s.cameOut(p, j, r.Evidence)
		if r.Torn && j.intent.Slip == SlipNone {
			p.torn = SlipCut
		}
	} else {
		s.inDoubt(p, j, r)
	}
	s.close(p)
}

// inDoubt prepares the second paper of a ticket whose first may exist: it says so.
func (s *step) inDoubt(p *printer, j *job, r session.Resolution) {
	switch slip := j.intent.Slip; {
	case slip == SlipTest:
		s.reply(j.test, errors.New("outcome unknown"), nil)
	case slip == SlipAbove: // It is said again until it is out.
	case slip == SlipBacklog: // It is due again.
		if r.Torn {
			p.torn = SlipTorn
		}
	case slip != SlipNone && j.intent.Arrival == 0:
		p.torn = slip // Advice may come twice.
	}
	t := s.tickets[j.intent.Arrival]
	if t == nil || !t.unfinished() || j.intent.Slip != SlipNone {
		return
	}
	if t.Recall != "" {
		s.takenBack(p, j, t, r)
		return
	}
	t.Marked, t.Torn = true, r.Torn
	s.write(PutOpen{Open: t.Open})
	s.putBack(p, t.Arrival)
}

// UnitKey is the setting under which a printer's unit is remembered, as JSON of session.Unit.
func UnitKey(printer string) string { return "unit/" + printer }

func encodeUnit(u session.Unit) []byte {
	u.Counters = session.Counters{} // They change with every ticket and are read afresh.
	b, err := json.Marshal(u)
	if err != nil {
		panic("core: a unit has no JSON form: " + err.Error()) // Plain fields only.
	}
	return b
}

func decodeUnit(b []byte) (u session.Unit, ok bool) {
	ok = len(b) > 0 && json.Unmarshal(b, &u) == nil
	return u, ok
}
