package service

import (
	"errors"
	"strings"
	"testing"

	"chit/device/wire"
	"chit/printer/document"
	"chit/printer/escpos"
	"chit/printer/profile"
)

// A guest who cannot eat peanuts writes it in the script of the guest.
func TestATicketInAnyScriptComesOut(t *testing.T) {
	k := newKitchen(t)
	k.handed("a1", func(t *wire.Ticket) {
		var err error
		t.Data, err = wire.CanonicalContent(wire.Content{ID: "a1/1", Kitchen: "main",
			Station: "grill", Kind: wire.KindNew, Items: []wire.Item{{Quantity: 2, Name: "Rice",
				Note: "花生过敏, بدون فول سوداني"}}})
		if err != nil {
			panic(err)
		}
	})
	k.phone.untilSaid("printed a1/1@grill")
	text := k.papers(1)[0]
	if !strings.Contains(text, "Rice") || !strings.Contains(text, "[image ") ||
		strings.Contains(text, "U+") {
		t.Errorf("paper:\n%s", text)
	}
}

func TestAPrinterWithoutImagesRefusesWordsAndStillPrintsPlainPaper(t *testing.T) {
	facts := profile.Safe80()
	facts.Images = profile.ImagesNone
	p := paper{profiles: map[string]profile.Profile{"hot": facts}, drawer: NewDrawer()}
	d := document.Document{Blocks: []document.Block{document.Text("花生", document.Style{})}}
	if _, err := p.encode("hot", d); !errors.Is(err, escpos.ErrUnprintable) {
		t.Errorf("encoded: %v", err)
	}
	plain, err := p.encodePlain("hot", d)
	if err != nil || !strings.Contains(string(plain.Body), "[U+82B1 U+751F]") {
		t.Errorf("plain: %q, %v", plain.Body, err)
	}
}
