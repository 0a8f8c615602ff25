package link

import (
	"context"
	"crypto/tls"
	"net"
	"net/url"
	"sync"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"chit/device/wire/frame"
)

// socket is the network connection under one paho client. It gives every write a deadline: paho
// does so for publishes only, and a ping that waits behind a full socket hides a dead link for ever
// (pitfall 1). And it can be cut from outside, which is how a connection is sure to end.
type socket struct {
	ctx     context.Context // of the dial
	timeout time.Duration
	filters int // in the one SUBSCRIBE to come

	mu     sync.Mutex
	raw    net.Conn // below TLS, whose Close may wait 5 s to say goodbye on a full socket
	killed bool
}

// open is paho's dial function.
func (s *socket) open(address string, conf *tls.Config) mqtt.OpenConnectionFunc {
	return func(*url.URL, mqtt.ClientOptions) (net.Conn, error) {
		scheme, hostPort, err := splitAddress(address, conf != nil)
		if err != nil {
			return nil, err
		}
		var conn net.Conn
		dialer := net.Dialer{}
		if scheme == "tls" {
			d := tls.Dialer{NetDialer: &dialer, Config: conf}
			conn, err = d.DialContext(s.ctx, "tcp", hostPort)
		} else {
			conn, err = dialer.DialContext(s.ctx, "tcp", hostPort)
		}
		if err != nil {
			return nil, err
		}
		raw := conn
		if t, ok := conn.(*tls.Conn); ok {
			raw = t.NetConn()
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.killed {
			raw.Close()
			return nil, net.ErrClosed
		}
		s.raw = raw
		return &deadlineConn{
			Conn: conn, raw: raw, timeout: s.timeout, guard: frame.Guard{Filters: s.filters, Max: frame.Max},
		}, nil
	}
}

// kill closes the connection, now or as soon as it is made.
func (s *socket) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.killed = true
	if s.raw != nil {
		s.raw.Close()
	}
}

// deadlineConn bounds every write and closes after the first that failed: half a packet has gone
// out, or none, and both ends would read garbage after it.
type deadlineConn struct {
	net.Conn
	raw     net.Conn
	timeout time.Duration
	guard   frame.Guard // owned by the reader
}

// Read ends the connection at the first frame out of bounds, before paho sees it.
func (c *deadlineConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if bad := c.guard.Check(p[:n]); bad != nil {
		c.raw.Close()
		return 0, bad
	}
	return n, err
}

func (c *deadlineConn) Write(p []byte) (int, error) {
	if err := c.Conn.SetWriteDeadline(time.Now().Add(c.timeout)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(p)
	if err != nil {
		c.raw.Close()
	}
	return n, err
}

// SetWriteDeadline is paho's and is not needed: it would lift ours in the middle of a ping.
func (c *deadlineConn) SetWriteDeadline(time.Time) error { return nil }

// SetDeadline is called around CONNECT and CONNACK; writes have their own.
func (c *deadlineConn) SetDeadline(t time.Time) error { return c.Conn.SetReadDeadline(t) }
