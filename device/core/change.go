package core

import (
	"time"

	"chit/device/wire"
	"chit/printer/escpos"
	"chit/printer/session"
)

// Change is one write to the journal. All changes of a decision are one transaction.
type Change interface{ change() }

// PutMeta replaces the journal's counters. Journal, Serial and Born are the journal's own and are
// not changed by it.
type PutMeta struct{ Meta Meta }

// PutSeen writes the record of an id into the day of its arrival.
type PutSeen struct {
	Day    uint32
	ID     string
	Record Record
}

// PutContent writes the ticket itself under its arrival number.
type PutContent struct {
	Day     uint32
	Arrival uint64
	Ticket  wire.Ticket
}

// PutOpen writes where a ticket stands that is not answered yet.
type PutOpen struct{ Open Open }

// DropOpen forgets where a ticket stood: the broker has its last answer.
type DropOpen struct{ Arrival uint64 }

// PutIntent writes the one intent of a printer, replacing the one before.
type PutIntent struct {
	Printer string
	Intent  Intent
}

// ClearIntent says that the printer has nothing of ours in flight.
type ClearIntent struct{ Printer string }

// PutSetting remembers something learned, such as the trust in a unit's odometer.
type PutSetting struct {
	Key   string
	Value []byte
}

// DropSeen forgets a whole day of ids: its last expires has passed in lived time (I3).
type DropSeen struct{ Day uint32 }

// DropContent erases a whole day of contents, 48 h after it ended.
type DropContent struct{ Day uint32 }

func (PutMeta) change()     {}
func (PutSeen) change()     {}
func (PutContent) change()  {}
func (PutOpen) change()     {}
func (DropOpen) change()    {}
func (PutIntent) change()   {}
func (ClearIntent) change() {}
func (PutSetting) change()  {}
func (DropSeen) change()    {}
func (DropContent) change() {}

// State is all that a start needs. Ids that are finished and answered stay in the journal.
type State struct {
	Meta     Meta
	Open     []Stored // by arrival
	Intents  map[string]Intent
	Settings map[string][]byte
}

// Stored is an open ticket; Ticket is filled only while it still may have to be printed.
type Stored struct {
	Open   Open
	Ticket wire.Ticket
}

// Meta is the journal's identity and counters.
type Meta struct {
	Journal string // random id, written at birth
	Serial  string // the machine it was born on, or moved to
	Boot    uint64 // starts of a process on this journal
	// NReserved is the highest n that may have been used. A block is reserved by commits that
	// happen anyway, so that an ack needs none of its own.
	NReserved uint64
	Arrivals  uint64 // arrival numbers given
	Tokens    uint64 // tokens given; see escpos.TokenOf. Number 0 belongs to slips without intent
	// Lived is the time the machine has run, in total, at the time Up of the kernel boot
	// KernelBoot.
	Lived      time.Duration
	Up         time.Duration
	KernelBoot string
	// Machine counts kernel boots: a ticket stored under another number has an unknown age.
	Machine uint64
	// Clean is true where the last process stopped on purpose.
	Clean bool
	// Days has, for every day of ids still kept, the lived day after which it may be dropped.
	Days map[uint32]uint32
	// Contents is the oldest lived day whose contents are still kept.
	Contents uint32
}

// Record is what the journal remembers of an id until it expires. While an [Open] of the same id
// exists, that is the newer word on its outcome.
type Record struct {
	Digest   string
	Outcome  wire.Outcome // stored, printed, recalled, refused (poison), expired
	Evidence wire.Evidence
	// Marked is true where the paper carries POSSIBLE DUPLICATE, and where a ticket ended without
	// paper of its own but a doubtful one may exist: should it be wanted again, that one is marked.
	Marked bool
	Reason string // of a refusal; the recall's id where recalled
	// Attempt is the newest attempt that a recall or a refusal ended; a later one is a new wish.
	Attempt int
	Expires time.Duration // lived time
	Arrival uint64        // 0 where only a recall is known
}

// Known is the answer to a look-up.
type Known struct {
	Found  bool
	Day    uint32
	Record Record
}

// OpenState is where a ticket stands between its arrival and the broker's knowledge of its end.
//
//	Received --intent--> (printing) --paper--> Printed --n_seen--> dropped
//	   |  ^--not started----+  +--unknown, marked--> Received
//	   |  (past stalems: print, it stays and its paper says late; drop, Ended; ask, Stale)
//	   |  ^--a person's word, a newer attempt--- Stale <--past stalems-- Received
//	   |                                          |
//	   +--recall, expires, poison, drop--> Ended <+ recall, expires, a person's word
//
// Printing is no state of its own: it is a Received ticket that an intent names.
type OpenState uint8

// The states.
const (
	// Received waits for its printer. The commit of its arrival moves it in.
	Received OpenState = iota + 1
	// Stale is too old to be cooked without a person saying so. It is answered held: stale, once,
	// and listed on the backlog slip.
	Stale
	// Printed is on paper as far as its evidence says, and not yet known to the broker.
	Printed
	// Ended will never print here (recalled, expired, refused) and is not yet known to the broker.
	Ended
)

// Open is the record of one such ticket.
type Open struct {
	Arrival uint64
	Day     uint32 // lived day of arrival: where its record and content are
	ID      string
	Digest  string
	Printer string
	Kind    wire.Kind
	State   OpenState
	// Attempt is the newest that was handed over, as far as a commit told.
	Attempt int
	// Starts counts process starts, none of them on purpose, that tried this ticket again after the
	// process before had ended with it next in line.
	Starts int
	// Marked is true once a first paper may exist: the next one carries POSSIBLE DUPLICATE.
	Marked bool
	// Torn is true while a half ticket hangs in the printer: a slip and a cut come first.
	Torn bool
	// Recall is the id of a recall that came while the ticket was at the printer: it is not printed
	// again for this attempt, whatever the printer says.
	Recall string
	// Missing and OlderThan go to the paper; see [Sheet].
	Missing   string
	OlderThan int

	Stored  time.Duration // lived
	Expires time.Duration // lived
	Stale   time.Duration // from Stored, 0 = never
	Machine uint64        // Meta.Machine at arrival
	Host    int64         // host time at arrival, ms since 1970, 0 = unknown

	// Outcome and Evidence of the last answer; N is its number, 0 where it was never sent.
	Outcome  wire.Outcome
	Evidence wire.Evidence
	Reason   string
	N        uint64
}

// Slip is paper that is no ticket.
type Slip string

// The slips.
const (
	SlipNone       Slip = ""
	SlipTorn       Slip = "torn"       // ABOVE MAY BE INCOMPLETE
	SlipCut        Slip = "cut"        // what hangs above is whole, only its cut was missing
	SlipTest       Slip = "test"       // asked by a command
	SlipAbove      Slip = "above"      // tickets that went elsewhere while paper of them may exist
	SlipBacklog    Slip = "backlog"    // tickets that wait for a person's word
	SlipMemoryless Slip = "memoryless" // THIS PRINTER CANNOT REMEMBER ORDERS; it has no intent
)

// Intent says that a document is about to reach, or has reached, a printer.
type Intent struct {
	Arrival uint64 // of the ticket; also where a slip speaks about one
	Slip    Slip
	Token   escpos.Token
	Boot    uint64
	// Fingerprint and Before are the unit's just before.
	Fingerprint string
	Before      session.Counters
	LineFeeds   int
	Cuts        int
	Raster      bool
	Trusted     bool
	Marked      bool // this paper carries POSSIBLE DUPLICATE
}

// Question is the intent as the printer's session wants to be asked about it.
func (i Intent) Question() session.Intent {
	return session.Intent{
		Token: i.Token, Fingerprint: i.Fingerprint, Before: i.Before,
		LineFeeds: i.LineFeeds, Cuts: i.Cuts, Trusted: i.Trusted,
	}
}
