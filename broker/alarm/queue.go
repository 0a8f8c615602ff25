package alarm

import (
	"container/heap"
	"time"

	"chit/broker/delivery"
	"chit/device/wire"
)

// ticket is one delivery as the watch knows it.
type ticket struct {
	id    string
	epoch uint64
	// owed is from when its paper is: from its release, or from a person's wish where that came
	// later. What somebody asks for after an hour is not an hour late at once.
	owed   time.Time
	died   time.Time
	number string
	reason string // the state, and why
	index  int    // in the heap
}

func newTicket(d delivery.Delivery) *ticket {
	t := &ticket{id: d.Ticket, epoch: d.Epoch, owed: d.Release, died: d.DeadAt, number: d.Number,
		reason: string(d.State)}
	if d.Wanted.After(t.owed) {
		t.owed = d.Wanted
	}
	switch {
	case d.Reason == "":
	case d.State == delivery.Dead:
		t.reason = d.Reason
	default:
		t.reason += ", " + d.Reason
	}
	if d.State == delivery.Leased && d.Outcome == wire.OutcomeHeld {
		t.reason = "held"
		for i := len(d.Timeline) - 1; i >= 0; i-- {
			if d.Timeline[i].What == string(delivery.Held) && d.Timeline[i].Reason != "" {
				t.reason += ", " + d.Timeline[i].Reason
				break
			}
		}
	}
	return t
}

// queue is tickets with the one owed for longest in front.
type queue struct {
	tickets map[string]*ticket
	order   *order
}

func newQueue() queue { return queue{map[string]*ticket{}, &order{}} }

func (q queue) add(t *ticket) {
	q.tickets[t.id] = t
	heap.Push(q.order, t)
}

func (q queue) remove(id string) {
	if t := q.tickets[id]; t != nil {
		heap.Remove(q.order, t.index)
		delete(q.tickets, id)
	}
}

func (q queue) oldest() *ticket {
	if len(*q.order) == 0 {
		return nil
	}
	return (*q.order)[0]
}

// before counts the tickets that were owed by then.
func (q queue) before(then time.Time) (n int) {
	for _, t := range *q.order {
		if !t.owed.After(then) {
			n++
		}
	}
	return n
}

// nextAfter is when the first ticket owed only after then has the age; zero where there is none.
func (q queue) nextAfter(then time.Time, age time.Duration) (at time.Time) {
	for _, t := range *q.order {
		if t.owed.After(then) {
			earliest(&at, t.owed.Add(age))
		}
	}
	return at
}

// newestDead is the dead letter that died last.
func (s *station) newestDead() *ticket {
	var newest *ticket
	for _, t := range s.dead {
		if newest == nil || t.died.After(newest.died) || t.died.Equal(newest.died) && t.id > newest.id {
			newest = t
		}
	}
	return newest
}

// deadSeverity is P2 where a person has said of every dead letter that it is not to be printed:
// then only the money is left to be seen to.
func (s *station) deadSeverity() Severity {
	for _, t := range s.dead {
		if t.reason != delivery.ReasonNotWanted {
			return P1
		}
	}
	return P2
}

// order implements [heap.Interface].
type order []*ticket

func (o order) Len() int { return len(o) }

func (o order) Less(i, j int) bool {
	if !o[i].owed.Equal(o[j].owed) {
		return o[i].owed.Before(o[j].owed)
	}
	return o[i].id < o[j].id
}

func (o order) Swap(i, j int) {
	o[i], o[j] = o[j], o[i]
	o[i].index, o[j].index = i, j
}

func (o *order) Push(x any) {
	t := x.(*ticket)
	t.index = len(*o)
	*o = append(*o, t)
}

func (o *order) Pop() any {
	last := len(*o) - 1
	t := (*o)[last]
	*o = (*o)[:last]
	return t
}
