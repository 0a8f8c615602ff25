package delivery

import (
	"math/rand/v2"
	"testing"
	"time"
)

// present lives a delivery's life on a fake clock: its device is away in the hours that gone says,
// and otherwise takes every attempt and answers none. It returns when and of what it died.
func (s *story) present(random *rand.Rand, gone func(time.Duration) bool) (time.Duration, string) {
	for s.d.State.Open() {
		at := s.now.Sub(day)
		switch {
		case s.d.State == Leased:
			s.now = s.d.Lease.Until
			_ = s.do(Elapse{random.Float64()})
		case !s.now.Before(s.d.Ends()):
			_ = s.do(Elapse{random.Float64()})
		case gone(at) && s.d.State == Waiting:
			_ = s.do(Leave{Epoch: s.d.Epoch, Reason: "away"})
		case gone(at):
			s.advance(time.Second)
		case s.d.State == Parked:
			_ = s.do(Birth{Device: "d1", Journal: "j-d1", Boot: 1, Chance: random.Float64()})
		case s.now.Before(s.d.Due):
			s.now = earlier(s.d.Due, s.d.Ends())
		default:
			s.hand("d1")
		}
	}
	return s.now.Sub(day), s.d.Reason
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// TestTheBudgetIsSpentByAttemptsAndTheWindowByTheClock lives thousands of lives with a fixed seed:
// a device that is there and mute ends a ticket by its tenth attempt, after ten leases and the nine
// waits between them; one that never comes back ends it at six hours without one attempt; whatever
// it does in between, neither bound is ever passed and absence costs nothing.
func TestTheBudgetIsSpentByAttemptsAndTheWindowByTheClock(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const lives = 2000
	var sum time.Duration
	for range lives {
		s := tell(t)
		at, why := s.present(random, func(time.Duration) bool { return false })
		if why != "attempts" || s.d.Failed != AttemptsMax || s.d.Attempt != AttemptsMax ||
			at < AttemptsMax*LeaseFor || at > AttemptsMax*LeaseFor+1022*time.Second {
			t.Fatalf("mute: %s after %v and %d attempts", why, at, s.d.Attempt)
		}
		sum += at - AttemptsMax*LeaseFor
	}
	// 511 s on average (research/queue-ledger.md 2.1), five standard errors are 19 s.
	if mean := sum / lives; mean < 492*time.Second || mean > 530*time.Second {
		t.Errorf("the nine waits took %v on average, want about 511 s", mean)
	}
	s := tell(t)
	at, why := s.present(random, func(time.Duration) bool { return true })
	if why != "window" || s.d.Attempt != 0 || at < Window || at > Window+time.Second {
		t.Errorf("away: %s after %v and %d attempts", why, at, s.d.Attempt)
	}
	ends := map[string]int{}
	for range 200 {
		from := time.Duration(random.Int64N(int64(20 * time.Minute)))
		back := from + time.Duration(random.Int64N(int64(8*time.Hour)))
		s := tell(t)
		at, why := s.present(random, func(at time.Duration) bool { return at >= from && at < back })
		ends[why]++
		if s.d.Failed > AttemptsMax || s.d.Failed != s.d.Attempt || at > Window+LeaseFor ||
			why == "attempts" && s.d.Failed != AttemptsMax {
			t.Fatalf("away %v to %v: %s after %v, %d failed of %d", from, back, why, at, s.d.Failed,
				s.d.Attempt)
		}
	}
	if ends["window"] == 0 || ends["attempts"] == 0 || len(ends) != 2 {
		t.Errorf("they died of %v, want both bounds and nothing else", ends)
	}
}
