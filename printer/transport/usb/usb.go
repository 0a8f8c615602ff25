// Package usb drives a printer on USB through Linux's usblp driver, which shows it as
// /dev/usb/lpN. The number N is whatever was free when it was plugged in, so printers are found by
// what they are (vendor, product, serial number) or where they are plugged in, through sysfs, at
// every dial.
//
// What usblp does, and what follows (research/escpos.md 2.10, research/appliance.md section 2):
//
//   - One program at a time has the node; a second one gets EBUSY. [transport.ErrBusy] says who.
//   - Without waiting, a write hands over one block of at most 8 KiB, is presumed to go well, and
//     the next one gets EAGAIN until it went. Closing cancels a block that is still on its way, so
//     a program that writes and closes loses the tail and is told nothing. Here Write returns when
//     the printer has taken the last block, and Close waits for one that a deadline left behind.
//   - While a printer takes nothing, it is asked for its port status every 1.5 s: some go on only
//     when prodded, which usblp itself does only for programs that wait inside the driver.
//   - LPABORT ends such a wait without paper. ENOSPC then comes one write late, after the block
//     that hit the end was reported as written, and means: wait. It is never a failure here.
//   - A block that fails after it was presumed to go well is never reported. A byte count proves
//     nothing; only answers do.
//   - Unplugging gives ENODEV or EIO. Both mean: gone, dial again.
//   - An empty packet from the printer reads as zero bytes, which is not the end.
//   - An interface of protocol 1 can say nothing at all. Its Read waits for ever, so that the
//     printer is taken for one that does not answer.
package usb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"syscall"

	"chit/printer/transport"
	"chit/printer/transport/holder"
)

// Roots are the folders where the kernel shows devices and processes. The zero value is this
// machine's; tests have their own.
type Roots struct {
	Sys  string // default /sys
	Dev  string // default /dev
	Proc string // default /proc
}

func (r Roots) withDefaults() Roots {
	for _, x := range []struct {
		dir    *string
		preset string
	}{{&r.Sys, "/sys"}, {&r.Dev, "/dev"}, {&r.Proc, "/proc"}} {
		if *x.dir == "" {
			*x.dir = x.preset
		}
	}
	return r
}

// Config is where to look and how to open; the zero value is this machine.
type Config struct {
	Roots
	// Open opens a node; nil stands for the kernel's.
	Open func(path string) (Node, error)
}

// Match is what a printer must be. Empty fields match everything.
type Match struct {
	Vendor, Product string // four lower-case hex digits
	Serial          string // exactly as the printer says it
	Port            string // the bus and the ports on the way to it, such as 1-1.2
}

var (
	idForm   = regexp.MustCompile(`^([0-9a-fA-F]{4}):([0-9a-fA-F]{4})(?::([!-~]{1,126}))?$`)
	portForm = regexp.MustCompile(`^port=([1-9][0-9]*-[1-9][0-9]*(?:\.[1-9][0-9]*)*)$`)
)

// ParseMatch reads what follows usb: in a printer URL.
func ParseMatch(text string) (Match, error) {
	if m := idForm.FindStringSubmatch(text); m != nil {
		return Match{
			Vendor: strings.ToLower(m[1]), Product: strings.ToLower(m[2]), Serial: m[3],
		}, nil
	}
	if m := portForm.FindStringSubmatch(text); m != nil {
		return Match{Port: m[1]}, nil
	}
	return Match{}, errors.New(
		"want vendor and product as four hex digits each, or port=bus-port.port")
}

// String is the printer's URL.
func (m Match) String() string {
	switch {
	case m.Port != "":
		return "usb:port=" + m.Port
	case m.Serial != "":
		return "usb:" + m.Vendor + ":" + m.Product + ":" + m.Serial
	}
	return "usb:" + m.Vendor + ":" + m.Product
}

func (m Match) fits(p Printer) bool {
	same := func(want, got string) bool { return want == "" || want == got }
	return same(m.Vendor, p.Vendor) && same(m.Product, p.Product) && same(m.Serial, p.Serial) &&
		same(m.Port, p.Port)
}

// Dialer opens the one printer that matches.
type Dialer struct {
	match Match
	conf  Config
}

// New makes a dialer.
func New(match Match, conf Config) *Dialer {
	conf.Roots = conf.withDefaults()
	if conf.Open == nil {
		conf.Open = openNode
	}
	return &Dialer{match: match, conf: conf}
}

// Name is the printer's URL.
func (d *Dialer) Name() string { return d.match.String() }

// TwoWay is true: which interface the printer has is seen only when it is there, and Read of one
// that can say nothing waits.
func (d *Dialer) TwoWay() bool { return true }

// Dial finds the printer and opens it. It never waits. Its errors wrap [transport.ErrAbsent],
// [transport.ErrAmbiguous] or [transport.ErrBusy], or say what the kernel said.
func (d *Dialer) Dial(ctx context.Context) (transport.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("usb: opening %s: %w", d.match, err)
	}
	found, err := d.find()
	if err != nil {
		return nil, err
	}
	node, err := d.conf.Open(found.Node)
	if err != nil {
		return nil, d.explain(found, err)
	}
	// The node may have become another printer's between looking and opening.
	if again, err := d.find(); err != nil || again != found {
		closing := node.Close()
		return nil, errors.Join(
			fmt.Errorf("usb: %s was plugged elsewhere meanwhile", d.match), err, closing)
	}
	return newConn(node, found), nil
}

// find looks for the one printer that fits.
func (d *Dialer) find() (Printer, error) {
	var fitting []Printer
	for _, p := range List(d.conf.Roots) {
		if d.match.fits(p) {
			fitting = append(fitting, p)
		}
	}
	switch len(fitting) {
	case 1:
		return fitting[0], nil
	case 0:
		return Printer{}, d.absent()
	}
	var places []string
	for _, p := range fitting {
		places = append(places, "usb:port="+p.Port)
	}
	return Printer{}, fmt.Errorf("usb: %s: %w: write one of %s", d.match, transport.ErrAmbiguous,
		strings.Join(places, ", "))
}

// absent tells a printer that is not plugged in from one that usblp does not drive.
func (d *Dialer) absent() error {
	for _, p := range Undriven(d.conf.Roots) {
		if !d.match.fits(p) {
			continue
		}
		if p.Driver == "" {
			return fmt.Errorf("usb: %s is plugged in at port %s, but no driver has it: "+
				"modprobe usblp: %w", d.match, p.Port, transport.ErrAbsent)
		}
		return fmt.Errorf("usb: %s is plugged in at port %s, but the driver %s has it and not "+
			"usblp: stop the program that took it, such as CUPS: %w", d.match, p.Port, p.Driver,
			transport.ErrBusy)
	}
	return fmt.Errorf("usb: %s: %w", d.match, transport.ErrAbsent)
}

// explain says what an error of opening means.
func (d *Dialer) explain(p Printer, err error) error {
	switch {
	case errors.Is(err, syscall.EBUSY):
		return fmt.Errorf("usb: %s at %s: %w: %s", d.match, p.Node, transport.ErrBusy,
			holder.Hint(d.conf.Proc, p.Node))
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("usb: %s: %w: the user must be in the group lp, and the udev rules "+
			"70-chit.rules give the node to it", d.match, err)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENODEV), errors.Is(err, syscall.ENXIO):
		return fmt.Errorf("usb: %s: %w: %w", d.match, transport.ErrAbsent, err)
	}
	return fmt.Errorf("usb: opening %s: %w", d.match, err)
}
