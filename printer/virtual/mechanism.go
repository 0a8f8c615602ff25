package virtual

import (
	"errors"
	"time"

	"chit/printer/escpos"
)

// lineDots is the default line: 30 dots, 3.75 mm. Speeds are lines of this height.
const lineDots = 30

// cutTakes is how long the blade needs in a printer whose lines take time.
const cutTakes = 200 * time.Millisecond

// stepsMax bounds what one command can ask for: the tallest raster field in bands of 24 rows, twice
// as high.
const stepsMax = 2 * 65_536 / cellHeightA

// step is one indivisible move of the mechanism: a line, a band of dots, a cut.
type step struct {
	dots   int // paper fed
	feeds  int // what the odometer's line-feed counter grows by
	prints printed
	cut    Cut
	offset int64
}

// printed is what a step puts on paper; Y is relative to the print head.
type printed struct {
	line   *Line
	images []Image
	box    *Box
}

// run lets the mechanism work until now, or until it stops.
func (p *Printer) run(now time.Time) {
	p.working = true
	defer func() { p.working = false }()
	for !p.halted() {
		switch {
		case p.doing != nil:
			if p.doneAt.After(now) {
				return
			}
			p.finish()
		case p.status.paperOut:
			return // The line under the head was finished; the rest waits for a new roll.
		case len(p.steps) > 0:
			p.begin()
		case len(p.pending) > 0:
			command := p.pending[0]
			p.pending = p.pending[1:]
			p.executed = max(p.executed, p.base+command.Offset+int64(len(command.Raw)))
			p.execute(command)
		case len(p.buffer) > 0:
			p.decode()
		default:
			return
		}
	}
}

// halted is true where the mechanism stands still at once, even within a line. At paper end it
// finishes its line first.
func (p *Printer) halted() bool {
	s := p.status
	return !p.on || s.coverOpen || s.cutterError || s.hot || s.broken
}

func (p *Printer) begin() {
	next := p.steps[0]
	p.steps = p.steps[1:]
	p.doing, p.doneAt = &next, p.clock.Add(p.takes(next))
}

// takes is how long a step needs.
func (p *Printer) takes(s step) time.Duration {
	speed := p.conf.LinesPerSecond
	if p.slow > 0 {
		speed = p.slow
	}
	switch {
	case speed <= 0:
		return 0
	case s.cut != CutNone:
		return cutTakes
	}
	lines := float64(s.dots) / lineDots
	return time.Duration(lines / speed * float64(time.Second))
}

// finish ends the step under way: its paper has moved, its ink is on it.
func (p *Printer) finish() {
	done := *p.doing
	p.doing, p.clock = nil, p.doneAt
	if done.cut != CutNone {
		p.finishCut(done)
		return
	}
	p.paper.print(done)
	p.count.feed(done.feeds)
	if p.paper.tooLong() {
		p.endSheet(Torn)
	}
	if p.heldID != nil {
		p.sayProcessID(p.heldID)
		p.heldID = nil
	}
	if done.dots > 0 {
		p.fireLines()
	}
}

func (p *Printer) finishCut(done step) {
	if !p.can.Cutter {
		p.note("event", "no cutter: paper fed, not cut", done.offset)
		return
	}
	if p.jams() {
		p.steps = append([]step{done}, p.steps...) // Kept: DLE ENQ 1 begins it again.
		p.note("fault", "cutter error", done.offset)
		p.changed()
		return
	}
	p.count.cut()
	p.endSheet(done.cut)
}

// endSheet separates the paper at the blade.
func (p *Printer) endSheet(how Cut) {
	at := p.moment()
	sheet, next, through := p.paper.separate(how, at, p.executed)
	p.paper = next
	if sheet.HeightDots == 0 {
		p.note("event", "cut without paper", p.executed)
		return
	}
	m := Mark{Y: sheet.HeightDots, At: at, Offset: p.executed, Kind: "cut", Text: string(how)}
	if how == Torn {
		m.Kind = "torn"
	} else if through {
		wrong := m
		wrong.Kind, wrong.Text = "error", "cut through what was printed: too little fed before the cut"
		sheet.Marks = append(sheet.Marks, wrong)
		p.log.add(wrong)
	}
	sheet.Marks = append(sheet.Marks, m)
	p.finished = append(p.finished, sheet)
	if len(p.finished) > SheetsMax {
		p.finished = p.finished[1:]
		p.dropped++
	}
}

// resume lets the mechanism go on from now after a stop.
func (p *Printer) resume(now time.Time) {
	if p.halted() || p.status.paperOut {
		return
	}
	if now.After(p.clock) {
		p.clock = now
	}
	p.run(now)
}

// interrupt puts the step under way back: it will be begun again from its start.
func (p *Printer) interrupt() {
	if p.doing != nil {
		p.steps = append([]step{*p.doing}, p.steps...)
		p.doing = nil
	}
}

// decode takes the next bytes out of the buffer.
func (p *Printer) decode() {
	n := min(len(p.buffer), chunkBytes)
	commands, err := p.decoder.Write(p.buffer[:n])
	p.buffer = append(p.buffer[:0:0], p.buffer[n:]...)
	p.pending = append(p.pending, commands...)
	p.decoderErrors(err)
}

// decoderErrors notes each sequence that the decoder did not know.
func (p *Printer) decoderErrors(err error) {
	if err == nil {
		return
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range many.Unwrap() {
			p.decoderErrors(one)
		}
		return
	}
	offset := p.consumed()
	var unknown *escpos.UnknownError
	if errors.As(err, &unknown) {
		offset = p.base + unknown.Offset
	}
	p.note("error", err.Error(), offset)
}

// push queues a step for the mechanism.
func (p *Printer) push(s step) {
	if len(p.steps) < stepsMax {
		p.steps = append(p.steps, s)
	}
}
