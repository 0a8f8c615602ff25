// Package network drives a printer over raw TCP, port 9100 by custom (JetDirect, AppSocket).
//
// One connection is kept for as long as the printer is there: cheap boards lose a second job that
// comes on a new connection soon after the first, and have one slot that a dead client keeps taken
// for minutes (research/escpos.md 2.11). So the kernel watches the peer with keepalives, unanswered
// bytes end the connection after [UserTimeout], and Close sends what was accepted and then FIN.
package network

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"chit/printer/transport"
)

// The waits of a connection, and the port where the URL names none.
const (
	// ConnectTimeout bounds a dial: without it a switched-off printer blocks for over 40 s.
	ConnectTimeout = 5 * time.Second
	// KeepaliveIdle, KeepaliveInterval and KeepaliveCount let the kernel find a dead idle peer in
	// 15 + 3·5 s.
	KeepaliveIdle     = 15 * time.Second
	KeepaliveInterval = 5 * time.Second
	KeepaliveCount    = 3
	// UserTimeout is how long bytes may stay unacknowledged (TCP_USER_TIMEOUT, Linux only). Linux
	// counts a closed window too, see SetPatient; so it must be longer than a line feed and
	// shorter than a cook's patience.
	UserTimeout = 30 * time.Second
	// PortDefault is the raw printing port.
	PortDefault = 9100
)

// Dialer opens one printer by host and port.
type Dialer struct {
	address string
	timeout time.Duration
}

// New makes a dialer for a host name or address and a port.
func New(host string, port int) *Dialer {
	return &Dialer{address: net.JoinHostPort(host, strconv.Itoa(port)), timeout: ConnectTimeout}
}

// Name is the printer's URL.
func (d *Dialer) Name() string { return "tcp://" + d.address }

// TwoWay is true: what a board answers is probed, not assumed.
func (d *Dialer) TwoWay() bool { return true }

// Dial connects within ConnectTimeout.
func (d *Dialer) Dial(ctx context.Context) (transport.Conn, error) {
	dialer := net.Dialer{
		Timeout: d.timeout,
		KeepAliveConfig: net.KeepAliveConfig{
			Enable: true, Idle: KeepaliveIdle, Interval: KeepaliveInterval, Count: KeepaliveCount,
		},
	}
	c, err := dialer.DialContext(ctx, "tcp", d.address)
	if err != nil {
		return nil, fmt.Errorf("network: connecting to %s: %w", d.address, err)
	}
	conn := &conn{TCPConn: c.(*net.TCPConn)}
	if err := conn.SetPatient(false); err != nil {
		c.Close()
		return nil, fmt.Errorf("network: setting TCP_USER_TIMEOUT on %s: %w", d.address, err)
	}
	return conn, nil
}

// conn is a TCP connection as Go makes it: no SO_LINGER, so Close returns at once while the kernel
// delivers what was accepted, for at most the user time-out; TCP_NODELAY is on.
type conn struct {
	*net.TCPConn
}

// SetPatient switches off the user time-out while the printer says that it must wait: Linux ends a
// connection whose window stays closed for that long even if the peer answers every window probe,
// and a closed window is how a printer without paper looks (RFC 9293 §3.8.6.1 would wait for ever).
func (c *conn) SetPatient(patient bool) error {
	wait := UserTimeout
	if patient {
		wait = 0
	}
	return setUserTimeout(c.TCPConn, wait)
}

// Close may be called twice.
func (c *conn) Close() error {
	if err := c.TCPConn.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("network: closing: %w", err)
	}
	return nil
}
