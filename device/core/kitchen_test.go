package core_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"chit/device/core"
	"chit/device/core/coretest"
	"chit/device/wire"
	"chit/printer/document"
	"chit/printer/escpos"
	"chit/printer/session"
)

// kitchen tells stories: a device with a journal in memory, one or two printers, and a broker that
// only listens.
type kitchen struct {
	t     testing.TB
	m     *core.Machine
	store *coretest.Memory
	now   core.Now
	boot  string // kernel boot id

	paper    []sheet // what reached a printer's session, in order
	at       map[string]core.Print
	asked    map[string]core.Resolve
	clears   map[string]core.ClearPrinter
	acks     []wire.Ack
	replies  []wire.Reply
	pubacks  []core.Handle
	sounds   []core.Pattern
	light    core.Light
	status   wire.Status
	handle   core.Handle
	lay      func(core.Sheet) (document.Document, error)
	plain    func(core.Sheet, string) document.Document
	unspelt  error  // of every document that is drawn
	replaced []rune // in every document that is only spelt
	sessions int
	seen     []int // what presses did
	insist   time.Duration
	attended bool

	processes uint64 // started so far
}

// sheet is one paper, as the fake layout writes it into the bytes.
type sheet struct {
	ID        string
	Slip      core.Slip `json:",omitempty"`
	Duplicate bool      `json:",omitempty"`
	PowerCut  bool      `json:",omitempty"`
	Late      bool      `json:",omitempty"`
	Plain     string    `json:",omitempty"`
	Missing   string    `json:",omitempty"`
	OlderThan int       `json:",omitempty"`
	Number    string    `json:",omitempty"`
	Above     []string  `json:",omitempty"` // "39 moved bar", "40 cancelled torn"
	Ignored   []string  `json:",omitempty"` // ids of the same
	Lists     []string  `json:",omitempty"`
}

func (s sheet) String() string {
	words := []string{s.ID}
	for _, w := range []struct {
		on   bool
		word string
	}{
		{s.Slip != "", string(s.Slip)}, {s.Duplicate, "DUPLICATE"}, {s.PowerCut, "POWER-CUT"},
		{s.Late, "LATE"},
		{s.Plain != "", "PLAIN"}, {s.Missing != "", "missing " + s.Missing},
		{len(s.Above) > 0, "(" + strings.Join(s.Above, ", ") + ")"},
		{s.OlderThan != 0, fmt.Sprint("older than ", s.OlderThan)},
		{len(s.Lists) > 0, strings.Join(s.Lists, " ")},
	} {
		if w.on {
			words = append(words, w.word)
		}
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

func document1(s sheet) document.Document {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return document.Document{Blocks: []document.Block{document.Text(string(b), document.Style{})}}
}

func (k *kitchen) config(printers ...string) core.Config {
	if len(printers) == 0 {
		printers = []string{"kitchen"}
	}
	k.processes++
	make1 := func(s core.Sheet) sheet {
		p := sheet{
			ID: s.Ticket.ID, Duplicate: s.PossibleDuplicate, PowerCut: s.PowerCut,
			Late:    slices.Contains(s.Ticket.Marks, wire.MarkLate),
			Missing: s.Missing, OlderThan: s.OlderThan, Number: s.Ticket.Number,
		}
		for _, a := range s.Above {
			words := strings.Join([]string{a.Number, a.Reason, a.MovedTo}, " ")
			if a.Torn {
				words += " torn"
			}
			p.Above = append(p.Above, strings.Join(strings.Fields(words), " "))
			if a.Reason != "dead" {
				p.Ignored = append(p.Ignored, a.Ticket)
			}
		}
		if s.AboveMore > 0 {
			p.Above = append(p.Above, fmt.Sprint("and ", s.AboveMore, " more"))
		}
		return p
	}
	return core.Config{
		Device: "pi-1", Version: "test", Printers: printers,
		VolatileBoot: 76 + k.processes, Insist: k.insist, Attended: k.attended,
		Lay: func(s core.Sheet) (document.Document, error) {
			if k.lay != nil {
				return k.lay(s)
			}
			return document1(make1(s)), nil
		},
		Plain: func(s core.Sheet, reason string) document.Document {
			if k.plain != nil {
				return k.plain(s, reason)
			}
			p := make1(s)
			p.Plain = reason
			return document1(p)
		},
		LaySlip: func(slip core.Slip, s core.Sheet) document.Document {
			p := make1(s)
			p.Slip = slip
			for _, w := range s.Backlog {
				p.Lists = append(p.Lists, w.ID)
			}
			return document1(p)
		},
		Encode: func(_ string, d document.Document) (escpos.Paper, error) {
			if k.unspelt != nil {
				return escpos.Paper{}, k.unspelt
			}
			return encode(d), nil
		},
		EncodePlain: func(_ string, d document.Document) (escpos.Paper, error) {
			paper := encode(d)
			paper.Replaced = k.replaced
			return paper, nil
		},
	}
}

func encode(d document.Document) escpos.Paper {
	text := d.Blocks[0].(document.Line).Spans[0].Text
	return escpos.Paper{Body: []byte(text), LineFeeds: 10, Cuts: 1}
}

func newKitchen(t testing.TB, printers ...string) *kitchen {
	k := &kitchen{}
	k.begin(t, printers...)
	return k
}

func (k *kitchen) begin(t testing.TB, printers ...string) {
	k.t, k.store, k.boot = t, coretest.NewMemory("journal-1"), "boot-1"
	k.at, k.asked = map[string]core.Print{}, map[string]core.Resolve{}
	k.clears = map[string]core.ClearPrinter{}
	k.now = core.Now{Up: time.Minute, Wall: time.Unix(86400, 0)}
	k.m = core.New(k.config(printers...))
	k.do(core.Started{State: k.store.Load(), KernelBoot: k.boot})
}

// opened is a kitchen whose printers work and whose broker listens.
func opened(t testing.TB, printers ...string) *kitchen {
	k := newKitchen(t, printers...)
	if len(printers) == 0 {
		printers = []string{"kitchen"}
	}
	for _, p := range printers {
		k.printer(p, session.HoldNone)
	}
	k.connect(0)
	k.forget()
	return k
}

// do steps events as one batch: one commit, then the effects.
func (k *kitchen) do(events ...core.Event) {
	k.t.Helper()
	write, then := k.decide(events...)
	k.store.Apply(write)
	k.m.Committed()
	k.perform(then)
	if next, ok := k.m.Next(k.now); ok && next <= k.now.Up+time.Millisecond {
		k.now.Up = next
		k.do(core.Tick{})
	}
}

func (k *kitchen) decide(events ...core.Event) (write []core.Change, then []core.Effect) {
	for _, e := range events {
		d := k.m.Step(k.now, e)
		write, then = append(write, d.Write...), append(then, d.Then...)
	}
	return write, then
}

func (k *kitchen) perform(effects []core.Effect) {
	k.t.Helper()
	for _, effect := range effects {
		switch e := effect.(type) {
		case core.Print:
			slip := e.Job.Token == escpos.TokenOf(0)
			if !slip && k.store.Intents[e.Printer].Token != e.Job.Token {
				k.t.Fatalf("print %q left before its intent was on disk", e.Ticket)
			}
			k.at[e.Printer] = e
			k.paper = append(k.paper, sheetOf(k.t, e))
		case core.Resolve:
			k.asked[e.Printer] = e
		case core.ClearPrinter:
			k.clears[e.Printer] = e
		case core.Answer:
			k.acks = append(k.acks, e.Ack)
		case core.Reply:
			k.replies = append(k.replies, e.Reply)
		case core.Puback:
			k.pubacks = append(k.pubacks, e.Handle)
		case core.Sound:
			k.sounds = append(k.sounds, e.Pattern)
		case core.Pressed:
			k.seen = append(k.seen, e.Seen)
		case core.Lamp:
			k.light = e.Light
		case core.StatusChanged:
			k.status = e.Status
		}
	}
}

func sheetOf(t testing.TB, e core.Print) (s sheet) {
	if err := json.Unmarshal(e.Job.Paper.Body, &s); err != nil {
		t.Fatalf("paper %q: %v", e.Job.Paper.Body, err)
	}
	return s
}

// ticket makes an event as it would arrive.
func ticket(id string, more ...func(*core.TicketArrived)) core.TicketArrived {
	e := core.TicketArrived{
		Kind: wire.KindNew, Digest: "sha256:" + strings.Repeat("ab", 32),
		Ticket: wire.Ticket{
			ID: id, Attempt: 1, Lease: 30_000, Expires: 30 * 86400, Data: []byte(`{"id":"` + id + `"}`),
			Time: time.Unix(1_700_000_000, 0).UTC().Format(time.RFC3339),
		},
	}
	for _, f := range more {
		f(&e)
	}
	return e
}

func attempt(n int) func(*core.TicketArrived) {
	return func(e *core.TicketArrived) { e.Ticket.Attempt = n }
}

// arrives lets tickets arrive together.
func (k *kitchen) arrives(tickets ...core.TicketArrived) {
	k.t.Helper()
	var events []core.Event
	for _, e := range tickets {
		k.handle++
		e.Handle = k.handle
		e.Known = k.store.Lookup(e.Ticket.ID)
		e.PredKnown = k.store.Lookup(e.Ticket.Pred).Found
		events = append(events, e)
	}
	k.do(events...)
}

func (k *kitchen) recalls(id string, attempt int) {
	k.t.Helper()
	k.handle++
	k.do(core.Recalled{
		Recall: wire.Recall{ID: "rc-" + id, Ticket: id, Attempt: attempt, Reason: "moved",
			MovedTo: "bar"},
		Handle: k.handle,
		Known:  k.store.Lookup(id),
	})
}

func (k *kitchen) printer(name string, hold session.Hold) {
	k.t.Helper()
	k.do(core.PrinterState{Printer: name, State: session.State{
		Hold: hold, Unit: session.Unit{Fingerprint: "unit-1", TwoWay: true, Fence: true},
	}})
}

// printed ends what is at the printer with this evidence.
func (k *kitchen) printed(e session.Evidence) {
	k.t.Helper()
	k.result("kitchen", session.Result{Started: true, Evidence: e})
}

func (k *kitchen) result(printer string, r session.Result) {
	k.t.Helper()
	p, ok := k.at[printer]
	if !ok {
		k.t.Fatalf("nothing is at printer %s", printer)
	}
	delete(k.at, printer)
	k.do(core.PrintDone{Printer: printer, Token: p.Job.Token, Result: r})
}

func (k *kitchen) resolve(r session.Resolution) {
	k.t.Helper()
	q, ok := k.asked["kitchen"]
	if !ok {
		k.t.Fatal("nobody asked what became of the paper")
	}
	delete(k.asked, "kitchen")
	k.do(core.Resolved{Printer: "kitchen", Token: q.Token, Resolution: r})
}

func (k *kitchen) connect(nSeen uint64) {
	k.t.Helper()
	k.sessions++
	id := fmt.Sprint("s", k.sessions)
	k.do(core.Connected{Session: id})
	k.do(core.Welcomed{Welcome: wire.Welcome{
		Session: id, Now: 1_700_000_000_000, Journal: k.store.Meta.Journal, NSeen: nSeen,
	}})
}

// crash ends the process at once and starts another on what is on disk.
func (k *kitchen) crash() {
	k.t.Helper()
	k.m = core.New(k.config())
	clear(k.at)
	clear(k.asked)
	clear(k.clears)
	k.do(core.Started{State: k.store.Load(), KernelBoot: k.boot})
}

// powerCut is a crash after which the kernel starts too.
func (k *kitchen) powerCut() {
	k.t.Helper()
	k.boot += "+"
	k.now.Up = 20 * time.Second
	k.crash()
}

// advance lets time pass, ticking whenever the machine asks for it.
func (k *kitchen) advance(d time.Duration) {
	k.t.Helper()
	end := k.now.Up + d
	for range 100_000 {
		next, ok := k.m.Next(k.now)
		if !ok || next > end {
			k.now.Up = end
			return
		}
		if next <= k.now.Up {
			k.t.Fatalf("Next wants to be asked at %v, and it is %v", next, k.now.Up)
		}
		k.now.Up = next
		k.do(core.Tick{})
	}
	k.t.Fatal("the machine asks for ticks without end")
}

// forget drops what was heard and seen so far, to make the next wants short.
func (k *kitchen) forget() {
	k.acks, k.pubacks, k.sounds, k.paper, k.replies = nil, nil, nil, nil, nil
}

// wantAcks compares what was answered since the last forget: "outcome id reason evidence".
func (k *kitchen) wantAcks(want ...string) {
	k.t.Helper()
	var got []string
	for _, a := range k.acks {
		words := []string{string(a.Outcome), a.Ticket}
		if a.Reason != "" {
			words = append(words, a.Reason)
		}
		if a.Outcome == wire.OutcomePrinted || a.Outcome == wire.OutcomeDuplicate {
			words = append(words, string(a.Evidence))
		}
		if a.Marked {
			words = append(words, "marked")
		}
		if a.Permanent {
			words = append(words, "permanent")
		}
		got = append(got, strings.Join(words, " "))
	}
	if !slices.Equal(got, want) {
		k.t.Fatalf("acks\n got %q\nwant %q", got, want)
	}
	k.acks = nil
}

func (k *kitchen) wantPaper(want ...string) {
	k.t.Helper()
	var got []string
	for _, p := range k.paper {
		got = append(got, p.String())
	}
	if !slices.Equal(got, want) {
		k.t.Fatalf("paper\n got %q\nwant %q", got, want)
	}
	k.paper = nil
}

func (k *kitchen) wantCommits(want int, what func()) {
	k.t.Helper()
	before := k.store.Commits
	what()
	if got := k.store.Commits - before; got != want {
		k.t.Fatalf("%d commits, want %d", got, want)
	}
}

var errTest = errors.New("test")
