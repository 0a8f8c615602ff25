package core

import (
	"errors"

	"chit/printer/session"
)

// ClearsMax is how often a printer that goes away meanwhile is asked to forget one document.
const ClearsMax = 5

// clearing is where the wish stands that a printer forgets the rest of a recalled ticket.
//
//	unwanted --recall--> wanted --printer there--> asked --confirmed, unable--> settled
//	                        ^---printer went away---+
type clearing uint8

const (
	unwanted clearing = iota
	wanted
	asked
	settled
)

// clear wants the printer to forget the rest of the ticket at hand, once.
func (j *job) clear() {
	if j.clearing == unwanted {
		j.clearing = wanted
	}
}

// atWork does what an open intent needs: first that a recalled ticket's rest is cleared, where the
// printer can be talked to, then the question what became of it. The question alone waits for an
// absent printer; a clearing that is under way is waited for, since it changes the answer.
func (s *step) atWork(p *printer) {
	j := p.job
	there := p.state.Hold != session.HoldAbsent && p.state.Hold != session.HoldSilent
	if j.clearing == wanted && there {
		j.clearing = asked
		s.then(ClearPrinter{Printer: p.name, Token: j.intent.Token})
	}
	if j.phase == resolving && !j.asked && j.clearing != asked {
		j.asked = true
		s.then(Resolve{Printer: p.name, Token: j.intent.Token, Intent: j.intent.Question()})
	}
}

// cleared takes the answer to a [ClearPrinter].
func (s *step) clearedPrinter(e Cleared) {
	p := s.printer(e.Printer)
	if p == nil || p.job == nil || p.job.intent.Token != e.Token || p.job.clearing != asked {
		return
	}
	j := p.job
	switch {
	case e.Err == nil:
		j.clearing, j.cleared = settled, true
	case errors.Is(e.Err, session.ErrNotCleared) || j.clears+1 >= ClearsMax:
		j.clearing = settled
	default:
		j.clearing, j.clears = wanted, j.clears+1
		p.pause = s.up + RetryPause
	}
}
