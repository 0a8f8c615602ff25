package service

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"chit/device/core"
	"chit/device/wire"
	"chit/printer/document"
	"chit/printer/escpos"
	"chit/printer/profile"
)

// demanding is a kitchen that wants more of its paper than there may be of it.
func demanding(t *testing.T, facts profile.Profile, change func(*Config)) paper {
	d, err := dressed(change).designs()
	if err != nil {
		t.Fatal(err)
	}
	return paper{designs: d, profiles: map[string]profile.Profile{"main": facts},
		drawer: NewDrawer()}
}

func huge(c *Config) { c.Size = "huge" }

func arabic(c *Config) { c.Size, c.Language = "huge", "ar" }

func order(t *testing.T, note string, items ...wire.Item) core.Sheet {
	data, err := wire.CanonicalContent(wire.Content{ID: "o/1", Kitchen: "k", Station: "grill",
		Kind: wire.KindNew, Order: "41", Note: note, Items: items})
	if err != nil {
		t.Fatal(err)
	}
	return core.Sheet{Printer: "main", Ticket: wire.Ticket{ID: "o/1@grill", Data: data}}
}

// dishes are n with an allergen each.
func dishes(n int) (items []wire.Item) {
	for i := range n {
		items = append(items, wire.Item{Quantity: 1, Name: fmt.Sprintf("Dish number %d of the day", i),
			Allergens: []string{"nuts"}})
	}
	return items
}

// A ticket that is too long in large letters and frames is printed in smaller ones and without
// them, with every word of it: LAYOUT FAILED would be worse, and a word less would be worst.
func TestATicketTooLongForTheKitchensWishesIsPrintedSmaller(t *testing.T) {
	peanuts := wire.Item{Quantity: 2, Name: "宫保鸡丁", Allergens: []string{"花生"}}
	for _, c := range []struct {
		name   string
		change func(*Config)
		sheet  core.Sheet
		want   core.Fit
	}{
		{"short", huge, order(t, "well done", dishes(2)...), core.FitUsual},
		{"a guest's long note", arabic,
			order(t, strings.Repeat("对花生严重过敏请务必更换油锅", 71), peanuts), core.FitNormal},
		{"many dishes", huge, order(t, "", dishes(60)...), core.FitCompact},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := demanding(t, profile.Safe58(), c.change)
			printed, fit, err := p.config().Paper(c.sheet)
			if err != nil || fit != c.want || printed.HeightDots > escpos.HeightDotsMax ||
				len(printed.Replaced) > 0 {
				t.Errorf("fit %d, want %d, %d dots, replaced %q, %v", fit, c.want, printed.HeightDots,
					string(printed.Replaced), err)
			}
		})
	}
}

// A template's own size of items gives way too.
func TestATemplatesSizeGivesWayToTheLengthOfPaper(t *testing.T) {
	p := demanding(t, profile.Safe58(), func(c *Config) {
		c.Printers[0].Template = written(t, "big.toml", "[items]\nsize = \"huge\"\n")
	})
	_, fit, err := p.config().Paper(order(t, "", dishes(40)...))
	if err != nil || fit != core.FitNormal {
		t.Errorf("fit %d, %v", fit, err)
	}
}

// What no layout brings onto a metre is refused, so that somebody is told.
func TestATicketTooLongInEveryWayIsRefusedWithAllItsWords(t *testing.T) {
	items := dishes(120)
	for i := range items {
		items[i].Note = strings.Repeat("对花生严重过敏", 6)
	}
	p := demanding(t, profile.Safe58(), arabic)
	printed, _, err := p.config().Paper(order(t, "", items...))
	if !errors.Is(err, escpos.ErrTooLong) || len(printed.Body) > 0 {
		t.Errorf("%d bytes, %v", len(printed.Body), err)
	}
}

// The plain paper of a layout that failed says its headline and its words in their own script.
func TestAPlainTicketIsDrawn(t *testing.T) {
	p := demanding(t, profile.Safe58(), arabic)
	c := p.config()
	c.Lay = func(core.Sheet) (document.Document, error) { panic("layout") }
	printed, fit, err := c.Paper(order(t, "对花生严重过敏",
		wire.Item{Quantity: 2, Name: "宫保鸡丁", Allergens: []string{"花生"}}))
	if err != nil || fit != core.FitPlain || !printed.Raster || len(printed.Replaced) > 0 ||
		strings.Contains(string(printed.Body), "U+") {
		t.Errorf("fit %d, raster %t, replaced %q, %v", fit, printed.Raster, string(printed.Replaced),
			err)
	}
}

// Where drawing fails, a plain ticket is spelt, and one that cannot be is refused.
func TestAPlainTicketThatCannotBeDrawnLosesNoWord(t *testing.T) {
	p := demanding(t, profile.Safe80(), huge)
	p.drawer = broken{}
	c := p.config()
	c.Lay = func(core.Sheet) (document.Document, error) { panic("layout") }
	printed, fit, err := c.Paper(order(t, "", dishes(2)...))
	if err != nil || fit != core.FitPlain ||
		!strings.Contains(string(printed.Body), "Dish number 1 of the day") {
		t.Errorf("fit %d, %v, %q", fit, err, printed.Body)
	}
	printed, _, err = c.Paper(order(t, "对花生严重过敏", dishes(2)...))
	if !errors.Is(err, escpos.ErrUnprintable) || len(printed.Body) > 0 {
		t.Errorf("%d bytes, %v", len(printed.Body), err)
	}
}

// broken is a drawer with a defect.
type broken struct{}

func (broken) Line(document.Line, escpos.Grid) ([]escpos.Image, error) { panic("draw") }
func (broken) Pair(document.Pair, escpos.Grid) ([]escpos.Image, error) { panic("draw") }
