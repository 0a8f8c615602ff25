package relay

import (
	"sync"
	"time"
)

// kind is what one device may have only so much of.
type kind struct {
	burst int
	rate  float64 // a second
}

// A kitchen that was off the net for a day tells of all at once; a stolen device signs as much as
// it likes, and every tenant shares the disk and the desk.
var (
	// made are tickets that the device made itself, stray are acks for tickets that are not known
	// (yet): both are stored. 8640 a day.
	kindMade, kindStray = &kind{1000, 0.1}, &kind{1000, 0.1}
	// hellos, as acks, are decided by the one desk.
	kindHello = &kind{60, 1}
)

// allowance is kept by device and kind. Heard is called from several goroutines.
type allowance struct {
	// ack grows with how fast tickets are handed over: each is answered two or three times. At a
	// hello a device repeats up to 4096 answers.
	ack *kind

	mu sync.Mutex
	by map[allowed]*bucket
}

type allowed struct {
	device string
	kind   *kind
}

func newAllowance(dispatches float64) *allowance {
	return &allowance{ack: &kind{2 * 4096, 4 * dispatches}, by: map[allowed]*bucket{}}
}

func (a *allowance) bucket(key allowed, now time.Time) *bucket {
	b := a.by[key]
	if b == nil {
		b = newBucket(key.kind.rate, key.kind.burst, now)
		a.by[key] = b
	}
	return b
}

// take uses one up and tells whether there was one.
func (a *allowance) take(device string, k *kind, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	ok, _ := a.bucket(allowed{device, k}, now).take(now)
	return ok
}

// left tells whether there is one.
func (a *allowance) left(device string, k *kind, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := *a.bucket(allowed{device, k}, now)
	ok, _ := b.take(now) // Of a copy.
	return ok
}
