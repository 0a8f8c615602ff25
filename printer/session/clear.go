package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"chit/printer/escpos"
	"chit/printer/status"
)

// clearWait is how long a printer may take to say that its buffers are clear.
const clearWait = 3 * time.Second

// ClearBuffers makes the printer forget what it has not printed yet (DLE DC4 8, after a cutter
// error DLE ENQ 2). It answers an error wrapping [ErrNotCleared] where the printer does not
// confirm it. Where a document is being printed, end its context first, or use [Session.Withdraw].
func (s *Session) ClearBuffers(ctx context.Context) error {
	err := s.submit(ctx, s.orders, &order{urgent: true, do: s.clear})
	if err != nil {
		return fmt.Errorf("session: clearing buffers: %w", err)
	}
	return nil
}

// Withdraw takes a document back, in whatever state it is: one that was not begun is refused when
// its turn comes ([ErrWithdrawn]), the wait for one at the printer ends, and the printer is made to
// forget what it has not printed. What came out before that, only [Session.Resolve] can tell.
//
// A unit that is mute, not known yet, or known not to confirm is not written to and its document
// goes on: the error then wraps [ErrNotCleared]. One that wraps [ErrHeld] says that the printer is
// absent or silent now; the document is given up, and the next connection is to be asked again.
func (s *Session) Withdraw(ctx context.Context, token escpos.Token) error {
	if !s.State().Unit.MayClear() {
		return fmt.Errorf("session: withdrawing: %w: the unit is not known to do it", ErrNotCleared)
	}
	defer s.giveUp(token)()
	err := s.submit(ctx, s.orders, &order{urgent: true, do: func(ctx context.Context, l *link) error {
		err := s.clear(ctx, l)
		if err == nil && l.document == token {
			l.cleared = token
		}
		return err
	}})
	if err != nil {
		return fmt.Errorf("session: withdrawing: %w", err)
	}
	return nil
}

// MayClear is true of a unit that was probed to the end and has not left a clearing unconfirmed.
// Whether it does confirm one is found out by the first that is needed: a unit that does not know
// the command takes its bytes for controls without paper.
func (u Unit) MayClear() bool {
	return u.TwoWay && u.Realtime&(1<<1) != 0 && strings.Contains(u.Fingerprint, "#") &&
		u.Clears != Lost
}

// giveUp ends the wait for the document with this token, and a question about it, and keeps either
// from beginning: the document for good, the question until the returned function is called.
func (s *Session) giveUp(token escpos.Token) (over func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.withdrawn = token
	clearing := make(chan struct{})
	s.clearing = clearing
	if s.cancel != nil && s.printing == token {
		s.cancel(ErrWithdrawn)
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		close(clearing)
		if s.clearing == clearing {
			s.clearing = nil
		}
	}
}

// begin lets a document, or a question about it, start unless it is taken back, and makes it
// possible to take it back.
func (s *Session) begin(ctx context.Context, token escpos.Token, question bool) (
	doing context.Context, end func(), err error,
) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.withdrawn == token && (!question || s.clearing != nil) {
		return ctx, nil, ErrWithdrawn
	}
	doing, cancel := context.WithCancelCause(ctx)
	s.printing, s.cancel = token, cancel
	return doing, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.cancel = nil
		cancel(nil)
	}, nil
}

// cleared waits while a document is being taken back.
func (s *Session) cleared(ctx context.Context) {
	s.mu.Lock()
	clearing := s.clearing
	s.mu.Unlock()
	if clearing != nil {
		select {
		case <-clearing:
		case <-ctx.Done():
		}
	}
}

func (s *Session) clear(ctx context.Context, l *link) error {
	w := wait{limit: s.config.Timing.Answer}
	if !s.unit.TwoWay {
		return ErrNotCleared
	}
	if err := s.await(ctx, l, w, func() bool { return !l.writing }); err != nil {
		return fmt.Errorf("%w: %w", ErrNotCleared, err)
	}
	if hold := l.health.hold(); hold == HoldCutter || hold == HoldError {
		l.start(escpos.Recover())
		if err := s.await(ctx, l, w, func() bool { return !l.writing }); err != nil {
			return fmt.Errorf("%w: %w", ErrNotCleared, err)
		}
	}
	w.limit = clearWait
	_, err := ask[status.Cleared](ctx, s, l, w, 0, escpos.ClearBuffers())
	// Cleared or not, queued questions may be gone with the rest.
	l.stream.Reset()
	l.forgetFences()
	l.afresh, l.touched = true, true
	switch {
	case err == nil:
		s.unit.Clears = Earned
		return nil
	case errors.Is(err, errNoAnswer) && s.unit.Clears == Unproven:
		s.unit.Clears = Lost
	}
	return fmt.Errorf("%w: %w", ErrNotCleared, err)
}
