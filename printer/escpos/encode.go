package escpos

import (
	"errors"
	"fmt"
	"slices"

	"chit/printer/document"
	"chit/printer/escpos/codepage"
	"chit/printer/profile"
)

// Errors of [Encode].
var (
	// ErrTooLong says that the document is longer than [HeightDotsMax].
	ErrTooLong = errors.New("more than 1 m of paper")
	// ErrDocument says that the document asks for what no printer has.
	ErrDocument = errors.New("unprintable document")
	// ErrProfile says that the profile has no pages, unknown ones, or no room for text.
	ErrProfile = errors.New("unusable printer profile")
	// ErrLive says that the bytes made hold a real-time command. It is a defect of this package.
	ErrLive = errors.New("live real-time command in a document")
)

const (
	// HeightDotsMax is the longest paper, 1 m at 8 dots a millimetre (DESIGN section 5).
	HeightDotsMax = 8000

	// lineDots is the default line spacing, 1/6 inch at 203 dpi; Epson, ESC 2.
	lineDots = 34
	// cellDots is the height of font A.
	cellDots = 24
	// columnsMin leaves room for a character of eight-fold width beside an indent.
	columnsMin = 16
	// feedMax is the parameter's limit; Epson, ESC d.
	feedMax = 255
)

// plain is the look of every document's start.
var plain = document.Style{Width: 1, Height: 1}

// encoder holds the bytes made so far and the state the printer will be in after them.
type encoder struct {
	p      profile.Profile
	spell  *speller
	body   []byte
	style  document.Style
	align  document.Align
	page   int // index in p.Pages
	feeds  int
	height int
	keeps  int // NoBreak spans numbered so far
}

func encode(d document.Document, p profile.Profile) (Paper, error) {
	if err := usable(p); err != nil {
		return Paper{}, err
	}
	e := &encoder{p: p, spell: newSpeller(p.Pages), style: plain}
	e.start()
	for i, block := range d.Blocks {
		if err := e.block(block); err != nil {
			return Paper{}, fmt.Errorf("escpos: block %d: %w", i, err)
		}
	}
	e.look(plain)
	if err := e.feed(p.CutFeed); err != nil {
		return Paper{}, fmt.Errorf("escpos: feed to the blade: %w", err)
	}
	paper := Paper{
		Body: e.body, LineFeeds: e.feeds, HeightDots: e.height, Replaced: e.spell.replaced,
	}
	if p.Cutter {
		// Partial cut where the paper stands: the body has fed it to the blade, and GS V 66
		// would feed that distance a second time. Epson, GS V <Function A>, m = 1.
		paper.Cut, paper.Cuts = []byte{0x1D, 0x56, 0x01}, 1
	}
	if live := LiveCommands(append(slices.Clone(paper.Body), paper.Cut...)); len(live) > 0 {
		return Paper{}, fmt.Errorf("escpos: at byte %d: %w", live[0], ErrLive)
	}
	return paper, nil
}

func usable(p profile.Profile) error {
	switch {
	case p.Columns < columnsMin:
		return fmt.Errorf("escpos: profile %q has %d columns, expected at least %d: %w",
			p.Name, p.Columns, columnsMin, ErrProfile)
	case len(p.Pages) == 0:
		return fmt.Errorf("escpos: profile %q has no code pages: %w", p.Name, ErrProfile)
	}
	for _, page := range p.Pages {
		if !codepage.Known(page.Encoding) {
			return fmt.Errorf("escpos: profile %q, page %d: encoding %q: %w",
				p.Name, page.Number, page.Encoding, ErrProfile)
		}
	}
	return nil
}

// start brings the printer into a known state, whatever was sent before: ESC @ first, as it undoes
// the others; Kanji mode off (Chinese models start with it on and eat accented letters, research
// 3.3); ESC R 0, else brackets print as letters; automatic status on, which ESC @ switched off; and
// the first page by number, since the one after ESC @ is a setting of the unit.
func (e *encoder) start() {
	e.bytes(0x1B, 0x40, 0x1C, 0x2E, 0x1B, 0x52, 0x00)
	e.body = append(e.body, EnableASB()...)
	e.bytes(0x1B, 0x74, e.p.Pages[0].Number)
}

func (e *encoder) bytes(b ...byte) { e.body = append(e.body, b...) }

func (e *encoder) block(block document.Block) error {
	switch b := block.(type) {
	case document.Line:
		return e.paragraph(b)
	case document.Pair:
		return e.pair(b)
	case document.Rule:
		return e.rule(b)
	case document.Feed:
		e.look(plain)
		return e.feed(b.Lines)
	}
	return fmt.Errorf("%T, expected Line, Pair, Rule or Feed: %w", block, ErrDocument)
}

// cells turns spans into sanitised cells with resolved styles.
func (e *encoder) cells(spans []document.Span) ([]cell, error) {
	var out []cell
	for i, span := range spans {
		style := span.Style
		style.Width, style.Height = max(style.Width, 1), max(style.Height, 1)
		if style.Width > 8 || style.Height > 8 {
			return nil, fmt.Errorf("span %d: size %d by %d, expected at most 8 by 8: %w",
				i, style.Width, style.Height, ErrDocument)
		}
		style.Red = style.Red && e.p.Red
		keep := 0
		if span.NoBreak {
			e.keeps++
			keep = e.keeps
		}
		for _, r := range e.spell.sanitise(span.Text) {
			out = append(out, cell{r, style, keep})
		}
	}
	return out, nil
}

// paragraph prints one Line. Indents are spaces, so they hold for left-aligned lines only; they are
// cut down where they would leave less than half of the paper.
func (e *encoder) paragraph(line document.Line) error {
	if line.Align > document.Right {
		return fmt.Errorf("alignment %d, expected 0 to 2: %w", line.Align, ErrDocument)
	}
	cells, err := e.cells(line.Spans)
	if err != nil {
		return err
	}
	indent, hang := 0, 0
	if line.Align == document.Left {
		indent = min(max(line.Indent, 0), e.p.Columns/2)
		hang = min(max(line.Hang, 0), e.p.Columns/2)
	}
	for i, physical := range wrap(cells, e.p.Columns-indent, e.p.Columns-hang) {
		margin := hang
		if i == 0 {
			margin = indent
		}
		if len(physical) == 0 {
			margin = 0
		}
		if err := e.line(line.Align, append(blanks(margin), physical...)); err != nil {
			return err
		}
	}
	return nil
}

func blanks(n int) []cell {
	out := make([]cell, n)
	for i := range out {
		out[i] = cell{r: ' ', style: plain}
	}
	return out
}

// pair prints both texts on one line where at least one column stays free between them.
func (e *encoder) pair(pair document.Pair) error {
	left, err := e.cells(pair.Left)
	if err != nil {
		return fmt.Errorf("left %w", err)
	}
	right, err := e.cells(pair.Right)
	if err != nil {
		return fmt.Errorf("right %w", err)
	}
	if gap := e.p.Columns - width(left) - width(right); gap >= 1 {
		return e.line(document.Left, append(append(left, blanks(gap)...), right...))
	}
	for _, physical := range wrap(left, e.p.Columns, e.p.Columns) {
		if err := e.line(document.Left, physical); err != nil {
			return err
		}
	}
	for _, physical := range wrap(right, e.p.Columns, e.p.Columns) {
		if err := e.line(document.Right, physical); err != nil {
			return err
		}
	}
	return nil
}

// rule prints its character across the paper, and '-' where no page can spell it as one cell.
func (e *encoder) rule(rule document.Rule) error {
	r := rule.Char
	if r == 0 || !e.spell.can(r) {
		r = '-'
	}
	cells := make([]cell, e.p.Columns)
	for i := range cells {
		cells[i] = cell{r: r, style: plain}
	}
	return e.line(document.Left, cells)
}

// line prints one physical line and its LF.
func (e *encoder) line(align document.Align, cells []cell) error {
	if align != e.align {
		// Obeyed at the beginning of a line only; Epson, ESC a.
		e.bytes(0x1B, 0x61, byte(align))
		e.align = align
	}
	tall := 1
	for i, way := range e.spell.plan(cells, e.page) {
		if way.page >= 0 && way.page != e.page {
			e.bytes(0x1B, 0x74, e.p.Pages[way.page].Number)
			e.page = way.page
		}
		e.look(cells[i].style)
		e.bytes(way.b)
		tall = max(tall, int(cells[i].style.Height))
	}
	e.bytes(0x0A)
	e.feeds++
	return e.grow(max(lineDots, tall*cellDots))
}

// feed prints empty lines of plain font A.
func (e *encoder) feed(lines int) error {
	if lines > HeightDotsMax/lineDots {
		return fmt.Errorf("%d empty lines: %w", lines, ErrTooLong)
	}
	for lines > 0 {
		n := min(lines, feedMax)
		e.bytes(0x1B, 0x64, byte(n))
		e.feeds += n
		lines -= n
		if err := e.grow(n * lineDots); err != nil {
			return err
		}
	}
	return nil
}

func (e *encoder) grow(dots int) error {
	e.height += dots
	if e.height > HeightDotsMax {
		return fmt.Errorf("%d dots, expected at most %d: %w", e.height, HeightDotsMax, ErrTooLong)
	}
	return nil
}

// look changes the printer's style to want, command by command where they differ.
func (e *encoder) look(want document.Style) {
	have := e.style
	if want.Width != have.Width || want.Height != have.Height {
		e.bytes(0x1D, 0x21, byte(want.Width-1)<<4|byte(want.Height-1))
	}
	set := func(want, have bool, command ...byte) {
		if want != have {
			on := byte(0)
			if want {
				on = 1
			}
			e.bytes(append(command, on)...)
		}
	}
	set(want.Bold, have.Bold, 0x1B, 0x45)
	set(want.Underline, have.Underline, 0x1B, 0x2D)
	set(want.Inverse, have.Inverse, 0x1D, 0x42)
	set(want.Red, have.Red, 0x1B, 0x72)
	e.style = want
}
