package service

import (
	"slices"
	"time"

	"chit/device/core"
	"chit/device/wire"
	"chit/printer/document"
	"chit/printer/escpos"
	"chit/printer/profile"
)

// Preview is what a printer would get for a ticket.
type Preview struct {
	Profile  profile.Profile
	Document document.Document
	Paper    escpos.Paper
	// Fit says how the document was brought onto a metre of paper.
	Fit core.Fit
}

// Preview makes the paper of t for the first printer of c, by the very steps of the daemon, before
// the printer has said what it is. station is its name for people. Errors name a field of c, or
// wrap those of [escpos.Encoder].
func (c Config) Preview(t wire.Ticket, station string) (Preview, error) {
	if err := c.validatePaper(); err != nil {
		return Preview{}, err
	}
	designs, err := c.designs()
	if err != nil {
		return Preview{}, err
	}
	p := paper{
		conf: c, designs: designs, profiles: map[string]profile.Profile{}, auto: map[string]int{},
		stations: map[string]string{t.Station: station}, drawer: NewDrawer(),
		unit: func(string) (unit, fence string) { return "", "" },
	}
	if c.Zone != "" {
		if p.location, err = time.LoadLocation(c.Zone); err != nil {
			return Preview{}, err
		}
	}
	if err := p.know(c.Printers[0]); err != nil {
		return Preview{}, err
	}
	printer := c.Printers[0].Name
	made := Preview{Profile: p.facts(printer)}
	steps := p.config()
	steps.Lay = func(s core.Sheet) (d document.Document, err error) {
		d, err = p.lay(s)
		made.Document = d
		return d, err
	}
	steps.Plain = func(s core.Sheet, reason string) document.Document {
		made.Document = p.plain(s, reason)
		return made.Document
	}
	made.Paper, made.Fit, err = steps.Paper(core.Sheet{Printer: printer, Ticket: t,
		PossibleDuplicate: slices.Contains(t.Marks, wire.MarkPossibleDuplicate)})
	return made, err
}
