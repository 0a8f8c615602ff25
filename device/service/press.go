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
	ctx, cancel := context.WithTimeout(ctx, pressMax)
	defer cancel()
	h, p := s.handler.Load(), s.panel.Load()
	if h == nil || p == nil {
		return Seen{}, ErrPress
	}
	p.Silence()
	told := make(chan core.Pressed, 1)
	select {
	case h.in <- item{event: core.Button{}, told: func(p core.Pressed) { told <- p }}:
	case <-h.ctx.Done():
		return Seen{}, ErrPress
	case <-ctx.Done():
		return Seen{}, errors.Join(ErrPress, ctx.Err())
	}
	select {
	case p := <-told:
		return Seen{Seen: p.Seen, Unproven: p.Unproven}, nil
	case <-h.ctx.Done():
		return Seen{}, ErrPress
	case <-ctx.Done():
		return Seen{}, errors.Join(ErrPress, ctx.Err())
	}
}

// seen is POST /seen: 200 with [Seen], 503 where nobody took the press. A browser is refused: a
// page that somebody opened on this machine must not acknowledge tickets.
func (s *Service) seen(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Origin") != "" {
		http.Error(w, "expected a request that no web page made", http.StatusForbidden)
		return
	}
	seen, err := s.Press(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(seen) // Who asked is gone then.
}
