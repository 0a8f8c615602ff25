package intake

import (
	"encoding/json"
	"net/http"
	"time"
)

// Ticket is a ticket as the API shows it: no names, no phones, no payload.
type Ticket struct {
	// ID is the request's, "<order>/<seq>" and for what the broker or a device made "/r<k>" or
	// "/d<k>".
	ID string `json:"id"`
	// Ticket is the event's identity, "<order>/<seq>@<station>"; it also names the dead letter.
	Ticket  string `json:"ticket"`
	Kitchen string `json:"kitchen"`
	Station string `json:"station"`
	Kind    string `json:"kind"`
	Digest  string `json:"digest"`
	// State is waiting, leased, parked, stale, settled, dead or cancelled.
	State string `json:"state"`
	// Outcome is the device's last word that settled or ended the ticket, "" before.
	Outcome  string `json:"outcome,omitempty"`
	Evidence string `json:"evidence,omitempty"`
	// Reason is why the ticket is dead, parked or held.
	Reason string `json:"reason,omitempty"`
	Held   string `json:"held,omitempty"`
	// Marked is true where the paper says POSSIBLE DUPLICATE.
	Marked    bool   `json:"marked,omitempty"`
	Attempts  int    `json:"attempts"`
	Deferrals int    `json:"deferrals"`
	Number    string `json:"number,omitempty"`
	Previous  string `json:"previous,omitempty"`
	Device    string `json:"device,omitempty"`
	Printer   string `json:"printer,omitempty"`
	// MovedTo is the station whose printer took over, "" where it is at its own.
	MovedTo string `json:"moved_to,omitempty"`
	// CopyOf is the station whose ticket this is a copy of, or which the copy that it speaks about is
	// of, "" for none.
	CopyOf string `json:"copy_of,omitempty"`
	// PinnedTo is the one printer that it is for, absent where the station's present one gets it.
	PinnedTo *PinnedTo `json:"pinned_to,omitempty"`
	// Voided is the void that tells the kitchen not to make it. It is told of one ticket alone.
	Voided *Voided `json:"voided,omitempty"`
	// Recalls are the devices that have not answered yet that they do not start the ticket.
	Recalls []string `json:"recalls,omitempty"`

	// AgeMS is how long ago it was released, told of stale tickets, in milliseconds.
	AgeMS int64 `json:"age_ms,omitempty"`

	AcceptedAt time.Time  `json:"accepted_at"`
	ReleaseAt  time.Time  `json:"release_at"`
	SettledAt  *time.Time `json:"settled_at,omitempty"`
	// DueAt is when the delivery acts next by itself, absent where it waits for somebody.
	DueAt *time.Time `json:"next_at,omitempty"`

	Timeline []Moment `json:"timeline"`

	// Tries and Waits are told of one dead letter alone: every attempt that is kept, and the waits
	// that were not the ticket's fault by reason; each of those is also in the timeline.
	Tries []Try  `json:"tries,omitempty"`
	Waits []Wait `json:"waits,omitempty"`
}

// PinnedTo is one printer of one device.
type PinnedTo struct {
	Device  string `json:"device"`
	Printer string `json:"printer"`
}

// Voided is the void that was sent after a ticket.
type Voided struct {
	Ticket string    `json:"ticket"`
	At     time.Time `json:"at"` // when the void was accepted
	// Who asked for it and why, absent where the program that sent the order did.
	Who string `json:"who,omitempty"`
	Why string `json:"why,omitempty"`
}

// Try is one handing-over with what was known then.
type Try struct {
	Attempt    int       `json:"attempt"`
	At         time.Time `json:"at"`
	LeaseUntil time.Time `json:"lease_until"` // as it was given
	Device     string    `json:"device"`
	// Address is the device's network address, absent where the engine did not tell.
	Address string `json:"address,omitempty"`
	Printer string `json:"printer"`
	Session string `json:"session"`
	Boot    uint64 `json:"boot"`
	// Status is what the device had last said of itself.
	Status  string     `json:"status,omitempty"`
	Marks   []string   `json:"marks,omitempty"`
	EndedAt *time.Time `json:"ended_at,omitempty"`
	Error   string     `json:"error,omitempty"`
	// Counted is true for an attempt that spent some of the budget; else it was a deferral.
	Counted bool `json:"counted"`
	// PauseMS is the wait that was drawn after it.
	PauseMS int64 `json:"pause_ms,omitempty"`
}

// Wait counts the deferrals of one reason.
type Wait struct {
	Reason  string    `json:"reason"`
	Count   int       `json:"count"`
	FirstAt time.Time `json:"first_at"`
	LastAt  time.Time `json:"last_at"`
}

// Moment is one line of a ticket's life.
type Moment struct {
	At      time.Time `json:"at"`
	What    string    `json:"what"`
	Attempt int       `json:"attempt,omitempty"`
	Device  string    `json:"device,omitempty"`
	Detail  string    `json:"detail,omitempty"`
	// Who asked for it and why, absent where no person did; Detail has them too.
	Who string `json:"who,omitempty"`
	Why string `json:"why,omitempty"`
}

// Code is a pairing code as it is shown once.
type Code struct {
	Code    string    `json:"code"`
	Pairing string    `json:"pairing"`
	Expires time.Time `json:"expires"`
}

// Device is a device as the API shows it.
type Device struct {
	ID       string    `json:"id"`
	Stations []string  `json:"stations"`
	Printers []string  `json:"printers,omitempty"`
	Version  string    `json:"version,omitempty"`
	Paired   time.Time `json:"paired_at"`
	Revoked  string    `json:"revoked,omitempty"`
	Online   bool      `json:"online"`
	Session  string    `json:"session,omitempty"`
	// States are its printers as the device last told, absent where it was not heard yet.
	States []Printer `json:"printer_states,omitempty"`
	// Copies is absent where nothing shows that two devices use this one's identity.
	Copies *Copies `json:"copies,omitempty"`
}

// Copies tells that two devices use one identity, such as two that run from copies of one card.
type Copies struct {
	Count  uint64    `json:"count"` // how often the broker saw it
	LastAt time.Time `json:"last_at"`
}

// Printer is one printer as its device sees it.
type Printer struct {
	Name string `json:"name"`
	// Held is why it cannot print, such as absent or paper_out; "" for a printer that can.
	Held     string `json:"held,omitempty"`
	PaperLow bool   `json:"paper_low,omitempty"`
	// Waiting counts tickets that the device keeps for it.
	Waiting int    `json:"waiting,omitempty"`
	Unit    string `json:"unit,omitempty"`
	// Fence is the best evidence that it can give.
	Fence string `json:"fence,omitempty"`
}

func answer(w http.ResponseWriter, status int, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		panic("intake: an answer did not encode: " + err.Error())
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(raw, '\n')) // A client that went away asks again and gets the same.
}
