package profile_test

import (
	"errors"
	"strings"
	"testing"

	"chit/printer/escpos/codepage"
	"chit/printer/profile"
)

func TestEveryProfileIsUsable(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range profile.Names() {
		p, err := profile.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.Name != name || seen[name] || name != strings.ToLower(name) {
			t.Errorf("%q: named %q, seen %v", name, p.Name, seen[name])
		}
		seen[name] = true
		if p.Columns*12 > p.WidthDots {
			t.Errorf("%s: %d columns of 12 dots on %d dots", name, p.Columns, p.WidthDots)
		}
		if p.BufferBytes < 4096 || p.CutFeed < 1 {
			t.Errorf("%s: buffer %d, feed to the blade %d", name, p.BufferBytes, p.CutFeed)
		}
		numbers, encodings := map[byte]bool{}, map[string]bool{}
		for _, page := range p.Pages {
			if !codepage.Known(page.Encoding) {
				t.Errorf("%s: page %d: no table %q", name, page.Number, page.Encoding)
			}
			if numbers[page.Number] || encodings[page.Encoding] {
				t.Errorf("%s: page %d %s is listed twice", name, page.Number, page.Encoding)
			}
			numbers[page.Number], encodings[page.Encoding] = true, true
		}
		if p.Pages[0] != (profile.Page{Number: 0, Encoding: "CP437"}) || !encodings["CP858"] {
			t.Errorf("%s: starts with %v and has the euro: %v", name, p.Pages[0],
				encodings["CP858"])
		}
	}
}

// research/escpos.md 3.1: the numbers at which families differ.
func TestPagesDifferWhereMakersDo(t *testing.T) {
	for _, c := range []struct {
		model, encoding string
		number          byte
	}{
		{"epson-tm-t20iii", "WINDOWS-1251", 46},
		{"xprinter-80", "WINDOWS-1251", 23},
		{"rongta-rp326", "WINDOWS-1251", 6},
		{"rongta-rp326", "CP866", 7},
		{"yhdaa-yhd-8390", "WINDOWS-1252", 11},
		{"yhdaa-yhd-8390", "CP858", 14},
		{"bixolon-80", "WINDOWS-1251", 28},
		{"zjiang-pos-5890", "WINDOWS-1251", 73},
	} {
		p, err := profile.ByName(c.model)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, page := range p.Pages {
			found = found || page == profile.Page{Number: c.number, Encoding: c.encoding}
		}
		if !found {
			t.Errorf("%s has no %s at %d: %v", c.model, c.encoding, c.number, p.Pages)
		}
	}
}

func TestAnUnknownNameIsAnsweredWithTheKnownOnes(t *testing.T) {
	_, err := profile.ByName("epson")
	if !errors.Is(err, profile.ErrUnknown) {
		t.Fatal(err)
	}
	for _, name := range profile.Names() {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%v does not name %s", err, name)
		}
	}
}

func TestACallerCannotChangeAnothersProfile(t *testing.T) {
	mine := profile.Safe80()
	mine.Pages[0].Number = 99
	if profile.Safe80().Pages[0].Number != 0 {
		t.Error("changed")
	}
}
