package panel

import (
	"errors"
	"sync"
	"time"
)

// Output is one thing that is on or off.
type Output interface {
	// Set turns it on or off. It never blocks for longer than one write to the line.
	Set(on bool) error
	// Close turns it off and lets the line go. It may be called twice.
	Close() error
}

// Nothing is the output that is not there.
type Nothing struct{}

// Set does nothing.
func (Nothing) Set(bool) error { return nil }

// Close does nothing.
func (Nothing) Close() error { return nil }

// offTries is how often turning off is tried before it is given up and reported.
const offTries = 3

// guard turns an output off when it has been on for OnMax, whatever its owner does.
type guard struct {
	out Output

	mu    sync.Mutex
	timer *time.Timer
	// turn counts Sets, so that a guard that fires late does not end a newer tone.
	turn int
}

// Set turns the output on or off; turning it on again starts its time anew.
func (g *guard) Set(on bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.set(on)
}

func (g *guard) set(on bool) error {
	g.turn++
	if g.timer != nil {
		g.timer.Stop()
		g.timer = nil
	}
	if !on {
		return off(g.out)
	}
	// The guard stands before the output is on: between the two there is no way out without it.
	turn := g.turn
	g.timer = time.AfterFunc(OnMax, func() { g.expire(turn) })
	if err := g.out.Set(true); err != nil {
		return errors.Join(err, off(g.out)) // It may be on nevertheless.
	}
	return nil
}

func (g *guard) expire(turn int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.turn == turn {
		// Nobody waits for this error; the owner's own Set tells of a line that does not work.
		_ = off(g.out)
	}
}

// Close turns the output off and lets it go.
func (g *guard) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return errors.Join(g.set(false), g.out.Close())
}

// off insists a little: a buzzer that stays on is worse than three writes.
func off(out Output) error {
	var err error
	for range offTries {
		if err = out.Set(false); err == nil {
			return nil
		}
	}
	return err
}
