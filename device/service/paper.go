package service

import (
	"fmt"
	"slices"
	"time"

	"chit/device/core"
	"chit/device/layout"
	"chit/device/wire"
	"chit/printer/document"
	"chit/printer/escpos"
	"chit/printer/profile"
)

// paper gives the core its pure functions: ticket to document, document to bytes.
type paper struct {
	conf     Config
	designs  designs
	location *time.Location
	profiles map[string]profile.Profile
	auto     map[string]int    // width of the paper in mm, of printers whose profile is by probe
	stations map[string]string // id → name for people
	device   string
	unit     func(printer string) (unit, fence string)
	drawer   escpos.Drawer // draws what no code page has; nil draws nothing
}

// config is all that the core needs to make paper.
func (p paper) config() core.Config {
	return core.Config{Lay: p.lay, Plain: p.plain, LaySlip: p.slip, Encode: p.encode,
		EncodePlain: p.encodePlain}
}

func (p paper) options(printer, station string) layout.Options {
	options := p.designs.of(printer, station)
	options.Location = p.location
	if _, auto := p.auto[printer]; auto {
		facts := p.facts(printer)
		options.Columns, options.Codes = facts.Columns, options.Codes || facts.QR
	}
	return options
}

func (p paper) input(s core.Sheet, c wire.Content) layout.Input {
	return layout.Input{
		Event: s.Ticket, Content: c, Station: p.stations[s.Ticket.Station],
		Options: p.options(s.Printer, s.Ticket.Station),
		Facts: layout.Facts{
			PossibleDuplicate: s.PossibleDuplicate, AfterPowerCut: s.PowerCut, Missing: s.Missing,
			OlderThan: s.OlderThan, IgnoreAbove: p.aboves(s.Above), PrintedAt: s.Now,
		},
	}
}

// above names the stations as people do.
func (p paper) above(s core.Above) layout.Above {
	to := s.MovedTo
	if name := p.stations[to]; name != "" {
		to = name
	}
	return layout.Above{Number: s.Number, Ticket: s.Ticket, Reason: s.Reason, MovedTo: to}
}

func (p paper) aboves(list []core.Above) (above []layout.Above) {
	for _, a := range list {
		above = append(above, p.above(a))
	}
	return above
}

func (p paper) moved(s core.Sheet) document.Document {
	torn := slices.ContainsFunc(s.Above, func(a core.Above) bool { return a.Torn })
	return layout.Moved(p.aboves(s.Above), s.AboveMore, torn, p.options(s.Printer, ""))
}

func (p paper) lay(s core.Sheet) (document.Document, error) {
	c, err := wire.ParseContent(s.Ticket.Data)
	if err != nil {
		return document.Document{}, fmt.Errorf("content: %w", err)
	}
	in := p.input(s, c)
	switch s.Fit {
	case core.FitNormal:
		in.Options = in.Options.Smaller()
	case core.FitCompact:
		in.Options.Compact = true
	}
	return layout.Ticket(in), nil
}

// plain takes what can be read of the content; nothing of it is better than no paper.
func (p paper) plain(s core.Sheet, reason string) document.Document {
	c, err := wire.ParseContent(s.Ticket.Data)
	if err != nil {
		c = wire.Content{Note: string(s.Ticket.Data)}
	}
	return layout.Plain(p.input(s, c), reason)
}

func (p paper) slip(kind core.Slip, s core.Sheet) document.Document {
	options := p.options(s.Printer, "")
	switch kind {
	case core.SlipTorn:
		return layout.Incomplete(options)
	case core.SlipCut:
		return layout.Complete(options)
	case core.SlipAbove:
		return p.moved(s)
	case core.SlipMemoryless:
		return layout.Memory(p.conf.Call, options)
	case core.SlipBacklog:
		return layout.Backlog(waiting(s.Backlog), options)
	}
	unit, fence := p.unit(s.Printer)
	return layout.Test{
		Device: p.device, Printer: s.Printer, Profile: p.facts(s.Printer).Name, Unit: unit,
		Fence: fence, Version: p.conf.Version,
	}.Slip(options)
}

// waiting are the lines of a backlog slip.
func waiting(lines []core.Waiting) []layout.Waiting {
	var list []layout.Waiting
	for _, l := range lines {
		list = append(list, layout.Waiting{Number: l.Number, Order: l.Order, Ticket: l.ID,
			Age: l.Age})
	}
	return list
}

func (p paper) encode(printer string, d document.Document) (escpos.Paper, error) {
	return escpos.Encoder{Profile: p.facts(printer), Drawer: p.drawer}.Encode(d)
}

// encodePlain draws nothing: a drawing is what failed before.
func (p paper) encodePlain(printer string, d document.Document) (escpos.Paper, error) {
	return escpos.Encoder{Profile: p.facts(printer), Substitute: true}.Encode(d)
}
