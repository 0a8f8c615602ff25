package core

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"chit/device/wire"
	"chit/printer/document"
	"chit/printer/escpos"
	"chit/printer/session"
)

var errGivenUp = errors.New("layout given up")

// errAbove says that a ticket does not go together with notices on one paper.
var errAbove = errors.New("notices need a slip of their own")

// paper encodes t. A ticket that stops the layout, by panic, by error or by having ended the
// program before, is printed as plain text; the error is for one that cannot even be that.
func (s *step) paper(p *printer, t *ticket, list []Above) (
	paper escpos.Paper, marked bool, err error,
) {
	sheet := Sheet{
		Printer: p.name, Ticket: t.event, PowerCut: t.powerCut, Missing: t.Missing,
		OlderThan: t.OlderThan, Above: list,
		PossibleDuplicate: t.Marked || slices.Contains(t.event.Marks, wire.MarkPossibleDuplicate),
	}
	marked = sheet.PossibleDuplicate
	if host := s.host(); host != 0 {
		sheet.Now = time.UnixMilli(host)
	}
	if t.late && !slices.Contains(t.event.Marks, wire.MarkLate) {
		sheet.Ticket.Marks = append(slices.Clone(t.event.Marks), wire.MarkLate)
	}
	if t.Starts >= RefuseAt {
		return paper, marked, errGivenUp
	}
	if len(list) > 0 {
		defer func() {
			if err != nil {
				err = errAbove
			}
		}()
	}
	reason := fmt.Sprintf("%d starts", t.Starts)
	if t.Starts < PlainAt {
		if paper, err = s.encode(p, func() (document.Document, error) {
			return s.conf.Lay(sheet)
		}); err == nil {
			return paper, marked, nil
		}
		if len(list) > 0 {
			return paper, marked, err
		}
		reason = err.Error()
	}
	paper, err = s.encode(p, func() (document.Document, error) {
		return s.conf.Plain(sheet, reason), nil
	})
	return paper, marked, err
}

// encode guards foreign content: a panic of a layout is an error about one ticket.
func (s *step) encode(p *printer, lay func() (document.Document, error)) (
	paper escpos.Paper, err error,
) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	doc, err := lay()
	if err != nil {
		return escpos.Paper{}, err
	}
	return s.conf.Encode(p.name, doc)
}

// slip prints paper that is no ticket. One that cannot be encoded is given up: it is advice, and
// the ticket behind it is not.
func (s *step) slip(p *printer, kind Slip, command string) {
	in := Intent{Slip: kind}
	var t *ticket
	if kind == SlipTorn || kind == SlipCut {
		p.torn = SlipNone
	}
	if kind == SlipTorn {
		if len(p.queue) > 0 && p.queue[0].Torn {
			t = p.queue[0]
			in.Arrival = t.Arrival
		}
	}
	sheet, last := Sheet{Printer: p.name}, uint64(0)
	if kind == SlipAbove {
		sheet.Above, last, _ = p.says()
		sheet.AboveMore = p.above.More
	}
	paper, err := s.encode(p, func() (document.Document, error) {
		return s.conf.LaySlip(kind, sheet), nil
	})
	if err != nil {
		if t != nil {
			t.Torn = false
		}
		switch kind {
		case SlipTest:
			s.reply(command, err, nil)
		case SlipAbove:
			s.giveUpAbove(p)
		}
		return
	}
	s.start(p, in, session.Job{Paper: paper}, "")
	s.told(p, last)
	p.job.test = command
}

// memorylessSlip says on each printer, at most once in SlipEvery, that it cannot remember orders.
// It is the only paper without an intent, because there is no journal to write one to.
func (s *step) memorylessSlip(p *printer) {
	early := p.slipAt != 0 && s.up < p.slipAt+SlipEvery
	if early || !p.known || !p.state.Ready() {
		return
	}
	p.slipAt, p.slipped = max(s.up, 1), true
	paper, err := s.encode(p, func() (document.Document, error) {
		return s.conf.LaySlip(SlipMemoryless, Sheet{Printer: p.name}), nil
	})
	if err == nil {
		s.then(Print{Printer: p.name, Job: session.Job{Paper: paper, Token: escpos.TokenOf(0)}})
	}
}
