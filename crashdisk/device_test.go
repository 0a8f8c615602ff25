package crashdisk_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"chit/device/core"
	"chit/device/journal"
	"chit/device/wire"
	"chit/printer/document"
	"chit/printer/escpos"
	"chit/printer/session"
)

const (
	journalName = "journal.db"
	serial      = "pi-serial"
	ten         = 10 * 365 * 24 * time.Hour
)

var printers = []string{"hot", "bar"}

// device is the real journal and the real core between a printer that is played and a broker that
// is played. Facts are told when a commit has let them out, before anything else happens.
type device struct {
	told   *told
	random *rand.Rand
	life   string // a part of the ids of this life's tickets
	path   string
	noSync bool
	hasty  bool // promises before it has committed: a control

	j      *journal.Journal
	m      *core.Machine
	now    core.Now
	boot   string // the kernel's
	host   int64  // host time at Up 0, in ms
	at     map[string]job
	asked  []core.Resolve
	clear  []core.ClearPrinter
	orders int
	tries  map[string]int  // by ticket: the newest attempt
	came   map[string]bool // by ticket: the broker waits for its end
	highN  uint64
	greets int
}

// job is what is at a printer.
type job struct {
	core.Print
	started bool
}

func newDevice(t *told, path, life string, random *rand.Rand) *device {
	d := &device{
		told: t, random: random, life: life, path: path, boot: "boot-" + life,
		now:   core.Now{Up: 20 * time.Second, Wall: time.Unix(86400, 0)},
		host:  1_700_000_000_000,
		tries: map[string]int{}, came: map[string]bool{},
	}
	for _, f := range t.all {
		d.hear(f)
	}
	return d
}

// hear is the broker listening.
func (d *device) hear(f fact) {
	if a := f.Ack; a != nil {
		d.tries[a.Ticket] = max(d.tries[a.Ticket], a.Attempt)
		d.came[a.Ticket] = true
		if a.Journal != core.VolatileJournal {
			d.highN = max(d.highN, a.N)
		}
	}
}

func (d *device) say(facts ...fact) error {
	for _, f := range facts {
		d.hear(f)
	}
	return d.told.say(facts...)
}

// config lays a ticket out as its id, behind an exclamation mark where the paper is marked.
func config() core.Config {
	write := func(s core.Sheet) document.Document {
		text := s.Ticket.ID
		if s.PossibleDuplicate {
			text = "!" + text
		}
		line := document.Text(text, document.Style{})
		return document.Document{Blocks: []document.Block{line}}
	}
	return core.Config{
		Device: "pi-1", Version: "test", Printers: printers, VolatileBoot: 77,
		Lay:   func(s core.Sheet) (document.Document, error) { return write(s), nil },
		Plain: func(s core.Sheet, _ string) document.Document { return write(s) },
		LaySlip: func(slip core.Slip, _ core.Sheet) document.Document {
			return write(core.Sheet{Ticket: wire.Ticket{ID: string(slip)}})
		},
		Encode: func(_ string, d document.Document) (escpos.Paper, error) {
			text := d.Blocks[0].(document.Line).Spans[0].Text
			return escpos.Paper{Body: []byte(text), LineFeeds: 10, Cuts: 1}, nil
		},
	}
}

// start is a process's start on whatever is on disk, as device/service does it.
func (d *device) start() (err error) {
	d.j, err = journal.Open(d.path, journal.Options{Serial: serial, NoSync: d.noSync})
	if err != nil {
		return err
	}
	state, err := d.j.Load()
	if err != nil {
		return err
	}
	d.m, d.at, d.asked, d.clear = core.New(config()), map[string]job{}, nil, nil
	if err := d.do(core.Started{State: state, KernelBoot: d.boot}); err != nil {
		return err
	}
	for _, p := range printers {
		unit := session.Unit{Fingerprint: "unit-" + p, TwoWay: true, Fence: true}
		if err := d.do(core.PrinterState{Printer: p, State: session.State{Unit: unit}}); err != nil {
			return err
		}
	}
	return d.connect()
}

// restart is the end of the process and its next start, on purpose or not, without a power cut.
func (d *device) restart() error {
	if d.random.IntN(2) == 0 {
		if err := d.do(core.Stopping{}); err != nil {
			return err
		}
	}
	if err := d.j.Close(); err != nil {
		return err
	}
	return d.start()
}

// connect is a new session with a broker that has seen the acks up to some n.
func (d *device) connect() error {
	d.greets++
	id := fmt.Sprintf("s-%s-%d", d.life, d.greets)
	hello := d.m.Hello(id)
	err := d.say(fact{Born: &born{Journal: hello.Journal, Boot: hello.Boot, N: hello.N}})
	if err != nil {
		return err
	}
	return d.do(core.Disconnected{}, core.Connected{Session: id}, core.Welcomed{
		Welcome: wire.Welcome{
			Session: id, Now: d.host + d.now.Up.Milliseconds(), Journal: d.j.ID(),
			NSeen: d.random.Uint64N(d.highN + 1),
		},
	})
}

// do is one batch: decided, committed, and only then carried out.
func (d *device) do(events ...core.Event) error {
	var write []core.Change
	var then []core.Effect
	for _, e := range events {
		decision := d.m.Step(d.now, e)
		write, then = append(write, decision.Write...), append(then, decision.Then...)
	}
	if d.hasty {
		if err := d.perform(then); err != nil {
			return err
		}
		then = nil
	}
	if err := d.j.Apply(write); err != nil {
		return err
	}
	d.m.Committed()
	return d.perform(then)
}

func (d *device) perform(then []core.Effect) error {
	var facts []fact
	for _, effect := range then {
		switch e := effect.(type) {
		case core.Answer:
			facts = append(facts, fact{Ack: &e.Ack})
		case core.Resolve:
			d.asked = append(d.asked, e)
		case core.ClearPrinter:
			d.clear = append(d.clear, e)
		case core.Print:
			started := d.random.IntN(12) > 0
			d.at[e.Printer] = job{Print: e, started: started}
			if started && e.Ticket != "" {
				facts = append(facts, fact{Paper: &paper{
					Printer: e.Printer, Ticket: e.Ticket, Token: e.Job.Token,
					Marked: strings.HasPrefix(string(e.Job.Paper.Body), "!"),
				}})
			}
		}
	}
	return d.say(facts...)
}

// work is one thing that happens in a kitchen.
func (d *device) work() error {
	if err := d.pass(time.Duration(d.random.IntN(1500)) * time.Millisecond); err != nil {
		return err
	}
	switch n := d.random.IntN(100); {
	case n < 40:
		var events []core.Event
		for range 1 + d.random.IntN(3) {
			e, err := d.ticket()
			if err != nil {
				return err
			}
			events = append(events, e)
		}
		return d.do(events...)
	case n < 82:
		return d.finish()
	case n < 88:
		return d.again(d.someID())
	case n < 92:
		return d.recall()
	case n < 97:
		return d.connect()
	case n < 98:
		// A day offline: online, every lease would be prolonged all day long.
		return errors.Join(d.do(core.Disconnected{}), d.pass(30*time.Hour), d.connect())
	default:
		return d.restart()
	}
}

// pass lets time pass, and whatever it brings happen.
func (d *device) pass(by time.Duration) error {
	end := d.now.Up + by
	for {
		next, ok := d.m.Next(d.now)
		if !ok || next > end {
			d.now.Up = end
			return d.resolve()
		}
		d.now.Up = max(next, d.now.Up+1)
		if err := errors.Join(d.do(core.Tick{}), d.resolve()); err != nil {
			return err
		}
	}
}

// ticket is a new one, or another copy of one that is known.
func (d *device) ticket() (core.Event, error) {
	d.orders++
	id := fmt.Sprintf("%s-%d/1@grill", d.life, d.orders)
	d.tries[id] = 1
	return d.arrival(id)
}

func (d *device) arrival(id string) (core.Event, error) {
	data := dataOf(id)
	known, err := d.j.Lookup(id)
	if err != nil {
		return nil, err
	}
	return core.TicketArrived{
		Kind: wire.KindNew, Digest: wire.Digest(data), Known: known,
		Ticket: wire.Ticket{
			ID: id, Attempt: d.tries[id], Lease: 30_000, Expires: int64(ten.Seconds()), Data: data,
			Printer: printers[len(id)%len(printers)],
			Time:    time.UnixMilli(d.host + d.now.Up.Milliseconds()).UTC().Format(time.RFC3339),
		},
	}, nil
}

// dataOf is a ticket's content: always the same bytes for one id, of many sizes.
func dataOf(id string) []byte {
	size := 0
	for _, c := range id {
		size = (size*31 + int(c)) % 3000
	}
	return fmt.Appendf(nil, `{"id":%q,"note":%q}`, id, strings.Repeat("no onions ", size/10))
}

// finish ends what is at one of the printers.
func (d *device) finish() error {
	for _, p := range printers {
		done, ok := d.at[p]
		if !ok || len(d.at) > 1 && d.random.IntN(2) == 0 {
			continue
		}
		delete(d.at, p)
		r := session.Result{Started: done.started}
		switch {
		case !done.started:
			r.Err = session.ErrHeld
		case d.random.IntN(8) > 0:
			r.Evidence = session.Confirmed
		}
		return d.do(core.PrintDone{Printer: p, Token: done.Job.Token, Result: r})
	}
	return nil
}

// resolve answers what became of interrupted papers, as a printer can: it may not know of one that
// came out, and never knows of one that did not.
func (d *device) resolve() error {
	for len(d.clear) > 0 {
		c := d.clear[0]
		d.clear = d.clear[1:]
		// This unit cannot forget what it was given: it says so, and the question goes on.
		err := d.do(core.Cleared{Printer: c.Printer, Token: c.Token, Err: session.ErrNotCleared})
		if err != nil {
			return err
		}
	}
	asked := d.asked
	d.asked = nil
	for _, q := range asked {
		var r session.Resolution
		if d.cameOut(q.Token) && d.random.IntN(2) == 0 {
			r.Evidence = session.Counted
		} else {
			r.Torn = d.random.IntN(4) == 0
		}
		err := d.do(core.Resolved{Printer: q.Printer, Token: q.Token, Resolution: r})
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *device) cameOut(token escpos.Token) bool {
	return slices.ContainsFunc(d.told.all, func(f fact) bool {
		return f.Paper != nil && f.Paper.Token == token
	})
}

// again hands a ticket over once more.
func (d *device) again(id string) error {
	if id == "" {
		return nil
	}
	d.tries[id]++
	e, err := d.arrival(id)
	if err != nil {
		return err
	}
	return d.do(e)
}

func (d *device) recall() error {
	id := d.someID()
	if id == "" || d.random.IntN(5) == 0 {
		d.orders++
		id = fmt.Sprintf("%s-%d/1@grill", d.life, d.orders) // Still under way.
		d.tries[id] = 1
	}
	known, err := d.j.Lookup(id)
	if err != nil {
		return err
	}
	return d.do(core.Recalled{Known: known, Recall: wire.Recall{
		ID: "rc-" + id, Ticket: id, Attempt: d.tries[id], Reason: "moved",
	}})
}

// someID is a ticket that the device has answered for.
func (d *device) someID() string {
	for back := range 40 {
		i := len(d.told.all) - 1 - back - d.random.IntN(20)
		if i >= 0 && d.told.all[i].Ack != nil {
			return d.told.all[i].Ack.Ticket
		}
	}
	return ""
}
