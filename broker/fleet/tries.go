package fleet

import (
	"net/netip"
	"sync"
	"time"
)

// Bounds of tries by address (DESIGN section 8).
const (
	addressTriesMax = 20
	addressWindow   = time.Hour
	// addressesMax bounds the memory that strangers can take. Past it the address that was quiet
	// longest is forgotten.
	addressesMax = 10_000
)

// tries counts requests by address in a sliding hour. An IPv6 address counts as its /64, because
// one machine has all of that.
type tries struct {
	mu sync.Mutex
	by map[netip.Prefix][]time.Time
}

func newTries() *tries { return &tries{by: map[netip.Prefix][]time.Time{}} }

// allow counts one try by address at now and tells whether it may go on.
func (t *tries) allow(address netip.Addr, now time.Time) bool {
	address = address.Unmap()
	bits := address.BitLen()
	if address.Is6() {
		bits = 64
	}
	prefix, err := address.WithZone("").Prefix(bits)
	if err != nil {
		prefix = netip.Prefix{} // No address: all such share one count.
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	recent := t.by[prefix]
	for len(recent) > 0 && now.Sub(recent[0]) >= addressWindow {
		recent = recent[1:]
	}
	if len(recent) >= addressTriesMax {
		t.by[prefix] = recent
		return false
	}
	if _, known := t.by[prefix]; !known && len(t.by) >= addressesMax {
		t.forget(now)
	}
	t.by[prefix] = append(recent, now)
	return true
}

// forget drops what has left the window, and the quietest address where nothing has.
func (t *tries) forget(now time.Time) {
	var quietest netip.Prefix
	var since time.Time
	for prefix, recent := range t.by {
		last := recent[len(recent)-1]
		if now.Sub(last) >= addressWindow {
			delete(t.by, prefix)
			continue
		}
		if since.IsZero() || last.Before(since) {
			quietest, since = prefix, last
		}
	}
	if len(t.by) >= addressesMax {
		delete(t.by, quietest)
	}
}
