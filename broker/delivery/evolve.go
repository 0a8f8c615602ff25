package delivery

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"chit/device/wire"
)

// Evolve is d after e. An event that cannot happen in d's state panics: Decide does not make such.
func (m Machine) Evolve(d Delivery, e Event) Delivery {
	arc := arcs[e.What]
	if !arc.leads(d.State) {
		panic(fmt.Sprintf("delivery: %s of %s at epoch %d, which is %s", e.What, d.Ticket, d.Epoch,
			d.State))
	}
	d = d.clone()
	switch e.What {
	case Dispatched:
		d.dispatched(e)
	case Stored, Held:
		d.Lease.Until, d.Lease.Stored, d.Streak = e.Until, true, 0
		d.Outcome, d.Evidence = e.Ack.Outcome, wire.Stronger(d.Evidence, wire.EvidenceStored)
	case Failed:
		d.Failed++
		d.lose(e)
	case Deferred:
		d.deferred(e)
		d.lose(e)
	case ParkedNow:
		d.Reason, d.Due = e.Reason, time.Time{}
	case Woken:
		d.lose(e) // A lease that still waits for its judgement was another device's.
	case Buried:
		d.close(e)
		d.Lease, d.Reason, d.DeadAt = nil, e.Reason, e.At
	case CancelDone:
		d.close(e)
		d.Lease, d.Reason, d.DeadAt = nil, e.Reason, time.Time{}
	case Redriven:
		d.redriven(e)
	case Staled:
		d.close(e)
		if d.Lease = nil; e.Ack != nil {
			d.Outcome, d.Evidence = e.Ack.Outcome, wire.Stronger(d.Evidence, wire.EvidenceStored)
		}
	case Approved, Allowed:
		d.wished(e)
	case Printed, Confirmed, Doubled:
		d.onPaper(e)
	case Moved:
		d.moved(e)
	case RecallAsked, RecallAnswered, RecallEnded:
		d.recall(e)
	}
	d.State = arc.end(d.State)
	d.feel(e)
	if d.State != Parked && d.State != Dead && d.State != Cancelled {
		d.Reason = ""
	}
	if d.State != Waiting {
		d.Due = time.Time{}
	}
	if e.Ack != nil {
		d.hear(e)
	}
	d.Epoch++
	d.tell(e)
	return d
}

// clone gives d its own copies of what Evolve changes in place.
func (d Delivery) clone() Delivery {
	if d.Lease != nil {
		lease := *d.Lease
		d.Lease = &lease
	}
	d.Deferrals = maps.Clone(d.Deferrals)
	d.Handed, d.Tries = slices.Clone(d.Handed), slices.Clone(d.Tries)
	d.Timeline, d.Redrives = slices.Clone(d.Timeline), slices.Clone(d.Redrives)
	d.Doubled, d.Recalls = slices.Clone(d.Doubled), slices.Clone(d.Recalls)
	return d
}

func (d *Delivery) dispatched(e Event) {
	h := e.Handing
	lease := h.Lease
	d.Lease, d.Attempt = &lease, e.Attempt
	if d.Number == "" {
		d.Number, d.Previous, d.Day, d.Gaps = h.Number, h.Previous, h.Day, h.Gaps
	}
	handed := Handed{Device: lease.Device, Memory: h.Memory, First: e.Attempt, Last: e.Attempt,
		Place: h.Place, Journal: lease.Journal, Printers: []string{lease.Printer}}
	i := slices.IndexFunc(d.Handed, func(h Handed) bool { return h.Device == lease.Device })
	if i < 0 {
		d.Handed = append(d.Handed, handed)
	} else {
		was := d.Handed[i]
		// Of what is proven to have left no paper nothing can be doubtful.
		handed.First, handed.Cleared, handed.Ended = was.First, was.Cleared, was.Ended
		handed.Doubt = !was.cleared() && (was.Doubt || was.Memory != h.Memory)
		handed.Silent, handed.Held = was.Silent, was.Held
		handed.Printers = addPrinter(was.Printers, lease.Printer)
		if handed.Before = was.Before; was.Place.Station != h.Place.Station {
			handed.Before = was.Place
		}
		if was.Memory == h.Memory {
			handed.Heard = was.Heard
		}
		d.Handed[i] = handed
	}
	d.Tries = append(d.Tries, Try{Attempt: e.Attempt, At: e.At, Until: lease.Until,
		Device: lease.Device, Printer: lease.Printer, Session: lease.Session, Boot: lease.Boot,
		Status: h.Status, Address: h.Address, Marks: h.Marks})
	d.Tries = bound(d.Tries, TriesMax, &d.Dropped)
}

func (d *Delivery) moved(e Event) {
	d.Lease, d.MovedTo, d.Due = nil, e.To, e.Until
	if e.Home {
		d.MovedTo = ""
	}
	d.Moves++
}

// lose ends the lease, if there is one, and sets when the delivery may be handed over again.
func (d *Delivery) lose(e Event) {
	d.close(e)
	d.Lease, d.Due = nil, e.At.Add(e.Pause)
}

// close writes into the newest try how it ended.
func (d *Delivery) close(e Event) {
	if len(d.Tries) == 0 || d.Lease == nil {
		return
	}
	last := &d.Tries[len(d.Tries)-1]
	if last.Attempt != d.Attempt || !last.Ended.IsZero() {
		return
	}
	last.Ended, last.Error = e.At, e.Reason
	last.Counted = e.What == Failed
	last.Pause, last.Limit = e.Pause, e.Limit
}

func (d *Delivery) deferred(e Event) {
	if d.Deferrals == nil {
		d.Deferrals = map[string]Deferral{}
	}
	count := d.Deferrals[e.Reason]
	if count.Count == 0 {
		count.First = e.At
	}
	count.Count, count.Last = count.Count+1, e.At
	d.Deferrals[e.Reason] = count
	if e.Limit > 0 {
		d.Streak++
	}
}

func (d *Delivery) redriven(e Event) {
	d.Redrives = append(d.Redrives, Redriving{At: e.At, Who: e.Who, Why: e.Reason, Failed: d.Failed,
		Reason: d.Reason})
	d.Redrives = bound(d.Redrives, RedrivesMax, &d.Dropped)
	d.Failed, d.Streak, d.WindowEnd, d.Wanted = 0, 0, e.Until, e.At
	d.Due, d.DeadAt, d.Lease = e.At, time.Time{}, nil
}

func (d *Delivery) onPaper(e Event) {
	paper := Paper{Device: e.Device, Attempt: e.Ack.Attempt, Evidence: e.Ack.Evidence,
		Marked: e.Ack.Marked, Ack: e.Ack.Key(), At: e.At}
	switch e.What {
	case Printed:
		if d.Lease != nil {
			d.close(Event{What: Printed, At: e.At})
		}
		d.Lease, d.DeadAt = nil, time.Time{}
		d.Outcome, d.Printed = wire.OutcomePrinted, &paper
		// What "stored" had proved is less than any paper; an unknown one must not keep its word.
		d.Evidence, d.Marked = e.Ack.Evidence, e.Ack.Marked
	case Confirmed:
		d.Evidence = wire.Stronger(d.Evidence, e.Ack.Evidence)
		d.Marked = d.Marked || e.Ack.Marked
	case Doubled:
		d.Doubled = append(d.Doubled, paper)
	}
}

// hear remembers the newest ack of its device.
func (d *Delivery) hear(e Event) {
	for i := range d.Handed {
		h := &d.Handed[i]
		if h.Device != e.Device {
			continue
		}
		if key := e.Ack.Key(); h.Heard.Journal != key.Journal || key.N > h.Heard.N ||
			h.Memory != e.Memory {
			h.Heard = key
		}
	}
}

func (d *Delivery) tell(e Event) {
	moment := Moment{At: e.At, What: string(e.What), State: d.State, Attempt: e.Attempt,
		Device: e.Device, Reason: e.Reason, Who: e.Who, Why: e.Why, To: e.To}
	if e.Ack != nil {
		moment.Evidence = e.Ack.Evidence
	}
	d.Timeline = bound(append(d.Timeline, moment), TimelineMax, &d.Dropped)
}

// bound keeps the first entry, which says how it began, and the newest ones.
func bound[T any](list []T, most int, dropped *int) []T {
	if extra := len(list) - most; extra > 0 {
		*dropped += extra
		return slices.Delete(list, 1, 1+extra)
	}
	return list
}
