package simulate

import (
	"encoding/json"
	"math/rand/v2"
	"time"

	"chit/device/core"
	"chit/printer/escpos"
	"chit/printer/session"
	"chit/printer/virtual"
)

// pace is the longest that a working printer is left alone: its mechanism catches up by itself.
const pace = 200 * time.Millisecond

// press is one printer: the machine itself, and the process's session with it.
type press struct {
	d       *device
	name    string
	machine *virtual.Printer
	luck    *rand.Rand
	cabled  bool // a lost power is seen on the cable
	mute    bool
	// unplugged is true while nobody can connect.
	unplugged bool

	orders []core.Effect // what the worker has to do, the first is under way
	talk   *dialogue     // nil while the process is dead
	// recalled is the document to be taken back beside the orders, withdrawn the last one that was.
	recalled  *core.ClearPrinter
	withdrawn escpos.Token
	wakeAt    time.Duration
}

func newPress(d *device, name string, kitchen Kitchen) *press {
	p := &press{d: d, name: name, cabled: kitchen.Cabled, mute: kitchen.Mute,
		luck: d.w.chance("press " + d.unit + name)}
	conf := virtual.ConfigFor(d.profile)
	conf.LinesPerSecond = 25 + float64(p.luck.IntN(30))
	conf.KeepAnswers = p.luck.IntN(2) == 0
	for _, lack := range kitchen.Lacks {
		fault, err := virtual.ParseFault(lack)
		if err != nil {
			panic("simulate: " + err.Error())
		}
		conf.Faults = append(conf.Faults, fault)
	}
	p.machine = virtual.New(conf)
	return p
}

// begin is a new process's session with the printer.
func (p *press) begin(known []byte) {
	var unit session.Unit
	if len(known) > 0 {
		if err := json.Unmarshal(known, &unit); err != nil {
			p.d.w.judge.broke("I4", p.d.kitchen, "a remembered unit cannot be read: "+err.Error())
		}
	}
	p.orders, p.recalled, p.withdrawn = nil, nil, escpos.Token{}
	p.talk = newDialogue(p, unit)
	p.talk.resume()
	p.look()
}

// end is the process's death: the connection falls, the printer prints on.
func (p *press) end() {
	if p.talk != nil {
		p.talk.stop()
		p.talk = nil
	}
	p.orders, p.recalled = nil, nil
	if p.machine.Connected() {
		p.machine.Disconnect(p.d.w.wall())
	}
}

// order gives the worker something to do; it does one thing after the other.
func (p *press) order(e core.Effect) {
	p.orders = append(p.orders, e)
	p.d.w.judge.inFlight(p)
	p.look()
}

// clear wants a document back, as the worker does beside its orders.
func (p *press) clear(e core.ClearPrinter) {
	if p.talk == nil {
		return
	}
	if !p.talk.state.Unit.MayClear() {
		p.d.send(core.Cleared{Printer: p.name, Token: e.Token, Err: session.ErrNotCleared}, "")
		return
	}
	p.recalled, p.withdrawn = &e, e.Token
	p.look()
}

// cleared answers it.
func (p *press) cleared(err error) {
	e := *p.recalled
	p.recalled = nil
	p.d.w.note(p.d.kitchen, "printer", p.name, "cleared:", err)
	p.d.send(core.Cleared{Printer: p.name, Token: e.Token, Err: err}, "")
}

// done ends the first order and tells the loop, the state before the result.
func (p *press) done(e core.Event) {
	p.orders = p.orders[1:]
	p.d.send(core.PrinterState{Printer: p.name, State: p.talk.state}, "")
	p.d.send(e, "")
}

// hand is something that a person or bad luck does to the machine.
func (p *press) hand(what string, do func(m *virtual.Printer, now time.Time)) {
	p.d.w.note(p.d.kitchen, "printer", p.name+":", what)
	do(p.machine, p.d.w.wall())
	p.look()
}

// look lets machine and dialogue do what they can, and plans the next look.
func (p *press) look() {
	w := p.d.w
	now := w.wall()
	p.machine.Advance(now)
	for first := true; p.talk != nil && !p.talk.over; first = false {
		pushed := p.talk.push()
		answers := p.machine.Answers()
		if !first && !pushed && len(answers) == 0 {
			break
		}
		p.talk.hears(answers)
		p.talk.resume()
	}
	for _, sheet := range p.machine.Sheets() {
		w.judge.sheet(p, sheet)
	}
	p.plan()
}

func (p *press) plan() {
	w := p.d.w
	next := time.Duration(-1)
	if wake, ok := p.machine.Wake(); ok {
		next = max(wake.Sub(base), w.now+pace)
	}
	if p.talk != nil && !p.talk.over {
		at := max(p.talk.wake, w.now+time.Millisecond)
		if next < 0 || at < next {
			next = at
		}
	}
	if next < 0 || p.wakeAt > w.now && p.wakeAt <= next {
		return
	}
	p.wakeAt = next
	w.at(next, func() {
		if p.wakeAt == next {
			p.wakeAt = 0
			p.look()
		}
	})
}
