// Package core decides what a device stores, prints, answers and sounds, and in which order.
//
// It is one pure state machine: [Machine.Step] takes the time and an event and returns a
// [Decision], the journal changes that must be one transaction and the effects that may leave
// after it (I1). It knows no clock, network, file or goroutine.
//
//	m := core.New(conf)
//	d := m.Step(now, core.Started{State: loaded, KernelBoot: id})
//	// commit d.Write (once for several steps), then m.Committed(), then carry out d.Then in order.
//	// If the commit fails: m.Step(now, core.StorageLost{}), carry out that decision, reopen.
//	// Sleep until m.Next(now), then m.Step(now, core.Tick{}).
//
// The machine may be stepped again before its last changes are on disk: it decides on its newest
// state, and tickets that arrive together share a commit. A ticket costs two commits: its arrival
// (together with the intent where the printer is idle) and its result (together with the next
// ticket's intent).
package core

import (
	"time"

	"chit/device/wire"
	"chit/printer/document"
	"chit/printer/escpos"
)

// Bounds of the machine.
const (
	// BlockN is how many ack numbers one commit reserves.
	BlockN = 4096
	// BacklogMax is how many tickets may wait unprinted; more are refused temporarily, as storage.
	BacklogMax = 512
	// BacklogBytesMax bounds the data those tickets hold in memory.
	BacklogBytesMax = 8 << 20
	// UnansweredMax is how many finished tickets are kept for the next hello. The oldest beyond it
	// are dropped: their ids are still known, so a dispatch of one is answered duplicate.
	UnansweredMax = 4096
	// PlainAt is the start at which an unfinished ticket is no longer laid out but printed plainly.
	PlainAt = 3
	// RefuseAt is the start at which even that is given up: refused, poison.
	RefuseAt = 10
	// HostWait is how long a ticket of unknown age waits for signed host time after a start.
	HostWait = 60 * time.Second
	// ContentKept is how long the content of a ticket is kept.
	ContentKept = 48 * time.Hour
	// AlarmEvery is the pause between two alarms about the same thing.
	AlarmEvery = 60 * time.Second
	// LivedEvery is how often lived time is written when nothing else is.
	LivedEvery = time.Hour
	// SlipEvery is the shortest pause between two slips that say the memory is gone.
	SlipEvery = time.Hour
	// AlarmGrace is how long a printer may be absent or silent before the alarm says so.
	AlarmGrace = 10 * time.Second
	// RetryPause is the pause after a print that did not start or a question nobody could answer.
	RetryPause = time.Second
	// AnswerEvery is the shortest pause in which an unfinished ticket's lease is prolonged again.
	AnswerEvery = 5 * time.Second
	// HelloEvery is the pause after which a hello without a welcome is said again: an engine may have
	// acknowledged and dropped either.
	HelloEvery = 30 * time.Second
	// HellosMax is how often it is said in vain before another session is opened.
	HellosMax = 3
	// RecallKept is how long a recall of an unknown ticket is remembered (I3).
	RecallKept = 30 * day
)

const day = 24 * time.Hour

// Config is what the machine cannot know by itself. Functions must be pure.
type Config struct {
	Device  string
	Version string
	// Printers are the configured names; a ticket without a printer goes to the first.
	Printers []string
	// Lay makes the document of a ticket, as small as Sheet.Fit says. A panic or an error of Lay or
	// Encode ends in plain text.
	Lay func(Sheet) (document.Document, error)
	// Plain makes the plainest document of it, LAYOUT FAILED and the reason on top. Where that does
	// not end well either, the ticket is refused, poison.
	Plain func(s Sheet, reason string) document.Document
	// LaySlip makes the document of a slip.
	LaySlip func(Slip, Sheet) document.Document
	// Encode makes a printer's bytes. An error that wraps [escpos.ErrUnprintable] refuses the ticket,
	// unprintable: nobody shall cook by a paper that lacks words.
	Encode func(printer string, d document.Document) (escpos.Paper, error)
	// EncodePlain makes the bytes of slips and plain tickets that Encode failed on, with something
	// visible where the printer has no letters. It lists that in Replaced; such a ticket is refused,
	// unprintable, such a slip is printed. nil is Encode.
	EncodePlain func(printer string, d document.Document) (escpos.Paper, error)
	// Insist is the pause in which the pattern of a ticket that nobody has seen is repeated; 0 never.
	Insist time.Duration
	// Attended is true where somebody can say that tickets are seen: until then the lamp shows that
	// work waits.
	Attended bool
	// VolatileBoot is a random number that stands for the boot in answers given while no journal
	// could be opened.
	VolatileBoot uint64
}

// Sheet is all a layout is told about one paper.
type Sheet struct {
	Printer string
	Ticket  wire.Ticket
	// Fit is how small the layout must be.
	Fit Fit
	// Now is the time as far as it is known, zero where it is not.
	Now time.Time
	// PossibleDuplicate is the device's own mark or the broker's.
	PossibleDuplicate bool
	// PowerCut asks for PRINTED AFTER POWER CUT, CHECK TIME {placed_at}.
	PowerCut bool
	// Missing is the id of the station's previous ticket of this order where it never came here.
	Missing string
	// OlderThan is a higher seq of the same order that was accepted before, 0 if none (I6).
	OlderThan int
	// Above are tickets that this paper must say are not this printer's any more; AboveMore is how
	// many more there are. Those that are torn may hang in the printer in pieces.
	Above     []Above
	AboveMore int
	// Backlog are the lines of a SlipBacklog.
	Backlog []Waiting
}

// VolatileJournal stands for the journal's id in answers given while no journal could be opened.
const VolatileJournal = "none"

// Decision is what one step wants.
type Decision struct {
	Write []Change
	Then  []Effect
}
