package delivery

import (
	"fmt"
	"slices"
	"time"

	"chit/device/wire"
)

// Recall is the duty to tell a device "do not start this one any more", until it is answered.
//
// It ends by the answer that names it, by paper of that device, by an end that the device says
// instead, by a newer handing-over to that device, or by the event's expires; not by the delivery's
// own end (DESIGN.md section 5: "the broker recalls it until answered").
type Recall struct {
	// ID names it in the answer: the newest attempt that was handed over there, and the device.
	// What a device once said of that attempt stays true.
	ID      string `json:"id"`
	Device  string `json:"device"`
	Attempt int    `json:"attempt"`
	Reason  string `json:"reason"` // moved, cancelled, dead (device/wire, recall)
	// MovedTo is what people call the station that takes over, "" where none does.
	MovedTo string    `json:"moved_to,omitempty"`
	At      time.Time `json:"at"`
	// Until is how long the next handing-over waits for the answer, zero where it does not.
	Until time.Time `json:"until,omitzero"`
}

// cleared reports whether it is proven that nothing of what was handed over there is on paper.
func (h Handed) cleared() bool { return h.Cleared >= h.Last }

// recallOf is the open recall at a device.
func (d Delivery) recallOf(device string) (Recall, bool) {
	i := slices.IndexFunc(d.Recalls, func(r Recall) bool { return r.Device == device })
	if i < 0 {
		return Recall{}, false
	}
	return d.Recalls[i], true
}

// asks is the recall of what was handed to h's device.
func (h Handed) asks(reason, movedTo string, attempt int, now time.Time) Event {
	r := Recall{ID: fmt.Sprintf("%d-%s", h.Last, h.Device), Device: h.Device, Attempt: h.Last,
		Reason: reason, MovedTo: movedTo, At: now}
	return Event{What: RecallAsked, At: now, Reason: reason, Attempt: attempt, Device: h.Device,
		Recall: &r}
}

// recalls adds to what happens to d the recalls that it asks and ends. A delivery that is over is
// recalled from every device that may still start it; one that has paper from every other. A newer
// handing-over to a device supersedes what was asked of it before.
func (d Delivery) recalls(events []Event, now time.Time) []Event {
	if len(events) == 0 {
		return nil
	}
	switch last := events[len(events)-1]; last.What {
	case Buried:
		return d.recallAll(events, "dead", "", "", now)
	case CancelDone:
		return d.recallAll(events, "cancelled", "", "", now)
	case Printed, Confirmed, Doubled:
		if r, open := d.recallOf(last.Device); open {
			events = append(events, r.ends("printed", last))
		}
		if last.What == Printed {
			handed, _ := d.handedTo(last.Device)
			return d.recallAll(events, "moved", handed.Place.called(d.Station), last.Device, now)
		}
	case Dispatched:
		if r, open := d.recallOf(last.Device); open {
			events = append(events, r.ends("superseded", last))
		}
	}
	return events
}

// recallAll asks every device but one that may still start the ticket, once.
func (d Delivery) recallAll(events []Event, reason, movedTo, but string, now time.Time) []Event {
	for _, h := range d.Handed {
		_, open := d.recallOf(h.Device)
		if h.Device != but && !open && !h.cleared() && h.Ended < h.Last {
			events = append(events, h.asks(reason, movedTo, h.Last, now))
		}
	}
	return events
}

// ends is the recall's end by anything but its answer.
func (r Recall) ends(reason string, by Event) Event {
	return Event{What: RecallEnded, At: by.At, Reason: reason, Attempt: r.Attempt, Device: r.Device,
		Recall: &r}
}

// answers is what a device's ack does to the recall that is open there; ok is false where it does
// nothing to it. Only recalled, and only where it names this recall, can prove that there is no
// paper: not where the device has lost its memory since, for then it speaks of what it does not
// know.
func (d Delivery) answers(s Say, now time.Time) (e Event, ok bool) {
	r, open := d.recallOf(s.Device)
	if !open {
		return Event{}, false
	}
	e = d.said(s, now)
	e.Recall = &r
	h, _ := d.handedTo(s.Device)
	remembers := h.Memory == s.Memory && h.Journal == s.Ack.Journal
	switch o := s.Ack.Outcome; {
	case o == wire.OutcomeRecalled && s.Ack.Reason == r.ID:
		e.What, e.Reason = RecallAnswered, "unproven"
		if e.Clear = remembers && !h.Doubt; e.Clear {
			e.Reason = "no-paper"
		}
		return e, true
	case s.Ack.Attempt != r.Attempt || !remembers: // Another memory may start it yet.
	case o == wire.OutcomeExpired:
		e.What, e.Reason = RecallEnded, "expired"
		return e, true
	case o == wire.OutcomeRefused && s.Ack.Permanent:
		e.What, e.Reason = RecallEnded, "refused:"+s.Ack.Reason
		return e, true
	}
	return Event{}, false
}

// forget ends the recalls of an event that nobody needs to remember any more.
func (d Delivery) forget(now time.Time) []Event {
	var events []Event
	for _, r := range d.Recalls {
		events = append(events, r.ends("expired", Event{At: now}))
	}
	return events
}

// recall is the part of Evolve that is about recalls.
func (d *Delivery) recall(e Event) {
	r := *e.Recall
	if e.What == RecallAsked {
		d.Recalls = append(d.Recalls, r)
		return
	}
	d.Recalls = slices.DeleteFunc(d.Recalls, func(o Recall) bool { return o.ID == r.ID })
	if len(d.Recalls) == 0 {
		d.Recalls = nil
	}
	for i := range d.Handed {
		h := &d.Handed[i]
		if h.Device != r.Device || e.Ack == nil {
			continue
		}
		h.Ended = max(h.Ended, r.Attempt)
		if e.Clear {
			h.Cleared = max(h.Cleared, r.Attempt)
		}
	}
	if d.State == Waiting && !r.Until.IsZero() && d.Due.Equal(r.Until) {
		d.Due = e.At // It waited for this alone.
	}
}
