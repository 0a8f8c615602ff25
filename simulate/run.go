package simulate

import (
	"maps"
	"slices"
	"time"

	"chit/broker/delivery"
	"chit/printer/virtual"
)

// Options say which story to tell.
type Options struct {
	Seed     uint64
	Hours    float64 // of virtual time, before everything is healed
	Kitchens int
	Faults   []FaultName
	// Bug plants a fault of ours.
	Bug Bug
	// Tell keeps the story's lines in Result.Story.
	Tell bool
}

func (o Options) span() time.Duration { return time.Duration(o.Hours * float64(time.Hour)) }

// Result is what became of a story.
type Result struct {
	Accepted           int // tickets that the door promised
	Printed            int // of them, on paper
	MarkedDuplicates   int // second and later papers that say so
	UnmarkedDuplicates int
	// CopiedDuplicates are second papers without a mark that came out of a copied card. Nobody can
	// mark them; promised is an alarm.
	CopiedDuplicates int
	Lost             int // settled, or simply gone, without paper
	Dead             int // dead letters: a person was told
	Cancelled        int // by a person, without paper
	Unsettled        int // without an end although everything was healed
	KitchenDays      float64
	Steps            uint64
	Hash             uint64 // of the whole story
	Violations       []Violation
	Story            []string
}

// Broken is true where a promise broke.
func (r Result) Broken() bool {
	return len(r.Violations) > 0 || r.Lost > 0 || r.Unsettled > 0 || r.UnmarkedDuplicates > 0
}

// Add sums two results up.
func (r Result) Add(o Result) Result {
	r.Accepted += o.Accepted
	r.Printed += o.Printed
	r.MarkedDuplicates += o.MarkedDuplicates
	r.UnmarkedDuplicates += o.UnmarkedDuplicates
	r.CopiedDuplicates += o.CopiedDuplicates
	r.Lost += o.Lost
	r.Dead += o.Dead
	r.Cancelled += o.Cancelled
	r.Unsettled += o.Unsettled
	r.KitchenDays += o.KitchenDays
	r.Steps += o.Steps
	r.Violations = append(r.Violations, o.Violations...)
	return r
}

// Run tells the story of a seed.
func Run(o Options) Result { return Tell(o, NewPlan(o)) }

// Bounds of the end of a story.
const (
	// quietWithin is how long everything may take to settle once all is healed: two of the longest
	// back-offs and a reconnect.
	quietWithin = time.Hour
	// staleWithin is the outage window: what waits for a person's word ends with it.
	staleWithin = 8 * time.Hour
)

// Tell tells a plan's story.
func Tell(o Options, p Plan) Result { return newWorld(o, p).tell() }

func (w *world) tell() Result {
	w.broker.start()
	for _, d := range w.devices {
		w.after(time.Duration(d.kitchen)*w.stagger, d.start)
	}
	w.posting = len(w.plan.Posts)
	w.present()
	for _, post := range w.plan.Posts {
		w.at(post.At, func() { w.post(post, false) })
		if post.Again > 0 {
			w.at(post.Again, func() { w.post(post, true) })
		}
		if post.Cancel > 0 {
			w.at(post.Cancel, func() { w.cancel(post) })
		}
	}
	for _, push := range w.plan.Pushes {
		w.at(push.At, func() { w.push(push.Kitchen) })
	}
	for _, f := range w.plan.Faults {
		w.at(f.At, func() { w.begins(f) })
	}
	w.run(w.options.span(), nil)
	w.heal()
	end := w.now
	w.run(end+quietWithin, w.settled)
	w.unsettled(true)
	w.run(end+staleWithin, w.settled)
	w.unsettled(false)
	r := w.result()
	w.leave()
	return r
}

// units are all machines, twins too.
func (w *world) units() []*device { return slices.Concat(w.devices, w.everTwins) }

// leave ends the coroutines, which would otherwise keep the world.
func (w *world) leave() {
	for _, d := range w.units() {
		for _, p := range d.presses {
			if p.talk != nil {
				p.talk.stop()
			}
		}
	}
}

// heal puts everything right that a person or the world can.
func (w *world) heal() {
	w.note(-1, "everything is healed")
	w.healing = true
	clear(w.until)
	w.broker.dying, w.broker.unknown = lives, false
	for k, d := range w.devices {
		w.engine.heals(k)
		d.loop.unknown, d.loop.fuse = false, 0
		for _, p := range d.presses {
			p.unplugged = false
			p.hand("put right", func(m *virtual.Printer, now time.Time) {
				for _, name := range []virtual.FaultName{virtual.PaperOut, virtual.CoverOpen,
					virtual.CutterError, virtual.PowerCut, virtual.LateAnswers, virtual.Slow} {
					m.Clear(now, name)
				}
				if !p.mute {
					m.Clear(now, virtual.Silent)
				}
			})
		}
	}
}

// settled is true once there is nothing left to wait for.
func (w *world) settled() bool {
	if w.posting > 0 || w.judge.open > 0 || len(w.judge.recalls) > 0 || len(w.twins) > 0 {
		return false
	}
	for _, d := range w.devices {
		if !d.alive || len(d.journal.Intents) > 0 {
			return false
		}
	}
	return true
}

// unsettled finds deliveries without an end (I5). A ticket that its device holds as stale waits for
// a person's word, until its window ends.
func (w *world) unsettled(stale bool) {
	if w.judge.stop() {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(w.judge.deliveries)) {
		d := w.judge.deliveries[key]
		if d.State.Open() && !(stale && d.State == delivery.Stale) {
			w.judge.broke("I5", w.judge.kitchenOf(d), d.Ticket+" is still "+string(d.State)+" "+d.Reason)
			return
		}
		if w.judge.recalls[key] && !stale {
			w.judge.broke("recall", w.judge.kitchenOf(d), d.Ticket+" is still recalled")
			return
		}
	}
}

// result counts what there is, ticket by ticket.
func (w *world) result() Result {
	j := w.judge
	for _, d := range w.units() {
		for _, p := range d.presses {
			p.machine.Advance(w.wall())
			for _, s := range append(p.machine.Sheets(), p.machine.Pending()) {
				j.sheet(p, s)
			}
		}
	}
	r := Result{Steps: w.step, KitchenDays: w.options.Hours / 24 * float64(len(w.devices))}
	if !j.stop() {
		j.lastWords()
	}
	broken := j.stop()
	for _, post := range w.plan.Posts {
		id := w.key(post)
		if !w.accepted[id] {
			continue
		}
		r.Accepted++
		t := j.papers[id]
		if t != nil {
			r.MarkedDuplicates += t.marked
			r.UnmarkedDuplicates += t.unmarked
			r.CopiedDuplicates += t.copied
		}
		d, known := j.deliveries[id]
		switch {
		case t != nil && t.whole > 0:
			r.Printed++
		case d.State == delivery.Dead:
			r.Dead++
		case d.State == delivery.Cancelled:
			r.Cancelled++
		case broken: // The story ended early.
		case known && d.State.Open():
			r.Unsettled++
		default:
			r.Lost++
			j.broke("I5", post.Kitchen, post.Ticket()+" is "+string(d.State)+" and has no paper")
		}
	}
	r.Violations, r.Story, r.Hash = j.violations, w.story, w.hash
	return r
}
