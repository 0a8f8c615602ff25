package alarm

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestABreakerOpensAfterFailuresInARowAndLetsOneProbeThrough(t *testing.T) {
	var b Breaker
	now := noon
	ask := func(want bool) time.Time {
		t.Helper()
		after, ok, at := b.Ask(now)
		if b = after; ok != want {
			t.Fatalf("%+v at +%s: may send %v, want %v", b, now.Sub(noon), ok, want)
		}
		return at
	}
	for range BreakAfter - 1 {
		ask(true)
		b = b.Failed(now, 0.5)
	}
	b = b.Succeeded() // In a row, not in all.
	for range BreakAfter {
		ask(true)
		b = b.Failed(now, 0.5)
	}
	at := ask(false)
	if wait := at.Sub(now); wait != ProbeFirst*3/4 {
		t.Errorf("probe after %s", wait)
	}
	b = b.Failed(now, 0.5) // One that was under way.
	if b.Until != at {
		t.Error("a try from before moved the probe")
	}
	now = at.Add(-time.Millisecond)
	ask(false)
	now = at
	ask(true)
	ask(false) // One probe, not two.
	b = b.Failed(now, 0.5)
	if at = ask(false); at.Sub(now) != 2*ProbeFirst*3/4 {
		t.Errorf("the second probe after %s", at.Sub(now))
	}
	now = at
	ask(true)
	now = now.Add(ProbeFor) // It never came back.
	ask(true)
	b = b.Succeeded()
	ask(true)
	ask(true)
	if b.State != Closed || b.Failures != 0 {
		t.Errorf("%+v", b)
	}
}

func TestABreakersWaitIsSpreadAndBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b Breaker
		now := noon
		limit := ProbeFirst
		for range rapid.IntRange(BreakAfter, 60).Draw(t, "failures") {
			after, ok, at := b.Ask(now)
			if b = after; !ok {
				now = at
				if b, ok, _ = b.Ask(now); !ok {
					t.Fatalf("closed to a probe at its own time: %+v", b)
				}
			}
			opened := b.Opened
			b = b.Failed(now, rapid.Float64Range(0, 0.999).Draw(t, "chance"))
			if b.Opened == opened {
				continue
			}
			if wait := b.Until.Sub(now); wait < limit/2 || wait > limit {
				t.Fatalf("opened %d times: waits %s, want %s to %s", b.Opened, wait, limit/2, limit)
			}
			limit = min(2*limit, ProbeMax)
		}
	})
}
