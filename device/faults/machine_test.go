package faults

import (
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"chit/printer/transport"
	"chit/printer/virtual"
)

var errNoRoute = errors.New("no route to printer")

// userTimeout is network.UserTimeout: after it the kernel gives up a cable that is out.
const userTimeout = 30 * time.Second

// bench is one way to a virtual printer.
type bench interface {
	transport.Dialer
	printer() *machine
	// pull takes the cable out, push puts it in again.
	pull()
	push()
}

// machine is a virtual printer with a line or none.
type machine struct {
	mu      sync.Mutex
	p       *virtual.Printer
	sheets  []virtual.Sheet
	changed chan struct{}
	line    io.ReadWriteCloser
	ghost   io.ReadWriteCloser // a line of before a power cut, which looks whole to the host
	ghosts  bool               // a power cut says no goodbye
	cut     bool               // nothing passes
	wire    bool               // a line that stays: without cable or power bytes are lost
	buffer  int                // bytes
	stops   int                // how often it said XOFF
	stopped bool               // it said XOFF
	stray   []byte             // what a bad line or board says in between
	large   int                // writes of more than 64 bytes
	running sync.WaitGroup
}

func newMachine(c virtual.Config) *machine {
	return &machine{p: virtual.New(c), buffer: c.BufferBytes, changed: make(chan struct{})}
}

// do is a hand at the machine.
func (m *machine) do(hand func(p *virtual.Printer, now time.Time)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	hand(m.p, time.Now())
	m.notify()
}

// notify wakes whoever waits; the caller holds the lock.
func (m *machine) notify() {
	m.sheets = append(m.sheets, m.p.Sheets()...)
	close(m.changed)
	m.changed = make(chan struct{})
}

// plug makes line the printer's only one; the caller holds the lock.
func (m *machine) plug(line io.ReadWriteCloser) {
	m.line = line
	m.p.Connect(time.Now())
	m.running.Go(func() { m.listen(line) })
	m.running.Go(func() { m.speak(line) })
	m.notify()
}

// questionMax is more than any question has bytes; what ends a strip is NULs and not counted, since
// a printer that answers gets none.
const questionMax = 64

// kernelBytes is what the host's kernel takes of a write that cannot go on.
const kernelBytes = 64 << 10

func (m *machine) listen(line io.ReadWriteCloser) {
	buffer := make([]byte, kernelBytes)
	for {
		n, err := line.Read(buffer)
		if n > questionMax {
			m.mu.Lock()
			m.large++
			m.mu.Unlock()
		}
		for rest := buffer[:n]; len(rest) > 0; {
			m.mu.Lock()
			now := time.Now()
			m.p.Advance(now)
			switch {
			case m.ghost == line && m.p.On():
				m.mu.Unlock()
				line.Close() // It knows nothing of this connection: RST.
				return
			case m.ghost == line, m.wire && m.cut:
				rest = nil
			case m.line != line:
				m.mu.Unlock()
				return
			case !m.cut:
				taken := m.p.Receive(now, rest)
				if rest = rest[taken:]; taken > 0 {
					m.notify()
				}
				m.flow(line)
			}
			changed := m.changed
			m.mu.Unlock()
			if len(rest) > 0 {
				select {
				case <-changed:
				case <-time.After(500 * time.Millisecond):
				}
			}
		}
		if err != nil {
			m.hangUp(line)
			return
		}
	}
}

func (m *machine) speak(line io.ReadWriteCloser) {
	for {
		m.mu.Lock()
		if m.line != line {
			m.mu.Unlock()
			return
		}
		m.p.Advance(time.Now())
		m.sheets = append(m.sheets, m.p.Sheets()...)
		var said []byte
		if m.wire && m.cut {
			m.p.Answers() // Nobody hears it.
		}
		if !m.cut {
			said = append(m.stray, m.p.Answers()...)
			m.stray = nil
		}
		if m.wire && m.p.HungUp() {
			m.p.Connect(time.Now()) // Neither end of a wire knows of the other's power.
		}
		m.flow(line)
		hungUp := m.p.HungUp()
		if hungUp && m.ghosts && !m.p.On() {
			m.ghost, m.line = line, nil
			m.p.Disconnect(time.Now())
			m.notify()
			m.mu.Unlock()
			return
		}
		at, due := m.p.Wake()
		if soon := time.Now().Add(500 * time.Millisecond); m.cut && due && at.Before(soon) {
			at = soon // What it says is due and cannot leave.
		}
		changed := m.changed
		m.mu.Unlock()
		switch {
		case len(said) > 0:
			if _, err := line.Write(said); err != nil {
				m.hangUp(line)
				return
			}
			continue
		case hungUp:
			m.hangUp(line)
			return
		}
		var timer <-chan time.Time
		if due {
			timer = time.After(time.Until(at))
		}
		select {
		case <-changed:
		case <-timer:
		}
	}
}

// XON and XOFF.
const (
	xon  = 0x11
	xoff = 0x13
)

// flow holds the host back while the buffer is nearly full, on a wire. The caller holds the lock.
func (m *machine) flow(line io.Writer) {
	const little, much = 96, 160
	room := m.buffer - m.p.Buffered()
	said := []byte{xoff}
	switch {
	case !m.wire || m.cut || !m.p.On():
		return
	case !m.stopped && room < little:
	case m.stopped && room > much:
		said[0] = xon
	default:
		return
	}
	if m.stopped = !m.stopped; m.stopped {
		m.stops++
	}
	_, _ = line.Write(said) // A line that is gone needs no flow control.
}

func (m *machine) hangUp(line io.ReadWriteCloser) {
	line.Close()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.line == line {
		m.line = nil
		m.p.Disconnect(time.Now())
	}
	m.notify()
}

// end closes whatever line there is and waits.
func (m *machine) end() {
	m.mu.Lock()
	lines := []io.ReadWriteCloser{m.line, m.ghost}
	m.line, m.ghost = nil, nil
	m.notify()
	m.mu.Unlock()
	for _, line := range lines {
		if line != nil {
			line.Close()
		}
	}
	m.running.Wait()
}

// papers are the texts of all sheets so far, what hangs in the machine last.
func (m *machine) papers() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.p.Advance(time.Now())
	m.sheets = append(m.sheets, m.p.Sheets()...)
	var out []string
	for _, sheet := range append(m.sheets[:len(m.sheets):len(m.sheets)], m.p.Pending()) {
		if text := strings.Join(strings.Fields(sheet.Text()), " "); text != "" {
			out = append(out, text)
		}
	}
	return out
}
