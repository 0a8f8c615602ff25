package simulate

import (
	"fmt"
	"slices"
	"time"

	"chit/broker/delivery"
	"chit/broker/desk"
	"chit/broker/relay"
	"chit/device/core"
	"chit/device/layout"
	"chit/device/wire"
)

// pairs joins neighbours to kitchens with two devices, draws what each does with stale tickets, and
// says where the numbers of each one's orders begin.
func (p *Plan) pairs(o Options) (first []int) {
	for k := range p.Kitchens {
		first = append(first, 101)
		r := stream(o.Seed, fmt.Sprint("pair ", k/2))
		kitchen := &p.Kitchens[k]
		kitchen.Stale = []wire.OnStale{wire.OnStalePrint, wire.OnStaleAsk, wire.OnStaleDrop}[r.IntN(3)]
		if alone := r.IntN(4) == 0; alone || k%2 == 0 {
			continue
		}
		one := &p.Kitchens[k-1]
		kitchen.Tenant, first[k] = one.Tenant, 5001
		kitchen.Stations = []string{"pass", "tap"}[:len(kitchen.Stations)]
		one.Backup = slices.Repeat(kitchen.Stations[:1], len(one.Stations))
		if r.IntN(2) == 0 {
			kitchen.Backup = slices.Repeat(one.Stations[:1], len(kitchen.Stations))
		}
	}
	return first
}

// staleAfter is short, so that it happens.
const staleAfter = 12 * time.Minute

// served is the station with this index as the broker is configured.
func (k Kitchen) served(device string, i int) relay.Station {
	s := relay.Station{Device: device, Printer: k.Printers[i], OnStale: k.Stale}
	if k.Stale == wire.OnStaleAsk || k.Stale == wire.OnStaleDrop {
		s.StaleAfter = staleAfter
	}
	if i < len(k.Backup) {
		s.Backup = k.Backup[i]
	}
	return s
}

// together are the kitchens that have a tenant.
func (w *world) together(tenant string) (list []int) {
	for k, kitchen := range w.plan.Kitchens {
		if kitchen.Tenant == tenant {
			list = append(list, k)
		}
	}
	return list
}

// copiedCard is true where a tenant ever had a machine with a copied card.
func (w *world) copiedCard(tenant string) bool {
	return slices.ContainsFunc(w.together(tenant), func(k int) bool { return w.twinned[k] })
}

// outdated is a ticket that a person must be asked about. Some ask the broker, some press the
// button for long, some do nothing.
func (w *world) outdated(e delivery.Changed) {
	d := e.Delivery
	s, ok := w.stations[[2]string{d.Tenant, d.Station}]
	if !ok || !slices.Contains(e.What, delivery.Staled) {
		return
	}
	k, _ := w.broker.kitchen(s.Device)
	r := w.answers[k]
	word, after := r.IntN(5), time.Duration(60+r.IntN(1200))*time.Second
	w.after(after, func() {
		switch word {
		case 0:
			w.pressLong(k)
		case 1, 2, 3:
			a := delivery.Answer{Print: word < 3, Who: "ana", Why: "asked", Policy: s.OnStale,
				After: s.StaleAfter}
			w.note(k, "a person says of", d.Ticket, "print", a.Print)
			w.judge.wishes(d.Tenant, d.Ticket, a.Print)
			w.broker.do(delivery.AnswerStale{Tenant: d.Tenant, Ticket: d.Ticket, Answer: a},
				func(desk.Answer, error) {})
		}
	})
}

// pressLong is somebody who wants all that is stale.
func (w *world) pressLong(k int) {
	d := w.devices[k]
	w.note(k, "long press")
	if d.alive {
		w.judge.wanted[d.id] = w.now
	}
	d.send(core.Button{Long: true}, "")
}

func waiting(lines []core.Waiting) (list []layout.Waiting) {
	for _, l := range lines {
		list = append(list, layout.Waiting{Number: l.Number, Order: l.Order, Ticket: l.ID,
			Age: l.Age})
	}
	return list
}
