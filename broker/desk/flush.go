package desk

import (
	"sync"
	"time"

	"chit/failpoint"
)

// flushAll makes batches durable, one at a time, and lets their effects and answers out. It ends
// when the owner's loop has ended or after the first failure: what is queued behind a failed batch
// rests on states that may not exist.
func (d *Desk) flushAll() {
	for b := range d.flush {
		if b.err = d.commit(b); b.err == nil {
			b.err = d.prune()
		}
		if b.err != nil {
			b.refuse(ErrStopped)
			d.flushed <- b
			for late := range d.flush {
				late.refuse(ErrStopped)
			}
			return
		}
		if len(b.effects) > 0 && d.conf.Effects != nil {
			d.conf.Effects(b.effects)
		}
		for _, one := range b.decided {
			one.done(one.answer, one.err)
		}
		d.flushed <- b
	}
}

func (d *Desk) commit(b *batch) error {
	if len(b.commits) == 0 {
		return nil
	}
	b.failpoints(".before-commit")
	begin := time.Now()
	if err := d.conf.Store.Commit(b.commits); err != nil {
		return err
	}
	d.counts.flushed(len(b.commits), time.Since(begin))
	b.failpoints(".after-commit")
	return nil
}

// pruneEvery is how often the store is asked to forget what is past its expiry. Nothing depends on
// when it does: ends are judged when they are read.
const pruneEvery = time.Hour

func (d *Desk) prune() error {
	now := d.conf.Now()
	if now.Sub(d.pruned) < pruneEvery {
		return nil
	}
	d.pruned = now
	return d.conf.Store.Prune(now)
}

// failpoints passes "broker.<command>.before-commit" or ".after-commit" once for every named
// command.
func (b *batch) failpoints(when string) {
	if !failpoint.Enabled {
		return
	}
	for _, one := range b.decided {
		if named, ok := one.command.(Named); ok && one.err == nil {
			failpoint.Here("broker." + named.Name() + when)
		}
	}
}

// Counters are a desk's counts since its start.
type Counters struct {
	Commands uint64 // decided
	Refused  uint64 // of them, answered with an error
	Repeats  uint64 // of them, answered from a record
	Busy     uint64 // commands that found the queue full
	Batches  uint64 // flushes
	Commits  uint64 // Commits in them

	BatchLast, BatchMax           int
	FlushLast, FlushMax, FlushSum time.Duration
	Queue                         int // commands waiting for a decision now
}

// Counters is a snapshot.
func (d *Desk) Counters() Counters {
	d.counts.mu.Lock()
	defer d.counts.mu.Unlock()
	c := d.counts.Counters
	c.Queue = len(d.queue)
	return c
}

type counts struct {
	mu sync.Mutex
	Counters
}

func (c *counts) busy() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Busy++
}

func (c *counts) decided(one decided) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Commands++
	if one.err != nil {
		c.Refused++
	}
	if one.answer.Repeat {
		c.Repeats++
	}
}

func (c *counts) flushed(commits int, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Batches++
	c.Commits += uint64(commits)
	c.BatchLast, c.BatchMax = commits, max(c.BatchMax, commits)
	c.FlushLast, c.FlushMax = took, max(c.FlushMax, took)
	c.FlushSum += took
}
