// Package serial drives a printer on a serial port, built in or behind a USB adapter.
//
// A serial printer has a small buffer, and a byte that finds it full is gone; then the printer
// reads what follows an image's lost byte as text. So somebody must hold the host back, [Flow] says
// who:
//
//   - rtscts (the default): the printer's BUSY line, wired to the host's CTS. Epson calls the line
//     DTR, and on most cables it ends at the host's DSR, which Linux does not heed (nor do USB
//     adapters): use a cable that brings the printer's DTR (or RTS) to CTS. Where nothing is wired
//     to CTS no byte leaves, so that a wrong cable is seen at once and not in a lost line.
//   - xonxoff: the printer says XOFF (13) and XON (11). The kernel takes these bytes out of what is
//     read; no status byte is equal to one. The host itself never sends them (IXOFF is off): a
//     printer would take them for a part of an image.
//   - none: nobody. Write then returns when the bytes have left the machine, and whoever writes
//     paces by fences: a queued question whose answer shows that the buffer is empty. XOFF that the
//     printer says all the same stays in the stream, where the status parser takes it out.
//
// Always eight data bits: seven carry neither code pages nor images. DTR and RTS are raised when
// the port is opened and stay raised after Close (HUPCL is off), since printers take their fall for
// a host that went away. One program has the port: TIOCEXCL, and for root, who is let through
// there, a lock on the node (flock). Name a port by /dev/serial/by-id: ttyUSB numbers swap.
package serial

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"chit/printer/transport"
	"chit/printer/transport/holder"
)

// Flow is who keeps the host from sending faster than the printer takes.
type Flow string

// The ways; see the package.
const (
	FlowLines Flow = "rtscts"
	FlowBytes Flow = "xonxoff"
	FlowNone  Flow = "none"
)

// Parity is the ninth bit.
type Parity string

// The parities.
const (
	ParityNone Parity = "none"
	ParityEven Parity = "even"
	ParityOdd  Parity = "odd"
)

// Settings of a port. The zero value is none; start with [Default].
type Settings struct {
	Baud   int // bits a second
	Parity Parity
	Stop   int // stop bits, 1 or 2
	Flow   Flow
}

// Default is what most printers are delivered with.
func Default() Settings {
	return Settings{Baud: 9600, Parity: ParityNone, Stop: 1, Flow: FlowLines}
}

// Bauds are the rates that receipt printers offer on their switches.
func Bauds() []int { return []int{1200, 2400, 4800, 9600, 19200, 38400, 57600, 115200} }

// Parse reads settings as they stand in a URL's query. The error names the field, what was found
// and what is wanted.
func Parse(query url.Values) (Settings, error) {
	s := Default()
	var bauds []string
	for _, n := range Bauds() {
		bauds = append(bauds, strconv.Itoa(n))
	}
	for key, values := range query {
		var err error
		found := values[0]
		switch {
		case len(values) > 1:
			err = fmt.Errorf("%s is there %d times, want it once", key, len(values))
		case key == "baud":
			err = choose(key, found, bauds, func() { s.Baud, _ = strconv.Atoi(found) })
		case key == "parity":
			err = choose(key, found, []string{"none", "even", "odd"},
				func() { s.Parity = Parity(found) })
		case key == "stop":
			err = choose(key, found, []string{"1", "2"}, func() { s.Stop, _ = strconv.Atoi(found) })
		case key == "flow":
			err = choose(key, found, []string{"rtscts", "xonxoff", "none"},
				func() { s.Flow = Flow(found) })
		default:
			err = fmt.Errorf("setting %s is unknown, want baud, parity, stop or flow", quote(key))
		}
		if err != nil {
			return Settings{}, err
		}
	}
	return s, nil
}

func choose(key, found string, from []string, set func()) error {
	if !slices.Contains(from, found) {
		return fmt.Errorf("%s is %s, want %s", key, quote(found), strings.Join(from, ", "))
	}
	set()
	return nil
}

// quote bounds what a person wrote by mistake.
func quote(s string) string {
	const enough = 12
	return strconv.Quote(s[:min(len(s), enough)])
}

// Query is the settings as they stand in a URL, only what differs from [Default].
func (s Settings) Query() string {
	d := Default()
	var parts []string
	if s.Baud != d.Baud {
		parts = append(parts, "baud="+strconv.Itoa(s.Baud))
	}
	if s.Parity != d.Parity {
		parts = append(parts, "parity="+string(s.Parity))
	}
	if s.Stop != d.Stop {
		parts = append(parts, "stop="+strconv.Itoa(s.Stop))
	}
	if s.Flow != d.Flow {
		parts = append(parts, "flow="+string(s.Flow))
	}
	return strings.Join(parts, "&")
}

// Dialer opens one port.
type Dialer struct {
	path     string
	settings Settings
}

// New makes a dialer for an absolute path.
func New(path string, settings Settings) *Dialer { return &Dialer{path, settings} }

// Name is the printer's URL.
func (d *Dialer) Name() string {
	u := url.URL{Scheme: "serial", Path: d.path, RawQuery: d.settings.Query()}
	return u.String()
}

// TwoWay is true: what comes back on a cable is probed, not assumed.
func (d *Dialer) TwoWay() bool { return true }

// Dial opens the port and sets it. It never waits for the printer: a port says nothing of what is
// plugged into it. Its errors wrap [transport.ErrAbsent] or [transport.ErrBusy], or say what the
// kernel said.
func (d *Dialer) Dial(ctx context.Context) (transport.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("serial: opening %s: %w", d.path, err)
	}
	c, err := openPort(d.path, d.settings)
	switch {
	case err == nil:
		return c, nil
	case errors.Is(err, syscall.EBUSY), errors.Is(err, syscall.EWOULDBLOCK):
		return nil, fmt.Errorf("serial: %s: %w: %s", d.path, transport.ErrBusy,
			holder.Hint("/proc", d.path))
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("serial: %w: the user must be in the group dialout", err)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENODEV),
		errors.Is(err, syscall.ENXIO):
		return nil, fmt.Errorf("serial: %w: %w", transport.ErrAbsent, err)
	case errors.Is(err, os.ErrInvalid), errors.Is(err, syscall.ENOTTY):
		return nil, fmt.Errorf("serial: %s is no serial port: %w", d.path, err)
	}
	return nil, fmt.Errorf("serial: opening: %w", err)
}
