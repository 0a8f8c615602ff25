// Package entity says what an entity's decision is: one Commit value.
//
// An entity decides without a clock, a network, a file, a goroutine or a random number: its
// commands get the stored states they need through a [View] and the time as an argument, and answer
// with a [Commit] that names everything to be made durable and everything owed afterwards. The desk
// makes Commits durable, many at once; only then do answers and effects leave (DESIGN.md sections 1
// and 3).
//
// Ends are judged when they are read: an end t has passed where !now.Before(t). A timer only wakes
// somebody who then asks again (DESIGN.md I9).
package entity

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

var (
	// ErrMoved is returned for a Commit decided on a version of an entity that is no longer the
	// stored one. Nothing of its batch was stored.
	ErrMoved = errors.New("entity: moved on since the decision")
	// ErrConflict is returned for a name that is remembered with another digest (DESIGN.md I2).
	ErrConflict = errors.New("entity: same id with other content")
	// ErrKey is returned for a key with an empty or unusable part.
	ErrKey = errors.New("entity: bad key")
)

// Key names one entity. A tenant never spans a transaction with another.
type Key struct {
	Tenant, Kind, ID string
}

// String is for logs and errors.
func (k Key) String() string { return k.Tenant + "/" + k.Kind + "/" + k.ID }

// Check returns an error wrapping [ErrKey] where a part is empty or holds a NUL, which separates
// the parts in stores.
func (k Key) Check() error {
	for _, part := range []struct{ name, value string }{
		{"tenant", k.Tenant}, {"kind", k.Kind}, {"id", k.ID},
	} {
		if part.value == "" {
			return fmt.Errorf("%w: %s is empty in %q", ErrKey, part.name, k)
		}
		if strings.ContainsRune(part.value, 0) {
			return fmt.Errorf("%w: %s holds a NUL in %q", ErrKey, part.name, k)
		}
	}
	return nil
}

// State is an entity as stored. Version 0 means that there is none.
type State struct {
	Version uint64
	Data    []byte
	// Timer is the entity's earliest end, zero where it waits for nothing.
	Timer time.Time
}

// Change is an entity's new state, conditional on the version it was decided on.
type Change struct {
	Key Key
	// Was is the version that the decision read, 0 for an entity that is born. The stored version
	// becomes Was+1.
	Was  uint64
	Data []byte
	// Timer replaces the entity's one timer; zero clears it.
	Timer time.Time
	// Expires is until when the entity must be remembered (DESIGN.md I3), zero for ever. An entity
	// that was born to be kept for ever stays so; otherwise a later instant prolongs, an earlier
	// one changes nothing.
	Expires time.Time
}

// Event is something that happened to an entity, for whoever subscribes to it.
type Event struct {
	Key  Key
	Type string // past tense, such as "delivery.settled"
	At   time.Time
	Data []byte
}

// Row is one line of an outbox list: something owed for the entity Key, oldest first. The same row
// added twice is one row.
type Row struct {
	List string // such as "open" or "dead"
	At   time.Time
	Key  Key
}

// Record is a command as it is remembered, so that its repetition gets the same answer.
type Record struct {
	Tenant, ID string
	Digest     string
	Answer     []byte
	// Expires is until when a repetition must be recognised, zero for ever.
	Expires time.Time
}

// Effect is something to do once the Commit is durable. Its receiver knows the concrete types.
type Effect any

// Commit is one decision. The zero value changes nothing.
type Commit struct {
	At      time.Time
	Changes []Change
	Events  []Event
	Owed    []Row // rows added to the outbox
	Paid    []Row // rows taken from it
	// Command is filled in by the desk from the command's identity and Answer. Temporary refusals
	// are errors, not Commits, and so never recorded.
	Command *Record
	Answer  []byte
	// Repeat says that the command had been carried out before, and Answer is of that.
	Repeat  bool
	Effects []Effect
}

// Empty reports whether there is nothing to make durable.
func (c Commit) Empty() bool {
	return len(c.Changes) == 0 && len(c.Events) == 0 && len(c.Owed) == 0 && len(c.Paid) == 0 &&
		c.Command == nil
}

// View is the entities as they are at one instant. A missing entity is a State of version 0.
type View interface {
	Load(Key) (State, error)
}

// Identity names a command that may be repeated. Digest is of its content: the same ID with another
// digest is a conflict. The zero value is a command that is not remembered.
type Identity struct {
	Tenant, ID string
	Digest     string
	// For is how long it is remembered, 0 for ever.
	For time.Duration
}

// Command is something asked of entities. Decide changes nothing but its result; an error refuses
// the command and stores nothing.
type Command interface {
	Identity() Identity
	Decide(view View, now time.Time) (Commit, error)
}

// Machine is the contract of an entity's state machine: Decide says which events a command makes of
// a state, Evolve what an event makes of it. State, command and event are values.
type Machine[S, C, E any] interface {
	Decide(state S, command C, now time.Time) ([]E, error)
	Evolve(state S, event E) S
}

// Step decides and folds the events into the state.
func Step[S, C, E any](m Machine[S, C, E], state S, command C, now time.Time) (S, []E, error) {
	events, err := m.Decide(state, command, now)
	if err != nil {
		return state, nil, err
	}
	for _, event := range events {
		state = m.Evolve(state, event)
	}
	return state, events, nil
}
