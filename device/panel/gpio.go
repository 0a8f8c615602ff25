package panel

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"periph.io/x/conn/v3/driver/driverreg"
	"periph.io/x/conn/v3/gpio"
	"periph.io/x/host/v3/gpioioctl"
)

// ErrNoPin says that no chip of the board has a line of that name, or that the chips cannot be
// opened: on plain Debian they need firmware/70-chit.rules. The daemon goes on without.
var ErrNoPin = errors.New("no such GPIO line")

// Pins names the lines of a panel as the kernel does, such as "GPIO17"; "" is a thing that is not
// there. `gpioinfo` lists the names.
type Pins struct {
	Buzzer string `toml:"buzzer" comment:"GPIO line of the active buzzer, as GPIO17; empty: none."`
	Lamp   string `toml:"lamp" comment:"GPIO line of the lamp, as GPIO27; empty: none."`
	Button string `toml:"button" comment:"GPIO line of the button to ground, as GPIO22; empty: none."`
}

// Open finds the lines. Where one is missing the others work: the error joins an [ErrNoPin] for
// each that is, and the hardware returned with it is good to use.
func Open(p Pins) (Hardware, error) {
	if p == (Pins{}) {
		return Hardware{}, nil // Nothing is touched where nothing is asked for.
	}
	chips, err := boardChips()
	if err != nil {
		return Hardware{}, fmt.Errorf("panel: %w: %w", ErrNoPin, err)
	}
	return open(p, chips)
}

// chip is a GPIO chip: its label and its lines by name.
type chip interface {
	Label() string
	line(name string) gpio.PinIO
}

func open(p Pins, chips []chip) (Hardware, error) {
	var h Hardware
	var errs []error
	if pin, err := find(chips, p.Buzzer); err != nil {
		errs = append(errs, fmt.Errorf("panel: buzzer: %w", err))
	} else if pin != nil {
		h.Buzzer = &PinOutput{Pin: pin}
	}
	if pin, err := find(chips, p.Lamp); err != nil {
		errs = append(errs, fmt.Errorf("panel: lamp: %w", err))
	} else if pin != nil {
		h.Lamp = &PinOutput{Pin: pin}
	}
	if pin, err := find(chips, p.Button); err != nil {
		errs = append(errs, fmt.Errorf("panel: button: %w", err))
	} else if pin != nil {
		h.Button = PinButton{Pin: pin}
	}
	return h, errors.Join(errs...)
}

// find looks on the chips of the SoC alone. Other chips (expanders, the firmware's own) may have
// lines of the same name, and chip numbers differ between models and kernels.
func find(chips []chip, name string) (gpio.PinIO, error) {
	if name == "" {
		return nil, nil
	}
	for _, c := range chips {
		if !strings.HasPrefix(c.Label(), "pinctrl-") {
			continue
		}
		if pin := c.line(name); pin != nil {
			return pin, nil
		}
	}
	return nil, fmt.Errorf("%w: %q", ErrNoPin, name)
}

type boardChip struct{ *gpioioctl.GPIOChip }

func (c boardChip) line(name string) gpio.PinIO {
	if line := c.ByName(name); line != nil {
		return line
	}
	return nil // Not a nil *GPIOLine in an interface.
}

// boardChips opens the board's chips once for the process.
func boardChips() ([]chip, error) {
	state, err := driverreg.Init()
	if err != nil {
		return nil, fmt.Errorf("opening GPIO: %w", err)
	}
	for _, failed := range state.Failed {
		return nil, fmt.Errorf("opening GPIO: %w", failed.Err)
	}
	if len(gpioioctl.Chips) == 0 {
		return nil, errors.New("opening GPIO: this machine has no chip that may be opened")
	}
	chips := make([]chip, len(gpioioctl.Chips))
	for i, c := range gpioioctl.Chips {
		chips[i] = boardChip{c}
	}
	return chips, nil
}

// PinOutput is an output that is on when its line is high. The line is never read: reading makes an
// output an input (periph/conn issue 48).
type PinOutput struct {
	Pin gpio.PinOut

	mu     sync.Mutex
	closed bool
}

// Set writes the line. After Close it stays off, and on is an error: writing would take the line
// from the kernel again.
func (o *PinOutput) Set(on bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.closed && on:
		return fmt.Errorf("panel: %s: %w", o.Pin.Name(), os.ErrClosed)
	case o.closed:
		return nil
	}
	if err := o.Pin.Out(gpio.Level(on)); err != nil {
		return fmt.Errorf("panel: writing %s: %w", o.Pin.Name(), err)
	}
	return nil
}

// Close writes the line low and gives it back to the kernel.
func (o *PinOutput) Close() error {
	err := off(o)
	o.mu.Lock()
	defer o.mu.Unlock()
	if line, ok := o.Pin.(interface{ Close() }); ok && !o.closed {
		line.Close()
	}
	o.closed = true
	return err
}
