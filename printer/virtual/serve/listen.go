package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"chit/printer/transport"
)

// acceptPause is the wait after an accept that failed for want of descriptors.
const acceptPause = 100 * time.Millisecond

// accept hands connections to the loop until the port is closed.
func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			s.log.Warn("accepting a client", "err", err)
			select {
			case <-time.After(acceptPause):
				continue
			case <-s.ended:
				return
			}
		}
		select {
		case s.newcomers <- newcomer{conn: conn}:
		case <-s.ended:
			conn.Close()
			return
		}
	}
}

// Dialer reaches the printer inside this process, without a port. Its connections have no buffer
// between host and printer: a write returns when the printer's own buffer took the bytes.
func (s *Server) Dialer() transport.Dialer { return dialer{s} }

type dialer struct{ s *Server }

func (d dialer) Name() string { return "virtual:" }
func (d dialer) TwoWay() bool { return true }

// Dial fails with [ErrBusy], [ErrOff] or [ErrClosed], after a moment in which the client before may
// leave.
func (d dialer) Dial(ctx context.Context) (transport.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("serve: dialling: %w", err)
	}
	host, printer := net.Pipe()
	n := newcomer{conn: printer, answer: make(chan error, 1)}
	select {
	case d.s.newcomers <- n:
	case <-d.s.ended:
		return nil, fmt.Errorf("serve: dialling: %w", ErrClosed)
	case <-ctx.Done():
		return nil, fmt.Errorf("serve: dialling: %w", ctx.Err())
	}
	select {
	case err := <-n.answer:
		if err != nil {
			return nil, fmt.Errorf("serve: dialling: %w", err)
		}
		return host, nil
	case <-ctx.Done():
		host.Close() // Whoever adopts the other end finds nobody there.
		return nil, fmt.Errorf("serve: dialling: %w", ctx.Err())
	}
}
