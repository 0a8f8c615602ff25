// Package transport says what a way to a printer must do; the folders below it each do it for one
// kind of cable, and transporttest is the exam they all pass.
package transport

import (
	"context"
	"errors"
	"io"
	"time"
)

// Conn is one open way to one printer. Write returns when the bytes are accepted by the next hop,
// which is never proof that anything printed. One goroutine may read while another writes. Close
// ends both, drops nothing that was accepted, and may be called twice.
type Conn interface {
	io.ReadWriteCloser
	// SetReadDeadline and SetWriteDeadline bound the next calls; the zero time removes the bound.
	// An exceeded deadline yields an error that is os.ErrDeadlineExceeded.
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
}

// Patient is a Conn whose cable gives up by itself on a peer that takes no bytes. A printer without
// paper takes none either, so while it reports a hold it is waited for with SetPatient(true).
type Patient interface {
	SetPatient(bool) error
}

// Dialer opens a printer by what it is, not by where it happened to be.
type Dialer interface {
	// Dial opens the printer or fails within its own time-out.
	Dial(ctx context.Context) (Conn, error)
	// Name is the printer's URL without secrets, for logs and states.
	Name() string
	// TwoWay is false where nothing can ever be read back (file:, write-only USB). Reading from
	// such a Conn yields io.EOF.
	TwoWay() bool
}

// Errors of all transports.
var (
	// ErrNotBuilt says that the URL is right but this program cannot drive it yet.
	ErrNotBuilt = errors.New("not built yet")
	// ErrURL says that the printer URL is wrong; the wrapping error says where.
	ErrURL = errors.New("bad printer URL")
)
