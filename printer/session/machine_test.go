package session

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"chit/printer/escpos"
	"chit/printer/profile"
	"chit/printer/transport"
	"chit/printer/virtual"
)

// machine is a virtual printer at the end of a pipe, inside a synctest bubble.
type machine struct {
	mu      sync.Mutex
	p       *virtual.Printer
	sheets  []virtual.Sheet
	changed chan struct{}
	line    net.Conn // the printer's end of the connection, nil while there is none
	dials   int
	running sync.WaitGroup
	deaf    bool          // no route to it
	patient []bool        // what the connection was told about being patient
	heard   time.Time     // when bytes came last
	pause   time.Duration // the longest time without bytes while connected
	given   int           // bytes
	loses   bool          // it cannot hold the host back: what has no room is lost
	lost    int           // bytes
}

func newMachine(c virtual.Config) *machine {
	return &machine{p: virtual.New(c), changed: make(chan struct{})}
}

func (m *machine) Name() string { return "virtual:test" }
func (m *machine) TwoWay() bool { return true }

var errNoRoute = errors.New("no route to printer")

func (m *machine) Dial(context.Context) (transport.Conn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.p.Advance(time.Now())
	if !m.p.On() || m.deaf {
		return nil, errNoRoute
	}
	m.dials++
	host, line := net.Pipe()
	m.line, m.heard = line, time.Now()
	m.p.Connect(time.Now())
	m.running.Go(func() { m.listen(line) })
	m.running.Go(func() { m.speak(line) })
	if m.loses {
		return slow{wire{host, m}}, nil
	}
	return wire{host, m}, nil
}

// slow is a wire on which the session paces itself.
type slow struct{ wire }

func (slow) Pace() int { return 512 }

// wire is the host's end.
type wire struct {
	net.Conn
	m *machine
}

func (w wire) SetPatient(patient bool) error {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	w.m.patient = append(w.m.patient, patient)
	return nil
}

// connections is how often the printer was dialled.
func (m *machine) connections() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dials
}

// do is a hand at the machine.
func (m *machine) do(hand func(p *virtual.Printer, now time.Time)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	hand(m.p, time.Now())
	m.notify()
}

// notify wakes both goroutines; the caller holds the lock.
func (m *machine) notify() {
	m.sheets = append(m.sheets, m.p.Sheets()...)
	close(m.changed)
	m.changed = make(chan struct{})
}

func (m *machine) listen(line net.Conn) {
	buffer := make([]byte, 1024)
	for {
		n, err := line.Read(buffer)
		for rest := buffer[:n]; len(rest) > 0; {
			m.mu.Lock()
			m.pause, m.heard = max(m.pause, time.Since(m.heard)), time.Now()
			taken := m.p.Receive(time.Now(), rest)
			m.given += taken
			rest = rest[taken:]
			if m.loses {
				m.lost += len(rest)
				rest = nil
			}
			if taken > 0 {
				m.notify()
			}
			changed, gone := m.changed, m.line != line
			m.mu.Unlock()
			if gone {
				return
			}
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

func (m *machine) speak(line net.Conn) {
	for {
		m.mu.Lock()
		if m.line != line {
			m.mu.Unlock()
			return
		}
		m.p.Advance(time.Now())
		m.sheets = append(m.sheets, m.p.Sheets()...)
		said, hungUp := m.p.Answers(), m.p.HungUp()
		at, due := m.p.Wake()
		changed := m.changed
		m.mu.Unlock()
		if len(said) > 0 {
			if n, err := line.Write(said); err != nil {
				m.do(func(p *virtual.Printer, _ time.Time) { p.Undelivered(said[n:]) })
				m.hangUp(line)
				return
			}
			continue
		}
		if hungUp {
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

func (m *machine) hangUp(line net.Conn) {
	line.Close()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.line == line {
		m.line = nil
		m.p.Disconnect(time.Now())
	}
	m.notify()
}

// papers are the texts of all sheets cut so far, one string each.
func (m *machine) papers() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.p.Advance(time.Now())
	m.sheets = append(m.sheets, m.p.Sheets()...)
	var out []string
	for _, sheet := range m.sheets {
		out = append(out, strings.Join(strings.Fields(sheet.Text()), " "))
	}
	return out
}

// story runs a session and a machine in a bubble and tells what happens.
type story struct {
	t       *testing.T
	m       *machine
	s       *Session
	states  []State
	mu      sync.Mutex
	changed chan struct{}
	stop    context.CancelFunc
	ended   chan error
}

var pages = []profile.Page{{Number: 0, Encoding: "CP437"}}

// good is an Epson that prints 10 lines a second.
func good() virtual.Config {
	return virtual.Config{
		WidthDots: 576, Pages: pages, Can: virtual.Everything(), BufferBytes: 4096, BladeDots: -1,
		LinesPerSecond: 10, LineFeeds: 1000, Cuts: 50,
		Identity: virtual.Identity{
			Maker: "EPSON", Model: "TM-T20III", Firmware: "1.02", Serial: "X3CK000123"},
	}
}

func tell(t *testing.T, c virtual.Config, known Unit, plot func(*story)) {
	t.Helper()
	tellOf(t, func() *machine { return newMachine(c) }, known, plot)
}

func tellOf(t *testing.T, made func() *machine, known Unit, plot func(*story)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		st := &story{t: t, m: made()}
		st.begin(Config{Known: known})
		plot(st)
		st.end()
		st.m.running.Wait()
	})
}

// begin starts a session as a fresh process would.
func (st *story) begin(c Config) {
	if c.Dialer == nil {
		c.Dialer = st.m
	}
	c.Changed = st.note
	c.Jitter = func(d time.Duration) time.Duration { return d }
	st.changed = make(chan struct{})
	st.states = nil
	st.s = New(c)
	ctx, cancel := context.WithCancel(context.Background())
	st.stop, st.ended = cancel, make(chan error, 1)
	s := st.s
	ended := st.ended
	go func() { ended <- s.Run(ctx) }()
}

func (st *story) end() {
	st.stop()
	if err := <-st.ended; !errors.Is(err, context.Canceled) {
		st.t.Errorf("Run returned %v", err)
	}
}

func (st *story) note(state State) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.states = append(st.states, state)
	close(st.changed)
	st.changed = make(chan struct{})
}

// until waits for a state.
func (st *story) until(what string, holds func(State) bool) State {
	st.t.Helper()
	deadline := time.After(time.Hour)
	for {
		st.mu.Lock()
		changed := st.changed
		st.mu.Unlock()
		if state := st.s.State(); holds(state) {
			return state
		}
		select {
		case <-changed:
		case <-deadline:
			st.t.Fatalf("waited an hour for %s; state %+v", what, st.s.State())
		}
	}
}

func (st *story) untilHold(h Hold) State {
	st.t.Helper()
	return st.until("hold "+string(h), func(s State) bool { return s.Hold == h })
}

func (st *story) untilReady() State { st.t.Helper(); return st.untilHold(HoldNone) }

// held is the holds there were, in order, each once.
func (st *story) holds() []Hold {
	st.mu.Lock()
	defer st.mu.Unlock()
	var out []Hold
	for _, s := range st.states {
		if len(out) == 0 || out[len(out)-1] != s.Hold {
			out = append(out, s.Hold)
		}
	}
	return out
}

// job is a ticket of some lines with a name on the first.
func job(n uint64, name string, lines int) Job {
	body := slices.Concat(escpos.Initialise(), []byte{0x1C, '.', 0x1B, 'R', 0}, escpos.EnableASB())
	body = append(body, name+"\n"...)
	for range lines - 1 {
		body = append(body, "two beers\n"...)
	}
	return Job{
		Token: escpos.TokenOf(n),
		Paper: escpos.Paper{Body: body, Cut: []byte{0x1D, 'V', 1}, LineFeeds: lines, Cuts: 1},
	}
}

func (st *story) print(j Job) Result {
	st.t.Helper()
	return st.s.Print(st.t.Context(), j)
}

// begun starts to print and lets the test go on.
func (st *story) begun(ctx context.Context, j Job) <-chan Result {
	done := make(chan Result, 1)
	s := st.s
	go func() { done <- s.Print(ctx, j) }()
	return done
}

func (st *story) wantPapers(want ...string) {
	st.t.Helper()
	if got := st.m.papers(); !slices.Equal(got, want) {
		st.t.Errorf("paper: got %q, want %q", got, want)
	}
}

func wantResult(t *testing.T, got Result, evidence Evidence) {
	t.Helper()
	if got.Evidence != evidence || !got.Started || got.Err != nil {
		t.Errorf("got %+v, want evidence %v", got, evidence)
	}
}

func ticket(name string, lines int) string {
	return name + strings.Repeat(" two beers", lines-1)
}

// pass lets the bubble's time go by.
func pass(d time.Duration) { <-time.After(d) }
