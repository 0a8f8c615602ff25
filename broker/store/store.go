// Package store is where Commits become durable, and the exam's contract for every such place.
package store

import (
	"errors"
	"time"

	"chit/broker/entity"
)

var (
	// ErrPoisoned is returned for everything after a commit failed. The failed commit's outcome is
	// unknown: it may or may not be found when the store is opened again (research/queue-ledger.md
	// 5.4), so the program must stop, start again, check and go on; it never retries in place.
	ErrPoisoned = errors.New("store: a commit failed and its outcome is unknown")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("store: closed")
	// ErrFormat is returned for data written by a program of another format.
	ErrFormat = errors.New("store: unknown format")
	// ErrDamaged is returned for a file whose pages are torn or overwritten. It is never repaired or
	// replaced: a copy must be restored.
	ErrDamaged = errors.New("store: file is damaged, it is left as it is")
	// ErrCorrupt is returned by Check for data that contradicts itself.
	ErrCorrupt = errors.New("store: inconsistent")
)

// Due is a timer that has come.
type Due struct {
	Key entity.Key
	At  time.Time
}

// Stored is one entity of a scan.
type Stored struct {
	Key entity.Key
	entity.State
}

// Logged is an event and its position, which only grows.
type Logged struct {
	Position uint64
	entity.Event
}

// Reader is the entities of one instant.
type Reader interface {
	entity.View
	// Scan is as [Store] says.
	Scan(tenant, kind string, after entity.Key, limit int) ([]Stored, error)
}

// Store makes Commits durable. One owner calls Commit; reads come from anywhere, see whole batches
// only and do not wait for a commit that is being flushed.
type Store interface {
	entity.View

	// Commit stores the whole batch, in order, or nothing. An error wrapping [entity.ErrMoved] or
	// [entity.ErrKey] refused the batch before anything was written; any other error poisons the
	// store.
	Commit(batch []entity.Commit) error
	// Recorded finds a remembered command.
	Recorded(tenant, id string) (entity.Record, bool, error)
	// Rows lists an outbox list of one tenant, or of all tenants one after the other where tenant
	// is empty, oldest first, from the row behind after (the zero Row: from the beginning).
	Rows(list, tenant string, after entity.Row, limit int) ([]entity.Row, error)
	// Timers lists the timers of one kind of entity that are due at now, earliest first, and when
	// the first of its others is due (zero: none). Each kind has its own asker, whom the timers of
	// another kind must neither wake nor crowd out. An empty kind lists all. What it costs grows
	// with all timers before the first of the others.
	Timers(kind string, now time.Time, limit int) ([]Due, time.Time, error)
	// Scan lists entities of one kind in no promised order from behind the key after; it is
	// complete where less than limit came back.
	Scan(tenant, kind string, after entity.Key, limit int) ([]Stored, error)
	// Snapshot lets read see everything as it is at one instant, whatever is committed meanwhile.
	// The reader is of no use afterwards. A store pays for it as long as it lasts: a file that is
	// rewritten in place grows, and where it must be mapped anew a commit waits for its end.
	Snapshot(read func(Reader) error) error
	// Events lists the log from behind a position.
	Events(after uint64, limit int) ([]Logged, error)
	// Prune forgets what is past its expiry, by whole days: late, never early (DESIGN.md I3).
	Prune(now time.Time) error
	// Generation is renewed by a restore (DESIGN.md section 7).
	Generation() uint64
	// Check reads everything and returns an error wrapping [ErrCorrupt] where it contradicts
	// itself.
	Check() error
	Close() error
}
