package virtual

// settings are what commands change and ESC @ puts back.
type settings struct {
	style                  Style
	align                  int // 0 left, 1 centre, 2 right
	spacing                int // line spacing in dots
	gap                    int // character spacing in dots, before magnification
	page                   string
	kanji                  bool
	left, area             int // printing area: left margin and width in dots
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
		style:   Style{Width: 1, Height: 1},
		spacing: lineDots,
		page:    p.conf.Pages[0].Encoding,
		kanji:   p.can.KanjiFirst,
		area:    p.conf.Columns * cellWidthA,
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
	p.line, p.heldID, p.symbols = lineBuffer{}, nil, symbols{}
	p.asb = 0 // ESC @ switches GS a off: Epson, GS a.
}

// x and y turn motion units into dots.
func (s settings) x(units int) int { return units * dotsPerInch / max(1, s.unitX) }
func (s settings) y(units int) int { return units * dotsPerInch / max(1, s.unitY) }

// cell is the size of one character with its magnification, without the gap.
func (s Style) cell() (width, height int) {
	width, height = cellWidthA, cellHeightA
	if s.FontB {
		width, height = cellWidthB, cellHeightB
	}
	if s.Turned {
		width, height = height, width
	}
	return width * s.Width, height * s.Height
}
