package session

import (
	"log/slog"
	"math/rand/v2"
	"time"

	"chit/printer/transport"
)

// Config is what a [Session] is made of. Only Dialer is required.
type Config struct {
	Dialer transport.Dialer
	// Known is the unit as the journal remembers it: a unit that once answered and now does not is
	// held silent instead of being printed to blindly, and what it cannot do is not probed again.
	Known Unit
	// Changed is called with each new state, one call at a time, by Run's goroutine: it must not
	// block and must not call the session's methods, except State.
	Changed func(State)
	// Log receives changes of state with the printer's name and no content. Nil discards.
	Log *slog.Logger
	// Timing holds the waits; zero fields take their defaults.
	Timing Timing
	// Jitter picks a pause of at most the given length between two dials. Nil draws evenly from
	// its upper half.
	Jitter func(time.Duration) time.Duration
}

// Timing is how long the session waits, and for what.
type Timing struct {
	// Hello is the wait for the answer to the first DLE EOT 1, and the quiet that ends a drain.
	// Default 1 s (DESIGN section 5).
	Hello time.Duration
	// Answer is the wait for any other answer of an idle printer. Default 2 s.
	Answer time.Duration
	// Fence is how long a healthy, unheld printer may take from accepting a document to its last
	// answer. The clock stops while the printer reports a hold. Default 90 s: the slowest impact
	// printer needs about 50 s for the 1 m of paper that a ticket may have.
	Fence time.Duration
	// Poll is the quiet after which a working printer is asked how it is. Default 5 s.
	Poll time.Duration
	// Keepalive is the quiet after which an idle printer is asked how it is. Default 45 s: links
	// were seen to be reset after 90 s (research/escpos.md section 6, row 26); 60 s is the limit.
	Keepalive time.Duration
	// RedialMin and RedialMax bound the pause between two dials, doubling. Defaults 500 ms, 5 s: a
	// cook who has switched the printer on waits for the next dial, and a dial in the kitchen's own
	// network costs one packet.
	RedialMin, RedialMax time.Duration
}

// The default waits; see [Timing].
const (
	helloDefault     = time.Second
	answerDefault    = 2 * time.Second
	fenceDefault     = 90 * time.Second
	pollDefault      = 5 * time.Second
	keepaliveDefault = 45 * time.Second
	redialMinDefault = 500 * time.Millisecond
	redialMaxDefault = 5 * time.Second
)

// StripBytes is how many NULs end the longest raster strip that we send (DESIGN section 5).
const StripBytes = 8192

func (t Timing) withDefaults() Timing {
	set := func(d *time.Duration, preset time.Duration) {
		if *d <= 0 {
			*d = preset
		}
	}
	set(&t.Hello, helloDefault)
	set(&t.Answer, answerDefault)
	set(&t.Fence, fenceDefault)
	set(&t.Poll, pollDefault)
	set(&t.Keepalive, keepaliveDefault)
	set(&t.RedialMin, redialMinDefault)
	set(&t.RedialMax, redialMaxDefault)
	return t
}

func (c Config) withDefaults() Config {
	c.Timing = c.Timing.withDefaults()
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Changed == nil {
		c.Changed = func(State) {}
	}
	if c.Jitter == nil {
		c.Jitter = func(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) }
	}
	return c
}

// redial is the pause before dial number n (from 1) since the last time the printer was there.
func (t Timing) redial(n int) time.Duration {
	pause := t.RedialMin
	for ; n > 1 && pause < t.RedialMax; n-- {
		pause *= 2
	}
	return min(pause, t.RedialMax)
}
