package session_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"chit/printer/document"
	"chit/printer/escpos"
	"chit/printer/profile"
	"chit/printer/session"
	"chit/printer/transport"
	"chit/printer/transport/network"
	"chit/printer/virtual"
	"chit/printer/virtual/serve"
)

// kitchen is a session on a virtual printer behind a real TCP port, with waits for a fast machine.
type kitchen struct {
	t       *testing.T
	printer *serve.Server
	session *session.Session
	facts   profile.Profile
	mu      sync.Mutex
	changed chan struct{}
	tickets uint64
}

// patience bounds every wait of these tests.
const patience = 20 * time.Second

func openKitchen(t *testing.T, facts profile.Profile, faults ...string) *kitchen {
	t.Helper()
	conf := virtual.ConfigFor(facts)
	for _, text := range faults {
		conf.Faults = append(conf.Faults, fault(t, text))
	}
	printer, err := serve.Start(context.Background(),
		serve.Config{Printer: conf, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	host, port, err := net.SplitHostPort(printer.Addr())
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	k := &kitchen{t: t, printer: printer, facts: facts, changed: make(chan struct{})}
	k.run(network.New(host, number))
	return k
}

func (k *kitchen) run(dialer transport.Dialer) {
	k.session = session.New(session.Config{
		Dialer: dialer,
		Changed: func(session.State) {
			k.mu.Lock()
			defer k.mu.Unlock()
			close(k.changed)
			k.changed = make(chan struct{})
		},
		Timing: session.Timing{
			Hello: 300 * time.Millisecond, Answer: 500 * time.Millisecond, Fence: 3 * time.Second,
			Poll: 100 * time.Millisecond, Keepalive: 500 * time.Millisecond,
			RedialMin: 10 * time.Millisecond, RedialMax: 100 * time.Millisecond,
		},
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- k.session.Run(ctx) }()
	k.t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			k.t.Errorf("Run returned %v", err)
		}
		if err := k.printer.Close(); err != nil {
			k.t.Errorf("closing the printer: %v", err)
		}
	})
}

func fault(t *testing.T, text string) virtual.Fault {
	t.Helper()
	f, err := virtual.ParseFault(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (k *kitchen) raise(text string) {
	k.t.Helper()
	if err := k.printer.Raise(fault(k.t, text)); err != nil {
		k.t.Fatal(err)
	}
}

func (k *kitchen) clear(name virtual.FaultName) {
	k.t.Helper()
	if err := k.printer.Clear(name); err != nil {
		k.t.Fatal(err)
	}
}

func (k *kitchen) until(h session.Hold) session.State {
	k.t.Helper()
	deadline := time.After(patience)
	for {
		k.mu.Lock()
		changed := k.changed
		k.mu.Unlock()
		if state := k.session.State(); state.Hold == h {
			return state
		}
		select {
		case <-changed:
		case <-deadline:
			k.t.Fatalf("waited for hold %q, state %+v", h, k.session.State())
		}
	}
}

// ticket encodes a real document for the printer's profile.
func (k *kitchen) ticket(name string, lines int) session.Job {
	k.t.Helper()
	var d document.Document
	large := document.Style{Width: 2, Height: 2}
	d.Add(document.Line{Spans: []document.Span{{Text: name, Style: large}}})
	for i := range lines {
		d.Add(document.Line{Spans: []document.Span{{Text: fmt.Sprintf("%d x Käsespätzle", i+1)}}})
	}
	paper, err := escpos.Encode(d, k.facts)
	if err != nil {
		k.t.Fatal(err)
	}
	k.tickets++
	return session.Job{Paper: paper, Token: escpos.TokenOf(k.tickets)}
}

func (k *kitchen) print(j session.Job) session.Result {
	ctx, cancel := context.WithTimeout(k.t.Context(), patience)
	defer cancel()
	return k.session.Print(ctx, j)
}

// count is how many sheets bear the name; it waits until the paper is cut.
func (k *kitchen) wantOnce(names ...string) {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), patience)
	defer cancel()
	text := func(sheets []virtual.Sheet) string {
		var b strings.Builder
		for _, sheet := range sheets {
			b.WriteString(sheet.Text())
		}
		return b.String()
	}
	err := k.printer.Wait(ctx, func(sheets []virtual.Sheet) bool {
		for _, name := range names {
			if !strings.Contains(text(sheets), name) {
				return false
			}
		}
		return true
	})
	if err != nil {
		k.t.Errorf("waiting for paper: %v", err)
	}
	for _, name := range names {
		if n := strings.Count(text(k.printer.Sheets()), name); n != 1 {
			k.t.Errorf("%s is on paper %d times", name, n)
		}
	}
	for _, sheet := range k.printer.Sheets() {
		if errs := sheet.Errors(); len(errs) > 0 {
			k.t.Errorf("the printer objected: %v", errs)
		}
	}
}

// Encoder, session and printer count the same: that is what makes an odometer worth trusting.
func TestEncodedTicketsAreConfirmedAndCountedOverTCP(t *testing.T) {
	for _, facts := range []profile.Profile{profile.Safe80(), profile.Safe58()} {
		t.Run(facts.Name, func(t *testing.T) {
			k := openKitchen(t, facts)
			unit := k.until(session.HoldNone).Unit
			if !unit.ProcessID || !unit.Odometer || !unit.Pushes {
				t.Errorf("unit %+v", unit)
			}
			for _, name := range []string{"ONE", "TWO", "THREE"} {
				before := k.session.State().Unit.Counters
				j := k.ticket(name, 6)
				j.Before = before
				r := k.print(j)
				if r.Evidence != session.Confirmed || r.Err != nil {
					t.Errorf("%s: %+v", name, r)
				}
				if r.Counters.LineFeeds-before.LineFeeds != uint64(j.Paper.LineFeeds) ||
					r.Counters.Cuts-before.Cuts != uint64(j.Paper.Cuts) {
					t.Errorf("%s: the odometer went from %+v to %+v, the encoder expected +%d, +%d",
						name, before, r.Counters, j.Paper.LineFeeds, j.Paper.Cuts)
				}
			}
			if !facts.Cutter {
				return // Nobody tears the paper off here.
			}
			k.wantOnce("ONE", "TWO", "THREE")
		})
	}
}

func TestFaultsOverTCP(t *testing.T) {
	for _, c := range []struct {
		fault    string
		name     virtual.FaultName
		hold     session.Hold // waited for and repaired, where there is one
		evidence session.Evidence
		cause    error
	}{
		{"paper-out:after=3", virtual.PaperOut, session.HoldPaper, session.Confirmed, nil},
		{"cover-open:after=3", virtual.CoverOpen, session.HoldCover, session.Confirmed, nil},
		{"head-hot:after=3", virtual.HeadHot, session.HoldHot, session.Confirmed, nil},
		{"late-answers:delay=100ms", "", "", session.Confirmed, nil},
		{"drop:after-bytes=150", "", "", session.None, session.ErrLink},
		{"silent:after=5", "", "", session.None, session.ErrSilence},
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			k := openKitchen(t, profile.Safe80())
			k.until(session.HoldNone)
			k.raise(c.fault)
			done := make(chan session.Result, 1)
			j := k.ticket("FAULTY", 12)
			go func() { done <- k.print(j) }()
			if c.hold != "" {
				k.until(c.hold)
				k.clear(c.name)
			}
			r := <-done
			if !r.Started || r.Evidence != c.evidence || !errors.Is(r.Err, c.cause) {
				t.Errorf("got %+v, want %v, %v", r, c.evidence, c.cause)
			}
			if c.evidence > session.None {
				k.wantOnce("FAULTY")
			}
		})
	}
}

func TestAPrinterSwitchedOffAndOnIsFoundAgainOverTCP(t *testing.T) {
	k := openKitchen(t, profile.Safe80())
	k.until(session.HoldNone)
	if r := k.print(k.ticket("BEFORE", 3)); r.Evidence != session.Confirmed {
		t.Errorf("before: %+v", r)
	}
	k.raise("power-off")
	if r := k.print(k.ticket("WHILE", 3)); r.Started {
		t.Errorf("while it was off: %+v", r)
	}
	k.clear(virtual.PowerCut)
	k.until(session.HoldNone)
	for {
		r := k.print(k.ticket("AFTER", 3))
		if r.Evidence == session.Confirmed {
			break
		}
		if r.Started { // Only a refusal may be tried again.
			t.Fatalf("after: %+v", r)
		}
		k.until(session.HoldNone)
	}
	k.wantOnce("BEFORE", "AFTER")
}
