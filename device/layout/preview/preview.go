// Package preview prints a document on a printer in software, so that a person sees a template, a
// language or a size before any paper is spent, and tests keep what they saw.
//
// It encodes as the daemon does and believes nothing: a command or a letter that the virtual
// printer objects to is an error. It is pure.
package preview

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"chit/printer/document"
	"chit/printer/escpos"
	"chit/printer/profile"
	"chit/printer/virtual"
)

// ErrPaper says that the bytes of a document are none that a printer takes. It is a defect of ours.
var ErrPaper = errors.New("the virtual printer objects")

// Printed is a document on paper.
type Printed struct {
	Paper escpos.Paper
	Sheet virtual.Sheet
}

// receiveMax bounds how often bytes are offered: the printer takes at least one each time.
const receiveMax = 1 << 20

// Print encodes d and prints it. Errors are the encoder's, or wrap [ErrPaper].
func Print(d document.Document, e escpos.Encoder) (Printed, error) {
	paper, err := e.Encode(d)
	if err != nil {
		return Printed{}, err
	}
	return Receive(paper, e.Profile)
}

// Receive prints the bytes of a document on a printer of that profile. Errors wrap [ErrPaper].
func Receive(paper escpos.Paper, facts profile.Profile) (Printed, error) {
	config := virtual.ConfigFor(facts)
	config.LinesPerSecond = 0
	p, now := virtual.New(config), time.Unix(0, 0).UTC()
	p.Connect(now)
	bytes := append(append([]byte{}, paper.Body...), paper.Cut...)
	for range receiveMax {
		if len(bytes) == 0 {
			break
		}
		bytes = bytes[p.Receive(now, bytes):]
		p.Advance(now)
		p.Answers()
	}
	if !facts.Cutter {
		p.Tear(now)
	}
	sheets := p.Sheets()
	if len(sheets) != 1 || len(bytes) > 0 {
		return Printed{}, fmt.Errorf("%w: %d sheets, %d bytes left", ErrPaper, len(sheets), len(bytes))
	}
	if wrong := sheets[0].Errors(); len(wrong) > 0 {
		return Printed{}, fmt.Errorf("%w: %s", ErrPaper, strings.Join(wrong, "; "))
	}
	return Printed{Paper: paper, Sheet: sheets[0]}, nil
}

// Profile is the one for a paper's width in mm that fits most printers: 80, 76 (needles, red
// ribbon) or 58. The second result is false for any other width.
//
// Source of 76 mm: research/escpos.md section 4, TM-U220 with font 9x9: 33 columns, 400 dots.
func Profile(mm int) (profile.Profile, bool) {
	p := profile.Safe80()
	switch mm {
	case 80:
	case 58:
		p = profile.Safe58()
	case 76:
		p.Name, p.Columns, p.WidthDots, p.Impact, p.Red = "needles-76", 33, 400, true, true
		p.Images = profile.ImagesColumn
	default:
		return p, false
	}
	return p, true
}
