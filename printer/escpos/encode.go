package escpos

import (
	"errors"
	"fmt"
	"slices"

	"chit/printer/document"
	"chit/printer/escpos/codepage"
	"chit/printer/profile"
)

// Errors of [Encoder].Encode.
var (
	// ErrTooLong says that the document is longer than [HeightDotsMax]. The error around it says how
	// long it would be.
	ErrTooLong = errors.New("too long for one ticket")
	// ErrDocument says that the document asks for what no printer has.
	ErrDocument = errors.New("unprintable document")
	// ErrProfile says that the profile has no pages, unknown ones, or no room for text or images.
	ErrProfile = errors.New("unusable printer profile")
	// ErrUnprintable says that a text can be neither spelt nor drawn on this printer. The error
	// around it names the text's place and the code points of its first characters.
	ErrUnprintable = errors.New("text that this printer can neither spell nor draw")
	// ErrLive says that the bytes made hold a real-time command. It is a defect of this package.
	ErrLive = errors.New("live real-time command in a document")
)

const (
	// HeightDotsMax is the longest paper, 1 m at 8 dots a millimetre (DESIGN section 5).
	HeightDotsMax = 8000
	// countedDotsMax is up to where longer paper is still measured, for the error to say by how much
	// it is too long: 4 m.
	countedDotsMax = 4 * HeightDotsMax

	// lineDots is the default line spacing, 1/6 inch at 203 dpi; Epson, ESC 2.
	lineDots = 34
	// cellWidthDots and cellDots are the size of font A.
	cellWidthDots, cellDots = 12, 24
	// columnsMin leaves room for a character of eight-fold width beside an indent, and in a frame
	// for what drawers need.
	columnsMin = 20
	// sizeMax is the largest magnification, sizeMaxImpact that of needles; Epson, GS ! and ESC !.
	sizeMax, sizeMaxImpact = 8, 2
)

// plain is the look of every document's start.
var plain = document.Style{Width: 1, Height: 1}

// piece is one thing on the paper, before the code pages are chosen. Exactly one of line, feed,
// image and symbol is meant.
type piece struct {
	cells  []cell // a line of text, ended by its LF
	line   bool
	align  document.Align // of a line or a symbol
	tight  bool           // the line touches the next one, as in a frame
	feed   int            // empty lines
	image  *Image
	red    bool   // the colour of the image
	symbol []byte // the commands that draw a code
}

// composer puts the blocks of one document into pieces.
type composer struct {
	Encoder
	p      profile.Profile
	spell  *speller
	pieces []piece
	height int
	keeps  int32 // NoBreak spans numbered so far
	// rightToLeft is the document's. Code pages set letters from left to right only.
	rightToLeft bool
}

func (e Encoder) encode(d document.Document) (Paper, error) {
	if err := usable(e.Profile); err != nil {
		return Paper{}, err
	}
	c := &composer{Encoder: e, p: e.Profile, spell: newSpeller(e.Profile.Pages),
		rightToLeft: d.RightToLeft}
	for i, block := range d.Blocks {
		err := c.block(block)
		if errors.Is(err, ErrTooLong) {
			return Paper{}, fmt.Errorf("escpos: %w", err)
		}
		if err != nil {
			return Paper{}, fmt.Errorf("escpos: block %d: %w", i, err)
		}
	}
	err := c.feed(c.p.CutFeed)
	if err == nil && c.height > HeightDotsMax {
		err = c.tooLong()
	}
	if err != nil {
		return Paper{}, fmt.Errorf("escpos: %w", err)
	}
	w := writer{p: c.p, style: plain}
	w.document(c.pieces, c.spell)
	paper := Paper{
		Body: w.body, Breaks: w.breaks, LineFeeds: w.feeds, HeightDots: c.height, Raster: w.raster,
		Replaced: c.spell.replaced,
	}
	if c.p.Cutter {
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
	case p.Images > profile.ImagesColumn:
		return fmt.Errorf("escpos: profile %q takes images by command %d, expected 0 to 2: %w",
			p.Name, p.Images, ErrProfile)
	case p.Images != profile.ImagesNone && p.WidthDots < p.Columns:
		return fmt.Errorf("escpos: profile %q is %d dots wide, expected at least one for each of "+
			"%d columns: %w", p.Name, p.WidthDots, p.Columns, ErrProfile)
	}
	if least := stripLeast(p); p.Images != profile.ImagesNone && stripBytes(p) < least {
		return fmt.Errorf("escpos: profile %q takes strips of %d bytes, expected at least %d: %w",
			p.Name, stripBytes(p), least, ErrProfile)
	}
	for _, page := range p.Pages {
		if !codepage.Known(page.Encoding) {
			return fmt.Errorf("escpos: profile %q, page %d: encoding %q: %w",
				p.Name, page.Number, page.Encoding, ErrProfile)
		}
	}
	return nil
}

func (c *composer) block(block document.Block) error {
	switch b := block.(type) {
	case document.Line:
		return c.paragraph(b, "")
	case document.Pair:
		return c.pair(b)
	case document.Rule:
		return c.rule(b)
	case document.Feed:
		return c.feed(b.Lines)
	case document.Box:
		return c.box(b)
	case document.QR:
		return c.qr(b)
	}
	return fmt.Errorf("%T, expected Line, Pair, Rule, Feed, Box or QR: %w", block, ErrDocument)
}

// add puts a piece of that height at the end of the paper. What is over the longest paper is only
// measured.
func (c *composer) add(p piece, dots int) error {
	c.height += dots
	switch {
	case c.height > countedDotsMax:
		return c.tooLong()
	case c.height <= HeightDotsMax:
		c.pieces = append(c.pieces, p)
	}
	return nil
}

// tooLong says how long the paper would be, in whole centimetres, and what helps.
func (c *composer) tooLong() error {
	centimetres := (c.height + 79) / 80
	long := fmt.Sprintf("%d.%02d m", centimetres/100, centimetres%100)
	if c.height > countedDotsMax {
		long = fmt.Sprintf("more than %d m", countedDotsMax/HeightDotsMax)
	}
	return fmt.Errorf("the paper would be %s long, expected at most 1 m: %w; "+
		"split the order, or shorten its notes and names", long, ErrTooLong)
}

// feed prints empty lines of plain font A.
func (c *composer) feed(lines int) error {
	if lines <= 0 {
		return nil
	}
	lines = min(lines, countedDotsMax/lineDots+1)
	return c.add(piece{feed: lines}, lines*lineDots)
}

// row prints one physical line.
func (c *composer) row(align document.Align, cells []cell) error {
	return c.add(piece{line: true, align: align, cells: cells}, max(lineDots, tallest(cells)*cellDots))
}

func tallest(cells []cell) int {
	tall := 1
	for _, cell := range cells {
		tall = max(tall, int(cell.style.Height))
	}
	return tall
}

// paragraph prints one Line.
func (c *composer) paragraph(line document.Line, place string) error {
	if err := validLine(line); err != nil {
		return fmt.Errorf("%s%w", place, err)
	}
	cells, bad := c.cells(line.Spans, place)
	if line.Align != document.Centre {
		bad = c.turned(bad)
	}
	if bad != nil {
		images, err := c.draw(*bad, func(d Drawer) ([]Image, error) {
			return d.Line(drawable(line), c.grid(c.p.Columns))
		})
		if err != nil {
			return err
		}
		if images != nil {
			return c.images(images, c.reds(line.Spans))
		}
	}
	for _, physical := range c.wrapLine(line, cells, c.p.Columns) {
		if err := c.row(line.Align, physical); err != nil {
			return err
		}
	}
	return nil
}

// wrapLine breaks a paragraph into lines of at most columns. Indents are spaces, so they hold for
// left-aligned lines only; they are cut down where they would leave less than half of the width, or
// no room for the widest character.
func (c *composer) wrapLine(line document.Line, cells []cell, columns int) [][]cell {
	indent, hang := 0, 0
	if line.Align == document.Left {
		most := min(columns/2, columns-sizeMax)
		indent, hang = min(max(line.Indent, 0), most), min(max(line.Hang, 0), most)
	}
	lines := wrap(cells, columns-indent, columns-hang)
	for i, physical := range lines {
		margin := hang
		if i == 0 {
			margin = indent
		}
		if margin > 0 && len(physical) > 0 {
			lines[i] = append(blanks(margin), physical...)
		}
	}
	return lines
}

func validLine(line document.Line) error {
	if line.Align > document.Right {
		return fmt.Errorf("alignment %d, expected 0 to 2: %w", line.Align, ErrDocument)
	}
	return validSpans(line.Spans)
}

func validSpans(spans []document.Span) error {
	for i, span := range spans {
		if span.Style.Width > sizeMax || span.Style.Height > sizeMax {
			return fmt.Errorf("span %d: size %d by %d, expected at most 8 by 8: %w",
				i, max(span.Style.Width, 1), max(span.Style.Height, 1), ErrDocument)
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
func (c *composer) pair(pair document.Pair) error {
	for _, side := range []struct {
		name  string
		spans []document.Span
	}{{"left", pair.Left}, {"right", pair.Right}} {
		if err := validSpans(side.spans); err != nil {
			return fmt.Errorf("%s %w", side.name, err)
		}
	}
	left, bad := c.cells(pair.Left, "left ")
	right, badRight := c.cells(pair.Right, "right ")
	if bad = c.turned(bad.and(badRight)); bad != nil {
		images, err := c.draw(*bad, func(d Drawer) ([]Image, error) {
			drawn := document.Pair{Left: drawableSpans(pair.Left), Right: drawableSpans(pair.Right)}
			return d.Pair(drawn, c.grid(c.p.Columns))
		})
		if err != nil {
			return err
		}
		if images != nil {
			return c.images(images, c.reds(pair.Left) && c.reds(pair.Right))
		}
	}
	if gap := c.p.Columns - width(left) - width(right); gap >= 1 {
		return c.row(document.Left, append(append(left, blanks(gap)...), right...))
	}
	for _, physical := range wrap(left, c.p.Columns, c.p.Columns) {
		if err := c.row(document.Left, physical); err != nil {
			return err
		}
	}
	for _, physical := range wrap(right, c.p.Columns, c.p.Columns) {
		if err := c.row(document.Right, physical); err != nil {
			return err
		}
	}
	return nil
}

// rule prints its character across the paper, and '-' where no page can spell it as one cell.
func (c *composer) rule(rule document.Rule) error {
	r := rule.Char
	if r == 0 || !c.spell.can(r) {
		r = '-'
	}
	return c.row(document.Left, repeated(r, c.p.Columns, plain))
}

func repeated(r rune, n int, style document.Style) []cell {
	cells := make([]cell, n)
	for i := range cells {
		cells[i] = cell{r: r, style: style}
	}
	return cells
}
