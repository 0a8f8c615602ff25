package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"chit/device/core"
	"chit/device/core/coretest"
	"chit/device/wire"
	"chit/printer/document"
	"chit/printer/escpos"
	"chit/printer/profile"
	"chit/printer/raster"
	"chit/printer/session"
)

// kitchen is a device with a journal that outlives its processes, a printer on a bench, and a
// broker that only listens.
type kitchen struct {
	drawn bool // tickets are of food that must be drawn
	t     *testing.T
	bench bench
	store *coretest.Memory
	born  time.Time
	kill  context.CancelFunc // of the process that runs
	over  sync.WaitGroup
	in    chan core.Event
	alive context.Context
	lives int
	pace  pace

	mu      sync.Mutex
	acks    []wire.Ack
	changed chan struct{}
}

const printer = "grill"

// pace is how fast the world goes: the bubble's, or a short one for real ports.
type pace struct {
	session  session.Timing
	settle   time.Duration // for a printer to do what it has
	moment   time.Duration // from a ticket to its trouble
	help     time.Duration // between two looks at the printer
	patience time.Duration // with an answer
}

var bubble = pace{settle: 10 * time.Second, moment: time.Second, help: 2 * time.Minute,
	patience: time.Hour}

func newKitchen(t *testing.T, b bench, p pace) *kitchen {
	k := &kitchen{t: t, bench: b, pace: p, store: coretest.NewMemory("journal-1"), born: time.Now(),
		changed: make(chan struct{})}
	k.start()
	return k
}

func (k *kitchen) now() core.Now {
	return core.Now{Up: time.Minute + time.Since(k.born), Wall: time.Now(), Trusted: true}
}

// start is a new process on what the journal holds.
func (k *kitchen) start() {
	ctx, cancel := context.WithCancel(context.Background())
	k.lives++
	k.kill, k.alive, k.in = cancel, ctx, make(chan core.Event, 64)
	var known session.Unit
	if raw := k.store.Settings[core.UnitKey(printer)]; raw != nil {
		if err := json.Unmarshal(raw, &known); err != nil {
			panic("faults: a unit of our own journal: " + err.Error())
		}
	}
	said := make(chan struct{}, 1)
	s := session.New(session.Config{Dialer: k.bench, Known: known, Timing: k.pace.session,
		Jitter: func(d time.Duration) time.Duration { return d },
		Changed: func(session.State) {
			select {
			case said <- struct{}{}:
			default:
			}
		}})
	p := &process{k: k, in: k.in, said: said, session: s, orders: make(chan core.Effect, 16),
		machine: core.New(config(uint64(k.lives)))}
	k.over.Go(func() { _ = s.Run(ctx) }) // Ends with ctx's cause.
	k.over.Go(func() { p.work(ctx) })
	k.over.Go(func() { p.run(ctx) })
}

// dies is SIGKILL.
func (k *kitchen) dies() {
	k.kill()
	k.over.Wait()
}

// process is one life of the device.
type process struct {
	k       *kitchen
	in      chan core.Event
	said    chan struct{}
	session *session.Session
	orders  chan core.Effect
	machine *core.Machine
}

func (p *process) run(ctx context.Context) {
	id := fmt.Sprint("s", p.k.lives)
	p.step(core.Started{State: p.k.store.Load(), KernelBoot: "boot-1"})
	p.step(core.Connected{Session: id})
	p.step(core.Welcomed{Welcome: wire.Welcome{Session: id, Now: time.Now().UnixMilli(),
		Journal: p.k.store.Meta.Journal}})
	for ctx.Err() == nil {
		var due <-chan time.Time
		if next, ok := p.machine.Next(p.k.now()); ok {
			due = time.After(next - p.k.now().Up)
		}
		select {
		case <-ctx.Done():
		case <-p.said:
			p.step(core.PrinterState{Printer: printer, State: p.session.State()})
		case e := <-p.in:
			p.step(e)
		case <-due:
			p.step(core.Tick{})
		}
	}
}

// step is one batch: one commit, then the effects.
func (p *process) step(e core.Event) {
	d := p.machine.Step(p.k.now(), e)
	p.k.store.Apply(d.Write)
	p.machine.Committed()
	for _, effect := range d.Then {
		switch e := effect.(type) {
		case core.Print, core.Resolve:
			p.orders <- e
		case core.Answer:
			p.k.heard(e.Ack)
		}
	}
}

// work carries out the calls to the session, as device/service does.
func (p *process) work(ctx context.Context) {
	send := func(e core.Event) {
		select {
		case p.in <- e:
		case <-ctx.Done():
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case order := <-p.orders:
			switch e := order.(type) {
			case core.Print:
				r := p.session.Print(ctx, e.Job)
				send(core.PrinterState{Printer: printer, State: p.session.State()})
				send(core.PrintDone{Printer: printer, Token: e.Job.Token, Result: r})
			case core.Resolve:
				r := p.session.Resolve(ctx, e.Intent)
				send(core.PrinterState{Printer: printer, State: p.session.State()})
				send(core.Resolved{Printer: printer, Token: e.Token, Resolution: r, Err: r.Err})
			}
		}
	}
}

func (k *kitchen) heard(a wire.Ack) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.acks = append(k.acks, a)
	close(k.changed)
	k.changed = make(chan struct{})
}

// facts are the printer's, as far as the device knows.
func facts() profile.Profile { return profile.Safe80() }

var drawer = raster.New(raster.Fonts{})

// config lays papers out so that a judge can read them.
func config(life uint64) core.Config {
	lines := func(texts ...string) document.Document {
		var d document.Document
		for _, text := range texts {
			d.Add(document.Line{Spans: []document.Span{{Text: text}}})
		}
		return d
	}
	lay := func(s core.Sheet) (document.Document, error) {
		c, err := wire.ParseContent(s.Ticket.Data)
		if err != nil {
			return document.Document{}, err
		}
		texts := []string{c.Order}
		if s.PossibleDuplicate {
			texts = append(texts, "POSSIBLE DUPLICATE")
		}
		for _, item := range c.Items {
			texts = append(texts, "1 "+item.Name)
		}
		return lines(append(texts, "END OF "+c.Order)...), nil
	}
	return core.Config{
		Device: "pi-1", Version: "test", Printers: []string{printer}, VolatileBoot: life, Lay: lay,
		Plain: func(core.Sheet, string) document.Document { return lines("LAYOUT FAILED") },
		LaySlip: func(slip core.Slip, _ core.Sheet) document.Document {
			return lines("SLIP " + string(slip))
		},
		Encode: func(_ string, d document.Document) (escpos.Paper, error) {
			return escpos.Encoder{Profile: facts(), Drawer: drawer}.Encode(d)
		},
	}
}

// items is how many lines of food a ticket has.
const items = 12

// arrives hands a ticket to the device.
func (k *kitchen) arrives(name string) string {
	k.t.Helper()
	c := wire.Content{ID: name + "/1", Kitchen: "main", Station: printer, Kind: wire.KindNew,
		Order: name}
	for i := range items {
		food := "Käsespätzle"
		if k.drawn {
			food = "花生"
		}
		c.Items = append(c.Items, wire.Item{Quantity: 1, Name: fmt.Sprintf("%s %d", food, i+1)})
	}
	data, err := wire.CanonicalContent(c)
	if err != nil {
		panic("faults: a content of our own: " + err.Error())
	}
	id := c.ID + "@" + printer
	k.in <- core.TicketArrived{Kind: wire.KindNew, Digest: wire.Digest(data), Ticket: wire.Ticket{
		ID: id, Attempt: 1, Lease: 30_000, Expires: 30 * 86400, Data: data, Station: printer,
		Printer: printer, Number: name, Time: time.Now().UTC().Format(time.RFC3339)}}
	return id
}

// answer waits until the device says how a ticket ended; nil where it does not in time.
func (k *kitchen) answer(id string) *wire.Ack {
	deadline := time.After(k.pace.patience)
	for {
		k.mu.Lock()
		for _, a := range k.acks {
			if a.Ticket == id && a.Outcome != wire.OutcomeStored && a.Outcome != wire.OutcomeHeld {
				k.mu.Unlock()
				return &a
			}
		}
		changed := k.changed
		k.mu.Unlock()
		select {
		case <-changed:
		case <-deadline:
			return nil
		}
	}
}

// holds are the reasons that were given for a ticket's wait, in order, each once in a row.
func (k *kitchen) holds(id string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var words []string
	for _, a := range k.acks {
		if a.Ticket == id && a.Outcome == wire.OutcomeHeld &&
			(len(words) == 0 || words[len(words)-1] != a.Reason) {
			words = append(words, a.Reason)
		}
	}
	return strings.Join(words, " ")
}

// end ends the process and the printer.
func (k *kitchen) end() {
	k.dies()
	if c, ok := k.bench.(io.Closer); ok {
		if err := c.Close(); err != nil {
			k.t.Error(err)
		}
	}
	k.bench.printer().end()
}
