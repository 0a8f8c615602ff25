package link

import "time"

// backoff spreads reconnects: full jitter, so that a thousand kitchens that lost one broker do not
// come back in one second. paho's own has no jitter at all (pitfall 14).
type backoff struct {
	first, max time.Duration
	fails      int
}

// next returns how long to wait after a connection that failed or that stood for only a while.
func (b *backoff) next(jitter func(time.Duration) time.Duration) time.Duration {
	limit := b.max
	// The shift is bounded before it is made: 2^30 first waits are longer than any limit in use.
	if b.fails < 30 && b.first<<b.fails < b.max {
		limit = b.first << b.fails
	}
	b.fails++
	return jitter(limit)
}

// stood resets the waits where a link was up for at least stable. A link that flaps keeps its
// place, as it does when two copies of one SD card take the session from each other.
func (b *backoff) stood(up, stable time.Duration) {
	if up >= stable {
		b.fails = 0
	}
}
