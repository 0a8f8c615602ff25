package virtual

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"chit/printer/profile"
)

// start is the first instant of every test.
var start = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// bench is a printer on the bench with a clock that the test moves.
type bench struct {
	t   *testing.T
	p   *Printer
	now time.Time
}

// pages of the printer on the bench.
var pages = []profile.Page{{Number: 0, Encoding: "CP437"}, {Number: 19, Encoding: "CP858"}}

func config(faults ...string) Config {
	c := Config{Pages: pages, Can: Everything()}
	for _, text := range faults {
		f, err := ParseFault(text)
		if err != nil {
			panic(err)
		}
		c.Faults = append(c.Faults, f)
	}
	return c
}

func newBench(t *testing.T, c Config) *bench {
	t.Helper()
	b := &bench{t: t, p: New(c), now: start}
	b.p.Connect(start)
	return b
}

// send offers bytes and demands that all are taken.
func (b *bench) send(s string) {
	b.t.Helper()
	if n := b.p.Receive(b.now, []byte(s)); n != len(s) {
		b.t.Fatalf("accepted %d of %d bytes", n, len(s))
	}
}

func (b *bench) after(d time.Duration) {
	b.now = b.now.Add(d)
	b.p.Advance(b.now)
}

// says demands exactly these answers, written in hex.
func (b *bench) says(want string) {
	b.t.Helper()
	got := strings.ToUpper(fmt.Sprintf("% x", b.p.Answers()))
	if got != want {
		b.t.Fatalf("%v: answered %q, want %q", b.now.Sub(start), got, want)
	}
}

// paper demands the texts of the sheets that were cut since the last call.
func (b *bench) paper(want ...string) {
	b.t.Helper()
	sheets := b.p.Sheets()
	if len(sheets) != len(want) {
		b.t.Fatalf("%d sheets came out, want %d: %+v", len(sheets), len(want), sheets)
	}
	for i, s := range sheets {
		if s.Text() != want[i] {
			b.t.Fatalf("sheet %d reads %q, want %q", i, s.Text(), want[i])
		}
	}
}

func (b *bench) hangs(want string) {
	b.t.Helper()
	if got := b.p.Pending().Text(); got != want {
		b.t.Fatalf("%v: in the machine hangs %q, want %q", b.now.Sub(start), got, want)
	}
}

func (b *bench) noErrors() {
	b.t.Helper()
	for _, e := range b.p.Errors() {
		b.t.Errorf("the printer objects at byte %d: %s", e.Offset, e.Text)
	}
}

func (b *bench) raise(text string) {
	b.t.Helper()
	f, err := ParseFault(text)
	if err != nil {
		b.t.Fatal(err)
	}
	b.p.Raise(b.now, f)
}

// Commands that the tests speak.
const (
	initialise = "\x1b@"
	asbOn      = "\x1da\x0f"
	fence      = "\x1dr\x01"
	cutFeed    = "\x1dVB\x00"
	cutHere    = "\x1dV\x01"
	clearAll   = "\x10\x14\x08\x01\x03\x14\x01\x06\x02\x08"
)

func id(token string) string { return "\x1d(H\x06\x0000" + token }

func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}
