package session

import (
	"context"
	"sync"
)

// Session is one printer and its only owner. Make it with [New].
type Session struct {
	config Config

	orders chan order    // from callers to Run's goroutine
	ended  chan struct{} // closed when Run has returned

	mu    sync.Mutex
	state State
	once  sync.Once
}

// New makes a session that does nothing until Run.
func New(config Config) *Session {
	return &Session{
		config: config.withDefaults(),
		orders: make(chan order),
		ended:  make(chan struct{}),
		state:  State{Hold: HoldAbsent, Unit: config.Known, Err: "not connected yet"},
	}
}

// State is the newest state.
func (s *Session) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Run owns the connection until ctx ends: it dials, probes, polls, and carries out orders. An absent
// printer is a state and is dialled again; Run returns only ctx's error. It may be called once.
func (s *Session) Run(ctx context.Context) error {
	defer s.once.Do(func() { close(s.ended) })
	<-ctx.Done()
	return ctx.Err()
}

type order struct {
	ctx context.Context
	do  func(context.Context)
}

// Print brings one document to paper and returns when its outcome is known, or when ctx ends, the
// link is lost or the printer stays silent: then the outcome is unknown and Resolve may still find
// it out. While the printer reports paper end or an open cover, Print waits without a time-out.
func (s *Session) Print(ctx context.Context, job Job) Result { return Result{Err: ErrEnded} }

// Resolve finds out what became of an interrupted document: by the printer's late answer, or by its
// odometer. It waits until the printer is there and has printed what it held. Call it once after a
// restart before the first Print, or after a Print whose outcome is unknown.
func (s *Session) Resolve(ctx context.Context, intent Intent) Resolution {
	return Resolution{Err: ErrEnded}
}

// ClearBuffers makes the printer forget what it has not printed yet (DLE DC4 8, after a cutter error
// DLE ENQ 2). It answers an error wrapping [ErrNotCleared] where the printer does not confirm it.
func (s *Session) ClearBuffers(ctx context.Context) error { return ErrEnded }
