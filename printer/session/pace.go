package session

import (
	"context"

	"chit/printer/transport"
)

// feed sends the first part of a step over a cable by which the printer cannot hold the host back,
// and returns what is left to send, which fits the printer's buffer. Over every other cable that is
// all of it.
//
// After each part a queued question is asked: its answer says that the part is out of the buffer.
// What the printer is too busy to answer is waited for like a document. A unit that answers no
// queued question is fed by the clock.
func (s *Session) feed(ctx context.Context, l *link, step step) ([]byte, error) {
	pacer, ok := l.conn.(transport.Pacer)
	if !ok || pacer.Pace() <= 0 {
		return step.bytes, nil
	}
	parts := portions(step.bytes, step.breaks, pacer.Pace())
	last := len(parts) - 1
	for _, part := range parts[:last] {
		l.start(part)
		if err := s.sync(ctx, l); err != nil {
			return nil, err
		}
	}
	return parts[last], nil
}

// portions cuts b at breaks into parts of at most most bytes each; what has no break in reach is
// larger, as one image is.
func portions(b []byte, breaks []int, most int) [][]byte {
	var parts [][]byte
	from, to := 0, 0
	for _, at := range append(breaks[:len(breaks):len(breaks)], len(b)) {
		if at-from > most && to > from && to < len(b) {
			parts = append(parts, b[from:to])
			from = to
		}
		to = at
	}
	return append(parts, b[from:])
}
