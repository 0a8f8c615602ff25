package service

import (
	"fmt"
	"strings"
	"testing"

	"chit/device/core"
	"chit/device/wire"
	"chit/printer/escpos"
	"chit/printer/profile"
)

// A ticket that is too long in large letters and frames is printed without them: LAYOUT FAILED
// would be worse.
func TestATicketTooLongForItsFramesIsPrintedWithoutThem(t *testing.T) {
	d, err := dressed(func(c *Config) { c.Size = "huge" }).designs()
	if err != nil {
		t.Fatal(err)
	}
	p := paper{designs: d, profiles: map[string]profile.Profile{"main": profile.Safe58()}}
	var items []string
	for i := range 40 {
		items = append(items, fmt.Sprintf(
			`{"quantity":1,"name":"Dish number %d of the day","allergens":["nuts"]}`, i))
	}
	doc, err := p.lay(core.Sheet{Printer: "main", Ticket: wire.Ticket{ID: "o/1@grill",
		Data: []byte(`{"id":"o/1","kitchen":"k","station":"grill","kind":"new","items":[` +
			strings.Join(items, ",") + `]}`)}})
	if err != nil {
		t.Fatal(err)
	}
	printed, err := escpos.Encode(doc, profile.Safe58())
	if err != nil || printed.HeightDots > escpos.HeightDotsMax {
		t.Errorf("%d dots, %v", printed.HeightDots, err)
	}
}
