package delivery

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"chit/device/wire"
)

// printers is one order at one station with a backup: two devices print what they have in the order
// in which it came, lose messages on their way to them, and answer late.
type printers struct {
	*rapid.T
	s        *shelf
	seqs     map[int]wire.Kind
	queue    map[string][]string       // what a device has and has not printed
	paper    map[string][]string       // what came out of it, in this order
	unsaid   [][2]string               // of that, what the broker was not told yet: device, ticket
	attempts map[string]map[string]int // by device and ticket
}

func (k *printers) tickets() []Delivery {
	ids, err := Tickets(k.s, "t1", "o1", 0)
	if err != nil {
		k.Fatal(err)
	}
	var all []Delivery
	for _, id := range ids {
		all = append(all, k.s.delivery(id))
	}
	return all
}

func (k *printers) some(t *rapid.T, wanted func(Delivery) bool) (Delivery, bool) {
	all := slices.DeleteFunc(k.tickets(), func(d Delivery) bool { return !wanted(d) })
	if len(all) == 0 {
		return Delivery{}, false
	}
	return rapid.SampledFrom(all).Draw(t, "ticket"), true
}

func (k *printers) accept(t *rapid.T) {
	seq := rapid.IntRange(1, 5).Draw(t, "seq")
	if _, known := k.seqs[seq]; known {
		return
	}
	kind := rapid.SampledFrom([]wire.Kind{wire.KindNew, wire.KindChange, wire.KindVoid}).
		Draw(t, "kind")
	k.seqs[seq] = kind
	k.s.accept(content(fmt.Sprintf("o1/%d", seq), kind, soup))
}

// dispatch hands a ticket over to whoever has it now.
func (k *printers) dispatch(d Delivery, lost bool) {
	device, place := "d1", Place{}
	switch {
	case d.Pinned != nil:
		device = d.Pinned.Device
	case d.MovedTo != "":
		device, place = "d2", Place{Station: d.MovedTo}
	}
	_, err := k.s.do(Dispatch{Tenant: "t1", Ticket: d.Ticket, Epoch: d.Epoch, Device: device,
		Printer: "p-" + device, Session: "s-" + device, Place: place})
	if errors.Is(err, ErrBlocked) || errors.Is(err, ErrNotDue) {
		return
	}
	if err != nil {
		k.Fatal(err)
	}
	for _, effect := range k.s.effects {
		if send, ok := effect.(Send); ok {
			k.attempts[device][d.Ticket] = send.Message.Attempt
			if !lost && !slices.Contains(k.queue[device], d.Ticket) &&
				!slices.Contains(k.paper[device], d.Ticket) {
				k.queue[device] = append(k.queue[device], d.Ticket)
			}
		}
	}
}

func (k *printers) print(device string) {
	if queue := k.queue[device]; len(queue) > 0 {
		k.paper[device] = append(k.paper[device], queue[0])
		k.unsaid = append(k.unsaid, [2]string{device, queue[0]})
		k.queue[device] = queue[1:]
	}
}

func (k *printers) say(device, ticket string, outcome wire.Outcome, reason string) {
	k.s.ack(ticket, device, outcome, func(a *wire.Ack) {
		a.Attempt, a.Reason = k.attempts[device][ticket], reason
		a.Permanent = outcome == wire.OutcomeRefused
	})
}

func (k *printers) tell() {
	if len(k.unsaid) > 0 {
		first := k.unsaid[0]
		k.unsaid = k.unsaid[1:]
		k.say(first[0], first[1], wire.OutcomePrinted, "")
	}
}

// recall takes a ticket back that the broker recalls and the device has not printed.
func (k *printers) recall(t *rapid.T) {
	d, ok := k.some(t, func(d Delivery) bool { return len(d.Recalls) > 0 })
	if !ok {
		return
	}
	k.takeBack(d, rapid.SampledFrom(d.Recalls).Draw(t, "recall"))
}

func (k *printers) takeBack(d Delivery, r Recall) {
	if !slices.Contains(k.paper[r.Device], d.Ticket) {
		k.queue[r.Device] = slices.DeleteFunc(k.queue[r.Device],
			func(o string) bool { return o == d.Ticket })
		k.s.ack(d.Ticket, r.Device, wire.OutcomeRecalled, func(a *wire.Ack) {
			a.Attempt, a.Reason = r.Attempt, r.ID
		})
	}
}

func (k *printers) refuse(device string) {
	if queue := k.queue[device]; len(queue) > 0 {
		k.queue[device] = queue[1:]
		k.say(device, queue[0], wire.OutcomeRefused, "poison")
	}
}

func (k *printers) move(d Delivery) {
	m := Move{Epoch: d.Epoch, To: Place{Station: "bar"}, Device: "d2", Reason: "held", Chance: 0.5}
	if d.MovedTo != "" {
		m.To, m.Device, m.Home = Place{Station: "grill"}, "d1", true
	}
	k.s.must(Advance{"t1", d.Ticket, m})
}

func (k *printers) elapse() {
	for _, d := range k.tickets() {
		if d.State == Leased && !k.s.now.Before(d.Ends()) {
			k.s.must(Advance{"t1", d.Ticket, Elapse{0.5}})
		}
	}
}

// settle lets everything come to its end.
func (k *printers) settle() {
	for range 200 {
		for _, device := range []string{"d1", "d2"} {
			for len(k.queue[device]) > 0 {
				k.print(device)
			}
		}
		for len(k.unsaid) > 0 {
			k.tell()
		}
		k.s.now = k.s.now.Add(time.Minute)
		k.elapse()
		for _, d := range k.tickets() {
			for _, r := range d.Recalls {
				k.takeBack(d, r)
			}
			if d = k.s.delivery(d.Ticket); d.State == Waiting {
				k.dispatch(d, false)
			}
		}
		open := slices.ContainsFunc(k.tickets(), func(d Delivery) bool { return d.State.Open() })
		if !open && len(k.queue["d1"])+len(k.queue["d2"])+len(k.unsaid) == 0 {
			return
		}
	}
	k.Fatalf("not everything has ended: %+v", k.tickets())
}

// story is what happened to each ticket.
func (k *printers) story() string {
	var out strings.Builder
	for _, d := range k.tickets() {
		fmt.Fprintf(&out, "\n%s (%s, %s):", d.Ticket, d.Kind, d.Reason)
		for _, m := range d.Timeline {
			fmt.Fprintf(&out, " %s/%s%s", m.What, m.Device, m.Reason)
		}
	}
	return out.String()
}

// warned reports whether a person was told that the ticket could not be delivered.
func warned(d Delivery) bool {
	return slices.ContainsFunc(d.Timeline, func(m Moment) bool { return m.State == Dead })
}

// judge looks at the paper of each device: where there is some of a mutation, there is also every
// later change or void that is on paper at all, or a later one than that, or a person was told.
func (k *printers) judge() {
	for device, papers := range k.paper {
		for _, ticket := range papers {
			of, err := wire.ParseTicketID(ticket)
			if err != nil {
				k.Fatal(err)
			}
			if !form(k.s.delivery(ticket).Kind) {
				continue
			}
			for _, later := range k.tickets() {
				id, err := wire.ParseTicketID(later.Ticket)
				if err != nil || id.Made != "" || id.Seq <= of.Seq || later.State != Settled ||
					later.Kind == wire.KindNew || k.has(device, id.Seq) {
					continue
				}
				k.Fatalf("%s has %s on paper, nothing of %s: %v%s", device, ticket, later.Ticket,
					k.paper, k.story())
			}
		}
	}
	copies := map[string]string{}
	for _, d := range k.tickets() {
		if !d.twin() || d.State == Cancelled {
			continue
		}
		key := d.Source + " " + d.Pinned.Device
		if copies[key] != "" {
			k.Fatalf("%s and %s are the same", copies[key], d.Ticket)
		}
		copies[key] = d.Ticket
	}
}

// has reports whether a device has a change or void of the seq, or of a higher one, or a person was
// told that one for it could not be delivered.
func (k *printers) has(device string, seq int) bool {
	return slices.ContainsFunc(k.tickets(), func(d Delivery) bool {
		id, err := wire.ParseTicketID(d.Ticket)
		_, handed := d.handedTo(device)
		pinned := d.Pinned != nil && d.Pinned.Device == device
		return err == nil && id.Seq >= seq && d.Kind != wire.KindNew &&
			(slices.Contains(k.paper[device], d.Ticket) || (handed || pinned) && warned(d))
	})
}

// TestEveryPrinterWithPaperHearsOfWhatChangesIt lets an order be changed, voided, moved, printed
// and answered in any order between two printers.
func TestEveryPrinterWithPaperHearsOfWhatChangesIt(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		k := &printers{T: rt, s: two(t), seqs: map[int]wire.Kind{}, queue: map[string][]string{},
			paper: map[string][]string{}, attempts: map[string]map[string]int{"d1": {}, "d2": {}}}
		device := rapid.SampledFrom([]string{"d1", "d2"})
		dispatch := func(t *rapid.T) {
			if d, ok := k.some(t, func(d Delivery) bool { return d.State == Waiting }); ok {
				k.dispatch(d, rapid.IntRange(0, 3).Draw(t, "lost") == 0)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"accept":     k.accept,
			"accept 2":   k.accept,
			"print":      func(t *rapid.T) { k.print(device.Draw(t, "device")) },
			"refuse":     func(t *rapid.T) { k.refuse(device.Draw(t, "device")) },
			"tell":       func(*rapid.T) { k.tell() },
			"recall":     k.recall,
			"elapse":     func(*rapid.T) { k.elapse() },
			"dispatch":   dispatch,
			"dispatch 2": dispatch,
			"move": func(t *rapid.T) {
				if d, ok := k.some(t, func(d Delivery) bool { return d.State.Open() }); ok {
					k.move(d)
				}
			},
			"redrive": func(t *rapid.T) {
				if d, ok := k.some(t, func(d Delivery) bool { return d.State == Dead }); ok {
					k.s.must(Redrive{Tenant: "t1", Ticket: d.Ticket, Who: "ana"})
				}
			},
			"time": func(t *rapid.T) {
				steps := []time.Duration{100 * time.Millisecond, VoidWait, LeaseFor}
				k.s.now = k.s.now.Add(rapid.SampledFrom(steps).Draw(t, "step"))
			},
		})
		k.settle()
		k.judge()
	})
}
