// Package desk is the one owner of all entities: it decides on commands one at a time and makes
// their Commits durable many at once.
//
// Group commit has no timer: the next batch is what arrived while the last one was being flushed.
// Decisions are made on the newest queued state; answers and effects leave when their batch is
// durable and in the order of the decisions. A batch that fails stops the desk, so nothing
// speculative survives (DESIGN.md sections 3 and 7).
package desk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
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
	// ErrStopped is returned for commands whose outcome is unknown because the desk stopped: they
	// may or may not be durable, and may be repeated under the same id.
	ErrStopped = errors.New("desk: stopped")
)

// Answer is what a durable command answered. Data is shared with the record and must not be
// changed.
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
	// Effects gets the effects of durable Commits in order, from one goroutine. It must not block
	// and must not call Do; Submit is allowed.
	Effects func([]entity.Effect)
	// QueueMax bounds the commands of Do that wait for a decision; 4096 where 0. Submit has room
	// for as many again.
	QueueMax int
	// BatchMax bounds the commands of one batch; 1024 where 0.
	BatchMax int
	Log      *slog.Logger
}

// Named is a command with a word for failpoints and logs, such as "accept".
type Named interface{ Name() string }

// Desk decides and commits. Its states and its view belong to Run's goroutine.
type Desk struct {
	conf  Config
	queue chan request
	// flush hands a batch to the flusher, which takes one only when it has nothing to do; flushed
	// brings it back.
	flush   chan *batch
	flushed chan *batch
	view    *view
	counts  counts
	pruned  time.Time // the flusher's

	mu      sync.RWMutex
	stopped bool
}

// request is one queued command.
type request struct {
	command entity.Command
	done    func(Answer, error)
}

// New makes a desk; Run starts it.
func New(conf Config) *Desk {
	if conf.Now == nil {
		conf.Now = time.Now
	}
	if conf.QueueMax <= 0 {
		conf.QueueMax = 4096
	}
	if conf.BatchMax <= 0 {
		conf.BatchMax = 1024
	}
	if conf.Log == nil {
		conf.Log = slog.New(slog.DiscardHandler)
	}
	return &Desk{
		conf:    conf,
		queue:   make(chan request, 2*conf.QueueMax),
		flush:   make(chan *batch),
		flushed: make(chan *batch, 1),
		view:    newView(conf.Store),
	}
}

// Do submits a command and waits until its Commit is durable. Where ctx ends first, the command may
// still become durable.
func (d *Desk) Do(ctx context.Context, command entity.Command) (Answer, error) {
	type result struct {
		answer Answer
		err    error
	}
	results := make(chan result, 1)
	done := func(a Answer, err error) { results <- result{a, err} }
	if err := d.submit(request{command, done}, d.conf.QueueMax); err != nil {
		return Answer{}, err
	}
	select {
	case r := <-results:
		return r.answer, r.err
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	}
}

// Submit queues a command for the relay; done is called once, from one of the desk's goroutines,
// when its Commit is durable or it was refused. It must not block. Where ErrBusy or ErrStopped is
// returned, done is not called. Commands queued before Run wait for it.
//
// A queue that is full for Do has room left for Submit: a flood at the doors must not refuse the
// acks and dispatches that make room again.
func (d *Desk) Submit(command entity.Command, done func(Answer, error)) error {
	return d.submit(request{command, done}, 2*d.conf.QueueMax)
}

func (d *Desk) submit(r request, most int) error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.stopped {
		return ErrStopped
	}
	if len(d.queue) < most {
		select {
		case d.queue <- r:
			return nil
		default: // Others were quicker.
		}
	}
	d.counts.busy()
	return ErrBusy
}

// Run decides until ctx ends, makes durable what was decided by then, and returns nil; or it
// returns the error of the commit or read that stopped it. The program must then stop too. It may
// be called once.
func (d *Desk) Run(ctx context.Context) error {
	flusher := make(chan struct{})
	go func() {
		defer close(flusher)
		d.flushAll()
	}()
	open, err := d.decideAll(ctx)
	close(d.flush)
	err = errors.Join(err, d.await(flusher))
	d.stop()
	open.refuse(ErrStopped)
	if err != nil {
		d.conf.Log.Error("desk stopped", "error", err)
		return fmt.Errorf("desk: %w", err)
	}
	return nil
}

// await waits for the flusher and returns the error of what it still had in hand.
func (d *Desk) await(flusher <-chan struct{}) (err error) {
	for {
		select {
		case back := <-d.flushed:
			err = errors.Join(err, back.err)
		case <-flusher:
			select {
			case back := <-d.flushed:
				return errors.Join(err, back.err)
			default:
				return err
			}
		}
	}
}

// decideAll is the owner's loop. It returns the batch that was not handed to the flusher.
func (d *Desk) decideAll(ctx context.Context) (*batch, error) {
	b := &batch{number: 1}
	done, ending := ctx.Done(), false
	for {
		queue, flush := d.queue, d.flush
		if len(b.decided) >= d.conf.BatchMax || ending {
			queue = nil
		}
		if len(b.decided) == 0 {
			flush = nil
			if ending {
				return b, nil // Everything that was decided is with the flusher.
			}
		}
		select {
		case r := <-queue:
			if err := d.drain(b, r); err != nil {
				return b, err
			}
		case flush <- b:
			b = &batch{number: b.number + 1}
		case back := <-d.flushed:
			if back.err != nil {
				return b, back.err
			}
			d.view.durable(back)
		case <-done:
			done, ending = nil, true
		}
	}
}

// drain decides on r and on everything queued behind it, as far as the batch has room.
func (d *Desk) drain(b *batch, r request) error {
	for {
		if err := d.decide(b, r); err != nil {
			// Its outcome is as unknown as that of the rest.
			b.decided = append(b.decided, decided{request: r})
			return err
		}
		if len(b.decided) >= d.conf.BatchMax {
			return nil
		}
		select {
		case r = <-d.queue:
		default:
			return nil
		}
	}
}

// stop refuses what is queued and whatever comes.
func (d *Desk) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	for {
		select {
		case r := <-d.queue:
			r.done(Answer{}, ErrStopped)
		default:
			return
		}
	}
}

// Put is a command that stores one plain entity where its stored version is Was, and else fails
// with [entity.ErrMoved]. It is for records without a machine of their own, such as the fleet's.
type Put struct {
	Key  entity.Key
	Was  uint64
	Data []byte
	// Events are written with it, at the instant of the Commit.
	Events []entity.Event
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
	commit := entity.Commit{Changes: []entity.Change{{Key: p.Key, Was: p.Was, Data: p.Data}}}
	for _, e := range p.Events {
		e.At = now
		commit.Events = append(commit.Events, e)
	}
	return commit, nil
}
