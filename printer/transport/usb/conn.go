package usb

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"chit/printer/transport"
)

// Node is one open node of usblp. Its calls never wait, except where they say so, and their errors
// are the kernel's.
type Node interface {
	// Read and Write are read(2) and write(2) of a descriptor with O_NONBLOCK.
	Read(p []byte) (int, error)
	Write(p []byte) (int, error)
	// Readable and Writable wait until poll(2) has something to tell, its deadline has passed
	// (os.ErrDeadlineExceeded) or Close was called.
	Readable() error
	Writable() error
	// Ioctl is ioctl(2) with a number: LPABORT takes value, LPGETSTATUS answers one.
	Ioctl(request uint, value int) (int, error)
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
	Close() error
}

// The requests of usblp (include/linux/lp.h).
const (
	lpGetStatus = 0x060b
	lpAbort     = 0x0604
)

// The bits of LPGETSTATUS (USB Printer Class 1.1, GET_PORT_STATUS).
const (
	statusPaperEmpty = 0x20
	statusSelected   = 0x10
	statusNoFault    = 0x08
)

// The waits of a connection.
const (
	// Prod is the pause between two questions for the port status of a printer that takes nothing:
	// as long as usblp's own.
	Prod = 1500 * time.Millisecond
	// DrainMax is how long Close waits for a block that is still on its way.
	DrainMax = 3 * time.Second
	// emptyFirst and emptyMax are the pauses after empty packets, doubling: some printers send
	// nothing else for hours.
	emptyFirst = time.Millisecond
	emptyMax   = 50 * time.Millisecond
)

// conn is one open printer. One goroutine may read while another writes.
type conn struct {
	node    Node
	printer Printer
	closing chan struct{} // closed by the first Close

	mu       sync.Mutex
	closed   bool
	writing  bool      // a Write is under way
	underway bool      // a block was handed over and is not known to have gone
	writeBy  time.Time // the caller's deadline of writes
}

func newConn(node Node, p Printer) *conn {
	return &conn{node: node, printer: p, closing: make(chan struct{})}
}

// Place is the node and the port.
func (c *conn) Place() (where string, moved bool) {
	return c.printer.Node + " at port " + c.printer.Port, false
}

// Port asks the printer for its port status. It takes up to 5 s where the printer is stuck.
func (c *conn) Port() (transport.Port, error) {
	status, err := c.node.Ioctl(lpGetStatus, 0)
	if err != nil {
		return transport.Port{}, fmt.Errorf("usb: asking for the port status: %w", err)
	}
	return transport.Port{
		PaperEmpty: status&statusPaperEmpty != 0,
		Selected:   status&statusSelected != 0,
		Fault:      status&statusNoFault == 0,
	}, nil
}

// Read waits for bytes of the printer. It ends with the cable, the deadline and Close.
func (c *conn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	pause := emptyFirst
	for {
		n, err := c.node.Read(p)
		switch {
		case n > 0:
			return n, nil
		case err == nil:
			if err := c.rest(pause); err != nil {
				return 0, err
			}
			pause = min(2*pause, emptyMax)
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EAGAIN):
			if err := c.node.Readable(); err != nil {
				return 0, fmt.Errorf("usb: reading: %w", err)
			}
		case errors.Is(err, syscall.EINVAL):
			return 0, c.mute() // The interface has no way back.
		default:
			return 0, gone("reading", err)
		}
	}
}

// mute waits for the end of a connection that can bring nothing.
func (c *conn) mute() error {
	if err := c.node.Readable(); err != nil {
		return fmt.Errorf("usb: reading: %w", err)
	}
	return gone("reading", syscall.ENODEV) // All that poll(2) tells of it is its end.
}

// rest waits for a moment or for Close.
func (c *conn) rest(pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-c.closing:
		return fmt.Errorf("usb: %w", os.ErrClosed)
	}
}

// Write returns when the printer has taken all of p. Where it ends early, the count includes a
// block that was on its way: that one may still arrive, so it must not be written again.
func (c *conn) Write(p []byte) (int, error) {
	if err := c.begin(); err != nil {
		return 0, err
	}
	defer c.end()
	written := 0
	for written < len(p) {
		n, err := c.node.Write(p[written:])
		if n > 0 {
			c.handedOver(true)
			written += n
			continue
		}
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EAGAIN):
			err = c.writable()
		case errors.Is(err, syscall.ENOSPC):
			// The block that hit the end of the paper is counted already and still on its way.
			err = c.rest(Prod)
		case err == nil:
			err = syscall.EIO
		}
		switch {
		case errors.Is(err, syscall.EINTR), err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, os.ErrClosed):
			return written, fmt.Errorf("usb: writing: %w", err)
		default:
			return written, gone("writing", err)
		}
	}
	if err := c.flushed(); err != nil {
		return written, gone("writing", err)
	}
	return written, nil
}

// flushed waits until the last block has gone. A cable that is pulled ends the wait too: an empty
// write, which usblp answers without sending anything, tells the two apart.
func (c *conn) flushed() error {
	for {
		if err := c.writable(); err != nil {
			return err
		}
		_, err := c.node.Write(nil)
		switch {
		case errors.Is(err, syscall.ENOSPC):
			err = c.rest(Prod)
		case errors.Is(err, syscall.EINTR), errors.Is(err, syscall.EAGAIN):
			continue
		default:
			return err
		}
		if err != nil {
			return err
		}
	}
}

func (c *conn) begin() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return fmt.Errorf("usb: writing: %w", os.ErrClosed)
	}
	c.writing = true
	return nil
}

func (c *conn) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writing = false
}

func (c *conn) handedOver(underway bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.underway = underway
}

// writable waits until the block on its way has gone, prodding the printer meanwhile. A caller may
// change the deadline at any time.
func (c *conn) writable() error {
	for {
		if err := c.arm(Prod); err != nil {
			return err
		}
		err := c.node.Writable()
		if err == nil {
			c.handedOver(false)
			return c.arm(0)
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		if c.late() {
			return err
		}
		// What it answers is of no use here: being asked is what makes it go on.
		if _, err := c.node.Ioctl(lpGetStatus, 0); errors.Is(err, syscall.ENODEV) {
			return err
		}
	}
}

// arm bounds the next wait by the caller's deadline, and by wait from now where it is above zero.
func (c *conn) arm(wait time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	by := c.writeBy
	if soon := time.Now().Add(wait); wait > 0 && (by.IsZero() || soon.Before(by)) {
		by = soon
	}
	return c.node.SetWriteDeadline(by)
}

// late is true where the caller's deadline of writes has passed.
func (c *conn) late() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.writeBy.IsZero() && !time.Now().Before(c.writeBy)
}

// Close ends a Read or a Write under way and frees the node. A block that an earlier Write left on
// its way is waited for, for at most [DrainMax]; where it does not go, the error wraps
// [transport.ErrUndelivered].
func (c *conn) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	drain := c.underway && !c.writing
	c.mu.Unlock()
	close(c.closing)
	var undelivered error
	if drain {
		undelivered = c.drain()
	}
	if err := c.node.Close(); err != nil {
		return errors.Join(undelivered, fmt.Errorf("usb: closing: %w", err))
	}
	return undelivered
}

func (c *conn) drain() error {
	c.mu.Lock()
	c.writeBy = time.Now().Add(DrainMax)
	c.mu.Unlock()
	if err := c.flushed(); err != nil {
		return fmt.Errorf("usb: closing: %w: %w", transport.ErrUndelivered, err)
	}
	return nil
}

// SetReadDeadline bounds reads; one that is under way too.
func (c *conn) SetReadDeadline(t time.Time) error {
	if err := c.node.SetReadDeadline(t); err != nil {
		return fmt.Errorf("usb: setting a deadline: %w", err)
	}
	return nil
}

// SetWriteDeadline bounds writes; one that is under way too.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writeBy = t
	if err := c.node.SetWriteDeadline(t); err != nil {
		return fmt.Errorf("usb: setting a deadline: %w", err)
	}
	return nil
}

// gone says what the kernel's errors of an open printer mean.
func gone(doing string, err error) error {
	if errors.Is(err, syscall.ENODEV) || errors.Is(err, syscall.EIO) ||
		errors.Is(err, syscall.ESHUTDOWN) {
		return fmt.Errorf("usb: %s: the printer was unplugged or switched off: %w", doing, err)
	}
	return fmt.Errorf("usb: %s: %w", doing, err)
}
