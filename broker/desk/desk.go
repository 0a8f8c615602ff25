// Package desk is the one owner of all entities: it decides on commands one at a time and makes their
// Commits durable many at once.
//
// Group commit has no timer: the next batch is what arrived while the last one was being flushed.
// Decisions are made on the newest queued state; answers and effects leave when their batch is durable
// and in the order of the decisions. A batch that fails stops the desk, so nothing speculative
// survives (DESIGN.md sections 3 and 7).
package desk

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"chit/broker/entity"
	"chit/broker/store"
)

var (
	// ErrBusy is returned where the queue is full: nothing was decided, try again later (HTTP: 503
	// with Retry-After).
	ErrBusy = errors.New("desk: queue is full")
	// ErrConflict is returned for a command id that is remembered with another digest (HTTP: 409).
	ErrConflict = entity.ErrConflict
	// ErrStopped is returned for commands whose outcome is unknown because the desk stopped: they may
	// or may not be durable, and may be repeated under the same id.
	ErrStopped = errors.New("desk: stopped")
)

// Answer is what a durable command answered. Data is shared with the record and must not be changed.
type Answer struct {
	Data []byte
	// Repeat is true where the answer was recorded by an earlier command of the same id and digest.
	Repeat bool
}

// Config is what a desk works with.
type Config struct {
	Store store.Store
	// Now is the store's clock; time.Now where nil.
	Now func() time.Time
	// Effects gets the effects of durable Commits in order, from one goroutine. It must not block and
	// must not call Do; Submit is allowed.
	Effects func([]entity.Effect)
	// QueueMax bounds the commands that wait for a decision; 4096 where 0.
	QueueMax int
	// BatchMax bounds the commands of one batch; 1024 where 0.
	BatchMax int
	Log      *slog.Logger
}

// Desk decides and commits. Only Run's goroutines touch its states.
type Desk struct{}

// New makes a desk; Run starts it.
func New(conf Config) *Desk { return &Desk{} }

// Run decides until ctx ends, makes durable what was decided by then, and returns nil; or it returns
// the error of the commit or decision that stopped it. The program must then stop too.
func (d *Desk) Run(ctx context.Context) error { return nil }

// Do submits a command and waits until its Commit is durable. Where ctx ends first, the command may
// still become durable.
func (d *Desk) Do(ctx context.Context, command entity.Command) (Answer, error) {
	return Answer{}, ErrStopped
}

// Submit queues a command; done is called once, from the desk's goroutine, when its Commit is durable
// or it was refused. It must not block. ErrBusy and ErrStopped are returned and done is not called.
func (d *Desk) Submit(command entity.Command, done func(Answer, error)) error { return ErrStopped }

// Counters are a desk's counts since its start.
type Counters struct {
	Commands, Refused, Repeats, Busy uint64
	Batches, Commits                 uint64
	BatchLast, BatchMax              int
	FlushLast, FlushMax, FlushSum    time.Duration
	Queue                            int // commands waiting for a decision now
}

// Counters is a snapshot.
func (d *Desk) Counters() Counters { return Counters{} }

// Put is a command that stores one plain entity where its stored version is Was, and else fails with
// [entity.ErrMoved]. It is for records without a machine of their own, such as the fleet's.
type Put struct {
	Key  entity.Key
	Was  uint64
	Data []byte
}

// Identity implements [entity.Command].
func (p Put) Identity() entity.Identity { return entity.Identity{} }

// Decide implements [entity.Command].
func (p Put) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	state, err := view.Load(p.Key)
	if err != nil {
		return entity.Commit{}, err
	}
	if state.Version != p.Was {
		return entity.Commit{}, entity.ErrMoved
	}
	return entity.Commit{Changes: []entity.Change{{Key: p.Key, Was: p.Was, Data: p.Data}}}, nil
}
