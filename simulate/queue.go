package simulate

import "time"

// event is one thing that will happen. Two at the same time happen in the order they were planned.
type event struct {
	at   time.Duration
	turn uint64
	do   func()
}

func (e *event) before(o *event) bool { return e.at < o.at || e.at == o.at && e.turn < o.turn }

// queue is all that will happen: a heap of four branches. container/heap would allocate for each.
type queue struct {
	events []event
	turns  uint64
}

func (q *queue) add(at time.Duration, do func()) {
	q.turns++
	q.events = append(q.events, event{at, q.turns, do})
	events := q.events
	for i := len(events) - 1; i > 0; {
		up := (i - 1) / 4
		if !events[i].before(&events[up]) {
			return
		}
		events[i], events[up] = events[up], events[i]
		i = up
	}
}

func (q *queue) next() (event, bool) {
	if len(q.events) == 0 {
		return event{}, false
	}
	last := len(q.events) - 1
	first := q.events[0]
	q.events[0], q.events[last] = q.events[last], event{}
	q.events = q.events[:last]
	q.sink()
	return first, true
}

// sink takes the root down to where it belongs.
func (q *queue) sink() {
	events := q.events
	for i := 0; ; {
		least := i
		for below := 4*i + 1; below <= 4*i+4 && below < len(events); below++ {
			if events[below].before(&events[least]) {
				least = below
			}
		}
		if least == i {
			return
		}
		events[i], events[least] = events[least], events[i]
		i = least
	}
}
