package delivery

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"chit/broker/entity"
	"chit/device/wire"
)

// Format is the version of stored deliveries, contents, chains, stations and devices.
const Format = 1

// Bounds and defaults (DESIGN.md section 5).
const (
	// AttemptsMax is the poison bound: so many failed attempts end a delivery's budget.
	AttemptsMax = 10
	// Window is the outage bound, counted from release, or from a redrive.
	Window = 6 * time.Hour
	// LeaseFor is how long an answer is waited for, unless the station says otherwise.
	LeaseFor = 30 * time.Second
	// StaleAfter is the age from which a ticket is late, unless the kitchen says otherwise.
	StaleAfter = 30 * time.Minute
	// ExpiresAfter is how long an event is remembered unless set (DESIGN.md I3).
	ExpiresAfter = 30 * 24 * time.Hour
	// PauseFirst and PauseMax are the limits of the back-off's first and longest wait.
	PauseFirst = 2 * time.Second
	PauseMax   = 15 * time.Minute
	// DayCut is where a business day begins after local midnight, unless set.
	DayCut = 4 * time.Hour

	// TriesMax bounds the kept attempts, TimelineMax the kept timeline, RedrivesMax the kept audit
	// entries; the oldest but the first are dropped and counted.
	TriesMax    = 64
	TimelineMax = 128
	RedrivesMax = 64
	// MutationsMax bounds the tickets of one order; more are refused with ErrTooMany.
	MutationsMax = 256
)

// Delivery is the duty to bring one ticket to its station.
//
// It is the stored record: everything about the ticket but its content, which is stored once, apart
// (see [Content]). Instants are in UTC with a resolution of 1 ms.
type Delivery struct {
	Format int    `json:"v"`
	Tenant string `json:"tenant"`
	Ticket string `json:"ticket"` // "<order>/<seq>[/r<k>|/d<k>]@<station>"

	Kitchen string    `json:"kitchen"`
	Station string    `json:"station"`
	Kind    wire.Kind `json:"kind"`
	Digest  string    `json:"digest"`
	// Canary is true for the ticket that only proves that its printer works; see [NewCanary].
	Canary bool `json:"canary,omitempty"`

	Accepted time.Time `json:"accepted"`
	Release  time.Time `json:"release"`
	// WindowEnd is the outage bound's end; Expires that of the memory: nothing is dispatched past
	// it.
	WindowEnd time.Time `json:"window_end"`
	Expires   time.Time `json:"expires"`

	State State `json:"state"`
	// Reason says why in a word, where State is parked, dead or cancelled.
	Reason string `json:"reason,omitempty"`
	// Epoch counts the changes: whoever asks for one because of what it read names the Epoch it
	// read.
	Epoch uint64 `json:"epoch"`
	// Due is when a waiting delivery may be dispatched.
	Due time.Time `json:"due,omitzero"`
	// Wanted is when a person last asked for it, by a redrive or an answer about a stale ticket; zero
	// where nobody did. The stale clock counts from it.
	Wanted time.Time `json:"wanted,omitzero"`
	// Lease is the handing-over that is unanswered: in force while leased; while parked it waits
	// for the birth that tells whether it was an attempt.
	Lease *Lease `json:"lease,omitempty"`

	// Attempt is the number of the newest handing-over. It never restarts.
	Attempt int `json:"attempt"`
	// Failed counts the failed attempts of this budget, Streak the deferrals since the last
	// progress.
	Failed int `json:"failed"`
	Streak int `json:"streak,omitempty"`
	// Deferrals counts the waits that were not the ticket's fault, by reason.
	Deferrals map[string]Deferral `json:"deferrals,omitempty"`
	// Handed holds every device that was ever given the ticket.
	Handed []Handed `json:"handed,omitempty"`
	// MovedTo is the backup station that has it in its own station's place, "" where it is at home;
	// Moves counts how often it changed hands.
	MovedTo string `json:"moved_to,omitempty"`
	Moves   int    `json:"moves,omitempty"`
	// Pinned is the one printer that a copy is for, nil where the station's present one gets it.
	Pinned *Pin `json:"pinned,omitempty"`
	// Source is the ticket that this one repeats, "" where it is nobody's copy: at the same station
	// for one more printer, then Pinned is set, or for another station.
	Source string `json:"source,omitempty"`
	// CopyOf is the station whose ticket this one copies, or speaks about a copy of; "" for none.
	CopyOf string `json:"copy_of,omitempty"`
	// Recalls are those that are not answered yet, at most one of a device.
	Recalls  []Recall `json:"recalls,omitempty"`
	Tries    []Try    `json:"tries,omitempty"`
	Timeline []Moment `json:"timeline"`
	Dropped  int      `json:"dropped,omitempty"` // entries that Tries, Timeline and Redrives no longer hold

	Number   string `json:"number,omitempty"`
	Previous string `json:"previous,omitempty"`
	Day      string `json:"day,omitempty"` // business day of Number, "2006-01-02"
	Gaps     string `json:"gaps,omitempty"`

	// What settled it, or what was last said of it.
	Outcome  wire.Outcome  `json:"outcome,omitempty"`
	Evidence wire.Evidence `json:"evidence,omitempty"`
	Marked   bool          `json:"marked,omitempty"` // the paper carries POSSIBLE DUPLICATE
	Printed  *Paper        `json:"printed,omitempty"`
	// Doubled are papers of other journals than Printed's: the kitchen has two.
	Doubled []Paper `json:"doubled,omitempty"`

	Redrives []Redriving `json:"redrives,omitempty"`
	// DeadAt is where its row stands in the list of dead letters.
	DeadAt time.Time `json:"dead_at,omitzero"`
}

// Lease is one handing-over and when it counts as unanswered.
type Lease struct {
	Device  string    `json:"device"`
	Printer string    `json:"printer"`
	Session string    `json:"session"`
	Epoch   uint64    `json:"epoch"` // the device's session epoch
	Journal string    `json:"journal"`
	Boot    uint64    `json:"boot"`
	Until   time.Time `json:"until"`
	// For is how long each answer prolongs it.
	For    time.Duration `json:"for_ns"`
	Stored bool          `json:"stored,omitempty"` // the device has said so
}

// Handed is a device that was given the ticket.
type Handed struct {
	Device string `json:"device"`
	// Memory is the device's memory generation at the newest handing-over.
	Memory uint64 `json:"memory"`
	// Doubt is true once the device had lost its memory of a handing-over: whether that one gave
	// paper nobody knows, so every later one is marked.
	Doubt bool `json:"doubt,omitempty"`
	// First and Last are the first and the newest attempt that went there.
	First int `json:"first"`
	Last  int `json:"last"`
	// Place is whose printer the newest one went to, Before where it went at this device earlier,
	// Printers are all the printers there that the ticket ever went to.
	Place    Place    `json:"place,omitzero"`
	Before   Place    `json:"before,omitzero"`
	Printers []string `json:"printers,omitempty"`
	// Journal is the device's at the newest handing-over.
	Journal string `json:"journal,omitempty"`
	// Cleared is the attempt up to which an answered recall proves that there is no paper; Ended
	// the one up to which the device has said that it starts none any more.
	Cleared int `json:"cleared,omitempty"`
	Ended   int `json:"ended,omitempty"`
	// Silent is since when it was handed over there without any answer, Held since when the device
	// says that it holds it, both zero where it is not so.
	Silent time.Time `json:"silent,omitzero"`
	Held   time.Time `json:"held,omitzero"`
	// Heard is the newest ack from there, to know a replayed one by.
	Heard wire.AckKey `json:"heard,omitzero"`
}

// Deferral is a count of waits of one reason.
type Deferral struct {
	Count int       `json:"count"`
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
}

// Try is one attempt as it is kept.
type Try struct {
	Attempt int       `json:"attempt"`
	At      time.Time `json:"at"`
	Until   time.Time `json:"until"` // the lease as it was given
	Device  string    `json:"device"`
	Printer string    `json:"printer"`
	Session string    `json:"session"`
	Boot    uint64    `json:"boot"`
	Status  string    `json:"status,omitempty"` // the device's status then
	// Address is the device's network address then, as the engine saw it.
	Address string      `json:"address,omitempty"`
	Marks   []wire.Mark `json:"marks,omitempty"`
	Ended   time.Time   `json:"ended,omitzero"`
	Error   string      `json:"error,omitempty"` // why it came to nothing
	Counted bool        `json:"counted,omitempty"`
	// Pause is the wait drawn after it, PauseMax the limit it was drawn below.
	Pause time.Duration `json:"pause_ns,omitempty"`
	Limit time.Duration `json:"pause_limit_ns,omitempty"`
}

// Moment is one line of a ticket's story.
type Moment struct {
	At       time.Time     `json:"at"`
	What     string        `json:"what"` // the event's word, such as "dispatched" or "held"
	State    State         `json:"state"`
	Attempt  int           `json:"attempt,omitempty"`
	Device   string        `json:"device,omitempty"`
	Reason   string        `json:"reason,omitempty"`
	Evidence wire.Evidence `json:"evidence,omitempty"`
	Who      string        `json:"who,omitempty"`
	Why      string        `json:"why,omitempty"`
	To       string        `json:"to,omitempty"` // the station that it moved to
}

// Paper is one printed answer.
type Paper struct {
	Device   string        `json:"device"`
	Attempt  int           `json:"attempt"`
	Evidence wire.Evidence `json:"evidence"`
	Marked   bool          `json:"marked,omitempty"`
	Ack      wire.AckKey   `json:"ack"`
	At       time.Time     `json:"at"` // when the broker recorded it
}

// Redriving is the audit entry of a redrive.
type Redriving struct {
	At     time.Time `json:"at"`
	Who    string    `json:"who"`
	Why    string    `json:"why"`
	Failed int       `json:"failed"` // what the ended budget had spent
	Reason string    `json:"reason"` // what it had died of
}

// Kinds of entities of this package.
const (
	KindDelivery = "delivery" // id: the ticket's
	KindContent  = "content"  // id: the ticket's
	KindChain    = "chain"    // id: the order's
	KindStation  = "station"  // id: the station's
	KindDevice   = "device"   // id: the device's
	KindStray    = "stray"    // id: the ticket's: acks for a ticket that is not known yet
)

// Outbox lists of this package.
const (
	ListOpen = "open" // deliveries that are waiting, leased, parked or stale, by acceptance
	ListDead = "dead" // dead letters, by their death
	// ListRecall holds deliveries with an open recall, whatever their state, by acceptance.
	ListRecall = "recall"
)

// Key is the delivery of a ticket.
func Key(tenant, ticket string) entity.Key {
	return entity.Key{Tenant: tenant, Kind: KindDelivery, ID: ticket}
}

// Load reads a delivery and its version; version 0 means that the ticket is not known.
func Load(view entity.View, tenant, ticket string) (Delivery, uint64, error) {
	var d Delivery
	version, err := load(view, Key(tenant, ticket), &d)
	return d, version, err
}

// LoadContent reads a ticket's content; ok is false where the ticket is not known.
func LoadContent(view entity.View, tenant, ticket string) (c Content, ok bool, err error) {
	state, err := view.Load(entity.Key{Tenant: tenant, Kind: KindContent, ID: ticket})
	if err != nil || state.Version == 0 {
		return Content{}, false, err
	}
	c, err = decodeContent(state.Data)
	return c, err == nil, err
}

// Tickets lists the ticket ids of one order mutation, "<order>/<seq>" with its reprints and all its
// stations, in order of acceptance; seq 0 lists the whole order.
func Tickets(view entity.View, tenant, order string, seq int) ([]string, error) {
	chain, _, err := loadChain(view, tenant, order)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, id := range chain.Tickets {
		if parsed, err := wire.ParseTicketID(id); err == nil && (seq == 0 || parsed.Seq == seq) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// formatNow is how every record of ours begins. Seeing it saves a second look at the whole record:
// reading deliveries is most of what a broker does.
var formatNow = fmt.Appendf(nil, `{"v":%d,`, Format)

// checkFormat is for records that somebody else wrote.
func checkFormat(key entity.Key, data []byte) error {
	var format struct {
		Format int `json:"v"`
	}
	if err := json.Unmarshal(data, &format); err != nil {
		return fmt.Errorf("delivery: reading %s: %w", key, err)
	}
	if format.Format != Format {
		return fmt.Errorf("%w: %s has format %d, want %d", ErrFormat, key, format.Format, Format)
	}
	return nil
}

// load reads a JSON entity into out and leaves out alone where there is none.
func load(view entity.View, key entity.Key, out any) (uint64, error) {
	state, err := view.Load(key)
	if err != nil || state.Version == 0 {
		return 0, err
	}
	if !bytes.HasPrefix(state.Data, formatNow) {
		if err := checkFormat(key, state.Data); err != nil {
			return 0, err
		}
	}
	if err := json.Unmarshal(state.Data, out); err != nil {
		return 0, fmt.Errorf("delivery: reading %s: %w", key, err)
	}
	return state.Version, nil
}
