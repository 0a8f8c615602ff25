package panel

import (
	"context"
	"errors"
	"time"

	"periph.io/x/conn/v3/gpio"
)

// Button is one thing that can be pressed.
type Button interface {
	// Watch calls pressed once for each press until ctx ends: of a short one when it is let go, of a
	// long one when it has lasted LongPress and is still held. Its error is a line that cannot be
	// read.
	Watch(ctx context.Context, pressed func(long bool)) error
}

// NoButton is the button that is not there.
type NoButton struct{}

// Watch waits for ctx.
func (NoButton) Watch(ctx context.Context, _ func(bool)) error {
	<-ctx.Done()
	return nil
}

const (
	// Debounce is how long the line must be quiet before its level counts. Cheap buttons bounce for
	// 5 to 20 ms.
	Debounce = 25 * time.Millisecond
	// LongPress is how long a press lasts that means more than "I heard you". Nobody leans on a
	// button for two seconds by chance and lets go of it.
	LongPress = 2 * time.Second
	// edgeWait is the longest wait for an edge; it bounds how long Watch takes to end, and after it
	// the level is read anyway, because the kernel's queue of edges may have overflowed.
	edgeWait = 500 * time.Millisecond
	// bouncesMax bounds one settling: a line that never gets quiet is read as it is.
	bouncesMax = 64
)

// PinButton is a button between a line and ground, pressed when low.
type PinButton struct {
	Pin gpio.PinIn
}

// Watch configures the line as input with pull-up and both edges, and watches it.
func (b PinButton) Watch(ctx context.Context, pressed func(long bool)) error {
	if b.Pin == nil {
		return errors.New("panel: the button has no pin")
	}
	if err := b.Pin.In(gpio.PullUp, gpio.BothEdges); err != nil {
		return err
	}
	// What is down at the start has not been pressed for us: it must be let go first.
	last := b.Pin.Read()
	var down time.Time // since when it is pressed; zero while it is up, or its press is reported
	for ctx.Err() == nil {
		edge := b.wait(ctx, patience(down))
		level := b.Pin.Read()
		if edge || level != last {
			level = b.settle(ctx)
		}
		long := !down.IsZero() && time.Since(down) >= LongPress
		switch {
		case ctx.Err() != nil:
			return nil
		case level != last && level == gpio.Low:
			down = time.Now()
		case !down.IsZero() && (long || level != gpio.Low):
			down = time.Time{}
			pressed(long)
		}
		last = level
	}
	return nil
}

// patience is how long an edge is waited for: not past the instant at which a press becomes long.
func patience(down time.Time) time.Duration {
	if down.IsZero() {
		return edgeWait
	}
	return min(edgeWait, max(LongPress-time.Since(down), time.Millisecond))
}

// settle waits until the line has been quiet for Debounce and reads it.
func (b PinButton) settle(ctx context.Context) gpio.Level {
	for range bouncesMax {
		if !b.wait(ctx, Debounce) {
			break
		}
	}
	return b.Pin.Read()
}

// wait waits for an edge. WaitForEdge must have a positive time-out: periph takes 0 as for ever,
// and -1 returns at once (periph/host issue 78). A line that fails returns at once, too, and must
// not burn a core: the rest of the time is waited out here.
func (b PinButton) wait(ctx context.Context, d time.Duration) bool {
	start := time.Now()
	if b.Pin.WaitForEdge(d) {
		return true
	}
	if rest := d - time.Since(start); rest > d/2 {
		pause(ctx, nil, rest)
	}
	return false
}
