// Package session owns one printer: it keeps the connection, asks, prints one document at a time
// and says how well it knows what came out.
//
// A [Session] is the only reader and the only writer of its printer. [Session.Run] keeps the
// connection; the other methods are orders to it and may be called from any goroutine:
//
//	s := session.New(session.Config{Dialer: dialer, Known: remembered, Changed: tell})
//	go s.Run(ctx)
//	resolution := s.Resolve(ctx, open)        // once after a start, if an intent was open
//	store(session.NewIntent(s.State().Unit, job)) // on disk before the first byte
//	result := s.Print(ctx, job)
//
// It never sends a document twice and never decides that one must be printed again: it reports
// [Result] and [Resolution], and whoever holds the journal decides. It never says that a document
// came out because time passed: a printer that reports paper end or an open cover is waited for
// without a time-out, since its data is still inside and will come out after the roll change.
package session

import (
	"errors"

	"chit/printer/escpos"
)

// Errors that say why a document did not start or is in doubt. They are wrapped with the cause.
var (
	// ErrHeld says that the printer cannot print now; Result.Hold says why. Not one byte was sent.
	ErrHeld = errors.New("printer is held")
	// ErrMoved says that the odometer no longer stands where Job.Before says: somebody fed paper
	// or printed a self-test. Not one byte was sent; store a new intent and print again.
	ErrMoved = errors.New("odometer moved since the intent was written")
	// ErrSilence says that the whole document was accepted, the printer reports no reason to wait,
	// and its answer did not come within Timing.Fence.
	ErrSilence = errors.New("printer did not answer after the document")
	// ErrLink says that the connection ended.
	ErrLink = errors.New("connection to the printer lost")
	// ErrEnded says that Run has returned or was never started.
	ErrEnded = errors.New("printer session ended")
	// ErrToken says that the job's token is not four bytes 0x20 to 0x7E. Not one byte was sent.
	ErrToken = errors.New("bad token")
	// ErrNotCleared says that the printer did not confirm that it dropped its buffers.
	ErrNotCleared = errors.New("printer did not confirm that its buffers are clear")
	// ErrWithdrawn says that the document was taken back; see [Session.Withdraw].
	ErrWithdrawn = errors.New("document was taken back")
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

// String is the word of DESIGN section 2, for logs and states.
func (e Evidence) String() string {
	switch e {
	case None:
		return "none"
	case Sent:
		return "sent"
	case Counted:
		return "counted"
	case Fenced:
		return "fenced"
	case Confirmed:
		return "confirmed"
	}
	return "invalid"
}

// Hold is why a printer cannot print now, in a cook's words on the alarm and in these words on the
// wire.
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

// Counters is a reading of the odometer (GS g 2, counters 20 and 50, or 148 and 178 where
// cumulative).
type Counters struct {
	Known     bool   `json:"known"`
	LineFeeds uint64 `json:"line_feeds"`
	Cuts      uint64 `json:"cuts"`
}

// Unit is what the session learned about the printer it is connected to. It is comparable and has a
// JSON form, so that the journal can keep it and hand it back as Config.Known after a restart.
type Unit struct {
	// Fingerprint tells this unit from another on the same cable as well as its answers allow
	// (GS I strings, serial number, counters answered or not). It is a hint that clones forge.
	Fingerprint string   `json:"fingerprint"`
	TwoWay      bool     `json:"two_way"`
	ProcessID   bool     `json:"process_id"` // GS ( H answers
	Fence       bool     `json:"fence"`      // GS r 1 answers
	Odometer    bool     `json:"odometer"`   // GS g 2 answers
	Counters    Counters `json:"counters"`

	// Realtime has bit n set where DLE EOT n (1 to 4) is answered; preflight demands those.
	Realtime uint8 `json:"realtime"`
	// Identity is true where GS I is answered with a framed string.
	Identity bool `json:"identity"`
	// Pushes is true where GS a 15 made the unit send its status by itself (ASB).
	Pushes bool `json:"pushes"`
	// Cumulative is true where the odometer is counters 148 and 178, which no host can reset.
	Cumulative bool `json:"cumulative"`
	// Trust says which kinds of document this unit's odometer has counted right so far.
	Trust Trust `json:"trust"`
	// Clears is whether the unit has confirmed that it cleared its buffers (DLE DC4 8). Lost says
	// that it was asked before it ever had, and did not: it is not asked again.
	Clears Standing `json:"clears"`
}

// State is what the session tells its owner whenever it changes.
type State struct {
	Hold Hold
	// Unit is valid while Hold is not HoldAbsent.
	Unit Unit
	// PaperLow is the near-end sensor, where there is one.
	PaperLow bool
	// Err says why the printer is absent or silent, for people.
	Err string
}

// Ready is true where a document could be printed now.
func (s State) Ready() bool { return s.Hold == HoldNone }

// Job is one document on its way to paper, encoded before its intent was stored.
type Job struct {
	Paper escpos.Paper
	Token escpos.Token
	// Before are the counters that the stored intent names. Where they are known, Print compares
	// them with the odometer as last read and does not start if it moved; see [ErrMoved].
	Before Counters
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

// NewIntent is what must be on disk before Print is called with job on unit.
func NewIntent(unit Unit, job Job) Intent {
	return Intent{
		Token:       job.Token,
		Fingerprint: unit.Fingerprint,
		Before:      unit.Counters,
		LineFeeds:   job.Paper.LineFeeds,
		Cuts:        job.Paper.Cuts,
		Trusted:     unit.Trust.Covers(job.Paper.Raster),
	}
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
	// Hold is why the job did not start, where Err is ErrHeld.
	Hold Hold
	// Err is why the outcome is unknown or the job did not start; nil where Evidence is above None.
	Err error
}

// Resolution is what could be found out about an interrupted document.
type Resolution struct {
	// Evidence is Counted, Fenced or Confirmed where it came out, else None: then it must be
	// printed again, marked.
	Evidence Evidence
	// Torn is true where lines were fed but the cut was not made: paper hangs in the printer. With
	// evidence above None the document is whole and only its cut is missing.
	Torn bool
	// Untouched is true where surely nothing of it came out: the printer confirmed that it cleared
	// its buffers on the connection that had carried the document, and an odometer that is trusted
	// for such documents stands where it stood before.
	Untouched bool
	// Counters now.
	Counters Counters
	// Err says that the printer could not be asked (the context or the session ended first). The
	// intent is then still open: nothing may be printed for it yet.
	Err error
}
