package simulate

import (
	"fmt"
	"maps"
	"time"

	"chit/broker/delivery"
	"chit/device/core/coretest"
)

// noticed is how many undisturbed minutes two copies may run side by side until the broker says so.
// They throw one another out, each waits up to two minutes, and five hellos are proof.
const noticed = 45

// twin is a second machine that runs from a copy of a device's card, with printers of its own.
// Nothing can keep the two from printing the same tickets before anybody knows; what is promised is
// that somebody is told (delivery.Copies).
type twin struct {
	*device
	alarms  uint64 // that were told before it came
	minutes int    // that it ran undisturbed
}

// clones copies the card as it is now, and starts the copy a little later.
func (w *world) clones(f Fault) {
	if w.twins[f.Kitchen] != nil {
		return
	}
	original := w.devices[f.Kitchen]
	unit := fmt.Sprintf("%s-twin%d", original.id, len(w.everTwins))
	d := newUnit(w, f.Kitchen, w.plan.Kitchens[f.Kitchen], unit)
	d.journal = copyOf(original.journal)
	if f.Pick%2 == 0 { // The journal sees that it wakes on another machine.
		d.journal.Meta.Journal = "j-" + unit
	}
	t := &twin{device: d}
	w.twins[f.Kitchen], w.everTwins = t, append(w.everTwins, d)
	w.twinned[f.Kitchen] = true
	w.after(time.Duration(f.Pick%600)*time.Second, func() {
		record, _, err := delivery.LoadDevice(w.broker.disk, d.tenant, d.id)
		if err != nil {
			w.judge.broke("I1", d.kitchen, "a device's record cannot be read: "+err.Error())
			return
		}
		t.alarms = record.Copies.Count
		d.start()
		w.after(time.Minute, func() { w.watchTwin(t) })
	})
}

// watchTwin takes the twin away some minutes after somebody was told of it.
func (w *world) watchTwin(t *twin) {
	k := t.kitchen
	record, _, err := delivery.LoadDevice(w.broker.disk, t.tenant, t.id)
	switch {
	case err != nil:
		w.judge.broke("I1", k, "a device's record cannot be read: "+err.Error())
	case record.Copies.Count > t.alarms:
		w.note(k, "the copy is noticed")
		w.after(3*time.Minute, func() {
			t.dies("taken away", true)
			delete(w.twins, k)
		})
		return
	case t.minutes >= noticed:
		w.judge.broke("copies", k, "two machines use the identity of "+t.id+", and nobody is told")
		return
	case w.broker.alive && w.devices[k].alive && t.alive && !w.disturbed(k) && t.differs():
		t.minutes++
	}
	w.after(time.Minute, func() { w.watchTwin(t) })
}

// differs is false while both say the same of themselves: started as often from the same journal
// and idle since, nothing tells them from one machine that reconnects, and nothing is printed
// twice.
func (t *twin) differs() bool {
	a, b := t.hello, t.w.devices[t.kitchen].hello
	return a.Journal != b.Journal || a.Boot != b.Boot || a.N != b.N
}

// greeted checks that nobody is told of copies where there are none.
func (w *world) greeted(e delivery.Greeted) {
	if k, ok := w.broker.kitchen(e.ID); ok && e.Copied && !w.twinned[k] {
		w.judge.broke("copies", k, "the broker takes "+e.ID+" for two, and it is one")
	}
}

// copyOf is a journal as a copied card has it.
func copyOf(m *coretest.Memory) *coretest.Memory {
	c := coretest.NewMemory(m.Meta.Journal)
	c.Meta = m.Meta
	c.Meta.Days = maps.Clone(m.Meta.Days)
	for day, seen := range m.Seen {
		c.Seen[day] = maps.Clone(seen)
	}
	for day, content := range m.Content {
		c.Content[day] = maps.Clone(content)
	}
	c.Open, c.Intents, c.Settings = maps.Clone(m.Open), maps.Clone(m.Intents), maps.Clone(m.Settings)
	return c
}
