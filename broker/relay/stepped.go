package relay

import (
	"context"
	"fmt"
	"time"
)

// Stepped is a relay without goroutines, for an owner of the time such as the simulator. Open it
// once, call Turn whenever something was submitted, heard or made durable, and again after the
// pause that Turn names. It is not safe for use by several goroutines.
type Stepped struct{ relay *Relay }

// NewStepped makes a relay that is stepped by hand; its Run must not be called.
func NewStepped(conf Config) *Stepped { return &Stepped{relay: New(conf)} }

// Relay is the relay itself.
func (s *Stepped) Relay() *Relay { return s.relay }

// Open loads what is open from the store.
func (s *Stepped) Open() error {
	if err := s.relay.load(); err != nil {
		return fmt.Errorf("relay: loading what is open: %w", err)
	}
	return nil
}

// Turn takes in what came, does what follows, publishes what is to be sent, and says how long there
// is nothing more to do.
func (s *Stepped) Turn(ctx context.Context) (time.Duration, error) {
	for {
		sleep := s.relay.turn()
		sent := false
		for _, one := range s.relay.senders {
			for _, m := range one.take() {
				one.publish(ctx, m)
				sent = true
			}
		}
		if !sent {
			return sleep, nil
		}
	}
}
