package neighbour

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"chit/printer/escpos"
	"chit/printer/status"
)

// Answer is what a listener said of itself.
type Answer struct {
	// Speaks is true where it answered DLE EOT 1 as receipt printers do.
	Speaks  bool
	Offline bool // it cannot print now
	// What GS I gave; empty where it is not answered. Clones answer with other makers' names.
	Maker, Model, Firmware, Serial string
}

// The n of GS I (Epson, "Printer information B").
const (
	askFirmware = 65
	askMaker    = 66
	askModel    = 67
	askSerial   = 68
)

// Ask asks a printer on a fresh connection what it is, waiting for each answer at most as long as
// said. It moves no paper and leaves no byte in the printer's line.
func Ask(c net.Conn, wait time.Duration) (Answer, error) {
	q := inquiry{c: c, wait: wait}
	event, err := q.ask(status.ExpectPrinter, escpos.RealtimeStatus(1))
	state, spoke := event.(status.Printer)
	if err != nil || !spoke {
		return Answer{}, err
	}
	a := Answer{Speaks: true, Offline: state.Offline}
	for _, x := range []struct {
		n    byte
		into *string
	}{{askModel, &a.Model}, {askMaker, &a.Maker}, {askFirmware, &a.Firmware}, {askSerial, &a.Serial}} {
		event, err := q.ask(status.ExpectIdentity, escpos.Identity(x.n))
		if err != nil {
			return a, err
		}
		text, ok := event.(status.Identity)
		if !ok {
			// What it did not understand may stand in its line now: ESC @ clears that.
			if _, err := c.Write(escpos.Initialise()); err != nil {
				return a, fmt.Errorf("neighbour: ending the questions: %w", err)
			}
			break
		}
		*x.into = printable(text.Text)
	}
	return a, nil
}

// inquiry is one connection that is asked one question after the other.
type inquiry struct {
	c      net.Conn
	wait   time.Duration
	stream status.Stream
}

// ask sends a question and waits for what answers it; nil where nothing does in time.
func (q *inquiry) ask(kind status.Kind, question []byte) (status.Event, error) {
	if err := q.c.SetDeadline(time.Now().Add(q.wait)); err != nil {
		return nil, fmt.Errorf("neighbour: asking: %w", err)
	}
	q.stream.Expect(kind)
	if _, err := q.c.Write(question); err != nil {
		return nil, fmt.Errorf("neighbour: asking: %w", err)
	}
	p := make([]byte, 256)
	for {
		n, err := q.c.Read(p)
		for _, e := range q.stream.Write(p[:n]) {
			switch e.(type) {
			case status.Printer, status.Identity:
				return e, nil
			}
		}
		var late net.Error
		if errors.As(err, &late) && late.Timeout() {
			q.stream.Cancel(kind)
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("neighbour: asking: %w", err)
		}
	}
}

// printable leaves no control character of a stranger in what people see.
func printable(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '_'
		}
		return r
	}, text))
}
