package service

import (
	"bytes"
	"strings"
	"testing"

	"chit/device/core"
	"chit/device/wire"
	"chit/printer/profile"
)

// What is shown before paper is spent is, byte for byte, what the device prints.
func TestAPreviewIsThePaperThatTheDevicePrints(t *testing.T) {
	peanuts := wire.Item{Quantity: 2, Name: "宫保鸡丁", Allergens: []string{"花生"}}
	for _, c := range []struct {
		sheet core.Sheet
		fit   core.Fit
	}{
		{order(t, "", peanuts), core.FitUsual},
		{order(t, strings.Repeat("对花生严重过敏请务必更换油锅", 71), peanuts), core.FitNormal},
	} {
		want, _, err := demanding(t, profile.Safe58(), arabic).config().Paper(c.sheet)
		if err != nil {
			t.Fatal(err)
		}
		got, err := dressed(arabic).Preview(c.sheet.Ticket, "")
		if err != nil || got.Fit != c.fit || !bytes.Equal(got.Paper.Body, want.Body) ||
			len(got.Document.Blocks) == 0 {
			t.Errorf("fit %d, want %d, %d bytes, want %d, %v", got.Fit, c.fit, len(got.Paper.Body),
				len(want.Body), err)
		}
	}
}

// A printer that draws codes itself gets one; a drawn one must be asked for.
func TestAPreviewHasTheCodesOfItsPrinter(t *testing.T) {
	sheet := order(t, "", dishes(1)...)
	for name, codes := range map[string]bool{"safe-80": profile.Safe80().QR, "epson-tm-t20iii": true} {
		got, err := dressed(func(c *Config) { c.Printers[0].Profile = name }).Preview(sheet.Ticket, "")
		if err != nil || bytes.Contains(got.Paper.Body, []byte("\x1D(k")) != codes {
			t.Errorf("%s: want codes %t, %v", name, codes, err)
		}
	}
}
