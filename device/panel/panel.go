package panel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Hardware is the three things of a panel. A nil field is a thing that is not there.
type Hardware struct {
	Buzzer, Lamp Output
	Button       Button
}

// Config is what a panel is made of.
type Config struct {
	Hardware
	// Pressed is called once for each press, from Run's own goroutine; it must return soon. Long is
	// a press of LongPress and more.
	Pressed func(long bool)
	Log     *slog.Logger // nil discards
}

// Panel plays, shows and reports. Run owns the hardware; the other methods may be called from any
// goroutine at any time and never block.
type Panel struct {
	conf   Config
	buzzer *guard
	wake   chan struct{}
	relit  chan struct{}

	mu      sync.Mutex
	waiting map[Sound]bool
	light   Light
	// hush is closed to end what is being played, and made anew.
	hush chan struct{}
}

// New makes a panel that is silent and dark until Run.
func New(c Config) *Panel {
	if c.Buzzer == nil {
		c.Buzzer = Nothing{}
	}
	if c.Lamp == nil {
		c.Lamp = Nothing{}
	}
	if c.Button == nil {
		c.Button = NoButton{}
	}
	if c.Pressed == nil {
		c.Pressed = func(bool) {}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Panel{
		conf: c, buzzer: &guard{out: c.Buzzer}, wake: make(chan struct{}, 1),
		relit: make(chan struct{}, 1), waiting: map[Sound]bool{}, hush: make(chan struct{}),
	}
}

// Play asks for a sound once. The same sound waits only once however often it is asked for: twenty
// tickets of one second are one signal. Unknown sounds are ignored.
func (p *Panel) Play(s Sound) {
	if patterns[s] == nil {
		return
	}
	p.mu.Lock()
	p.waiting[s] = true
	p.mu.Unlock()
	poke(p.wake)
}

// Silence ends what is being played and forgets what waits.
func (p *Panel) Silence() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.waiting)
	close(p.hush)
	p.hush = make(chan struct{})
}

// Light sets the lamp.
func (p *Panel) Light(l Light) {
	p.mu.Lock()
	p.light = l
	p.mu.Unlock()
	poke(p.relit)
}

// poke wakes a loop; one wake that is not yet taken stands for all.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Run plays, shows and reports until ctx ends, and returns when everything is off and let go. Its
// error is a line that could not be turned off. It may be called once.
func (p *Panel) Run(ctx context.Context) error {
	var group sync.WaitGroup
	presses, longs := make(chan struct{}, 1), make(chan struct{}, 1)
	pressed := func(long bool) {
		if long {
			poke(longs)
			return
		}
		poke(presses)
	}
	group.Go(func() { p.shine(ctx) })
	group.Go(func() {
		if err := p.conf.Button.Watch(ctx, pressed); err != nil && ctx.Err() == nil {
			p.conf.Log.Warn("button does not work", "err", err)
		}
	})
	group.Go(func() { p.play(ctx) })
	for running := true; running; {
		select {
		case <-ctx.Done():
			running = false
		case <-presses:
			p.conf.Pressed(false)
		case <-longs:
			p.conf.Pressed(true)
		}
	}
	group.Wait()
	err := errors.Join(p.buzzer.Close(), p.conf.Lamp.Close())
	if err != nil {
		return fmt.Errorf("panel: turning off: %w", err)
	}
	return nil
}

// play is the buzzer's owner.
func (p *Panel) play(ctx context.Context) {
	var fault state
	for {
		sound, hush, ok := p.next()
		if !ok {
			select {
			case <-ctx.Done():
				return
			case <-p.wake:
			}
			continue
		}
		fault.note(p.conf.Log, "buzzer", p.pattern(ctx, patterns[sound], hush))
		if ctx.Err() != nil {
			return
		}
	}
}

// next takes the most urgent waiting sound.
func (p *Panel) next() (Sound, <-chan struct{}, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range urgency {
		if p.waiting[s] {
			delete(p.waiting, s)
			return s, p.hush, true
		}
	}
	return "", nil, false
}

// pattern plays steps and leaves the buzzer off, whatever ends it.
func (p *Panel) pattern(ctx context.Context, steps []Step, hush <-chan struct{}) (err error) {
	defer func() { err = errors.Join(err, p.buzzer.Set(false)) }()
	for _, step := range steps {
		if err := p.buzzer.Set(true); err != nil {
			return err
		}
		if !pause(ctx, hush, min(step.On, OnMax)) {
			return nil
		}
		if err := p.buzzer.Set(false); err != nil {
			return err
		}
		if !pause(ctx, hush, step.Off) {
			return nil
		}
	}
	return nil
}

// pause waits for d and tells whether it did to the end.
func pause(ctx context.Context, hush <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-hush:
	case <-ctx.Done():
	}
	return false
}

// shine is the lamp's owner.
func (p *Panel) shine(ctx context.Context) {
	var fault state
	shown, on := LightOff, false
	for {
		p.mu.Lock()
		light := p.light
		p.mu.Unlock()
		on = !on || light != shown // A light begins with its bright part.
		shown = light
		stay := time.Duration(0)
		switch rhythm, blinks := rhythms[light]; {
		case !blinks:
			on = light == LightOn
		case on:
			stay = rhythm.On
		default:
			stay = rhythm.Off
		}
		fault.note(p.conf.Log, "lamp", p.conf.Lamp.Set(on))
		if !p.stay(ctx, stay) {
			return
		}
	}
}

// stay waits for d, 0 is for ever, or until another light is wanted; it is false at the end.
func (p *Panel) stay(ctx context.Context, d time.Duration) bool {
	var over <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-ctx.Done():
		return false
	case <-p.relit:
	case <-over:
	}
	return true
}

// state logs changes, not repetition: the first fault and the recovery.
type state struct{ broken bool }

func (s *state) note(log *slog.Logger, what string, err error) {
	switch {
	case err != nil && !s.broken:
		log.Warn("panel output does not work", "output", what, "err", err)
	case err == nil && s.broken:
		log.Info("panel output works again", "output", what)
	}
	s.broken = err != nil
}
