package relay

import (
	"cmp"
	"strings"
	"time"
)

// line says whose ticket goes out next where the rate is the limit.
//
// Tenants take turns, one ticket each. Within a tenant its stations go in rounds: in a round each
// station that has something to hand over gives its oldest ticket, the oldest of them first, and no
// station gives a second one before all have given their first. Who comes in the middle of a round
// and has not been served in it takes part in it. So a storm at one tenant, or at one kitchen,
// delays the ticket of another by no more than one round, and a storm at all drains oldest first.
type line struct {
	total   *bucket // of the whole broker
	rate    float64 // of a tenant
	burst   int
	tenants map[string]*tenant
	ready   queue[*tenant] // have something to hand over and, as far as is known, a token
	spent   queue[*tenant] // have something to hand over and wait for a token
	turn    uint64         // the round of tenants that is being served
}

// tenant is one tenant's stations that have something to hand over.
type tenant struct {
	name     string
	bucket   *bucket
	stations queue[*station]
	round    uint64 // the round of stations that is being served
	turn     uint64 // the round of tenants that it stands for
	until    time.Time
	// Its places in the line's queues.
	readyAt, spentAt int
}

func newLine(total *bucket, rate float64, burst int) *line {
	return &line{total: total, rate: rate, burst: burst, tenants: map[string]*tenant{},
		ready: queue[*tenant]{place: func(t *tenant) *int { return &t.readyAt },
			compare: func(a, b *tenant) int {
				return cmp.Or(cmp.Compare(a.turn, b.turn), strings.Compare(a.name, b.name))
			}},
		spent: queue[*tenant]{place: func(t *tenant) *int { return &t.spentAt },
			compare: func(a, b *tenant) int {
				return cmp.Or(a.until.Compare(b.until), strings.Compare(a.name, b.name))
			}}}
}

func (l *line) tenant(name string, now time.Time) *tenant {
	t := l.tenants[name]
	if t == nil {
		t = &tenant{name: name, bucket: newBucket(l.rate, l.burst, now), stations: queue[*station]{
			place: func(s *station) *int { return &s.lineAt },
			compare: func(a, b *station) int {
				return cmp.Or(cmp.Compare(a.turn, b.turn), order(a.head, b.head))
			}}}
		l.tenants[name] = t
	}
	return t
}

// join takes s into line with head, the oldest ticket that it may hand over now, or tells that head
// has changed.
func (l *line) join(s *station, head *item, now time.Time) {
	t := l.tenant(s.tenant, now)
	t.stations.drop(s) // Before what its place depends on changes.
	s.head, s.turn = head, max(s.turn, t.round)
	t.stations.put(s)
	if t.readyAt == 0 && t.spentAt == 0 {
		l.admit(t)
	}
}

// admit takes t into the round of tenants that is being served.
func (l *line) admit(t *tenant) {
	t.turn = max(t.turn, l.turn)
	l.ready.put(t)
}

// leave takes s out of line.
func (l *line) leave(s *station) {
	t := l.tenants[s.tenant]
	if t == nil || s.lineAt == 0 {
		return
	}
	t.stations.drop(s)
	s.head = nil
	if len(t.stations.members) == 0 {
		l.ready.drop(t)
		l.spent.drop(t)
	}
}

// next is the station whose head goes next. Where there is none now, at is when there may be one,
// zero for when one joins.
func (l *line) next(now time.Time) (s *station, at time.Time) {
	for {
		t, ok := l.spent.first()
		if !ok || now.Before(t.until) {
			break
		}
		l.spent.drop(t)
		l.admit(t)
	}
	for {
		t, ok := l.ready.first()
		if !ok {
			if t, ok = l.spent.first(); ok {
				return nil, t.until
			}
			return nil, time.Time{}
		}
		if ok, at := l.total.has(now); !ok {
			return nil, at
		}
		ok, until := t.bucket.has(now)
		if ok {
			s, _ := t.stations.first() // A tenant without stations is in no queue.
			return s, time.Time{}
		}
		l.ready.drop(t)
		t.until = until
		l.spent.put(t)
	}
}

// served tells that the head of s, which next named at the same instant, was handed over. What s
// has next must be told by join or leave before next is asked again.
func (l *line) served(s *station, now time.Time) {
	t := l.tenants[s.tenant]
	l.total.take(now)
	t.bucket.take(now)
	t.stations.drop(s)
	t.round = s.turn
	s.turn++
	t.stations.put(s)
	l.ready.drop(t)
	l.turn = t.turn
	t.turn++
	l.ready.put(t)
}
