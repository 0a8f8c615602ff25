package core

import (
	"chit/device/wire"
	"chit/printer/escpos"
	"chit/printer/session"
)

// Effect is an order to the edge, carried out only after the changes of the same decision are on
// disk.
type Effect interface{ effect() }

// Puback releases one message to the engine.
type Puback struct{ Handle Handle }

// Answer is an ack to be signed and sent in the present session. It is complete: (journal, boot, n)
// are the machine's and never repeat.
type Answer struct{ Ack wire.Ack }

// Reply is the answer to a command, to be signed and sent.
type Reply struct{ Reply wire.Reply }

// Print hands one encoded document to a printer's session. Arrival is 0 for slips.
type Print struct {
	Printer string
	Arrival uint64
	Ticket  string // id, "" for slips
	Job     session.Job
}

// Resolve asks a printer's session what became of an interrupted document.
type Resolve struct {
	Printer string
	Token   escpos.Token
	Intent  session.Intent
}

// ClearPrinter asks a printer's session to give up the wait for this document and to have the
// printer forget the rest of it, where the unit is known to be able to. It is answered by
// [Cleared], and is carried out beside what the printer does.
type ClearPrinter struct {
	Printer string
	Token   escpos.Token
}

// Pattern is what the buzzer plays.
type Pattern string

// The patterns. Reprints and notices sound like new tickets.
const (
	SoundNew    Pattern = "new"
	SoundChange Pattern = "change"
	SoundVoid   Pattern = "void"
	SoundAlarm  Pattern = "alarm"
)

// Sound plays a pattern once.
type Sound struct{ Pattern Pattern }

// Pressed says what a press of the button did.
type Pressed struct {
	Handle Handle // of the [Button]
	Seen   int    // tickets whose evidence is seen by it
	// Unproven counts tickets of which nobody knows whether they came out; their evidence stays.
	Unproven int
	// Wanted counts the stale tickets that a long press asks to be printed, here and at the broker.
	Wanted int
}

// Light is what the lamp shows.
type Light string

// The lights, worst last.
const (
	LightReady   Light = "ready"   // a ticket would print now, and none waits
	LightWaiting Light = "waiting" // work waits: tickets for their paper, or paper to be seen
	LightOffline Light = "offline" // no session with the broker
	LightHeld    Light = "held"    // a printer cannot print
	LightAlarm   Light = "alarm"   // a person is needed: tickets wait on a held printer, no memory
)

// Lamp is sent when the light changes.
type Lamp struct{ Light Light }

// StatusChanged is the new content of the retained status hint; the edge adds what it knows itself.
type StatusChanged struct{ Status wire.Status }

// Greet asks the link to say birth and hello again in the present session, after its jitter; with
// Renew, where that did not help, to open another session on a connection of its own: the broker
// may take this one for over.
type Greet struct{ Renew bool }

func (Greet) effect()         {}
func (Puback) effect()        {}
func (Answer) effect()        {}
func (Reply) effect()         {}
func (Print) effect()         {}
func (Resolve) effect()       {}
func (ClearPrinter) effect()  {}
func (Sound) effect()         {}
func (Pressed) effect()       {}
func (Lamp) effect()          {}
func (StatusChanged) effect() {}
