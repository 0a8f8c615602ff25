package simulate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"chit/device/core"
	"chit/device/wire"
)

// Push is a person that presses the button of a kitchen's panel.
type Push struct {
	Kitchen int
	At      time.Duration
}

func (p Push) String() string {
	return fmt.Sprintf("%s  kitchen %d presses the button", clock(p.At), p.Kitchen)
}

// pushes draws when the people of a kitchen press: one kitchen never does, one now and then, one
// soon after most tickets; and sometimes for no reason.
func pushes(r *rand.Rand, k int, posts []Post, span time.Duration) []Push {
	var list []Push
	add := func(at time.Duration) {
		if at < span {
			list = append(list, Push{k, at})
		}
	}
	habit := r.IntN(3)
	for _, p := range posts {
		pause := time.Duration(r.ExpFloat64() * float64(time.Minute))
		if p.Kitchen == k && r.IntN(3) < habit {
			add(p.At + p.Release + pause)
		}
	}
	for range poisson(r, 4*span.Hours()/24) {
		add(time.Duration(r.Float64() * float64(span)))
	}
	slices.SortStableFunc(list, func(a, b Push) int { return int(a.At - b.At) })
	return list
}

// push lets somebody press. The bug answers a press only long after.
func (w *world) push(k int) {
	d := w.devices[k]
	w.note(k, "button")
	w.judge.pushed(d)
	press := func() { d.send(core.Button{}, "") }
	if w.options.Bug == BugPressLate {
		d.mine(3*time.Minute, press)
		return
	}
	press()
}

// pushed takes in which papers were there to be seen at a press.
func (j *judge) pushed(d *device) {
	for _, p := range d.presses {
		for _, s := range p.machine.Sheets() {
			if !s.Blank() {
				j.sheet(p, s)
			}
		}
		for _, c := range j.read(p, p.machine.Pending()) {
			j.visible[d.id+"/"+c.ticket] = true
		}
	}
	for key, t := range j.papers {
		if ticket, ok := strings.CutPrefix(key, d.tenant+"/"); ok && t.wholeAt(d) {
			j.visible[d.id+"/"+ticket] = true
		}
	}
}

// saysSeen checks an answer that says so: somebody pressed after the paper had come out.
func (j *judge) saysSeen(d *device, a wire.Ack) {
	if a.Evidence == wire.EvidenceSeen && !j.visible[d.id+"/"+a.Ticket] {
		j.broke("seen", d.kitchen, a.Ticket+" is said to be seen, and nobody pressed after its paper")
	}
}
