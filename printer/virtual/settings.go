package virtual

// settings are what commands change and ESC @ puts back.
type settings struct {
	style                  Style
	align                  int // 0 left, 1 centre, 2 right
	spacing                int // line spacing in dots
	gap                    int // character spacing in dots, before magnification
	page                   string
	nation                 map[byte]rune // what ESC R changed
	kanji                  kanji
	left, area             int // printing area: left margin and width in dots
	wanted                 int // the width that GS W asked for; area is what of it fits
	unitX                  int // motion units per inch
	unitY                  int
	tabs                   []int // columns
	upside                 bool
	bar                    barSettings
	pulseOff, powerDownOff bool // GS ( D
}

// dotsPerInch is the resolution of head and paper feed.
const dotsPerInch = 203

// initialise is ESC @: settings as at power-on, the unfinished line gone, status reporting off. The
// receive buffer stays.
func (p *Printer) initialise() {
	p.set = settings{
		style:   Style{Width: 1, Height: 1, Cell: p.conf.CellDots},
		spacing: lineDots,
		page:    p.conf.Pages[0].Encoding,
		kanji:   kanji{on: p.can.KanjiFirst},
		area:    p.conf.Columns * p.conf.CellDots,
		wanted:  p.conf.Columns * p.conf.CellDots,
		unitX:   dotsPerInch,
		unitY:   dotsPerInch,
		bar:     barSettings{height: 162, width: 3},
	}
	for _, page := range p.conf.Pages {
		if page.Number == 0 {
			p.set.page = page.Encoding
		}
	}
	for column := 8; column < p.conf.Columns; column += 8 {
		p.set.tabs = append(p.set.tabs, column)
	}
	p.line, p.heldID, p.symbols, p.stored = lineBuffer{}, nil, nil, nil
	p.asb = 0 // ESC @ switches GS a off: Epson, GS a.
}

// x and y turn motion units into dots.
func (s settings) x(units int) int { return units * dotsPerInch / max(1, s.unitX) }
func (s settings) y(units int) int { return units * dotsPerInch / max(1, s.unitY) }

// column is the width of one character without its magnification.
func (s Style) column() int {
	switch {
	case s.Cell > 0:
		return s.Cell
	case s.FontB:
		return cellWidthB
	}
	return cellWidthA
}

// cell is the size of one character with its magnification, without the gap.
func (s Style) cell() (width, height int) {
	width, height = s.column(), cellHeightA
	if s.FontB {
		height = cellHeightB
	}
	if s.Turned {
		width, height = height, width
	}
	return width * s.Width, height * s.Height
}
