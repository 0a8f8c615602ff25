package rig

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
)

// Cable is the network between device and broker: a TCP forwarder that can be cut and mended.
type Cable struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	down  bool
	conns map[net.Conn]struct{}
	watch func(toTarget bool, bytes int)
	ice   chan struct{} // nil while the cable works; closed by Thaw
	all   sync.WaitGroup
}

// LayCable starts a forwarder to target, host:port, on a free loopback port.
func LayCable(target string) (*Cable, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &Cable{listener: l, target: target, conns: map[net.Conn]struct{}{}}
	c.all.Add(1)
	go c.accept()
	return c, nil
}

// Addr is where the near end is, host:port.
func (c *Cable) Addr() string { return c.listener.Addr().String() }

func (c *Cable) accept() {
	defer c.all.Done()
	for {
		conn, err := c.listener.Accept()
		if err != nil {
			return
		}
		c.all.Add(1)
		go func() {
			defer c.all.Done()
			c.carry(conn)
		}()
	}
}

// carry forwards one connection until either end or the cable ends it.
func (c *Cable) carry(near net.Conn) {
	if !c.hold(near) {
		return
	}
	defer c.drop(near)
	far, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", c.target)
	if err != nil || !c.hold(far) {
		return
	}
	defer c.drop(far)
	done := make(chan struct{}, 2)
	for _, to := range []watched{{near, c, false}, {far, c, true}} {
		from := far
		if to.toTarget {
			from = near
		}
		go func() {
			_, _ = io.Copy(to, from) // Any end of either direction ends both.
			done <- struct{}{}
		}()
	}
	<-done
	c.silent() // A frozen cable hides also that an end has gone.
	c.drop(near)
	c.drop(far)
	<-done
}

// silent waits while the cable is frozen.
func (c *Cable) silent() {
	c.mu.Lock()
	ice := c.ice
	c.mu.Unlock()
	if ice != nil {
		<-ice
	}
}

// Watch has f told of every piece of bytes just before it is handed on: what is measured so is
// what a program hears and says, without a look inside it. f may be called by several goroutines
// at once; nil ends the watch.
func (c *Cable) Watch(f func(toTarget bool, bytes int)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watch = f
}

// watched is one direction of a connection.
type watched struct {
	net.Conn
	cable    *Cable
	toTarget bool
}

// Write tells the watcher first. Into a frozen cable everything is swallowed.
func (w watched) Write(b []byte) (int, error) {
	w.cable.mu.Lock()
	watch, ice := w.cable.watch, w.cable.ice
	w.cable.mu.Unlock()
	if ice != nil {
		return len(b), nil
	}
	if watch != nil {
		watch(w.toTarget, len(b))
	}
	return w.Conn.Write(b)
}

// hold keeps a connection so that a cut can end it; a cut cable holds nothing.
func (c *Cable) hold(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down {
		_ = conn.Close()
		return false
	}
	c.conns[conn] = struct{}{}
	return true
}

func (c *Cable) drop(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.conns, conn)
	_ = conn.Close()
}

// Cut ends every connection and refuses new ones until Mend.
func (c *Cable) Cut() {
	c.Thaw()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down = true
	for conn := range c.conns {
		_ = conn.Close()
	}
}

// Mend lets connections through again.
func (c *Cable) Mend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down = false
}

// Freeze makes the link half-open: connections stand, and what is sent is lost without a word, as
// behind a router that forgot its table. New connections stand too and carry nothing.
func (c *Cable) Freeze() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ice == nil {
		c.ice = make(chan struct{})
	}
}

// Thaw ends what was frozen, because its bytes have a gap, and lets new connections through.
func (c *Cable) Thaw() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ice == nil {
		return
	}
	close(c.ice)
	c.ice = nil
	for conn := range c.conns {
		_ = conn.Close()
	}
}

// Close takes the cable away and waits for its goroutines.
func (c *Cable) Close() error {
	c.Cut()
	err := c.listener.Close()
	c.all.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
