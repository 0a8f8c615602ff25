package serve

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// readBytes is how much is read from a client at a time, about the window of a small board.
const readBytes = 1024

// written is how one write of answers ended.
type written struct {
	rest []byte // what did not leave
	err  error
}

// client is one connection with a reader and a writer. The loop owns it and ends it by close.
type client struct {
	conn    net.Conn
	arrived chan []byte // closed when nothing more will come
	answers chan []byte // one at a time
	wrote   chan written
	over    chan struct{}
	once    sync.Once
	tasks   sync.WaitGroup

	haunting chan struct{} // closed when the printer lost power: bytes vanish
	awake    atomic.Bool   // and has it again: the next bytes are answered by a reset
	ending   chan struct{} // closed when the reader has returned
}

func newClient(conn net.Conn) *client {
	c := &client{
		conn:     conn,
		arrived:  make(chan []byte),
		answers:  make(chan []byte, 1),
		wrote:    make(chan written, 1),
		over:     make(chan struct{}),
		haunting: make(chan struct{}),
		ending:   make(chan struct{}),
	}
	c.tasks.Go(c.read)
	c.tasks.Go(c.write)
	return c
}

func (c *client) read() {
	defer close(c.ending)
	defer close(c.arrived)
	for {
		buffer := make([]byte, readBytes)
		n, err := c.conn.Read(buffer)
		if n > 0 && !c.pass(buffer[:n]) {
			return
		}
		if err != nil {
			return
		}
	}
}

// pass hands bytes to the loop, or lets them vanish; false where the connection is over.
func (c *client) pass(b []byte) bool {
	select {
	case <-c.haunting:
		return c.vanish()
	default:
	}
	select {
	case c.arrived <- b:
		return true
	case <-c.haunting:
		return c.vanish()
	case <-c.over:
		return false
	}
}

// vanish is what becomes of bytes on a connection of before a power cut.
func (c *client) vanish() bool {
	if !c.awake.Load() {
		return true
	}
	if tcp, ok := c.conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // The new life knows nothing of this connection: a reset.
	}
	c.conn.Close()
	return false
}

// haunt makes the client a ghost; awaken says that the power is back; gone that nobody is there.
func (c *client) haunt()  { close(c.haunting) }
func (c *client) awaken() { c.awake.Store(true) }
func (c *client) gone() bool {
	select {
	case <-c.ending:
		return true
	default:
		return false
	}
}

func (c *client) write() {
	for {
		select {
		case <-c.over:
			return
		case b := <-c.answers:
			_ = c.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
			n, err := c.conn.Write(b)
			c.wrote <- written{b[n:], err}
		}
	}
}

// close ends the connection, waits for reader and writer, and returns answers that did not leave.
func (c *client) close() (rest []byte) {
	c.once.Do(func() {
		close(c.over)
		c.conn.Close()
	})
	c.tasks.Wait()
	select {
	case w := <-c.wrote:
		rest = w.rest
	default:
	}
	select {
	case b := <-c.answers:
		rest = append(rest, b...)
	default:
	}
	return rest
}
