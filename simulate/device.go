package simulate

import (
	"crypto/ed25519"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"chit/device/core"
	"chit/device/core/coretest"
	"chit/device/layout"
	"chit/device/wire"
	"chit/printer/document"
	"chit/printer/escpos"
	"chit/printer/profile"
	"chit/printer/session"
)

// model is the profile of all printers.
const model = "safe-80"

// device is one chitd: a machine, a journal that stays, and a process that comes and goes.
type device struct {
	w          *world
	kitchen    int
	tenant, id string
	unit       string // the machine: the id, but for a twin
	signer     *wire.Signer
	public     wire.Keys // its own
	broker     wire.Keys
	profile    profile.Profile
	luck       *rand.Rand

	journal *coretest.Memory // what is on the card
	cards   int
	powered time.Duration // when the kernel started, less what it took
	kernel  string
	kernels int
	reading session.Counters // for a planted bug
	skew    time.Duration    // of the wall clock
	trusted bool

	alive  bool
	life   int
	starts []time.Duration // of a process
	loop
	link    *link
	presses []*press
	hello   wire.Hello
	status  wire.Status
}

func newDevice(w *world, k int, kitchen Kitchen) *device {
	return newUnit(w, k, kitchen, deviceOf(k))
}

// newUnit is a machine with the identity of a kitchen's device.
func newUnit(w *world, k int, kitchen Kitchen, unit string) *device {
	p, err := profile.ByName(model)
	if err != nil {
		panic("simulate: " + err.Error())
	}
	d := &device{w: w, kitchen: k, tenant: kitchen.Tenant, id: deviceOf(k), unit: unit, profile: p,
		luck: w.chance("device " + unit)}
	d.signer = w.signer("device " + d.id)
	d.public = keysOf(d.signer)
	d.broker = keysOf(w.signer(d.tenant))
	d.newCard()
	d.newKernel()
	d.link = newLink(d)
	var known []string
	for _, name := range kitchen.Printers {
		if len(known) == 0 || known[0] != name {
			known = append(known, name)
			d.presses = append(d.presses, newPress(d, name, kitchen))
		}
	}
	return d
}

// newCard is a card with an empty journal.
func (d *device) newCard() {
	d.cards++
	d.journal = coretest.NewMemory(fmt.Sprintf("j-%s-%d", d.unit, d.cards))
}

func (d *device) newKernel() {
	d.kernels++
	d.powered = d.w.now - 20*time.Second
	d.kernel = fmt.Sprintf("kernel-%s-%d", d.unit, d.kernels)
	d.trusted = false
	k := d.kernels
	d.w.after(90*time.Second, func() {
		if d.kernels == k { // NTP.
			d.trusted, d.skew = true, 0
		}
	})
}

func (d *device) clock() core.Now {
	return core.Now{Up: d.w.now - d.powered, Wall: d.w.wall().Add(d.skew), Trusted: d.trusted}
}

func (d *device) press(name string) *press {
	for _, p := range d.presses {
		if p.name == name {
			return p
		}
	}
	return nil
}

// mine plans something that ends with this process.
func (d *device) mine(wait time.Duration, do func()) {
	life := d.life
	d.w.after(wait, func() {
		if d.alive && d.life == life {
			do()
		}
	})
}

// start is a new process.
func (d *device) start() {
	if d.alive {
		return
	}
	d.life++
	d.alive = true
	d.starts = append(d.starts, d.w.now)
	var names []string
	for _, p := range d.presses {
		names = append(names, p.name)
	}
	d.loop = newLoop(d, core.New(d.config(names)))
	d.w.note(d.kitchen, "process starts", d.kernel)
	if d.w.options.Bug == BugJournalReplaced && d.life > 1 && d.luck.IntN(2) == 0 {
		d.replaceJournal()
	}
	d.publish()
	for _, p := range d.presses {
		p.begin(d.journal.Settings[core.UnitKey(p.name)])
	}
	d.loop.begin()
	d.link.dial(d.link.jitter(2*time.Second) + 100*time.Millisecond)
	d.mine(telemetryEvery, d.telemetry)
}

// telemetryEvery is rarer than a minute, to save time.
const telemetryEvery = 4 * time.Minute

func (d *device) telemetry() {
	d.mine(telemetryEvery, d.telemetry)
	payload, err := wire.EncodeTelemetry(wire.Telemetry{Uptime: int64(d.clock().Up.Seconds())})
	if err != nil {
		panic("simulate: telemetry: " + err.Error())
	}
	d.link.publish(wire.LeafTelemetry, payload)
}

// dies ends the process at once. A batch in flight is on the card or is not.
func (d *device) dies(why string, silent bool) {
	if !d.alive {
		return
	}
	d.w.note(d.kitchen, "process dies:", why)
	d.alive = false
	if d.loop.flying && d.luck.IntN(2) == 0 {
		d.apply(d.loop.write)
	}
	for _, p := range d.presses {
		p.end()
	}
	d.link.dies(silent)
}

// publish is what other goroutines may know of the machine.
func (d *device) publish() {
	d.hello, d.status = d.loop.machine.Hello(""), d.loop.machine.Status()
}

func (d *device) config(printers []string) core.Config {
	input := func(s core.Sheet) (layout.Input, error) {
		s = d.w.options.Bug.unsaid(s)
		c, err := wire.ParseContent(s.Ticket.Data)
		if d.w.options.Bug == BugUnmarkedReprint {
			s.PossibleDuplicate = false
		}
		return layout.Input{Event: s.Ticket, Content: c,
			Options: layout.Options{Columns: d.profile.Columns},
			Facts: layout.Facts{PossibleDuplicate: s.PossibleDuplicate, AfterPowerCut: s.PowerCut,
				Missing: s.Missing, OlderThan: s.OlderThan, IgnoreAbove: gone(s.Above)}}, err
	}
	return core.Config{
		Device: d.id, Version: "simulated", Printers: printers, Attended: true,
		Insist:       d.w.plan.Kitchens[d.kitchen].Insist,
		VolatileBoot: 1<<51 + uint64(d.kitchen)<<20 + uint64(d.life),
		Lay: func(s core.Sheet) (document.Document, error) {
			in, err := input(s)
			if err != nil {
				return document.Document{}, err
			}
			return layout.Ticket(in), nil
		},
		Plain: func(s core.Sheet, reason string) document.Document {
			in, _ := input(s) // Half a content is better than no paper.
			return layout.Plain(in, reason)
		},
		LaySlip: func(kind core.Slip, s core.Sheet) document.Document {
			options := layout.Options{Columns: d.profile.Columns}
			switch kind {
			case core.SlipMemoryless:
				return layout.Memory("", options)
			case core.SlipAbove:
				return moved(d.w.options.Bug.unsaid(s), options)
			case core.SlipBacklog:
				return layout.Backlog(waiting(s.Backlog), options)
			}
			return layout.Incomplete(options)
		},
		Encode: func(_ string, doc document.Document) (escpos.Paper, error) {
			return escpos.Encode(doc, d.profile)
		},
		EncodePlain: func(_ string, doc document.Document) (escpos.Paper, error) {
			return escpos.Encoder{Profile: d.profile, Substitute: true}.Encode(doc)
		},
	}
}

func gone(list []core.Above) (above []layout.Above) {
	for _, a := range list {
		above = append(above, layout.Above{Number: a.Number, Ticket: a.Ticket, Reason: a.Reason,
			MovedTo: a.MovedTo})
	}
	return above
}

func moved(s core.Sheet, options layout.Options) document.Document {
	torn := slices.ContainsFunc(s.Above, func(a core.Above) bool { return a.Torn })
	return layout.Moved(gone(s.Above), s.AboveMore, torn, options)
}

// deliver verifies a message and hands it to the loop, as device/service's handler does.
func (d *device) deliver(leaf wire.Leaf, payload []byte, retained bool) {
	if retained {
		return // A retained message does not act.
	}
	switch leaf {
	case wire.LeafTicket:
		d.ticket(payload)
	case wire.LeafRecall:
		r, err := d.broker.OpenRecall(payload)
		if err != nil {
			return
		}
		d.w.judge.asked(d, r)
		if !d.recallUnheard(r) {
			d.send(core.Recalled{Recall: r}, r.Ticket)
		}
	case wire.LeafCommand:
		if w, err := d.broker.OpenWelcome(payload); err == nil {
			d.send(core.Welcomed{Welcome: w}, "")
		} else if c, err := d.broker.OpenCommand(payload); err == nil {
			d.send(core.CommandArrived{Command: c}, "")
		}
	}
}

func (d *device) ticket(payload []byte) {
	t, err := d.broker.OpenTicket(payload)
	if err != nil {
		d.w.judge.broke("wire", d.kitchen, "a ticket of our broker does not open: "+err.Error())
		return
	}
	e := core.TicketArrived{Ticket: t, Kind: t.As, Digest: wire.Digest(t.Data)}
	content, err := wire.ParseContent(t.Data)
	if err != nil {
		d.w.judge.broke("wire", d.kitchen, "a content does not parse: "+err.Error())
		return
	}
	if e.Kind == "" {
		e.Kind = content.Kind
	}
	d.w.judge.hears(d, t)
	d.w.note(d.kitchen, "hears", t.ID, "attempt", t.Attempt, t.Marks)
	d.send(e, t.ID)
}

// public keys as the relay wants them.
var _ map[string]ed25519.PublicKey = wire.Keys{}
