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
	if t.Starts < PlainAt {
		paper, _, err = s.conf.Paper(sheet)
		return paper, marked, err
	}
	sheet.Fit = FitPlain
	// A drawing that ended the program is not met a second time.
	drawn := t.Starts == PlainAt
	paper, err = s.conf.plainPaper(sheet, fmt.Sprintf("%d starts", t.Starts), drawn)
	return paper, marked, err
}

// Fit is how a ticket was brought onto a metre of paper.
type Fit uint8

// The fits, in the order in which they are tried.
const (
	FitUsual   Fit = iota // as the kitchen wants it
	FitNormal             // in the normal size
	FitCompact            // without frames, codes and large letters
	FitPlain              // LAYOUT FAILED and every word of the order, no layout
)

// Paper makes the bytes of a ticket whose layout is not known to end the program, and says how it
// fitted. One that is too long is tried smaller, and one that stops the layout is made plain;
// sheets that say what is above are tried once. No paper lacks a word of the order: the error wraps
// [escpos.ErrTooLong] or [escpos.ErrUnprintable] where one would, else nothing could be made at
// all.
func (c Config) Paper(sheet Sheet) (paper escpos.Paper, fit Fit, err error) {
	for fit = FitUsual; fit < FitPlain; fit++ {
		sheet.Fit = fit
		paper, err = guarded(sheet.Printer, c.Encode, func() (document.Document, error) {
			return c.Lay(sheet)
		})
		if !errors.Is(err, escpos.ErrTooLong) || len(sheet.Above) > 0 {
			break
		}
	}
	// Nothing is wrong with a layout whose words the printer does not have: plain they would be
	// missing too.
	if err == nil || len(sheet.Above) > 0 || errors.Is(err, escpos.ErrUnprintable) {
		return paper, fit, err
	}
	sheet.Fit = FitPlain
	paper, err = c.plainPaper(sheet, err.Error(), true)
	return paper, FitPlain, err
}

// plainPaper makes the bytes of a ticket that has no layout. It is drawn like any other where drawn
// says so. Where that fails it is spelt, and refused where a word would become code points: nobody
// shall cook by such a paper.
func (c Config) plainPaper(sheet Sheet, reason string, drawn bool) (escpos.Paper, error) {
	lay := func() (document.Document, error) { return c.Plain(sheet, reason), nil }
	if drawn {
		paper, err := guarded(sheet.Printer, c.Encode, lay)
		if err == nil || errors.Is(err, escpos.ErrTooLong) {
			return paper, err
		}
	}
	paper, err := guarded(sheet.Printer, c.encodePlain, lay)
	if n := len(paper.Replaced); err == nil && n > 0 {
		return escpos.Paper{}, fmt.Errorf("core: plain ticket with %d characters replaced: %w", n,
			escpos.ErrUnprintable)
	}
	return paper, err
}

func (c Config) encodePlain(printer string, d document.Document) (escpos.Paper, error) {
	if c.EncodePlain == nil {
		return c.Encode(printer, d)
	}
	return c.EncodePlain(printer, d)
}

// guarded encodes foreign content: a panic of a layout is an error about one ticket.
func guarded(
	printer string, encode func(string, document.Document) (escpos.Paper, error),
	lay func() (document.Document, error),
) (paper escpos.Paper, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	doc, err := lay()
	if err != nil {
		return escpos.Paper{}, err
	}
	return encode(printer, doc)
}

// encodeSlip tries the plain way where the usual one fails: a name that the printer has no letters
// for shall not silence a warning.
func (s *step) encodeSlip(p *printer, kind Slip, sheet Sheet) (escpos.Paper, error) {
	lay := func() (document.Document, error) { return s.conf.LaySlip(kind, sheet), nil }
	paper, err := guarded(p.name, s.conf.Encode, lay)
	if err != nil {
		paper, err = guarded(p.name, s.conf.encodePlain, lay)
	}
	return paper, err
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
	paper, err := s.encodeSlip(p, kind, sheet)
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
	paper, err := s.encodeSlip(p, SlipMemoryless, Sheet{Printer: p.name})
	if err == nil {
		s.then(Print{Printer: p.name, Job: session.Job{Paper: paper, Token: escpos.TokenOf(0)}})
	}
}
