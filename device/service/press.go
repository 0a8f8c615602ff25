package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"chit/device/core"
)

// pressMax is how long a press waits for what it did; the card may be slow.
const pressMax = 10 * time.Second

// ErrPress says that a press came to nothing: the daemon is not ready for it, or ends.
var ErrPress = errors.New("the daemon does not take presses now")

// Seen is what a press did, and the answer of POST /seen.
type Seen struct {
	Seen int `json:"seen"` // tickets
	// Unproven are tickets of which the printer cannot say whether they came out.
	Unproven int `json:"unproven,omitempty"`
}

func (s Seen) String() string {
	words := fmt.Sprintf("tickets seen: %d", s.Seen)
	if s.Unproven > 0 {
		words += fmt.Sprintf("; of %d more the printer cannot say whether they came out", s.Unproven)
	}
	return words
}

// Press stands for the button: it silences the buzzer and says that the tickets printed since the
// last press are seen. It returns once that is on disk; an error wraps [ErrPress].
func (s *Service) Press(ctx context.Context) (Seen, error) {
	p, err := s.press(ctx, core.Button{})
	return Seen{Seen: p.Seen, Unproven: p.Unproven}, err
}

// Wanted is what a long press did, and the answer of POST /print-stale.
type Wanted struct {
	Wanted int `json:"wanted"` // tickets
}

func (w Wanted) String() string { return fmt.Sprintf("stale tickets to be printed: %d", w.Wanted) }

// PressLong stands for the button held for two seconds: it silences the buzzer and asks for all
// stale tickets, those of this device and those that the broker has listed here. It returns once
// that is on disk; an error wraps [ErrPress].
func (s *Service) PressLong(ctx context.Context) (Wanted, error) {
	p, err := s.press(ctx, core.Button{Long: true})
	return Wanted{Wanted: p.Wanted}, err
}

func (s *Service) press(ctx context.Context, button core.Button) (core.Pressed, error) {
	ctx, cancel := context.WithTimeout(ctx, pressMax)
	defer cancel()
	h, p := s.handler.Load(), s.panel.Load()
	if h == nil || p == nil {
		return core.Pressed{}, ErrPress
	}
	p.Silence()
	told := make(chan core.Pressed, 1)
	select {
	case h.in <- item{event: button, told: func(p core.Pressed) { told <- p }}:
	case <-h.ctx.Done():
		return core.Pressed{}, ErrPress
	case <-ctx.Done():
		return core.Pressed{}, errors.Join(ErrPress, ctx.Err())
	}
	select {
	case p := <-told:
		return p, nil
	case <-h.ctx.Done():
		return core.Pressed{}, ErrPress
	case <-ctx.Done():
		return core.Pressed{}, errors.Join(ErrPress, ctx.Err())
	}
}

// seen is POST /seen: 200 with [Seen], 503 where nobody took the press.
func (s *Service) seen(w http.ResponseWriter, r *http.Request) {
	pressed(w, r, s.Press)
}

// printStale is POST /print-stale: 200 with [Wanted], 503 where nobody took the press.
func (s *Service) printStale(w http.ResponseWriter, r *http.Request) {
	pressed(w, r, s.PressLong)
}

// pressed presses for a request. A browser is refused: a page that somebody opened on this machine
// must not acknowledge tickets.
func pressed[T any](w http.ResponseWriter, r *http.Request,
	press func(context.Context) (T, error)) {
	if r.Header.Get("Origin") != "" {
		http.Error(w, "expected a request that no web page made", http.StatusForbidden)
		return
	}
	did, err := press(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(did) // Who asked is gone then.
}
