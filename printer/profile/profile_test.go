package profile_test

import (
	"errors"
	"slices"
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
		if p.Name != name || seen[name] || name != strings.ToLower(name) || p.Vendor == "" ||
			p.Model == "" {
			t.Errorf("%q: named %q of %q %q, seen %v", name, p.Name, p.Vendor, p.Model, seen[name])
		}
		seen[name] = true
		if p.Columns < 32 || p.Columns*12 > p.WidthDots {
			t.Errorf("%s: %d columns of 12 dots on %d dots", name, p.Columns, p.WidthDots)
		}
		if p.ColumnsB != 0 && (p.ColumnsB <= p.Columns || p.ColumnsB*8 > p.WidthDots) {
			t.Errorf("%s: %d columns of font B on %d dots", name, p.ColumnsB, p.WidthDots)
		}
		if p.BufferBytes < 4096 || p.CutFeed < 1 || p.Impact && p.Images == profile.ImagesRaster {
			t.Errorf("%s: buffer %d, feed to the blade %d, images %d", name, p.BufferBytes, p.CutFeed,
				p.Images)
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
		if p.Pages[0] != (profile.Page{Number: 0, Encoding: "CP437"}) {
			t.Errorf("%s: starts with %v", name, p.Pages[0])
		}
	}
	for _, name := range []string{"safe-80", "safe-58", "safe-76"} {
		if !seen[name] {
			t.Errorf("no %s", name)
		}
	}
	if names := profile.Names(); !slices.IsSorted(names[3:]) {
		t.Errorf("not sorted: %v", names)
	}
}

// What no source says is marked as a default, and what one source contradicts is not printed with.
func TestEveryFactHasItsSource(t *testing.T) {
	known := []string{"db", "rpe", "epson", "research", "default"}
	for _, m := range profile.All() {
		has := map[string]bool{}
		for _, f := range m.Facts {
			has[f.Name] = true
			first := strings.FieldsFunc(f.Source, func(r rune) bool {
				return strings.ContainsRune(" ,;:", r)
			})
			if f.Name != "vendor" && f.Name != "model" && f.Name != "db" &&
				(len(first) == 0 || !slices.Contains(known, first[0])) {
				t.Errorf("%s: %s %s has source %q", m.Name, f.Name, f.Value, f.Source)
			}
		}
		need := []string{"columns", "width", "images", "qr", "cutter", "feed", "drawer", "pages"}
		if m.Refused != "" {
			need = []string{"refused"}
		}
		for _, name := range append(need, "vendor", "model") {
			if !has[name] {
				t.Errorf("%s does not say %s", m.Name, name)
			}
		}
		for _, doubted := range m.Doubted {
			if slices.ContainsFunc(m.Pages, func(p profile.Page) bool {
				return p.Number == doubted.Number
			}) {
				t.Errorf("%s prints with page %d, which sources contradict", m.Name, doubted.Number)
			}
		}
	}
}

// No page has letters that a printer would set in the wrong direction, or without their marks.
func TestNoPageHasLettersThatOnlyADrawingSetsRight(t *testing.T) {
	for _, m := range profile.All() {
		for _, p := range m.Pages {
			for b := range 256 {
				r := codepage.Decode(p.Encoding, byte(b))
				if r >= 0x0590 && r <= 0x06FF || r >= 0x0E00 && r <= 0x0E7F ||
					r >= 0x3000 && r != 0xFFFD {
					t.Errorf("%s: page %d %s has %q", m.Name, p.Number, p.Encoding, r)
					break
				}
			}
		}
	}
}

func TestAllFiftyModelsOfTheDatabaseAreThere(t *testing.T) {
	from := map[string]string{}
	for _, m := range profile.All() {
		if m.DB == "" {
			continue
		}
		if other, twice := from[m.DB]; twice {
			t.Errorf("%s is %s and %s", m.DB, other, m.Name)
		}
		from[m.DB] = m.Name
	}
	for _, id := range []string{
		"AF-240", "CT-S651", "ITPP047", "KR-306", "NT-5890K", "NT-80-V-UL", "OCD-100", "OCD-300", "P822D",
		"POS-5890", "RP-F10-58mm", "RP-F10-80mm", "RP326", "RP332", "SP2000", "SRP-S300", "Sunmi-V2",
		"T-1", "TEP-200M", "TH230", "TH230Plus", "TM-L90", "TM-P80", "TM-P80-42col", "TM-T20II",
		"TM-T20II-42col", "TM-T20III", "TM-T70", "TM-T70-SA", "TM-T70II", "TM-T70II-CH",
		"TM-T70II-CH-58mm", "TM-T70II-SA", "TM-T88II", "TM-T88III", "TM-T88IV", "TM-T88IV-SA", "TM-T88V",
		"TM-U220", "TM-U220B", "TM-m30III", "TSP600", "TSP800", "TUP500", "YHD-8390", "ZJ-5870",
		"default", "mcPrint", "safe", "simple",
	} {
		if from[id] == "" {
			t.Errorf("%s is missing", id)
		}
		delete(from, id)
	}
	if len(from) != 0 {
		t.Errorf("the database has no %v", from)
	}
}

// Makers' manuals: the numbers at which families differ.
func TestPagesDifferWhereMakersDo(t *testing.T) {
	for _, c := range []struct {
		model, encoding string
		number          byte
	}{
		{"epson-tm-t20iii", "WINDOWS-1251", 46},
		{"epson-tm-t88v", "CP857", 13},
		{"epson-tm-u220", "CP858", 19},
		{"xprinter-80", "WINDOWS-1251", 23},
		{"rongta-rp326", "WINDOWS-1251", 6},
		{"rongta-rp326", "CP866", 7},
		{"rongta-rp332", "CP737", 24},
		{"yhdaa-yhd-8390", "WINDOWS-1252", 11},
		{"yhdaa-yhd-8390", "CP858", 14},
		{"bixolon-80", "WINDOWS-1251", 28},
		{"zjiang-pos-5890", "WINDOWS-1251", 73},
		{"kefar-kr-306", "WINDOWS-1251", 51},
		{"wincor-th230", "CP850", 1},
		{"citizen-ct-s651", "CP852", 6},
	} {
		p, err := profile.ByName(c.model)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(p.Pages, profile.Page{Number: c.number, Encoding: c.encoding}) {
			t.Errorf("%s has no %s at %d: %v", c.model, c.encoding, c.number, p.Pages)
		}
	}
}

func TestAContradictedPageIsNotUsed(t *testing.T) {
	for model, page := range map[string]profile.Page{
		"citizen-ct-s651": {Number: 2, Encoding: "CP850"},
		"epson-tm-t88iii": {Number: 18, Encoding: "CP862"},
		"munbyn-itpp047":  {Number: 6, Encoding: "WINDOWS-1252"},
		"epson-tm-l90":    {Number: 42, Encoding: "CP774"},
	} {
		m, err := profile.Find(model)
		if err != nil || !slices.Contains(m.Doubted, page) || slices.Contains(m.Pages, page) {
			t.Errorf("%s, page %v: %v, doubted %v", model, page, err, m.Doubted)
		}
	}
}

func TestAnUnknownNameIsAnsweredWithNearOnes(t *testing.T) {
	for asked, near := range map[string]string{
		"epson-tm-t20ii1": "epson-tm-t20iii", "TM-T88V": "epson-tm-t88v",
		"Epson TM T20III": "epson-tm-t20iii", "bixolon": "bixolon-80",
		"safe80": "safe-80", "rp326": "rongta-rp326", "ct-s651": "citizen-ct-s651",
	} {
		_, err := profile.ByName(asked)
		if !errors.Is(err, profile.ErrUnknown) || !strings.Contains(err.Error(), "did you mean ") ||
			!strings.Contains(err.Error(), near) {
			t.Errorf("%s: %v", asked, err)
		}
	}
	for _, asked := range []string{"", "qqqqqqqqqq", "--", "é"} {
		_, err := profile.ByName(asked)
		if !errors.Is(err, profile.ErrUnknown) || !strings.Contains(err.Error(), "such as safe-80") {
			t.Errorf("%q: %v", asked, err)
		}
	}
}

// Printers that speak another language, and displays, are known so that nobody prints there.
func TestWhatIsNoESCPOSPrinterIsRefusedWithAReason(t *testing.T) {
	for name, hint := range map[string]string{
		"star-tsp600": "ESC/POS emulation", "star-sp2000": "ESC/POS emulation",
		"star-tsp800": "ESC/POS emulation", "star-mcprint": "ESC/POS emulation",
		"aures-ocd-100": "display",
	} {
		_, err := profile.ByName(name)
		if !errors.Is(err, profile.ErrRefused) || !strings.Contains(err.Error(), hint) {
			t.Errorf("%s: %v", name, err)
		}
		if slices.Contains(profile.Names(), name) {
			t.Errorf("%s is offered", name)
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
