package link

import "time"

// pace is a token bucket: rate connections a second, and as many at once after a quiet second.
type pace struct {
	rate   int
	tokens float64
	last   time.Time
}

// take uses one token, seen at now, and returns how long to wait before it is good.
func (p *pace) take(now time.Time) time.Duration {
	if p.last.IsZero() {
		p.tokens = float64(p.rate)
	} else {
		p.tokens = min(float64(p.rate), p.tokens+now.Sub(p.last).Seconds()*float64(p.rate))
	}
	p.last = now
	p.tokens--
	if p.tokens >= 0 {
		return 0
	}
	return time.Duration(-p.tokens / float64(p.rate) * float64(time.Second))
}
