package virtual

import (
	"fmt"
	"slices"
	"strconv"

	"chit/printer/escpos"
)

// handlers act on one command when the mechanism reaches it. A command that is in no table was
// decoded and means nothing to this printer: that is an error on the paper's record.
type handler func(p *Printer, c escpos.Command)

var handlers = map[escpos.Op]handler{}

func init() {
	for _, table := range []map[escpos.Op]handler{
		textHandlers, layoutHandlers, paperHandlers, answerHandlers, otherHandlers,
	} {
		for op, h := range table {
			handlers[op] = h
		}
	}
}

func (p *Printer) execute(c escpos.Command) {
	h, ok := handlers[c.Op]
	if !ok || slices.Contains(p.conf.Lacks, c.Op) {
		p.note("error", fmt.Sprintf("%s: this printer has no such command", c.Op), p.offset(c))
		return
	}
	h(p, c)
}

// offset is where a command began in the stream.
func (p *Printer) offset(c escpos.Command) int64 { return p.base + c.Offset }

// arg is the i-th argument, 0 where the decoder gave none.
func arg(c escpos.Command, i int) int {
	if i < len(c.Args) {
		return c.Args[i]
	}
	return 0
}

// lowBit reads the lowest bit, as ESC E, GS B and their like do.
func lowBit(c escpos.Command) bool { return arg(c, 0)&1 != 0 }

// digit reads a number that may be given as itself or as its ASCII digit.
func digit(n int) int {
	if n >= '0' && n <= '9' {
		return n - '0'
	}
	return n
}

func ignore(*Printer, escpos.Command) {}

var textHandlers = map[escpos.Op]handler{
	escpos.OpText:     func(p *Printer, c escpos.Command) { p.text(c.Data, p.offset(c)) },
	escpos.OpCodePage: (*Printer).codePage,
	escpos.OpCharset: func(p *Printer, c escpos.Command) {
		n := arg(c, 0)
		p.set.nation = nation(n)
		if n >= len(international) {
			p.note("error", fmt.Sprintf("ESC R %d: this printer has no such set", n), p.offset(c))
		}
	},
	escpos.OpBold:         func(p *Printer, c escpos.Command) { p.set.style.Bold = lowBit(c) },
	escpos.OpDoubleStrike: func(p *Printer, c escpos.Command) { p.set.style.Bold = lowBit(c) },
	escpos.OpUnderline: func(p *Printer, c escpos.Command) {
		if n := digit(arg(c, 0)); n <= 2 {
			p.set.style.Underline = n
		}
	},
	escpos.OpFont:    (*Printer).font,
	escpos.OpInverse: func(p *Printer, c escpos.Command) { p.set.style.Inverse = lowBit(c) },
	escpos.OpSize: func(p *Printer, c escpos.Command) {
		n := arg(c, 0)
		p.set.style.Width, p.set.style.Height = n>>4&7+1, n&7+1
	},
	escpos.OpPrintMode:  (*Printer).printMode,
	escpos.OpColour:     func(p *Printer, c escpos.Command) { p.red(digit(arg(c, 0)) == 1, c) },
	escpos.OpColour2:    (*Printer).colour,
	escpos.OpItalic:     func(p *Printer, c escpos.Command) { p.set.style.Italic = lowBit(c) },
	escpos.OpUpsideDown: func(p *Printer, c escpos.Command) { p.set.upside = lowBit(c) },
	escpos.OpRotate: func(p *Printer, c escpos.Command) {
		p.set.style.Turned = digit(arg(c, 0)) != 0
	},
	escpos.OpKanjiOn:   func(p *Printer, c escpos.Command) { p.set.kanji.on = true },
	escpos.OpKanjiOff:  func(p *Printer, c escpos.Command) { p.set.kanji.on, p.line.lead = false, 0 },
	escpos.OpKanjiCode: func(p *Printer, c escpos.Command) { p.set.kanji.system = digit(arg(c, 0)) },
	escpos.OpKanjiUnderline: func(p *Printer, c escpos.Command) {
		p.set.kanji.underline = digit(arg(c, 0))
	},
	escpos.OpKanjiMode: func(p *Printer, c escpos.Command) {
		n, k := arg(c, 0), &p.set.kanji
		k.wide, k.tall, k.underline = n&0x04 != 0, n&0x08 != 0, n>>7&1
	},
	escpos.OpKanjiQuad: func(p *Printer, c escpos.Command) {
		p.set.kanji.wide, p.set.kanji.tall = lowBit(c), lowBit(c)
	},
	escpos.OpKanjiSpacing: func(p *Printer, c escpos.Command) {
		p.set.kanji.left, p.set.kanji.right = p.set.x(arg(c, 0)), p.set.x(arg(c, 1))
	},
	escpos.OpKanjiFont: ignore, // The ROM here has one font of ideographs.
	escpos.OpSmooth:    ignore,
}

func (p *Printer) codePage(c escpos.Command) {
	for _, page := range p.conf.Pages {
		if int(page.Number) == arg(c, 0) {
			p.set.page = page.Encoding
			return
		}
	}
	p.note("error", fmt.Sprintf("ESC t %d: this printer has no such page", arg(c, 0)), p.offset(c))
}

func (p *Printer) font(c escpos.Command) {
	switch digit(arg(c, 0)) {
	case 0, 'a': // The special font A of South Asian models has the cell of font A.
		p.setFont(false)
	case 1, 'b':
		p.setFont(true)
	default:
		p.note("error", fmt.Sprintf("ESC M %d: only fonts A and B are here", arg(c, 0)), p.offset(c))
	}
}

func (p *Printer) setFont(b bool) {
	p.set.style.FontB, p.set.style.Cell = b, p.conf.CellDots
	if b {
		p.set.style.Cell = p.conf.CellDotsB
	}
}

// printMode is ESC ! n.
func (p *Printer) printMode(c escpos.Command) {
	n, s := arg(c, 0), &p.set.style
	p.setFont(n&0x01 != 0)
	s.Bold = n&0x08 != 0
	s.Height, s.Width, s.Underline = 1+n>>4&1, 1+n>>5&1, n>>7&1
}

// colour is GS ( N: fn 48 is the colour of characters, 49 and 50 paint behind them.
func (p *Printer) colour(c escpos.Command) {
	switch {
	case len(c.Data) == 2 && c.Data[0] == '0' && c.Data[1] <= '2':
		if c.Data[1] == '0' {
			p.note("error", "GS ( N: characters without ink", p.offset(c))
		}
		p.red(c.Data[1] == '2', c)
	case len(c.Data) > 0 && c.Data[0] != '0' && c.Data[1] == '0':
		// No background and no shading: that is how it is.
	default:
		p.note("error", fmt.Sprintf("GS ( N % X: this printer cannot do that", c.Data), p.offset(c))
	}
}

func (p *Printer) red(on bool, c escpos.Command) {
	if on && !p.can.Red {
		p.note("error", string(c.Op)+": this printer has one colour", p.offset(c))
		return
	}
	p.set.style.Red = on
}

var layoutHandlers = map[escpos.Op]handler{
	escpos.OpInit: func(p *Printer, c escpos.Command) { p.initialise() },
	escpos.OpAlign: func(p *Printer, c escpos.Command) {
		if n := digit(arg(c, 0)); n <= 2 {
			p.set.align = n
		}
	},
	escpos.OpLineSpacing:  func(p *Printer, c escpos.Command) { p.set.spacing = p.set.y(arg(c, 0)) },
	escpos.OpDefaultSpace: func(p *Printer, c escpos.Command) { p.set.spacing = lineDots },
	escpos.OpCharSpacing:  func(p *Printer, c escpos.Command) { p.set.gap = p.set.x(arg(c, 0)) },
	escpos.OpLeftMargin:   (*Printer).leftMargin,
	escpos.OpAreaWidth:    (*Printer).areaWidth,
	escpos.OpMotionUnits: func(p *Printer, c escpos.Command) {
		p.set.unitX, p.set.unitY = arg(c, 0), arg(c, 1)
		if p.set.unitX == 0 {
			p.set.unitX = dotsPerInch
		}
		if p.set.unitY == 0 {
			p.set.unitY = dotsPerInch
		}
	},
	escpos.OpAbsolute: func(p *Printer, c escpos.Command) { p.move(p.set.x(arg(c, 0)), c) },
	escpos.OpRelative: func(p *Printer, c escpos.Command) {
		p.move(p.line.x+p.set.x(int(int16(arg(c, 0)))), c)
	},
	escpos.OpTabs:   func(p *Printer, c escpos.Command) { p.set.tabs = append([]int(nil), c.Args...) },
	escpos.OpHT:     (*Printer).tab,
	escpos.OpCR:     (*Printer).carriageReturn,
	escpos.OpNUL:    ignore,
	escpos.OpSelect: ignore, // ESC =: one device on the cable.
}

func (p *Printer) leftMargin(c escpos.Command) {
	p.needEmptyLine("GS L", p.offset(c))
	p.set.left = max(0, min(p.set.x(arg(c, 0)), p.conf.WidthDots-p.conf.CellDots))
	p.set.area = min(p.set.wanted, p.conf.WidthDots-p.set.left)
}

func (p *Printer) areaWidth(c escpos.Command) {
	p.needEmptyLine("GS W", p.offset(c))
	p.set.wanted = max(p.conf.CellDots, p.set.x(arg(c, 0)))
	p.set.area = min(p.set.wanted, p.conf.WidthDots-p.set.left)
}

// carriageReturn does nothing without automatic line feed, but on a needle printer it takes the
// head back to the beginning of the line, which is how two colours come on one line. Source: Epson,
// CR.
func (p *Printer) carriageReturn(escpos.Command) {
	if p.conf.Impact {
		p.line.x = 0
	}
}

// move sets the position of the next character; outside the printing area it is ignored.
func (p *Printer) move(x int, c escpos.Command) {
	if x < 0 || x >= p.set.area {
		p.note("error", fmt.Sprintf("%s: position %d is outside the printing area", c.Op, x), p.offset(c))
		return
	}
	p.line.x = x
}

func (p *Printer) tab(c escpos.Command) {
	width := p.set.style.column() * p.set.style.Width
	for _, column := range p.set.tabs {
		if x := column * width; x > p.line.x && x < p.set.area {
			p.line.x = x
			return
		}
	}
}

var paperHandlers = map[escpos.Op]handler{
	escpos.OpLF:        func(p *Printer, c escpos.Command) { p.printLine(0, 1, p.offset(c)) },
	escpos.OpFeedLines: func(p *Printer, c escpos.Command) { p.feed(arg(c, 0), p.offset(c)) },
	escpos.OpFeedDots: func(p *Printer, c escpos.Command) {
		p.printLine(p.set.y(arg(c, 0)), 0, p.offset(c))
	},
	escpos.OpCut:        (*Printer).cut,
	escpos.OpFullCutOld: func(p *Printer, c escpos.Command) { p.cutHere(CutFull, c) },
	escpos.OpPartCutOld: func(p *Printer, c escpos.Command) { p.cutHere(CutPartial, c) },
	escpos.OpRaster:     (*Printer).raster,
	escpos.OpBitImage: func(p *Printer, c escpos.Command) {
		p.columns(arg(c, 0), arg(c, 1), c.Data, p.offset(c))
	},
	escpos.OpGraphics:  (*Printer).graphics,
	escpos.OpSymbol:    (*Printer).symbol,
	escpos.OpBarcode:   (*Printer).barcode,
	escpos.OpBarHeight: func(p *Printer, c escpos.Command) { p.set.bar.height = max(1, arg(c, 0)) },
	escpos.OpBarWidth:  func(p *Printer, c escpos.Command) { p.set.bar.width = max(1, arg(c, 0)) },
	escpos.OpBarText:   func(p *Printer, c escpos.Command) { p.set.bar.text = digit(arg(c, 0)) },
	escpos.OpBarFont: func(p *Printer, c escpos.Command) {
		n := digit(arg(c, 0))
		p.set.bar.fontB = n == 1 || n == 'b'
	},
}

// cut is GS V: m 0 and 1 cut here, 65 and 66 feed to the blade and n further.
func (p *Printer) cut(c escpos.Command) {
	m := arg(c, 0)
	how := CutFull
	switch m {
	case 1, 49, 66, 98, 104:
		how = CutPartial
	}
	switch m {
	case 0, 1, 48, 49:
		p.cutHere(how, c)
	case 65, 66, 97, 98, 103, 104:
		p.needEmptyLine("GS V", p.offset(c))
		p.push(step{dots: p.paper.blade + p.set.y(arg(c, 1)), offset: p.offset(c)})
		p.cutHere(how, c)
	default:
		p.note("error", fmt.Sprintf("GS V: this printer has no function %d", m), p.offset(c))
	}
}

func (p *Printer) cutHere(how Cut, c escpos.Command) {
	p.needEmptyLine(string(c.Op), p.offset(c))
	p.push(step{cut: how, offset: p.offset(c)})
}

var answerHandlers = map[escpos.Op]handler{
	escpos.OpASB:    func(p *Printer, c escpos.Command) { p.enableASB(byte(arg(c, 0))) },
	escpos.OpStatus: (*Printer).queuedStatus,
	escpos.OpIdentity: func(p *Printer, c escpos.Command) {
		if p.can.Identity {
			p.identity(c)
		}
	},
	escpos.OpProcessID:    (*Printer).processID,
	escpos.OpCounter:      (*Printer).counter,
	escpos.OpCounterReset: (*Printer).counterReset,
}

// queuedStatus is GS r, reached only while online.
func (p *Printer) queuedStatus(c escpos.Command) {
	if !p.can.Fence {
		return
	}
	switch digit(arg(c, 0)) {
	case 1:
		p.say(answerPlain, []byte{p.status.paper()})
	case 2:
		p.say(answerPlain, []byte{bit(p.status.drawer, 0x01)})
	default:
		p.note("error", fmt.Sprintf("GS r %d: only 1 and 2 are here", arg(c, 0)), p.offset(c))
	}
}

// processID is GS ( H. The id belongs to the data before it: it is said when that has printed.
func (p *Printer) processID(c escpos.Command) {
	if fn := digit(arg(c, 0)); fn != 0 || len(c.Data) != 4 {
		p.note("error", fmt.Sprintf("GS ( H fn %d: only fn 48 is here", arg(c, 0)), p.offset(c))
		return
	}
	if p.line.used() {
		p.note("error", "GS ( H within an unfinished line", p.offset(c))
		p.heldID = append([]byte(nil), c.Data...)
		return
	}
	p.sayProcessID(c.Data)
}

func (p *Printer) identity(c escpos.Command) {
	id := p.conf.Identity
	switch n := arg(c, 0); n {
	case 1, 49:
		p.say(answerPlain, []byte{id.ModelID})
	case 2, 50:
		p.say(answerPlain, []byte{bit(p.can.Cutter, 0x02)})
	case 3, 51:
		p.say(answerPlain, []byte{0x01})
	case 65:
		p.sayBlock(id.Firmware)
	case 66:
		p.sayBlock(id.Maker)
	case 67:
		p.sayBlock(id.Model)
	case 68:
		p.sayBlock(id.Serial)
	case 69:
		p.sayBlock("")
	default:
		p.note("error", fmt.Sprintf("GS I %d: not here", n), p.offset(c))
	}
}

func (p *Printer) counter(c escpos.Command) {
	if !p.can.Odometer {
		return
	}
	value, ok := p.count.read(arg(c, 0))
	if !ok {
		p.note("error", fmt.Sprintf("GS g 2: no counter %d", arg(c, 0)), p.offset(c))
		return
	}
	p.sayBlock(strconv.FormatUint(value, 10))
}

func (p *Printer) counterReset(c escpos.Command) {
	if p.can.Odometer && !p.count.reset(arg(c, 0)) {
		p.note("error", fmt.Sprintf("GS g 0: no counter %d", arg(c, 0)), p.offset(c))
	}
}

var otherHandlers = map[escpos.Op]handler{
	escpos.OpPulse: func(p *Printer, c escpos.Command) {
		p.note("event", fmt.Sprintf("drawer pulse %v", c.Args), p.offset(c))
	},
	escpos.OpBuzzerClone: func(p *Printer, c escpos.Command) {
		p.note("event", fmt.Sprintf("buzzer ESC B %v", c.Args), p.offset(c))
	},
	escpos.OpBuzzerEpson: func(p *Printer, c escpos.Command) {
		p.note("event", fmt.Sprintf("buzzer ESC ( A % x", c.Data), p.offset(c))
	},
	// The makers' own answer to "all before this has printed"; only their printers say anything.
	escpos.OpStatusSII: func(p *Printer, c escpos.Command) {
		p.note("event", "DC2 q: asked as if this were a Seiko printer, no answer", p.offset(c))
	},
	escpos.OpSensorsOut:  ignore,
	escpos.OpSensorsStop: ignore,
	escpos.OpPanel:       ignore,
	escpos.OpCustomize:   (*Printer).customize,
	// They acted when they were received.
	escpos.OpRealtimeStatus:  ignore,
	escpos.OpRealtimeRequest: ignore,
	escpos.OpRealtimePulse:   ignore,
}

// customize is GS ( D: it switches real-time pulse (1) and power-off (2) on and off.
func (p *Printer) customize(c escpos.Command) {
	for i := 1; i+1 < len(c.Data); i += 2 {
		off := c.Data[i+1]&1 == 0
		switch c.Data[i] {
		case 1:
			p.set.pulseOff = off
		case 2:
			p.set.powerDownOff = off
		}
	}
}
