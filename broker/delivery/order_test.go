package delivery

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"chit/device/wire"
)

// kitchen is one order at one station whose device prints what it has in the order in which it
// came, loses messages on their way to it, and answers late.
type kitchen struct {
	*rapid.T
	s        *shelf
	seqs     map[int]wire.Kind
	queue    []string // what the device has and has not printed
	paper    []string // what came out, in this order
	unsaid   []string // of that, what the broker was not told yet
	attempts map[string]int
}

func (k *kitchen) tickets() []Delivery {
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

// some draws one of the tickets that are as wanted.
func (k *kitchen) some(t *rapid.T, wanted func(Delivery) bool) (Delivery, bool) {
	all := slices.DeleteFunc(k.tickets(), func(d Delivery) bool { return !wanted(d) })
	if len(all) == 0 {
		return Delivery{}, false
	}
	return rapid.SampledFrom(all).Draw(t, "ticket"), true
}

func (k *kitchen) accept(t *rapid.T) {
	seq := rapid.IntRange(1, 6).Draw(t, "seq")
	if _, known := k.seqs[seq]; known {
		return
	}
	kind := rapid.SampledFrom([]wire.Kind{wire.KindNew, wire.KindNew, wire.KindChange,
		wire.KindVoid, wire.KindNotice}).Draw(t, "kind")
	k.seqs[seq] = kind
	k.s.accept(content(fmt.Sprintf("o1/%d", seq), kind, soup))
}

// dispatch hands a ticket over, and checks that nothing which no device had is handed over once
// its order is voided.
func (k *kitchen) dispatch(d Delivery, lost bool) {
	void, err := voided(k.s, d)
	if err != nil {
		k.Fatal(err)
	}
	m, err := k.s.dispatch(d.Ticket, "d1", "s1")
	if err != nil && !errors.Is(err, ErrBlocked) && !errors.Is(err, ErrNotDue) {
		k.Fatal(err)
	}
	if err != nil || m.ID == "" {
		return
	}
	if void != "" && (form(d.Kind) || d.Kind == wire.KindNotice && len(d.Handed) == 0) {
		k.Fatalf("%s is handed over although %s voids it", d.Ticket, void)
	}
	k.attempts[d.Ticket] = m.Attempt
	if !lost && !slices.Contains(k.queue, m.ID) && !slices.Contains(k.paper, m.ID) {
		k.queue = append(k.queue, m.ID)
	}
}

// print brings the device's first ticket to paper.
func (k *kitchen) print(*rapid.T) {
	if len(k.queue) > 0 {
		k.paper, k.unsaid = append(k.paper, k.queue[0]), append(k.unsaid, k.queue[0])
		k.queue = k.queue[1:]
	}
}

func (k *kitchen) say(ticket string, outcome wire.Outcome, reason string, permanent bool) {
	k.s.ack(ticket, "d1", outcome, func(a *wire.Ack) {
		a.Attempt, a.Reason, a.Permanent = k.attempts[ticket], reason, permanent
	})
}

// tell tells the broker of one paper.
func (k *kitchen) tell(t *rapid.T) {
	if len(k.unsaid) > 0 {
		i := rapid.IntRange(0, len(k.unsaid)-1).Draw(t, "paper")
		ticket := k.unsaid[i]
		k.unsaid = slices.Delete(k.unsaid, i, i+1)
		k.say(ticket, wire.OutcomePrinted, "", false)
	}
}

// recall takes a ticket back that the broker recalls and the device has not printed.
func (k *kitchen) recall(t *rapid.T) {
	d, ok := k.some(t, func(d Delivery) bool { return len(d.Recalls) > 0 })
	if !ok || slices.Contains(k.paper, d.Ticket) {
		return
	}
	k.queue = slices.DeleteFunc(k.queue, func(o string) bool { return o == d.Ticket })
	k.say(d.Ticket, wire.OutcomeRecalled, d.Recalls[0].ID, false)
}

// refuse drops a ticket for good.
func (k *kitchen) refuse(t *rapid.T) {
	if len(k.queue) > 0 {
		ticket := k.queue[len(k.queue)-1]
		k.queue = k.queue[:len(k.queue)-1]
		k.say(ticket, wire.OutcomeRefused, "poison", true)
	}
}

func (k *kitchen) withdraw(t *rapid.T) {
	seq := rapid.IntRange(1, 6).Draw(t, "seq")
	_, err := k.s.do(Withdraw{Tenant: "t1", Order: "o1", Seq: seq, Who: "ana", Why: "guest left"})
	for _, known := range []error{ErrUnknown, ErrVoid, ErrSuperseded, nil} {
		if errors.Is(err, known) {
			return
		}
	}
	k.Fatal(err)
}

func (k *kitchen) elapse(*rapid.T) {
	for _, d := range k.tickets() {
		if end := d.Ends(); d.State == Leased && !k.s.now.Before(end) {
			k.s.must(Advance{"t1", d.Ticket, Elapse{0.5}})
		}
	}
}

// settle lets everything come to its end: the device prints and tells all that it has, and what is
// due is handed over.
func (k *kitchen) settle(t *rapid.T) {
	for range 200 {
		for len(k.queue) > 0 {
			k.print(t)
		}
		for len(k.unsaid) > 0 {
			k.tell(t)
		}
		k.s.now = k.s.now.Add(time.Minute)
		k.elapse(t)
		open := false
		for _, d := range k.tickets() {
			if d = k.s.delivery(d.Ticket); d.State == Waiting {
				k.dispatch(d, false)
			}
			open = open || k.s.delivery(d.Ticket).State.Open()
		}
		if !open && len(k.queue) == 0 {
			return
		}
	}
	k.Fatalf("not everything has ended: %+v", k.tickets())
}

// judge looks at the paper: whatever was printed of a form that does not hold any more has a void
// behind it, unless a person was told that the void could not be delivered.
func (k *kitchen) judge() {
	for i, ticket := range k.paper {
		d := k.s.delivery(ticket)
		if !form(d.Kind) {
			continue
		}
		id, err := wire.ParseTicketID(ticket)
		if err != nil {
			k.Fatal(err)
		}
		void, err := voided(k.s, d)
		if err != nil {
			k.Fatal(err)
		}
		cancelled := slices.ContainsFunc(d.Timeline, func(m Moment) bool { return m.State == Cancelled })
		if void == "" && !cancelled {
			continue
		}
		if !slices.ContainsFunc(k.tickets(), func(v Delivery) bool {
			told := slices.ContainsFunc(v.Timeline, func(m Moment) bool { return m.State == Dead })
			by, err := wire.ParseTicketID(v.Ticket)
			return err == nil && v.Kind == wire.KindVoid && (row{id: by, d: v}).scope()(row{id: id}) &&
				(told || slices.Index(k.paper, v.Ticket) > i)
		}) {
			k.Fatalf("%s is on paper and voided, and no void is behind it: paper %v\n%+v", ticket, k.paper,
				k.tickets())
		}
	}
}

// TestNoVoidIsLostWherePaperMayBe lets an order be changed, voided, cancelled, printed and answered
// in any order: what no device had is not printed after its void, everything ends, and what is on
// paper and not wanted any more has its void behind it.
func TestNoVoidIsLostWherePaperMayBe(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		k := &kitchen{T: rt, s: newShelf(t), seqs: map[int]wire.Kind{}, attempts: map[string]int{}}
		k.s.hello("d1", "s1")
		rt.Repeat(map[string]func(*rapid.T){
			"accept":   k.accept,
			"accept 2": k.accept,
			"withdraw": k.withdraw,
			"print":    k.print,
			"tell":     k.tell,
			"recall":   k.recall,
			"refuse":   k.refuse,
			"elapse":   k.elapse,
			"dispatch": func(t *rapid.T) {
				if d, ok := k.some(t, func(d Delivery) bool { return d.State == Waiting }); ok {
					k.dispatch(d, rapid.IntRange(0, 3).Draw(t, "lost") == 0)
				}
			},
			"stored": func(t *rapid.T) {
				if len(k.queue) > 0 {
					k.say(rapid.SampledFrom(k.queue).Draw(t, "stored"), wire.OutcomeStored, "", false)
				}
			},
			"redrive": func(t *rapid.T) {
				if d, ok := k.some(t, func(d Delivery) bool { return d.State == Dead }); ok {
					k.s.must(Redrive{Tenant: "t1", Ticket: d.Ticket, Who: "ana"})
				}
			},
			"discard": func(t *rapid.T) {
				if d, ok := k.some(t, func(d Delivery) bool { return d.State == Dead }); ok {
					k.s.must(Discard{Tenant: "t1", Ticket: d.Ticket, Who: "ana", Why: "refunded"})
				}
			},
			"time": func(t *rapid.T) {
				steps := []time.Duration{100 * time.Millisecond, VoidWait, LeaseFor}
				k.s.now = k.s.now.Add(rapid.SampledFrom(steps).Draw(t, "step"))
			},
		})
		k.settle(rt)
		k.judge()
	})
}
