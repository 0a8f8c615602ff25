package alarm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"chit/broker/entity"
)

// Format is the version of stored alarms.
const Format = 1

// The ladder and its bounds.
const (
	// LevelMax is the highest level; a P1 that nobody acknowledges climbs one every LevelAfter.
	LevelMax   = 3
	LevelAfter = 5 * time.Minute
	// ClearFor is how long a cause must have ended before its alarm is over: one that comes back
	// earlier is the same one.
	ClearFor = time.Minute
	// AgainAfter is the shortest pause before an alarm that was told to everybody is told again
	// because there is more of it.
	AgainAfter = 5 * time.Minute
	// NoteFor is how long a message is tried to be sent.
	NoteFor = 6 * time.Hour
	// PauseFirst and PauseMax bound the wait between two tries of one message to one destination.
	PauseFirst = 2 * time.Second
	PauseMax   = time.Minute

	// NotesMax bounds the kept messages, TriesMax the kept tries, TimelineMax the kept story.
	NotesMax    = 32
	TriesMax    = 64
	TimelineMax = 64
)

var (
	// ErrUnknown is returned for a cause that never raised an alarm (HTTP: 404).
	ErrUnknown = errors.New("alarm: unknown alarm")
	// ErrFormat is returned for stored alarms of another format.
	ErrFormat = errors.New("alarm: unknown format")
)

// Severity says how bad a cause is.
type Severity string

// The severities. A P2 is told at level 1 and stays there; a P1 climbs.
const (
	P1 Severity = "P1"
	P2 Severity = "P2"
)

func (s Severity) worse(than Severity) bool { return s == P1 && than != P1 }

// What raises alarms; the cause is one of these, a slash, and the station, device or kitchen.
const (
	CauseLate    = "late"    // tickets without paper while the kitchen is open
	CauseDead    = "dead"    // dead letters
	CauseDoubled = "doubled" // a ticket came out at two printers
	CauseCopies  = "copies"  // two devices use one identity
	CauseMemory  = "memory"  // a device cannot remember
	CauseSilence = "silence" // a busy hour without any order
	CauseCanary  = "canary"  // a printer that did not print its morning ticket
	// CauseUnserved is open tickets at a station that is not configured.
	CauseUnserved = "unserved"
	// CauseRestored, with the word store behind the slash: the broker works from a restored copy.
	CauseRestored = "restored"
)

// Alarm is one cause's alarm, as stored. Instants are in UTC.
type Alarm struct {
	Format  int    `json:"v"`
	Tenant  string `json:"tenant"`
	Cause   string `json:"cause"` // "<what>/<station, device or kitchen>"
	Kitchen string `json:"kitchen,omitempty"`
	Station string `json:"station,omitempty"`
	Device  string `json:"device,omitempty"`

	State State `json:"state"`
	// Generation is the store's where it was ever restored (DESIGN.md section 7), 0 otherwise. It
	// keeps messages apart from those of the time that the restore lost.
	Generation uint64 `json:"generation,omitempty"`
	// Episode counts how often the cause came up anew.
	Episode  uint64    `json:"episode"`
	Severity Severity  `json:"severity"` // the worst of this episode
	Count    int       `json:"count"`
	Text     string    `json:"text"`
	Raised   time.Time `json:"raised"` // the episode's beginning

	// Level is how far the ladder was climbed; Next is when it goes on, zero where it does not.
	Level int       `json:"level"`
	Next  time.Time `json:"next,omitzero"`
	// Ends is when the alarm clears by itself unless raised again, zero where only Clear ends it.
	Ends time.Time `json:"ends,omitzero"`
	// Cleared is when the cause ended; Before is the state that it comes back to within ClearFor.
	Cleared time.Time `json:"cleared,omitzero"`
	Before  State     `json:"before,omitempty"`

	Acknowledged *Acknowledged `json:"acknowledged,omitempty"`

	// Notes are the messages of this episode, LastNote the number of the newest ever made.
	Notes    []Note `json:"notes,omitempty"`
	LastNote uint64 `json:"last_note"`
	// Owed is since when some note waits to be sent: its row in ListNotes.
	Owed     time.Time `json:"owed,omitzero"`
	Tries    []Try     `json:"tries,omitempty"`
	Timeline []Moment  `json:"timeline"`
	Dropped  int       `json:"dropped,omitempty"` // entries that the lists no longer hold
}

// Acknowledged is who has the alarm.
type Acknowledged struct {
	At     time.Time `json:"at"`
	Who    string    `json:"who"`
	Reason string    `json:"reason,omitempty"`
	Count  int       `json:"count"` // what it was then
}

// Note is one message and whom it reached.
type Note struct {
	N        uint64    `json:"n"`
	What     Word      `json:"what"` // Began, Worse, Again, Climbed or Ended
	Level    int       `json:"level"`
	Severity Severity  `json:"severity"`
	Count    int       `json:"count"`
	Text     string    `json:"text"`
	At       time.Time `json:"at"`
	// Told is by destination; Done is true once nothing of it is owed any more.
	Told map[string]Told `json:"told,omitempty"`
	Done bool            `json:"done,omitempty"`
}

// Told is how a message to one destination stands.
type Told struct {
	Sent  bool      `json:"sent,omitempty"`
	Gone  bool      `json:"gone,omitempty"` // refused for good
	Tries int       `json:"tries"`
	Next  time.Time `json:"next,omitzero"` // not to be tried before
}

// Outcome is what a try came to.
type Outcome string

// The outcomes. Deferred is no try: the destination's breaker is open.
const (
	Sent     Outcome = "sent"
	Failed   Outcome = "failed"
	Refused  Outcome = "refused" // for good
	Deferred Outcome = "deferred"
)

// Try is one try as it is kept.
type Try struct {
	At          time.Time `json:"at"`
	Note        uint64    `json:"note"`
	Level       int       `json:"level"`
	Destination string    `json:"destination"`
	Outcome     Outcome   `json:"outcome"`
	Error       string    `json:"error,omitempty"`
}

// Moment is one line of an alarm's story.
type Moment struct {
	At       time.Time `json:"at"`
	What     Word      `json:"what"`
	State    State     `json:"state"`
	Severity Severity  `json:"severity,omitempty"`
	Level    int       `json:"level,omitempty"`
	Count    int       `json:"count,omitempty"`
	Who      string    `json:"who,omitempty"`
	Reason   string    `json:"reason,omitempty"`
}

// Kind is the kind of the entities of this package; their id is the cause.
const Kind = "alarm"

// Outbox lists of this package.
const (
	ListOpen  = "alarms"      // alarms that are not over, by their beginning
	ListNotes = "alarm-notes" // alarms with messages that are owed
)

// Key is the alarm of a cause.
func Key(tenant, cause string) entity.Key {
	return entity.Key{Tenant: tenant, Kind: Kind, ID: cause}
}

// Load reads an alarm and its version; version 0 means that the cause never raised one.
func Load(view entity.View, tenant, cause string) (Alarm, uint64, error) {
	key := Key(tenant, cause)
	state, err := view.Load(key)
	if err != nil || state.Version == 0 {
		return Alarm{}, 0, err
	}
	a, err := Decode(key, state.Data)
	return a, state.Version, err
}

// Decode reads a stored alarm.
func Decode(key entity.Key, data []byte) (Alarm, error) {
	var a Alarm
	if err := json.Unmarshal(data, &a); err != nil {
		return Alarm{}, fmt.Errorf("alarm: reading %s: %w", key, err)
	}
	if a.Format != Format {
		return Alarm{}, fmt.Errorf("%w: %s has format %d, want %d", ErrFormat, key, a.Format, Format)
	}
	return a, nil
}

// NoteID names a message: the same at every try and every destination, never another's. Receivers
// drop repetitions by it (Standard Webhooks 1.0.0, "webhook-id").
func (a Alarm) NoteID(n uint64) string {
	name := fmt.Appendf(nil, "%s\x00%s\x00%d", a.Tenant, a.Cause, n)
	if a.Generation > 1 {
		name = fmt.Appendf(name, "\x00%d", a.Generation)
	}
	sum := sha256.Sum256(name)
	return "alarm_" + hex.EncodeToString(sum[:12])
}

// Due is when the alarm changes by itself, zero where it waits for somebody.
func (a Alarm) Due() time.Time {
	var due time.Time
	look := func(at time.Time) {
		if !at.IsZero() && (due.IsZero() || at.Before(due)) {
			due = at
		}
	}
	switch a.State {
	case Raised:
		look(a.Next)
		look(a.Ends)
	case Taken:
		look(a.Ends)
	case Clearing:
		look(a.Cleared.Add(ClearFor))
	}
	return due
}
