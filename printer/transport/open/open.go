// Package open turns the printer URL of a configuration into a dialer.
package open

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"runtime"
	"strconv"
	"strings"

	"chit/printer/transport"
	"chit/printer/transport/file"
	"chit/printer/transport/neighbour"
	"chit/printer/transport/network"
	"chit/printer/transport/serial"
	"chit/printer/transport/usb"
)

// Forms lists the printer URLs there are, for hints and help texts; virtual: is there too for
// programs that have it.
const Forms = "tcp://host[:9100][?mac=00:26:ab:12:34:56], file:///path, " +
	"usb:<vid>:<pid>[:<serial>], usb:port=1-1.2, " +
	"serial:///dev/serial/by-id/…[?baud=9600&flow=rtscts|xonxoff|none]"

// Virtual makes the dialer of a virtual: URL from what follows the colon.
type Virtual func(rest string) (transport.Dialer, error)

// Parse reads a printer URL. The error wraps [transport.ErrURL] where the URL is wrong and names
// the part, and [transport.ErrNotBuilt] where it is right and this system has no such cable.
// virtual may be nil: then virtual: URLs are refused.
func Parse(text string, virtual Virtual) (transport.Dialer, error) {
	dialer, err := parse(text, virtual)
	forms := Forms
	if virtual != nil {
		forms += ", virtual:"
	}
	if errors.Is(err, transport.ErrURL) {
		return nil, fmt.Errorf("%w (want one of: %s)", err, forms)
	}
	return dialer, err
}

func parse(text string, virtual Virtual) (transport.Dialer, error) {
	scheme, rest, found := strings.Cut(text, ":")
	if !found {
		return nil, wrong(text, "there is no scheme before a colon")
	}
	switch scheme {
	case "tcp":
		return parseTCP(text)
	case "file":
		return parseFile(text)
	case "usb":
		return parseUSB(text, rest)
	case "serial":
		return parseSerial(text)
	case "virtual":
		if virtual == nil {
			return nil, wrong(text, "this program has no virtual printer")
		}
		return virtual(rest)
	}
	return nil, wrong(text, fmt.Sprintf("scheme %q is unknown", scheme))
}

// wrong never repeats the text whole: a URL may hold what somebody pasted by mistake.
func wrong(text, why string) error {
	scheme, _, _ := strings.Cut(text, ":")
	return fmt.Errorf("%w: printer %s…: %s", transport.ErrURL, strconv.Quote(cut(scheme)), why)
}

func cut(s string) string {
	const enough = 12
	if len(s) > enough {
		return s[:enough]
	}
	return s
}

func parseTCP(text string) (transport.Dialer, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, wrong(text, "host and port cannot be read")
	case u.Hostname() == "":
		return nil, wrong(text, "the host is missing")
	case u.User != nil:
		return nil, wrong(text, "user and password mean nothing here")
	case u.Path != "" && u.Path != "/", u.Fragment != "":
		return nil, wrong(text, "nothing but ?mac= or ?serial= may follow the port")
	}
	unit, err := parseUnit(u.RawQuery)
	if err != nil {
		return nil, wrong(text, err.Error())
	}
	port := network.PortDefault
	if digits := u.Port(); digits != "" {
		port, err = strconv.Atoi(digits)
		if err != nil || port < 1 || port > 65535 {
			return nil, wrong(text, fmt.Sprintf("port %q: want 1 to 65535", digits))
		}
	}
	return network.NewUnit(u.Hostname(), port, unit, network.Config{}), nil
}

// parseUnit reads which printer is meant at an address.
func parseUnit(text string) (network.Unit, error) {
	const serialMax = 80 // GS I gives no more (Epson, "Printer information B").
	var unit network.Unit
	query, err := url.ParseQuery(text)
	if err != nil {
		return unit, errors.New("what follows the question mark cannot be read")
	}
	for key, values := range query {
		switch {
		case len(values) > 1:
			return unit, fmt.Errorf("%s is there %d times, want it once", cut(key), len(values))
		case key == "mac":
			if unit.MAC, err = neighbour.ParseMAC(values[0]); err != nil {
				return unit, err
			}
		case key == "serial":
			if n := len(values[0]); n == 0 || n > serialMax {
				return unit, fmt.Errorf("serial has %d characters, want 1 to %d", n, serialMax)
			}
			unit.Serial = values[0]
		default:
			return unit, fmt.Errorf("setting %q is unknown, want mac or serial", cut(key))
		}
	}
	return unit, nil
}

func parseFile(text string) (transport.Dialer, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, wrong(text, "the path cannot be read")
	case u.Host != "" && u.Host != "localhost":
		return nil, wrong(text, "a file has no host: write three slashes before the path")
	case !path.IsAbs(u.Path) || strings.HasSuffix(u.Path, "/"):
		return nil, wrong(text, "want the absolute path of a file or a device node")
	case u.RawQuery != "", u.Fragment != "":
		return nil, wrong(text, "write ? and # in a path as %3F and %23")
	}
	return file.New(u.Path), nil
}

func parseUSB(text, rest string) (transport.Dialer, error) {
	match, err := usb.ParseMatch(rest)
	if err != nil {
		return nil, wrong(text, err.Error())
	}
	if err := onlyLinux(text); err != nil {
		return nil, err
	}
	return usb.New(match, usb.Config{}), nil
}

func parseSerial(text string) (transport.Dialer, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, wrong(text, "the path cannot be read")
	case u.Host != "" || !strings.HasPrefix(u.Path, "/dev/") || path.Clean(u.Path) != u.Path:
		return nil, wrong(text, "want three slashes and a path below /dev/")
	case u.Fragment != "":
		return nil, wrong(text, "write # in a path as %23")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, wrong(text, "what follows the question mark cannot be read")
	}
	settings, err := serial.Parse(query)
	if err != nil {
		return nil, wrong(text, err.Error())
	}
	if err := onlyLinux(text); err != nil {
		return nil, err
	}
	return serial.New(u.Path, settings), nil
}

// onlyLinux refuses cables that only Linux has.
func onlyLinux(text string) error {
	if runtime.GOOS == "linux" {
		return nil
	}
	scheme, _, _ := strings.Cut(text, ":")
	return fmt.Errorf("printer %s: on %s: %w", scheme, runtime.GOOS, transport.ErrNotBuilt)
}
