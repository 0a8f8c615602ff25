// Package session owns one printer: it keeps the connection, asks, prints one document at a time
// and says how well it knows what came out.
package session

import (
	"chit/printer/escpos"
)

// Evidence is how well the session knows that a document came out.
type Evidence uint8

// From weakest to strongest. Nothing on the wire proves ink on paper.
const (
	// None: nothing is known, or nothing was sent.
	None Evidence = iota
	// Sent: the bytes were accepted by the link.
	Sent
	// Counted: after an interruption the odometer had grown by exactly this document.
	Counted
	// Fenced: a queued GS r 1 after the document was answered.
	Fenced
	// Confirmed: GS ( H answered with this document's own token, after the cut.
	Confirmed
)

// Hold is why a printer cannot print now, in a cook's words on the alarm and in these words on the wire.
type Hold string

// The holds a printer can be in. The empty Hold means it can print.
const (
	HoldNone   Hold = ""
	HoldAbsent Hold = "absent" // no connection
	HoldSilent Hold = "silent" // it once answered and now does not
	HoldPaper  Hold = "paper_out"
	HoldCover  Hold = "cover_open"
	HoldCutter Hold = "cutter"
	HoldHot    Hold = "head_hot"
	HoldError  Hold = "error"
	HoldOff    Hold = "offline"
)

// Counters is a reading of the odometer (GS g 2, counters 20 and 50, or 148 and 178 where cumulative).
type Counters struct {
	Known     bool   `json:"known"`
	LineFeeds uint64 `json:"line_feeds"`
	Cuts      uint64 `json:"cuts"`
}

// Unit is what the session learned about the printer it is connected to.
type Unit struct {
	// Fingerprint tells this unit from another on the same cable as well as its answers allow
	// (GS I strings, serial number, counters answered or not). It is a hint that clones forge.
	Fingerprint string   `json:"fingerprint"`
	TwoWay      bool     `json:"two_way"`
	ProcessID   bool     `json:"process_id"` // GS ( H answers
	Fence       bool     `json:"fence"`      // GS r 1 answers
	Odometer    bool     `json:"odometer"`   // GS g 2 answers
	Counters    Counters `json:"counters"`
}

// State is what the session tells its owner whenever it changes.
type State struct {
	Hold Hold
	// Unit is valid while Hold is not HoldAbsent.
	Unit Unit
	// PaperLow is the near-end sensor, where there is one.
	PaperLow bool
	// Err says why the printer is absent, for people.
	Err string
}

// Job is one document on its way to paper, encoded before its intent was stored.
type Job struct {
	Paper escpos.Paper
	Token escpos.Token
}

// Intent is what the journal stored before the first byte, read back after a restart.
type Intent struct {
	Token       escpos.Token
	Fingerprint string
	Before      Counters
	LineFeeds   int // what the document adds
	Cuts        int
	Trusted     bool // the odometer of this unit was trusted when the intent was written
}

// Result is what became of one [Job].
type Result struct {
	// Started is false when surely not one byte of the document left: printing again needs no mark.
	Started bool
	// Evidence is None when the outcome is unknown.
	Evidence Evidence
	// Counters after the document, where the unit has an odometer.
	Counters Counters
	// CutFault is true where the printer reports a cutter error after a confirmed body.
	CutFault bool
	// Err is why the outcome is unknown or the job did not start; nil where Evidence is above None.
	Err error
}

// Resolution is what could be found out about an interrupted document.
type Resolution struct {
	// Evidence is Counted, Fenced or Confirmed where it came out, else None: then it must be
	// printed again, marked.
	Evidence Evidence
	// Torn is true where lines were fed but the cut was not made: paper hangs in the printer.
	Torn bool
	// Counters now.
	Counters Counters
}
