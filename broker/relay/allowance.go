package relay

import (
	"sync"
	"time"
)

// What one device may have the broker store beyond what it was handed: tickets that it made itself,
// and acks for tickets that are not known (yet). A kitchen that was off the net for a day tells of
// all at once; a stolen device could fill the disk under every tenant.
const (
	allowanceBurst = 1000
	allowanceRate  = 0.1 // a second: 8640 a day
)

// allowance is kept by device and kind. Heard is called from several goroutines.
type allowance struct {
	mu sync.Mutex
	by map[allowed]*bucket
}

type allowed struct {
	device string
	kind   string // made, stray
}

func newAllowance() *allowance { return &allowance{by: map[allowed]*bucket{}} }

func (a *allowance) bucket(key allowed, now time.Time) *bucket {
	b := a.by[key]
	if b == nil {
		b = newBucket(allowanceRate, allowanceBurst, now)
		a.by[key] = b
	}
	return b
}

// take uses one up and tells whether there was one.
func (a *allowance) take(device, kind string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	ok, _ := a.bucket(allowed{device, kind}, now).take(now)
	return ok
}

// left tells whether there is one.
func (a *allowance) left(device, kind string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := *a.bucket(allowed{device, kind}, now)
	ok, _ := b.take(now) // Of a copy.
	return ok
}
