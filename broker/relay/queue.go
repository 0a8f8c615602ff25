package relay

import "container/heap"

// queue is an ordered set of members that know their place in it: the first is found at once, any
// member is put in, moved and taken out in steps that grow with the logarithm of the set. A member
// may be in several queues, with a place for each.
type queue[T any] struct {
	members []T
	compare func(a, b T) int // never 0 for two members
	place   func(T) *int     // 0 outside, else its index and one
}

// first is the smallest member; ok is false where there is none.
func (q *queue[T]) first() (first T, ok bool) {
	if len(q.members) == 0 {
		return first, false
	}
	return q.members[0], true
}

// put takes x in, or moves it to where it belongs now.
func (q *queue[T]) put(x T) {
	if at := *q.place(x); at > 0 {
		heap.Fix((*heaped[T])(q), at-1)
		return
	}
	heap.Push((*heaped[T])(q), x)
}

// drop takes x out, where it is in.
func (q *queue[T]) drop(x T) {
	if at := *q.place(x); at > 0 {
		heap.Remove((*heaped[T])(q), at-1)
	}
}

// each visits the members, smallest first, until visit says that it wants no more. A member is
// visited once, whether visit takes it out or leaves it: the walk ends in any case.
func (q *queue[T]) each(visit func(T) (more bool)) {
	var left []T // Visited and still in: kept aside, so that the next one is the first.
	for more := true; more; {
		x, ok := q.first()
		if !ok {
			break
		}
		more = visit(x)
		if now, ok := q.first(); more && ok && q.compare(now, x) == 0 {
			q.drop(x)
			left = append(left, x)
		}
	}
	for _, x := range left {
		if *q.place(x) == 0 { // Else a later visit has put it elsewhere.
			q.put(x)
		}
	}
}

// heaped is a queue as [heap.Interface].
type heaped[T any] queue[T]

func (h *heaped[T]) Len() int           { return len(h.members) }
func (h *heaped[T]) Less(i, j int) bool { return h.compare(h.members[i], h.members[j]) < 0 }

func (h *heaped[T]) Swap(i, j int) {
	h.members[i], h.members[j] = h.members[j], h.members[i]
	*h.place(h.members[i]), *h.place(h.members[j]) = i+1, j+1
}

// Push implements [heap.Interface].
func (h *heaped[T]) Push(x any) {
	h.members = append(h.members, x.(T))
	*h.place(x.(T)) = len(h.members)
}

// Pop implements [heap.Interface].
func (h *heaped[T]) Pop() any {
	last := len(h.members) - 1
	x := h.members[last]
	var none T
	h.members[last] = none // Not kept alive by the array.
	h.members = h.members[:last]
	*h.place(x) = 0
	return x
}
