package service

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"chit/printer/profile"
	"chit/printer/session"
	"chit/printer/virtual"
)

func TestAutoPrintsByWhatTheUnitProvesToBeAndElseSafely(t *testing.T) {
	epson, err := profile.ByName("epson-tm-t88v")
	if err != nil {
		t.Fatal(err)
	}
	real := virtual.ConfigFor(epson)
	real.Identity = virtual.Identity{Maker: "EPSON", Model: "TM-T88V", Firmware: "1.0", Serial: "1"}
	clone := virtual.ConfigFor(profile.Safe80())
	clone.Identity = virtual.Identity{Maker: "EPSON", Model: "TM-T88III", Firmware: "1.0", Serial: "1"}
	narrow := virtual.ConfigFor(profile.Safe58())
	for _, c := range []struct {
		name    string
		printer virtual.Config
		conf    Printer
		columns int
	}{
		{"a unit that is what it says", real, Printer{Profile: "auto"}, 42},
		{"a clone that answers what the model cannot", clone, Printer{Profile: "auto"}, 48},
		{"an unknown unit on narrow paper", narrow, Printer{Profile: "auto", PaperMM: 58}, 32},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newKitchenOf(t, c.printer, c.conf)
			k.connect()
			k.sends("a1", 1)
			k.phone.untilSaid("printed a1/1@grill")
			text := k.papers(1)[0]
			rule := strings.Repeat("-", c.columns)
			if !strings.Contains(text, rule) || strings.Contains(text, rule+"-") {
				t.Errorf("paper is not %d columns wide:\n%s", c.columns, text)
			}
		})
	}
}

func TestPaperIsAskedForOnlyWhereTheProfileDoesNotSay(t *testing.T) {
	for _, c := range []struct {
		printer Printer
		want    string // of the error; empty for none
	}{
		{Printer{Profile: "auto"}, ""},
		{Printer{Profile: "auto", PaperMM: 58}, ""},
		{Printer{Profile: "auto", PaperMM: 76}, ""},
		{Printer{Profile: "auto", PaperMM: 57}, "printers[0].paper_mm: found 57, expected 58, 76 or 80"},
		{Printer{Profile: "safe-80", PaperMM: 80}, ""},
		{Printer{Profile: "safe-80", PaperMM: 58}, "printers[0].paper_mm: found 58, expected none"},
		{Printer{Profile: "star-tsp600"}, "switch it to ESC/POS emulation"},
		{Printer{Profile: "epson-tm-t20ii1"}, "did you mean epson-tm-t20ii or epson-tm-t20iii"},
	} {
		c.printer.Name, c.printer.URL = "main", "file:///dev/null"
		conf := dressed(func(conf *Config) { conf.Printers = []Printer{c.printer} })
		err := conf.Validate()
		if c.want == "" && err != nil ||
			c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %q", c.printer, err, c.want)
		}
	}
}

func TestTheLogSaysWhichProfileWasChosenWhenItChanges(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	say := Printer{Name: "main", Profile: "auto"}.sayProfile(log)
	for _, unit := range []string{"", "x/y/1/2#hra", "x/y/1/2#hra", "TM-T88V/EPSON/30.14/MX1#hra"} {
		say(session.State{Unit: session.Unit{Fingerprint: unit}})
	}
	Printer{Name: "other", Profile: "safe-80"}.sayProfile(log)(session.State{
		Unit: session.Unit{Fingerprint: "x"}})
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "profile=safe-80") ||
		!strings.Contains(lines[1], "profile=epson-tm-t88v") {
		t.Errorf("%q", lines)
	}
}
