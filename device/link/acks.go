package link

import (
	"sync"
	"sync/atomic"
)

// acks lets PUBACKs go in order of arrival [MQTT-4.6.0-2], whatever order the journal's commits
// come in. paho's Ack may wait for the network, so the sending is done by the goroutine in run and
// never by the caller.
type acks struct {
	mu      sync.Mutex
	pending []*pendingAck
	wake    chan struct{} // holds one
	over    atomic.Bool
}

type pendingAck struct {
	done atomic.Bool
	send func()
}

func newAcks() *acks { return &acks{wake: make(chan struct{}, 1)} }

// add notes an arrival and returns the function that acknowledges it.
func (a *acks) add(send func()) func() {
	p := &pendingAck{send: send}
	a.mu.Lock()
	a.pending = append(a.pending, p)
	a.mu.Unlock()
	return func() {
		if a.over.Load() || p.done.Swap(true) {
			return
		}
		select {
		case a.wake <- struct{}{}:
		default:
		}
	}
}

// ready takes the acknowledged messages off the front.
func (a *acks) ready() []*pendingAck {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for n < len(a.pending) && a.pending[n].done.Load() {
		n++
	}
	out := a.pending[:n:n]
	a.pending = a.pending[n:]
	return out
}

// run sends until stop is closed.
func (a *acks) run(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			a.over.Store(true)
			return
		case <-a.wake:
		}
		for _, p := range a.ready() {
			p.send()
		}
	}
}
