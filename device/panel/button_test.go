package panel

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"periph.io/x/conn/v3/gpio"
	"periph.io/x/conn/v3/gpio/gpiotest"
)

// pushed is a button on a test pin inside a bubble, and how often it was reported pressed.
type pushed struct {
	pin *gpiotest.Pin

	mu    sync.Mutex
	count int
	long  int
}

// times is how often a press was reported, and how many of those as long ones.
func (b *pushed) times() (presses, long int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.count, b.long
}

func (b *pushed) want(t *testing.T, presses, long int, when string) {
	t.Helper()
	if p, l := b.times(); p != presses || l != long {
		t.Errorf("%s: %d presses reported, %d of them long; want %d and %d", when, p, l, presses, long)
	}
}

// move changes the level with an edge.
func (b *pushed) move(l gpio.Level) {
	b.pin.EdgesChan <- l
	synctest.Wait()
}

// watching watches a button through a whole panel while f runs.
func watching(t *testing.T, f func(b *pushed)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &pushed{pin: &gpiotest.Pin{N: "GPIO22", EdgesChan: make(chan gpio.Level, 100)}}
		c := Config{Hardware: Hardware{Button: PinButton{Pin: b.pin}}, Pressed: func(long bool) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.count++
			if long {
				b.long++
			}
		}}
		running(t, c, func(*Panel) { f(b) })
	})
}

func TestAPressIsReportedOnceWhenItHasSettled(t *testing.T) {
	watching(t, func(b *pushed) {
		if b.pin.Pull() != gpio.PullUp {
			t.Errorf("pull %v, want up", b.pin.Pull())
		}
		for press := 1; press <= 3; press++ {
			for _, l := range []gpio.Level{gpio.Low, gpio.High, gpio.Low, gpio.High, gpio.Low} {
				b.move(l)
				pass(5 * time.Millisecond)
			}
			pass(Debounce + 100*time.Millisecond)
			b.want(t, press-1, 0, "while it is held")
			for _, l := range []gpio.Level{gpio.High, gpio.Low, gpio.High} {
				b.move(l)
				pass(5 * time.Millisecond)
			}
			b.want(t, press-1, 0, "while it bounces")
			pass(Debounce)
			b.want(t, press, 0, "when it is let go")
			pass(time.Second)
		}
		b.want(t, 3, 0, "in the end")
	})
}

func TestALongPressIsReportedOnceWhileItIsHeld(t *testing.T) {
	watching(t, func(b *pushed) {
		for press := 1; press <= 2; press++ {
			b.move(gpio.Low)
			pass(Debounce + LongPress - 10*time.Millisecond)
			b.want(t, press-1, press-1, "just before it is long")
			pass(20 * time.Millisecond)
			b.want(t, press, press, "when it is long")
			pass(10 * time.Second)
			b.move(gpio.High)
			pass(time.Second)
			b.want(t, press, press, "when it is let go")
		}
	})
}

func TestABounceDoesNotMakeALongPressTwoShortOnes(t *testing.T) {
	watching(t, func(b *pushed) {
		b.move(gpio.Low)
		pass(time.Second)
		b.move(gpio.High)
		pass(5 * time.Millisecond)
		b.move(gpio.Low)
		pass(LongPress)
		b.want(t, 1, 1, "after a bounce in the middle")
	})
}

func TestASpikeIsNoPress(t *testing.T) {
	watching(t, func(b *pushed) {
		b.move(gpio.Low)
		pass(5 * time.Millisecond)
		b.move(gpio.High)
		pass(time.Minute)
		b.want(t, 0, 0, "after a spike")
	})
}

func TestAPressWhoseEdgeWasLostIsSeenAnyway(t *testing.T) {
	watching(t, func(b *pushed) {
		b.pin.Lock()
		b.pin.L = gpio.Low
		b.pin.Unlock()
		pass(time.Second)
		b.pin.Lock()
		b.pin.L = gpio.High
		b.pin.Unlock()
		pass(time.Second)
		b.want(t, 1, 0, "without edges")
	})
}

// dead is a line that cannot be read: WaitForEdge fails at once, as periph's does.
type dead struct {
	gpiotest.Pin
	mu    sync.Mutex
	waits int
}

func (d *dead) WaitForEdge(timeout time.Duration) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waits++
	if timeout <= 0 {
		panic("WaitForEdge without a positive time-out")
	}
	return false
}

func (d *dead) In(gpio.Pull, gpio.Edge) error { return nil }

func TestALineThatFailsAtOnceDoesNotBurnACore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pin := &dead{}
		running(t, Config{Hardware: Hardware{Button: PinButton{Pin: pin}}}, func(*Panel) {
			pass(10 * time.Second)
		})
		pin.mu.Lock()
		defer pin.mu.Unlock()
		if pin.waits < 10 || pin.waits > 30 {
			t.Errorf("%d waits in 10 s, want about 20", pin.waits)
		}
	})
}

func TestALineThatCannotBeAnInputIsAnError(t *testing.T) {
	pin := &gpiotest.Pin{N: "GPIO22"} // Without a channel of edges In fails.
	if err := (PinButton{Pin: pin}).Watch(t.Context(), func(bool) {}); err == nil {
		t.Error("no error")
	}
	if err := (PinButton{}).Watch(t.Context(), func(bool) {}); err == nil {
		t.Error("no pin: no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (NoButton{}).Watch(ctx, nil); err != nil {
		t.Error(err)
	}
}

// board is a chip with lines.
type board struct {
	label string
	lines map[string]gpio.PinIO
}

func (b board) Label() string { return b.label }

func (b board) line(name string) gpio.PinIO { return b.lines[name] }

func TestLinesAreFoundByNameOnTheProcessorsChipsOnly(t *testing.T) {
	expander := &gpiotest.Pin{N: "GPIO17", Num: 1}
	soc := &gpiotest.Pin{N: "GPIO17", Num: 17}
	chips := []chip{
		board{"raspberrypi-exp-gpio", map[string]gpio.PinIO{"GPIO17": expander, "EXP": expander}},
		board{"pinctrl-rp1", map[string]gpio.PinIO{"GPIO17": soc}},
	}
	h, err := open(Pins{Buzzer: "GPIO17"}, chips)
	if err != nil || h.Buzzer.(*PinOutput).Pin != soc || h.Lamp != nil || h.Button != nil {
		t.Errorf("got %+v, %v", h, err)
	}
	h, err = open(Pins{Buzzer: "EXP", Lamp: "GPIO99", Button: "GPIO17"}, chips)
	if !errors.Is(err, ErrNoPin) || h.Buzzer != nil || h.Lamp != nil || h.Button == nil {
		t.Errorf("what is there must work beside what is not: %+v, %v", h, err)
	}
}
