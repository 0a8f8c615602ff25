package service

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"chit/config"
	"chit/device/layout"
	"chit/device/layout/words"
	"chit/printer/document"
	"chit/printer/escpos"
	"chit/printer/profile"
)

// designs is how the tickets of this device look.
type designs struct {
	stations map[string]layout.Template // by station id
	printers map[string]layout.Options  // by printer name; the template is the printer's own
	images   map[string]bool            // printers that can be sent a drawn QR code
}

// of is what a ticket of that station looks like on that printer.
func (d designs) of(printer, station string) layout.Options {
	options := d.printers[printer]
	if t, ok := d.stations[station]; ok {
		options.Template = t
	}
	// A drawn code is ten times the bytes of a ticket, so it must be asked for.
	options.Codes = options.Codes ||
		d.images[printer] && slices.Contains(options.Template.Blocks, layout.BlockQR)
	return options
}

// designs reads the templates and puts the wishes of the device and of its printers together.
func (c Config) designs() (designs, error) {
	d := designs{printers: map[string]layout.Options{}, images: map[string]bool{}}
	var err error
	if d.stations, err = loadTemplates(c.Templates); err != nil {
		return d, err
	}
	for i, p := range c.Printers {
		key := fmt.Sprintf("printers[%d].", i)
		p.Size, p.Language = cmp.Or(p.Size, c.Size), cmp.Or(p.Language, c.Language)
		facts, err := p.facts(key)
		if err != nil {
			return d, err
		}
		options := layout.Options{
			Columns: facts.Columns, ShowCustomer: c.ShowCustomer, Language: p.Language,
			Address: c.QRAddress, Codes: facts.QR,
		}
		d.images[p.Name] = facts.Images != profile.ImagesNone
		if options.Size, err = layout.ParseSize(p.Size); err != nil {
			return d, config.Field(key+"size", "%v", err)
		}
		if p.Template != "" {
			if options.Template, err = LoadTemplate(p.Template); err != nil {
				return d, fmt.Errorf("%stemplate: %w", key, err)
			}
		}
		d.printers[p.Name] = options
	}
	return d, nil
}

// qrAddressMax leaves room for the longest ticket id in the code.
const qrAddressMax = 100

// validatePaper names the first key of a paper's look that cannot be.
func (c Config) validatePaper() error {
	if err := checkLanguage("language", c.Language); err != nil {
		return err
	}
	if _, err := layout.ParseSize(c.Size); err != nil {
		return config.Field("size", "%v", err)
	}
	for i := range len(c.QRAddress) {
		if b := c.QRAddress[i]; b <= ' ' || b > '~' {
			return config.Field("qr_address", "found %q, expected printable ASCII without spaces",
				c.QRAddress)
		}
	}
	if len(c.QRAddress) > qrAddressMax {
		return config.Field("qr_address", "found %d characters, expected at most %d",
			len(c.QRAddress), qrAddressMax)
	}
	for i, p := range c.Printers {
		key := fmt.Sprintf("printers[%d].", i)
		if err := checkLanguage(key+"language", p.Language); err != nil {
			return err
		}
		if err := checkLetters(key, p, cmp.Or(p.Language, c.Language)); err != nil {
			return err
		}
	}
	_, err := c.designs()
	return err
}

func checkLanguage(key, tag string) error {
	if _, ok := words.For(tag); !ok {
		return config.Field(key, "found %q, expected one of %s", tag, strings.Join(words.Tags(), ", "))
	}
	return nil
}

// checkLetters refuses a language that the printer can neither spell nor draw: each of its tickets
// would be refused, one by one.
func checkLetters(key string, p Printer, tag string) error {
	facts, err := p.facts(key)
	if err != nil {
		return err
	}
	return lettersOf(key, facts, tag)
}

func lettersOf(key string, facts profile.Profile, tag string) error {
	if facts.Images != profile.ImagesNone {
		return nil // What cannot be spelt is drawn.
	}
	w, _ := words.For(tag)
	for _, phrase := range w.Phrases() {
		d := document.Document{Blocks: []document.Block{document.Text(phrase, document.Style{})}}
		if _, err := (escpos.Encoder{Profile: facts}).Encode(d); err != nil {
			return config.Field(key+"language", "found %s, expected a language whose letters %s has: it "+
				"takes no images, and %q is on its papers", w.Tag, facts.Name, phrase)
		}
	}
	return nil
}
