// Package file drives a printer that is a path: a device node such as /dev/usb/lp0, or a regular
// file that collects the bytes.
//
// It is one-way: nothing is read back, so a document's evidence never rises above sent. It appends,
// does not create folders and does not sync: bytes in a file are not paper, and their durability
// promises nothing. A device node is bound here by its path only because a person wrote that path.
package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"time"

	"chit/printer/transport"
)

// Dialer opens one path.
type Dialer struct {
	path string
}

// New makes a dialer for an absolute path.
func New(path string) *Dialer { return &Dialer{path: path} }

// Name is the printer's URL.
func (d *Dialer) Name() string { return (&url.URL{Scheme: "file", Path: d.path}).String() }

// TwoWay is false.
func (d *Dialer) TwoWay() bool { return false }

// Dial opens the path for appending and makes a regular file if there is none. A directory is an
// error. It never waits: a FIFO without a reader fails at once.
func (d *Dialer) Dial(ctx context.Context) (transport.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("file: opening %s: %w", d.path, err)
	}
	f, err := os.OpenFile(d.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|nonblock, 0o600)
	if err != nil {
		return nil, fmt.Errorf("file: opening: %w", err)
	}
	return &conn{f: f}, nil
}

type conn struct {
	f *os.File
}

// Read yields io.EOF: nothing ever comes back.
func (c *conn) Read([]byte) (int, error) { return 0, io.EOF }

func (c *conn) Write(p []byte) (int, error) {
	n, err := c.f.Write(p)
	if err != nil {
		return n, fmt.Errorf("file: writing: %w", err)
	}
	return n, nil
}

// Close may be called twice.
func (c *conn) Close() error {
	if err := c.f.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("file: closing: %w", err)
	}
	return nil
}

// SetReadDeadline has nothing to bound: Read never waits.
func (c *conn) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline bounds writes where the path can be polled (device nodes, FIFOs). A regular file
// cannot and never waits for a printer, so there it does nothing.
func (c *conn) SetWriteDeadline(t time.Time) error {
	if err := c.f.SetWriteDeadline(t); err != nil && !errors.Is(err, os.ErrNoDeadline) {
		return fmt.Errorf("file: setting a deadline: %w", err)
	}
	return nil
}
