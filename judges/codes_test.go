package judges

import (
	"slices"
	"strings"
	"testing"
	"time"

	"chit/printer/document"
	"chit/printer/escpos"
	"chit/printer/profile"
	"chit/printer/raster"
	"chit/printer/virtual"
)

// start is any time: the printer's clock is an argument.
var start = time.Date(2026, time.January, 1, 12, 0, 0, 0, time.UTC)

// paper prints a stream on a printer of that kind and returns what hangs out of it at the end, cut
// or not, and what the printer objected to.
func paper(t *testing.T, c virtual.Config, stream []byte) ([]virtual.Sheet, []virtual.Mark) {
	t.Helper()
	p := virtual.New(c)
	p.Connect(start)
	for rest := stream; len(rest) > 0; {
		n := p.Receive(start, rest)
		if n == 0 {
			t.Fatal("the printer takes no more")
		}
		rest = rest[n:]
	}
	p.Advance(start)
	if p.Hanging() {
		p.Tear(start)
	}
	return p.Sheets(), p.Errors()
}

// codes prints a stream and lets zbarimg read the paper.
func codes(t *testing.T, c virtual.Config, stream string) []string {
	t.Helper()
	sheets, objections := paper(t, c, []byte(stream))
	for _, o := range objections {
		t.Errorf("at byte %d: %s", o.Offset, o.Text)
	}
	var found []string
	for _, sheet := range sheets {
		picture, err := sheet.PNG()
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, read(t, picture)...)
	}
	return found
}

// Every system of bar code that zbarimg knows is read back from the picture, in both forms of GS k,
// at several widths.
func TestAScannerReadsOurBarCodes(t *testing.T) {
	const feed = "\n\n\n\n\n\n\n\n"
	for _, tt := range []struct{ name, command, want string }{
		{"UPC-A", "\x1dk\x0003600029145\x00", "UPC-A:036000291452"},
		{"UPC-A function B", "\x1dk\x41\x0b03600029145", "UPC-A:036000291452"},
		{"UPC-E", "\x1dk\x0104252614\x00", "UPC-E:04252614"},
		{"UPC-E from UPC-A", "\x1dk\x42\x0b04210000526", "UPC-E:04252614"},
		{"EAN-13", "\x1dk\x02400638133393\x00", "EAN-13:4006381333931"},
		{"EAN-13 with its check digit", "\x1dk\x43\x0d4006381333931", "EAN-13:4006381333931"},
		{"EAN-8", "\x1dk\x44\x079638507", "EAN-8:96385074"},
		{"Code 39", "\x1dk\x45\x08CHIT-42A", "CODE-39:CHIT-42A"},
		{"Code 39 with its asterisks", "\x1dk\x04*CHIT 7*\x00", "CODE-39:CHIT 7"},
		{"ITF", "\x1dk\x46\x0812345670", "I2/5:12345670"},
		{"Codabar", "\x1dk\x47\x08A123456B", "Codabar:A123456B"},
		{"Code 93", "\x1dk\x48\x08CHIT 93A", "CODE-93:CHIT 93A"},
		{"Code 128 B", "\x1dk\x49\x0a{BChit 128", "CODE-128:Chit 128"},
		{"Code 128 C", "\x1dk\x49\x05{C\x0c\x22\x38", "CODE-128:123456"},
		{"Code 128 A to C and a brace", "\x1dk\x49\x0f{AORDER{B{{x{C\x2a", "CODE-128:ORDER{x42"},
		{"GS1-128", "\x1dk\x4a\x1400123456789012345675", "CODE-128:00123456789012345675"},
		{"Code 128 by itself", "\x1dk\x4f\x08Order 77", "CODE-128:Order 77"},
	} {
		for _, width := range []string{"\x02", "\x03"} {
			t.Run(tt.name+" width "+string(width[0]+'0'), func(t *testing.T) {
				stream := "\x1b@\x1ba\x01\x1dh\x50\x1dw" + width + "\x1dH\x02" + tt.command + feed
				got := codes(t, virtual.ConfigFor(profile.Safe80()), stream)
				if !slices.Equal(got, []string{tt.want}) {
					t.Errorf("read %q, want %q", got, tt.want)
				}
			})
		}
	}
}

// qr is GS ( k for a QR code.
func qr(level byte, module byte, content string) string {
	n := len(content) + 3
	return "\x1d(k\x04\x001A2\x00\x1d(k\x03\x001C" + string(rune(module)) +
		"\x1d(k\x03\x001E" + string(rune(level)) +
		"\x1d(k" + string([]byte{byte(n), byte(n >> 8)}) + "1P0" + content + "\x1d(k\x03\x001Q0"
}

func TestAScannerReadsOurQRCodesAtEveryLevelAndSize(t *testing.T) {
	for _, content := range []string{
		"https://chit.example/t/2f6f0c9a", "0123456789", "CHIT 42/1@GRILL",
		strings.Repeat("a long order ", 15),
	} {
		for level := byte('0'); level <= '3'; level++ {
			for _, module := range []byte{3, 5} {
				stream := "\x1b@\x1ba\x01\n\n" + qr(level, module, content) + "\n\n\n\n\n\n"
				got := codes(t, virtual.ConfigFor(profile.Safe80()), stream)
				if !slices.Equal(got, []string{"QR-Code:" + content}) {
					t.Errorf("level %c, module %d: read %q, want %q", level, module, got, content)
				}
			}
		}
	}
}

func TestTheLevelOfCorrectionMakesAQRCodeLarger(t *testing.T) {
	before := 0
	for level := byte('0'); level <= '3'; level++ {
		sheets, _ := paper(t, virtual.ConfigFor(profile.Safe80()),
			[]byte("\x1b@"+qr(level, 2, strings.Repeat("q", 70))+"\n\n\n\n\n\n"))
		if len(sheets) != 1 || len(sheets[0].Boxes) != 1 {
			t.Fatalf("level %c: %d sheets", level, len(sheets))
		}
		if size := sheets[0].Boxes[0].Width; size <= before {
			t.Errorf("level %c has %d dots, the one before %d", level, size, before)
		} else {
			before = size
		}
	}
}

// The code of a ticket is said by the printer where it can draw one, else it is an image of ours: a
// scanner reads both, on every printer.
func TestAScannerReadsTheCodeOfOurTicketOnEveryPrinter(t *testing.T) {
	const address = "https://chit.example/t/0198c7f2-4a1b-7c3d"
	var printers []profile.Profile
	for _, name := range profile.Names() {
		p, err := profile.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		p.QR = false
		drawn := p
		p.QR, p.Name = true, p.Name+" with codes of its own"
		printers = append(printers, drawn, p)
	}
	drawer := raster.New(raster.Fonts{})
	for _, facts := range printers {
		for _, beside := range []bool{false, true} {
			code := document.QR{Data: address}
			if beside {
				code.Beside = []document.Line{document.Text("42", document.Style{Width: 3, Height: 3})}
			}
			var d document.Document
			d.Add(document.Text("GRILL", document.Style{Bold: true}), document.Feed{Lines: 1}, code,
				document.Feed{Lines: 1}, document.Text("2 x Margherita", document.Style{}))
			made, err := escpos.Encoder{Profile: facts, Drawer: drawer}.Encode(d)
			if err != nil {
				t.Fatalf("%s: %v", facts.Name, err)
			}
			stream := string(made.Body) + string(made.Cut)
			got := codes(t, virtual.StrictConfigFor(facts), stream)
			if facts.Images == profile.ImagesNone && !facts.QR {
				continue // Without images the address is text.
			}
			if want := []string{"QR-Code:" + address}; !slices.Equal(got, want) {
				t.Errorf("%s, beside %v: read %q, want %q", facts.Name, beside, got, want)
			}
		}
	}
}
