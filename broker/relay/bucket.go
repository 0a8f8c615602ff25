package relay

import "time"

// bucket is a token bucket that is told the time.
type bucket struct {
	rate   float64 // tokens a second
	burst  float64
	tokens float64
	at     time.Time
}

func newBucket(rate float64, burst int, now time.Time) *bucket {
	return &bucket{rate: rate, burst: float64(burst), tokens: float64(burst), at: now}
}

// take takes a token, or says when there will be one.
func (b *bucket) take(now time.Time) (ok bool, next time.Time) {
	ok, next = b.has(now)
	if ok {
		b.tokens--
	}
	return ok, next
}

// has tells whether there is a token, or when there will be one. A clock that steps back gives
// nothing and takes nothing away.
func (b *bucket) has(now time.Time) (ok bool, next time.Time) {
	if passed := now.Sub(b.at); passed > 0 {
		b.tokens = min(b.burst, b.tokens+passed.Seconds()*b.rate)
	}
	b.at = now
	if b.tokens >= 1 {
		return true, time.Time{}
	}
	wait := time.Duration((1 - b.tokens) / b.rate * float64(time.Second))
	return false, now.Add(max(wait, time.Millisecond))
}
