package serial

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"chit/printer/transport"
)

// DrainMax is how long Close waits for bytes that an earlier Write left in the machine: the kernel
// drops them at once where the printer holds it back.
const DrainMax = 3 * time.Second

// drainLook is the shortest pause between two looks at what the machine still has to send.
const drainLook = time.Millisecond

// conn is one open port. One goroutine may read while another writes.
// paceBytes is what every receipt printer has room for. The smallest buffers known have 4 KB, but
// some are set to 45 bytes by a switch: those need RTS or XON.
//
// Source: Epson, TM-T20 and TM-T88 manuals, "Receive buffer capacity".
const paceBytes = 1024

type conn struct {
	f       *os.File
	raw     syscall.RawConn
	place   string
	byteFor time.Duration // that one byte takes on the wire
	pace    int           // see transport.Pacer
	closing chan struct{}

	mu       sync.Mutex
	closed   bool
	writing  bool
	underway bool // bytes were accepted and are not known to have left
	writeBy  time.Time
	moved    chan struct{} // closed when writeBy changes
}

func openPort(path string, s Settings) (transport.Conn, error) {
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	raw, err := f.SyscallConn()
	if err == nil {
		var failed error
		err = raw.Control(func(fd uintptr) { failed = prepare(int(fd), s) })
		err = errors.Join(err, failed)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	bits := 1 + 8 + s.Stop
	if s.Parity != ParityNone {
		bits++
	}
	pace := 0
	if s.Flow == FlowNone {
		pace = paceBytes
	}
	return &conn{
		pace: pace, f: f, raw: raw, place: path, closing: make(chan struct{}), moved: make(chan struct{}),
		byteFor: time.Duration(bits) * time.Second / time.Duration(s.Baud),
	}, nil
}

// prepare makes the port ours and sets it.
func prepare(fd int, s Settings) error {
	if _, err := unix.IoctlGetTermios(fd, unix.TCGETS); err != nil {
		return err // No terminal: nothing on it must be locked.
	}
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return err
	}
	if err := unix.IoctlSetInt(fd, unix.TIOCEXCL, 0); err != nil {
		return err
	}
	want := termios(s)
	if err := unix.IoctlSetTermios(fd, unix.TCSETS, &want); err != nil {
		return fmt.Errorf("setting the line: %w", err)
	}
	// POSIX lets the call succeed where only a part could be set.
	got, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return err
	}
	if got.Cflag&^unix.CBAUDEX != want.Cflag&^unix.CBAUDEX || got.Iflag != want.Iflag {
		return fmt.Errorf("the port took other settings than %s: %w", s.Query(), os.ErrInvalid)
	}
	return nil
}

var rates = map[int]uint32{
	1200: unix.B1200, 2400: unix.B2400, 4800: unix.B4800, 9600: unix.B9600, 19200: unix.B19200,
	38400: unix.B38400, 57600: unix.B57600, 115200: unix.B115200,
}

// termios is a raw line, termios(3): no echo, no signals, no bytes changed. CLOCAL: the printer
// need not raise carrier detect. HUPCL stays off, so that Close lowers no line.
func termios(s Settings) unix.Termios {
	var t unix.Termios
	rate := rates[s.Baud]
	t.Cflag = unix.CS8 | unix.CREAD | unix.CLOCAL | rate
	t.Ispeed, t.Ospeed = rate, rate
	if s.Stop == 2 {
		t.Cflag |= unix.CSTOPB
	}
	switch s.Parity {
	case ParityEven:
		t.Cflag |= unix.PARENB
		t.Iflag |= unix.INPCK
	case ParityOdd:
		t.Cflag |= unix.PARENB | unix.PARODD
		t.Iflag |= unix.INPCK
	case ParityNone:
	}
	switch s.Flow {
	case FlowLines:
		t.Cflag |= unix.CRTSCTS
	case FlowBytes:
		t.Iflag |= unix.IXON
	case FlowNone:
	}
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	t.Cc[unix.VSTART], t.Cc[unix.VSTOP] = 0x11, 0x13
	return t
}

// Place is the port's path.
// Pace is paceBytes where neither lines nor bytes hold this end back.
func (c *conn) Pace() int { return c.pace }

func (c *conn) Place() (string, bool) { return c.place, false }

// Read ends with io.EOF or an error where the adapter was unplugged.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.f.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		return n, fmt.Errorf("serial: reading: %w", err)
	}
	return n, err
}

// Write returns when the bytes have left the machine.
func (c *conn) Write(p []byte) (int, error) {
	if err := c.begin(); err != nil {
		return 0, err
	}
	defer c.end()
	n, err := c.f.Write(p)
	if n > 0 {
		c.mu.Lock()
		c.underway = true
		c.mu.Unlock()
	}
	if err == nil {
		err = c.left()
	}
	if err != nil {
		return n, fmt.Errorf("serial: writing: %w", err)
	}
	return n, nil
}

func (c *conn) begin() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return fmt.Errorf("serial: writing: %w", os.ErrClosed)
	}
	c.writing = true
	return nil
}

func (c *conn) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writing = false
}

// left waits until the machine has nothing more to send. No poll tells of that, so it looks when it
// should be over.
func (c *conn) left() error {
	for {
		queued, err := c.queued()
		if err != nil {
			return err
		}
		if queued == 0 {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.underway = false
			return nil
		}
		c.mu.Lock()
		by, moved := c.writeBy, c.moved
		c.mu.Unlock()
		const lookMax = 50 * time.Millisecond // The printer may hold the line back meanwhile.
		pause := min(max(time.Duration(queued)*c.byteFor, drainLook), lookMax)
		if !by.IsZero() {
			if pause = min(pause, time.Until(by)); pause <= 0 {
				return os.ErrDeadlineExceeded
			}
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-moved:
		case <-c.drainOver():
			timer.Stop()
			return os.ErrClosed
		}
		timer.Stop()
	}
}

// drainOver ends the wait of a Write when the port is closed; Close's own wait has its deadline.
func (c *conn) drainOver() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed && !c.writing {
		return nil
	}
	return c.closing
}

// queued is how many bytes the kernel and the port's driver hold (TIOCOUTQ).
func (c *conn) queued() (int, error) {
	var n int
	var failed error
	err := c.raw.Control(func(fd uintptr) { n, failed = unix.IoctlGetInt(int(fd), unix.TIOCOUTQ) })
	return n, errors.Join(err, failed)
}

// Close ends a Read or a Write under way and frees the port. Bytes that an earlier Write left in
// the machine are waited for, for at most [DrainMax]; where they do not leave, the error wraps
// [transport.ErrUndelivered].
func (c *conn) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	drain := c.underway && !c.writing
	if drain {
		c.writeBy = time.Now().Add(DrainMax)
	}
	c.mu.Unlock()
	close(c.closing)
	var undelivered error
	if drain {
		if err := c.left(); err != nil {
			undelivered = fmt.Errorf("serial: closing: %w: %w", transport.ErrUndelivered, err)
		}
	}
	// Another program may have the port open without having used it; the flag would outlive us.
	_ = c.raw.Control(func(fd uintptr) { _ = unix.IoctlSetInt(int(fd), unix.TIOCNXCL, 0) })
	if err := c.f.Close(); err != nil {
		return errors.Join(undelivered, fmt.Errorf("serial: closing: %w", err))
	}
	return undelivered
}

// SetReadDeadline bounds reads.
func (c *conn) SetReadDeadline(t time.Time) error {
	if err := c.f.SetReadDeadline(t); err != nil {
		return fmt.Errorf("serial: setting a deadline: %w", err)
	}
	return nil
}

// SetWriteDeadline bounds writes; one that is under way too.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	c.writeBy = t
	close(c.moved)
	c.moved = make(chan struct{})
	c.mu.Unlock()
	if err := c.f.SetWriteDeadline(t); err != nil {
		return fmt.Errorf("serial: setting a deadline: %w", err)
	}
	return nil
}
