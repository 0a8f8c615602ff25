package core

import (
	"time"

	"chit/device/wire"
	"chit/printer/escpos"
	"chit/printer/session"
)

// Event is something that happened to the device. The edge looks facts up (the journal's record
// of an id) and puts them into the event; the machine never reads anything itself.
type Event interface{ event() }

// Handle names one MQTT message that waits for its PUBACK. Zero is no message.
type Handle uint64

// Started brings what the journal remembers. It is the first event of a process and follows every
// reopening of the journal; session, printers and host time known before it stay known.
type Started struct {
	State State
	// KernelBoot is the kernel's boot id: another one than the journal's means that the machine was
	// off for an unknown time. Empty counts as another one.
	KernelBoot string
}

// StorageLost says that the journal could not be opened, or that a commit failed. The outcome of a
// failed commit is unknown, so the machine forgets what it planned and refuses tickets until the
// next [Started]. The edge then repeats the messages of the failed batch, to have them refused.
type StorageLost struct{}

// Stopping says that the process ends on purpose: the start after it does not count against
// tickets.
type Stopping struct{}

// Connected says that the link subscribed and published its birth under this session.
type Connected struct{ Session string }

// Greeted says that the link says hello once more in this session, for a reason of its own such as
// a broker that started again. Connected stands for the first one.
type Greeted struct{ Session string }

// Welcomed is the broker's answer to the hello of the same session. It is also the only source of
// host time.
type Welcomed struct {
	Welcome wire.Welcome
	Handle  Handle
}

// Disconnected says that the session is over.
type Disconnected struct{}

// TicketArrived is a verified ticket.
type TicketArrived struct {
	Ticket wire.Ticket
	// Kind is the kind to print and sound: Ticket.As, else the kind in the data.
	Kind wire.Kind
	// Digest is "sha256:" and lower-case hex of the raw data.
	Digest string
	// Known is the journal's record of this id, looked up just before this step.
	Known Known
	// PredKnown is true where Ticket.Pred is on paper here or waits to be, as the journal knows.
	PredKnown bool
	// Higher is the highest seq among [Later] that is on paper here or waits to be, as the journal
	// knows; 0 is none. Tickets that were answered long ago are found by it alone.
	Higher int
	Handle Handle
}

// TicketUnusable is a ticket that is signed by our broker and cannot be taken: over its size, of a
// newer version, with data this program cannot read.
type TicketUnusable struct {
	ID      string
	Attempt int
	Digest  string
	Reason  string // too_large, version, content
	Handle  Handle
}

// Recalled asks not to start a ticket any more.
type Recalled struct {
	Recall wire.Recall
	Known  Known
	Handle Handle
}

// CommandArrived is a verified command.
type CommandArrived struct {
	Command wire.Command
	Handle  Handle
}

// PrinterState is what a printer's session says whenever it changes.
type PrinterState struct {
	Printer string
	State   session.State
}

// PrintDone is what became of the [Print] with this token.
type PrintDone struct {
	Printer string
	Token   escpos.Token
	Result  session.Result
}

// Resolved answers a [Resolve]. Err says that nobody could be asked; the question stays open then.
type Resolved struct {
	Printer    string
	Token      escpos.Token
	Resolution session.Resolution
	Err        error
}

// Cleared answers a [ClearPrinter]. Err wraps [session.ErrNotCleared] where the unit cannot or did
// not confirm it; another says that the printer could not be talked to.
type Cleared struct {
	Printer string
	Token   escpos.Token
	Err     error
}

// Button is a press of the device's button, or of what stands for it: it silences the alarm until
// the next change. A short one says that the tickets printed since the last one are seen.
type Button struct {
	// Long is a press of two seconds and more.
	Long bool
	// Handle names somebody who waits for what the press did, told by [Pressed]; 0 is nobody.
	Handle Handle
}

// Tick is the passing of the deadline that [Machine.Next] named. An early or late one does no harm.
type Tick struct{}

func (Started) event()        {}
func (StorageLost) event()    {}
func (Stopping) event()       {}
func (Connected) event()      {}
func (Greeted) event()        {}
func (Welcomed) event()       {}
func (Disconnected) event()   {}
func (TicketArrived) event()  {}
func (TicketUnusable) event() {}
func (Recalled) event()       {}
func (CommandArrived) event() {}
func (PrinterState) event()   {}
func (PrintDone) event()      {}
func (Resolved) event()       {}
func (Cleared) event()        {}
func (Button) event()         {}
func (Tick) event()           {}

// Now is the time of one step.
type Now struct {
	// Up is the machine's own running time, CLOCK_BOOTTIME on Linux: it grows through process
	// restarts and starts near zero at each boot of the kernel.
	Up time.Duration
	// Wall is the system clock, right or wrong. It only stamps messages for people.
	Wall time.Time
	// Trusted is true where Wall is synchronised.
	Trusted bool
}
