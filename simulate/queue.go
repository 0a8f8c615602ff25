package simulate

import (
	"container/heap"
	"time"
)

// event is one thing that will happen. Two at the same time happen in the order they were planned.
type event struct {
	at   time.Duration
	turn uint64
	do   func()
}

// queue is all that will happen.
type queue struct {
	events []event
	turns  uint64
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (q *queue) Len() int { return len(q.events) }

func (q *queue) Less(i, j int) bool {
	a, b := &q.events[i], &q.events[j]
	return a.at < b.at || a.at == b.at && a.turn < b.turn
}

func (q *queue) Swap(i, j int) { q.events[i], q.events[j] = q.events[j], q.events[i] }
func (q *queue) Push(x any)    { q.events = append(q.events, x.(event)) }

func (q *queue) Pop() any {
	last := len(q.events) - 1
	e := q.events[last]
	q.events[last] = event{}
	q.events = q.events[:last]
	return e
}

func (q *queue) add(at time.Duration, do func()) {
	q.turns++
	heap.Push(q, event{at, q.turns, do})
}

func (q *queue) next() (event, bool) {
	if len(q.events) == 0 {
		return event{}, false
	}
	return heap.Pop(q).(event), true
}
