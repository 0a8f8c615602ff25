// Package transport says what a way to a printer must do; the folders below it each do it for one
// kind of cable, and transporttest is the exam they all pass.
package transport

import (
	"context"
	"errors"
	"io"
	"strings"
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

// Pacer is a Conn over a cable by which the printer cannot hold the host back: what its buffer has
// no room for is lost. Pace is how many bytes may be on their way before the printer has answered
// that it has worked off what it got; 0 means any number.
type Pacer interface {
	Pace() int
}

// Sensor is a Conn whose cable can ask for the printer's state beside the data, also while the
// printer takes no bytes. Clones answer with constants: what it says is a hint, never a proof.
type Sensor interface {
	Port() (Port, error)
}

// Port is the state of a printer's port (USB Printer Class 1.1, GET_PORT_STATUS).
type Port struct {
	PaperEmpty bool
	Selected   bool
	Fault      bool
}

// Placed is a Conn that can say where its printer was found: an address or a device node, for
// people. Moved is true where the configuration says another place.
type Placed interface {
	Place() (where string, moved bool)
}

// Recogniser is a Conn whose URL names one certain unit. The session tells it the serial number
// that the printer says (GS I), empty where it says none; an error, which wraps [ErrStranger], says
// that nothing may be printed there.
type Recogniser interface {
	Recognise(serial string) error
}

// Plain bounds a string that a printer says about itself: 40 characters, none of them a space, a
// sign that separates, or a control character.
func Plain(text string) string {
	const longest = 40
	keep := strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' || r == '#' || r == '/' {
			return '_'
		}
		return r
	}, text)
	return keep[:min(len(keep), longest)]
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
	// ErrNotBuilt says that the URL is right but this system has no such cable.
	ErrNotBuilt = errors.New("works on Linux only")
	// ErrURL says that the printer URL is wrong; the wrapping error says where.
	ErrURL = errors.New("bad printer URL")
	// ErrAbsent says that nothing that fits the URL is plugged in.
	ErrAbsent = errors.New("no such printer is plugged in")
	// ErrAmbiguous says that several printers fit the URL; the wrapping error lists them.
	ErrAmbiguous = errors.New("several printers fit")
	// ErrStranger says that another printer answers where the wanted one should be.
	ErrStranger = errors.New("another printer")
	// ErrBusy says that another program has the printer; the wrapping error says who, where the
	// system tells.
	ErrBusy = errors.New("another program has the printer")
	// ErrUndelivered says that a connection ended before the printer had taken all that Write had
	// accepted: the tail may be missing on paper.
	ErrUndelivered = errors.New("the printer had not taken the last bytes")
)
