package link

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// errSlow ends a connection whose device does not read.
var errSlow = errors.New("link: device does not read")

const (
	// pendingMax is how many bytes may wait for one device: 64 of the largest messages, which is
	// the window of 8 for each of 8 printers. It is memory only while a device is slow.
	pendingMax = 4 << 20
	// goodbyeMax is how long a closing connection may take to send what is waiting.
	goodbyeMax = time.Second
)

// deviceConn is a device's connection as mochi sees it.
//
// mochi writes to a socket while it holds the client's lock, and a publisher takes that lock: one
// frozen device stalled every other (research/mqtt.md 1.2). Here Write never waits. What the socket
// does not take at once waits in pending, sent by a goroutine that lives only as long as there is
// something to send; each of its writes has a deadline, and the connection ends at the first
// failure.
type deviceConn struct {
	net.Conn
	grant   grant
	timeout time.Duration
	slow    func() // counts
	judged  func() // CONNECT has been read and judged, or will not be
	// again asks the gate a second time. A device may have been revoked, and its connection looked
	// for and not found, between the first asking and its CONNECT.
	again func() error
	over  sync.Once // counts a takeover
	asked bool      // CONNECT was well-formed; owned by the reader

	prefix []byte // read from the socket before mochi was asked; owned by the reader

	mu      sync.Mutex
	pending []byte
	sending bool
	closing bool
	sent    sync.WaitGroup // the sending goroutine

	done chan struct{} // closed when the engine has forgotten the connection
}

func newDeviceConn(conn net.Conn, g grant, prefix []byte, timeout time.Duration) *deviceConn {
	return &deviceConn{
		Conn: conn, grant: g, prefix: prefix, timeout: timeout,
		slow: func() {}, judged: func() {}, again: func() error { return nil }, done: make(chan struct{}),
	}
}

// Read gives the bytes of CONNECT that were read before, then the socket's.
func (c *deviceConn) Read(p []byte) (int, error) {
	if len(c.prefix) > 0 {
		n := copy(p, c.prefix)
		c.prefix = c.prefix[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

// Write queues p.
func (c *deviceConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return 0, net.ErrClosed
	}
	if len(c.pending)+len(p) > pendingMax {
		c.slow()
		c.closeLocked()
		return 0, fmt.Errorf("%w: %d bytes wait", errSlow, len(c.pending))
	}
	c.pending = append(c.pending, p...)
	c.startLocked()
	return len(p), nil
}

func (c *deviceConn) startLocked() {
	if !c.sending {
		c.sending = true
		c.sent.Go(c.send)
	}
}

// send writes what is pending and, where the connection is closing, closes it after that.
func (c *deviceConn) send() {
	for {
		c.mu.Lock()
		out := c.pending
		c.pending = nil
		closing := c.closing
		if len(out) == 0 {
			c.sending = false
			c.mu.Unlock()
			if closing {
				c.Conn.Close()
			}
			return
		}
		// Under the lock, so that a later Close shortens this deadline and is not overwritten by
		// it.
		limit := c.timeout
		if closing {
			limit = min(limit, goodbyeMax)
		}
		_ = c.Conn.SetWriteDeadline(time.Now().Add(limit))
		c.mu.Unlock()

		if _, err := c.Conn.Write(out); err != nil {
			c.mu.Lock()
			var late net.Error
			if errors.As(err, &late) && late.Timeout() && !c.closing {
				c.slow()
			}
			c.pending = nil
			c.closeLocked()
			c.mu.Unlock()
		}
	}
}

// Close lets what is pending go for a moment and then closes. It never waits.
func (c *deviceConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closeLocked()
	return nil
}

func (c *deviceConn) closeLocked() {
	if c.closing {
		return
	}
	c.closing = true
	_ = c.Conn.SetReadDeadline(time.Unix(1, 0)) // ends mochi's read at once
	_ = c.Conn.SetWriteDeadline(time.Now().Add(min(c.timeout, goodbyeMax)))
	c.startLocked()
}

// SetDeadline is mochi's: it means the keep-alive, so it is for reads only.
func (c *deviceConn) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return net.ErrClosed
	}
	return c.Conn.SetReadDeadline(t)
}
