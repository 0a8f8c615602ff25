package panel

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"periph.io/x/conn/v3/gpio"
	"periph.io/x/conn/v3/gpio/gpiotest"
)

// tape is an output that remembers when it was switched.
type tape struct {
	start time.Time

	mu     sync.Mutex
	on     bool
	closed bool
	events []string
	fail   func(on bool) error
}

func newTape() *tape { return &tape{start: time.Now()} }

func (r *tape) Set(on bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail != nil {
		if err := r.fail(on); err != nil {
			return err
		}
	}
	if on != r.on {
		word := map[bool]string{true: "on", false: "off"}[on]
		r.events = append(r.events, fmt.Sprintf("%v %s", time.Since(r.start), word))
	}
	r.on = on
	return nil
}

func (r *tape) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return nil
}

func (r *tape) heard() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.events, ", ")
}

// running runs a panel inside a bubble and stops it at the end of f.
func running(t *testing.T, c Config, f func(p *Panel)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	p := New(c)
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	synctest.Wait()
	f(p)
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Run: %v", err)
	}
}

// pass lets d go by inside a bubble.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestEveryPatternStaysInItsBounds(t *testing.T) {
	seen := map[string]Sound{}
	for _, s := range urgency {
		steps, whole := Pattern(s), time.Duration(0)
		for _, step := range steps {
			if step.On <= 0 || step.On > OnMax || step.Off <= 0 {
				t.Errorf("%s: step %v", s, step)
			}
			whole += step.On + step.Off
		}
		if len(steps) == 0 || whole > PatternMax {
			t.Errorf("%s: %d steps, %v", s, len(steps), whole)
		}
		if other, twice := seen[fmt.Sprint(steps)]; twice {
			t.Errorf("%s sounds like %s", s, other)
		}
		seen[fmt.Sprint(steps)] = s
	}
	if len(urgency) != len(patterns) {
		t.Error("a pattern has no urgency")
	}
}

func TestAPatternIsPlayedAsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		buzzer := newTape()
		running(t, Config{Hardware: Hardware{Buzzer: buzzer}}, func(p *Panel) {
			p.Play(SoundNew)
			p.Play("unheard of")
			pass(PatternMax)
		})
		if got, want := buzzer.heard(), "0s on, 150ms off, 270ms on, 420ms off"; got != want {
			t.Errorf("heard %s, want %s", got, want)
		}
		if !buzzer.closed {
			t.Error("the line was not let go")
		}
	})
}

func TestTwentyTicketsAreOneSignalAndTheMostUrgentComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		buzzer := newTape()
		p := New(Config{Hardware: Hardware{Buzzer: buzzer}})
		for range 20 {
			p.Play(SoundNew)
			p.Play(SoundVoid)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- p.Run(ctx) }()
		pass(time.Minute)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		want := "0s on, 800ms off, 1.05s on, 1.85s off, 2.25s on, 2.4s off, 2.52s on, 2.67s off"
		if got := buzzer.heard(); got != want {
			t.Errorf("heard %s, want %s", got, want)
		}
	})
}

func TestSilenceEndsTheSoundAtOnceAndForgetsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		buzzer := newTape()
		running(t, Config{Hardware: Hardware{Buzzer: buzzer}}, func(p *Panel) {
			p.Play(SoundAlarm)
			pass(100 * time.Millisecond)
			p.Play(SoundNew)
			p.Silence()
			pass(time.Minute)
			if got, want := buzzer.heard(), "0s on, 100ms off"; got != want {
				t.Errorf("heard %s, want %s", got, want)
			}
			p.Play(SoundNew)
			pass(time.Minute)
		})
		if got := strings.Count(buzzer.heard(), "on"); got != 3 {
			t.Errorf("%d tones, want the alarm's first and two of the new ticket", got)
		}
	})
}

func TestTheEndOfTheProgramIsSilentAndDark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		buzzer, lamp := newTape(), newTape()
		running(t, Config{Hardware: Hardware{Buzzer: buzzer, Lamp: lamp}}, func(p *Panel) {
			p.Light(LightOn)
			p.Play(SoundVoid)
			pass(300 * time.Millisecond)
			if !buzzer.on || !lamp.on {
				t.Error("nothing sounds or shines before the end")
			}
		})
		if buzzer.on || !buzzer.closed || !lamp.closed {
			t.Errorf("buzzer on %v, closed %v, lamp closed %v", buzzer.on, buzzer.closed, lamp.closed)
		}
	})
}

func TestTheGuardEndsAToneThatItsOwnerForgot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		buzzer := newTape()
		g := &guard{out: buzzer}
		if err := g.Set(true); err != nil {
			t.Fatal(err)
		}
		pass(OnMax + time.Millisecond)
		if got, want := buzzer.heard(), "0s on, 2s off"; got != want {
			t.Errorf("heard %s, want %s", got, want)
		}
		t.Log("# a newer tone is not ended by an older guard")
		if err := g.Set(true); err != nil {
			t.Fatal(err)
		}
		pass(OnMax - time.Millisecond)
		if err := g.Set(true); err != nil {
			t.Fatal(err)
		}
		pass(OnMax - time.Millisecond)
		if !buzzer.on {
			t.Error("the newer tone was ended")
		}
		for range 2 {
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		}
		if buzzer.on {
			t.Error("closed and on")
		}
	})
}

func TestALineThatFailsIsTurnedOffInsistently(t *testing.T) {
	broken := errors.New("broken")
	fails := 0
	buzzer := &tape{start: time.Now(), fail: func(on bool) error {
		if on || fails < offTries-1 {
			fails++
			return broken
		}
		return nil
	}}
	g := &guard{out: buzzer}
	if err := g.Set(true); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if fails != offTries-1 {
		t.Errorf("%d failures, want %d: off was tried until it worked", fails, offTries-1)
	}
	if g.timer != nil {
		g.timer.Stop()
	}
}

func TestRunTellsOfALineThatStaysOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		buzzer := newTape()
		buzzer.fail = func(bool) error { return broken }
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := New(Config{Hardware: Hardware{Buzzer: buzzer}}).Run(ctx); !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
	})
}

func TestTheLampShinesAndBlinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lamp := newTape()
		running(t, Config{Hardware: Hardware{Lamp: lamp}}, func(p *Panel) {
			p.Light(LightOn)
			pass(10 * time.Second)
			p.Light(LightOff)
			pass(time.Second)
			if got, want := lamp.heard(), "0s on, 10s off"; got != want {
				t.Errorf("shone %s, want %s", got, want)
			}
		})
	})
}

func TestEachBlinkingLightHasItsOwnRhythmAndBeginsBright(t *testing.T) {
	for light, want := range map[Light]string{
		LightSlow:  "0s on, 1s off, 2s on, 3s off",
		LightFast:  "0s on, 200ms off, 400ms on, 600ms off",
		LightFlash: "0s on, 100ms off, 3s on, 3.1s off",
	} {
		synctest.Test(t, func(t *testing.T) {
			lamp := newTape()
			running(t, Config{Hardware: Hardware{Lamp: lamp}}, func(p *Panel) {
				p.Light(light)
				pass(2*Rhythm(light).On + Rhythm(light).Off)
				if got := lamp.heard(); got != want {
					t.Errorf("light %d shone %s, want %s", light, got, want)
				}
				t.Log("# another light begins at once")
				p.Light(LightOn)
				pass(time.Second)
				if !lamp.on {
					t.Error("dark, want steady light")
				}
				p.Light(LightFast)
				synctest.Wait()
				if !lamp.on {
					t.Error("a blinking light begins in the dark")
				}
			})
			if !lamp.closed {
				t.Error("not let go at the end")
			}
		})
	}
}

func TestWithoutHardwareEverythingIsSilentAndNothingBreaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, err := Open(Pins{})
		if err != nil || !reflect.DeepEqual(h, Hardware{}) {
			t.Errorf("got %v, %v", h, err)
		}
		running(t, Config{Hardware: h}, func(p *Panel) {
			p.Play(SoundAlarm)
			p.Light(LightFast)
			p.Silence()
			pass(time.Minute)
		})
	})
}

func TestAPinIsWrittenAndNeverRead(t *testing.T) {
	pin := &neverRead{Pin: &gpiotest.Pin{N: "GPIO17"}}
	out := &PinOutput{Pin: pin}
	for _, on := range []bool{true, false, true} {
		if err := out.Set(on); err != nil || bool(pin.L) != on {
			t.Errorf("set %v: line %v, %v", on, pin.L, err)
		}
	}
	for range 2 {
		if err := out.Close(); err != nil || pin.L {
			t.Errorf("closing: line %v, %v", pin.L, err)
		}
	}
	if err := out.Set(true); err == nil || pin.L || pin.closed != 1 {
		t.Errorf("a closed output was switched on: %v, closed %d times", err, pin.closed)
	}
}

// neverRead is a pin that must not be asked for its level.
type neverRead struct {
	*gpiotest.Pin
	closed int
}

func (p *neverRead) Read() gpio.Level { panic("an output was read") }

func (p *neverRead) Close() { p.closed++ }
