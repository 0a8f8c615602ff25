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
	stop    chan struct{}
	over    bool
}

type pendingAck struct {
	done atomic.Bool
	send func()
}

func newAcks() *acks {
	return &acks{wake: make(chan struct{}, 1), stop: make(chan struct{})}
}

// add notes an arrival and returns the function that acknowledges it.
func (a *acks) add(send func()) func() {
	p := &pendingAck{send: send}
	a.mu.Lock()
	a.pending = append(a.pending, p)
	a.mu.Unlock()
	return func() {
		if p.done.Swap(true) {
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
	if a.over {
		return nil
	}
	n := 0
	for n < len(a.pending) && a.pending[n].done.Load() {
		n++
	}
	out := a.pending[:n:n]
	a.pending = a.pending[n:]
	return out
}

// end makes every later acknowledgement one of a dead connection. It is called once.
func (a *acks) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over, a.pending = true, nil
	close(a.stop)
}

// run sends until end is called.
func (a *acks) run() {
	for {
		select {
		case <-a.stop:
			return
		case <-a.wake:
		}
		for _, p := range a.ready() {
			p.send()
		}
	}
}
