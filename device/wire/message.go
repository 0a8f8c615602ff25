package wire

// Type is the JWS typ of a signed message, without the "chit-" and "+jws" around it.
type Type string

// The signed messages.
const (
	TypeTicket  Type = "ticket"  // broker to device, topic ticket
	TypeRecall  Type = "recall"  // broker to device, topic recall
	TypeCommand Type = "command" // broker to device, topic command
	TypeWelcome Type = "welcome" // broker to device, topic command
	TypeHost    Type = "host"    // broker to devices, topic host, retained
	TypeHello   Type = "hello"   // device to broker, topic ack
	TypeAck     Type = "ack"     // device to broker, topic ack
	TypeReply   Type = "reply"   // device to broker, topic ack
	TypeMade    Type = "made"    // device to broker, topic ack
)

// Ticket is a CloudEvents 1.0 event in JSON format, type "chit.ticket.v1", whose data are the exact
// bytes that were accepted at the door. Durations count from receipt: a Pi has no clock to trust.
type Ticket struct {
	ID      string // the ticket's: "<order>/<seq>[/r<k>|/d<k>]@<station>"
	Device  string // aud: the device it was handed to; another refuses it, "" binds nobody
	Source  string // "chit/<tenant>"
	Time    string // RFC 3339, when the broker accepted it
	Data    []byte // RFC 8785 bytes, at most 40 KiB
	Changes *Changes

	Attempt  int    // never restarts, also not by redrive
	Lease    int64  // leasems: milliseconds until the broker counts the attempt as unanswered
	Stale    int64  // stalems: milliseconds after which it must not be cooked blindly; 0 = never
	Expires  int64  // expiress: seconds that the device remembers id and digest
	Printer  string // the device's printer name
	Station  string
	Number   string // running number, "41"
	Previous string // the station's previous number, "40"; "" = first today; PreviousUnknown
	Pred     string // id of the station's previous ticket of the same order
	Gaps     string // "40:moved:bar,39:cancelled"
	As       Kind   // the kind to print when it differs from data
	Marks    []Mark
	From     string  // name of the station that had it before, with MarkMoved; "" = unknown
	OnStale  OnStale // what to do once Stale has passed
	AlsoAt   string  // "bar,pass": the other stations with a ticket of the same mutation
	CopyOf   string  // the station whose ticket this is a copy of, "" = none
	Above    int     // the highest seq of the order that was handed over here before, 0 = none (I6)
}

// OnStale is what a device does with a ticket that grew too old to be cooked blindly.
type OnStale string

// The answers to a stale ticket. An absent one means [OnStalePrint], as do unknown ones: paper that
// says LATE is better than none.
const (
	OnStalePrint OnStale = "print" // with the mark late
	OnStaleAsk   OnStale = "ask"   // held: stale, until a person says print or drop
	OnStaleDrop  OnStale = "drop"  // refused for good, reason stale
)

// Mark is a banner that the broker asks the device to print.
type Mark string

// The marks of a ticket.
const (
	MarkReprint           Mark = "reprint"
	MarkPossibleDuplicate Mark = "possible-duplicate"
	MarkMoved             Mark = "moved"
	MarkLate              Mark = "late"
)

// Recall says "do not start this one any more", until it is answered.
type Recall struct {
	ID       string `json:"id"`      // of the recall, answered by ack outcome recalled
	Ticket   string `json:"ticket"`  // ticket id
	Attempt  int    `json:"attempt"` // newest attempt handed to this device
	Reason   string `json:"reason"`  // moved, cancelled, dead
	IssuedAt int64  `json:"iat"`     // seconds since 1970
	// MovedTo is the station or printer named on the notice, "" if none.
	MovedTo string `json:"moved_to,omitempty"`
	Device  string `json:"aud,omitempty"` // as in Ticket
}

// Command asks a device to do something that is not a ticket; it is answered by a [Reply].
type Command struct {
	ID       string            `json:"id"`
	Do       string            `json:"do"` // "test-print", "backlog", "backlog-answer" ([BacklogLine])
	Args     map[string]string `json:"args,omitempty"`
	IssuedAt int64             `json:"iat"`
	Device   string            `json:"aud,omitempty"` // as in Ticket
}

// Welcome answers a hello; dispatch starts after it.
type Welcome struct {
	Session string `json:"session"` // the device's own, echoed
	Epoch   uint64 `json:"epoch"`   // the device's session epoch in the broker's store
	Host    string `json:"host"`    // the broker's epoch, as in Host
	Now     int64  `json:"now_ms"`  // milliseconds since 1970: signed host time
	Journal string `json:"journal"` // the journal that NSeen speaks of
	NSeen   uint64 `json:"n_seen"`  // highest n of that journal on record
}

// Host is the broker's retained sign of life. Time is never taken from it, because it is retained.
type Host struct {
	State string `json:"state"` // alive or draining
	Epoch string `json:"epoch"` // random, new at every start of the broker
}

// Hello opens a session.
type Hello struct {
	Device  string `json:"iss"`
	Session string `json:"session"` // random, new for every connection
	Boot    uint64 `json:"boot"`    // counts the starts of this journal's process
	Journal string `json:"journal"` // random id, written at the journal's birth
	N       uint64 `json:"n"`       // highest n that may have been used
	Serial  string `json:"serial,omitempty"`
	Version string `json:"version"`
	Format  int    `json:"wire"` // newest wire version understood: 1
}

// Outcome is what a device says of a ticket.
type Outcome string

// The outcomes and what they do to a delivery stand in the package comment.
const (
	OutcomeStored    Outcome = "stored"
	OutcomeHeld      Outcome = "held"
	OutcomePrinted   Outcome = "printed"
	OutcomeDuplicate Outcome = "duplicate"
	OutcomeRefused   Outcome = "refused"
	OutcomeExpired   Outcome = "expired"
	OutcomeRecalled  Outcome = "recalled"
)

// Reasons for which a device refuses a ticket for good because of what is written on it: another
// try on the same printer comes to the same.
const (
	ReasonTooLong = "too_long" // more than 1 m of paper
	// ReasonUnprintable: a word that the printer has no letters for and that it cannot draw.
	ReasonUnprintable = "unprintable"
)

// Evidence is how well it is known that a ticket printed.
type Evidence string

// From weakest to strongest; unknown stands outside the order.
const (
	EvidenceNone      Evidence = ""
	EvidenceUnknown   Evidence = "unknown"
	EvidenceStored    Evidence = "stored"
	EvidenceSent      Evidence = "sent"
	EvidenceCounted   Evidence = "counted"
	EvidenceFenced    Evidence = "fenced"
	EvidenceConfirmed Evidence = "confirmed"
	EvidenceSeen      Evidence = "seen"
)

// Ack is a device's signed answer about one ticket.
type Ack struct {
	Device    string   `json:"iss"`
	Ticket    string   `json:"sub"`
	Attempt   int      `json:"attempt"`
	Outcome   Outcome  `json:"outcome"`
	Permanent bool     `json:"permanent,omitempty"`
	Evidence  Evidence `json:"evidence,omitempty"`
	// Reason is a word: paper_out, cover_open, storage, poison, digest, too_large, version … or the
	// recall's id where Outcome is recalled.
	Reason string `json:"reason,omitempty"`
	Digest string `json:"digest"`
	// Marked is true where the paper carries POSSIBLE DUPLICATE.
	Marked   bool   `json:"marked,omitempty"`
	Journal  string `json:"journal"`
	Boot     uint64 `json:"boot"`
	N        uint64 `json:"n"` // (Journal, Boot, N) never repeats
	IssuedAt int64  `json:"iat"`
}

// Reply answers a [Command].
type Reply struct {
	Device   string            `json:"iss"`
	Command  string            `json:"sub"`
	OK       bool              `json:"ok"`
	Error    string            `json:"error,omitempty"`
	Result   map[string]string `json:"result,omitempty"`
	Journal  string            `json:"journal"`
	Boot     uint64            `json:"boot"`
	N        uint64            `json:"n"`
	IssuedAt int64             `json:"iat"`
}

// Made reports a ticket made on the device itself, at its LAN door or its button.
type Made struct {
	Device   string `json:"iss"`
	Ticket   string `json:"sub"`
	Data     []byte `json:"-"` // spliced as bytes under "data"
	Digest   string `json:"digest"`
	Number   string `json:"number"` // "L<n>"
	Station  string `json:"station"`
	Printer  string `json:"printer"`
	Journal  string `json:"journal"`
	Boot     uint64 `json:"boot"`
	N        uint64 `json:"n"`
	IssuedAt int64  `json:"iat"`
}

// Status is the retained hint on a device's status topic, birth and will alike. It settles nothing.
type Status struct {
	State    string          `json:"state"` // online or offline
	Session  string          `json:"session"`
	Boot     uint64          `json:"boot,omitempty"`
	Journal  string          `json:"journal,omitempty"`
	Version  string          `json:"version,omitempty"`
	Degraded string          `json:"degraded,omitempty"` // storage
	Printers []PrinterStatus `json:"printers,omitempty"`
}

// PrinterStatus is one printer as its device sees it.
type PrinterStatus struct {
	Name     string `json:"name"`
	Held     string `json:"held,omitempty"` // paper_out, cover_open, absent, silent …
	PaperLow bool   `json:"paper_low,omitempty"`
	Waiting  int    `json:"waiting,omitempty"` // tickets stored and not on paper
	Unit     string `json:"unit,omitempty"`
	Fence    string `json:"fence,omitempty"` // best evidence it can give
}

// Telemetry is the hint on a device's telemetry topic, every 60 s. A nil value is unknown, never 0.
type Telemetry struct {
	Uptime       int64             `json:"uptime_s"`
	Counters     map[string]uint64 `json:"counters"`
	Temperature  *float64          `json:"temperature_c,omitempty"`
	UnderVoltage *bool             `json:"under_voltage,omitempty"`
	DiskFree     *uint64           `json:"disk_free_bytes,omitempty"`
	WiFiDBm      *int              `json:"wifi_dbm,omitempty"`
	ClockSynced  *bool             `json:"clock_synced,omitempty"`
	RSS          *uint64           `json:"rss_bytes,omitempty"`
}
