package alarm

import "time"

// Bounds of a breaker.
const (
	// BreakAfter is how many failures in a row open it.
	BreakAfter = 5
	// ProbeFirst and ProbeMax bound the wait before something is tried again, ProbeFor how long
	// that try may take until another one may go.
	ProbeFirst = 10 * time.Second
	ProbeMax   = 5 * time.Minute
	ProbeFor   = time.Minute
)

// BreakerState is whether anything is sent to a destination.
//
//	Closed   --failed, BreakAfter in a row--> Open
//	Open     --asked, the wait is over-->     HalfOpen   one goes out as a probe
//	HalfOpen --succeeded-->                   Closed
//	HalfOpen --failed-->                      Open       and waits longer
//	HalfOpen --asked, ProbeFor is over-->     HalfOpen   the probe never came back; another goes
//
// A success closes it from everywhere: a try that began earlier proves as much.
type BreakerState string

// The states of a breaker.
const (
	Closed   BreakerState = "closed"
	Open     BreakerState = "open"
	HalfOpen BreakerState = "half-open"
)

// Breaker keeps one destination that does not answer from being called in vain. The zero value is
// closed. Its methods change nothing but their results.
type Breaker struct {
	State BreakerState // "" is Closed
	// Failures counts those in a row, Opened how often in a row it opened.
	Failures, Opened int
	// Until is when an open one lets a probe through, and when a half-open one lets another.
	Until time.Time
}

// Ask reports whether something may be sent now; where not, at is when to ask again. What may not
// be sent is a deferral, not a failure.
func (b Breaker) Ask(now time.Time) (after Breaker, ok bool, at time.Time) {
	switch {
	case b.State != Open && b.State != HalfOpen:
		return b, true, time.Time{}
	case now.Before(b.Until):
		return b, false, b.Until
	default:
		b.State, b.Until = HalfOpen, now.Add(ProbeFor)
		return b, true, time.Time{}
	}
}

// Failed is b after a try that came to nothing. chance is from [0, 1) and spreads the probes: the
// wait is between half of its limit and all of it.
func (b Breaker) Failed(now time.Time, chance float64) Breaker {
	b.Failures++
	if b.State == Open || b.State != HalfOpen && b.Failures < BreakAfter {
		return b // Open already: this try began before.
	}
	b.State = Open
	b.Opened++
	limit := ProbeMax
	if b.Opened < 16 {
		limit = min(limit, ProbeFirst<<(b.Opened-1))
	}
	b.Until = now.Add(limit/2 + time.Duration(chance*float64(limit/2)))
	return b
}

// Succeeded is b after a try that was answered.
func (b Breaker) Succeeded() Breaker { return Breaker{State: Closed} }
