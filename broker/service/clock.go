package service

import (
	"log/slog"
	"sync"
	"time"
)

// stepMax is the difference between wall clock and monotonic time past which a step is applied and
// told (DESIGN.md section 7).
const stepMax = 60 * time.Second

// clock is the store's one clock: the wall clock at the start plus monotonic time lived since. It
// never runs backwards, and a wall clock that steps does not tear leases and windows with it: a
// step forward of over a minute is applied once and logged, a step back never.
type clock struct {
	log  *slog.Logger
	wall func() time.Time

	mu   sync.Mutex
	base time.Time // with its monotonic reading
	skew time.Duration
}

func newClock(log *slog.Logger) *clock { return &clock{log: log, wall: time.Now, base: time.Now()} }

// Now is UTC without a monotonic reading, so that it compares as it is stored.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	wall := c.wall()
	now := c.base.Round(0).Add(wall.Sub(c.base) + c.skew)
	if ahead := wall.Round(0).Sub(now); ahead > stepMax {
		c.skew += ahead
		now = now.Add(ahead)
		c.log.Warn("clock stepped forward", "by", ahead.String())
	}
	return now.UTC()
}
