// Package preview prints the bytes of a document on a printer in software, so that a person sees a
// template, a language or a size before any paper is spent, and tests keep what they saw.
//
// It believes nothing: a command or a letter that the virtual printer objects to is an error. It is
// pure.
package preview

import (
	"errors"
	"fmt"
	"strings"
	"time"

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
