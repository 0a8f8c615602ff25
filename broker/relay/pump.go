package relay

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"chit/broker/delivery"
)

// pump looks at the stations where something has changed or has come due, hands over what the rate
// allows, and says when to look again, zero for when something changes.
func (r *Relay) pump(now time.Time) (next time.Time) {
	if r.stopped {
		return time.Time{}
	}
	for {
		s, ok := r.looks.first()
		if !ok || now.Before(s.look) {
			break
		}
		r.looks.drop(s)
		r.dirty[s] = true
	}
	// In one order, so that the same story is told the same way again.
	for _, s := range slices.SortedFunc(maps.Keys(r.dirty), byName) {
		if r.full() {
			break // The others stay dirty; the desk's answers bring the loop back.
		}
		delete(r.dirty, s)
		r.station(s, now)
	}
	next = r.handOut(now)
	if s, ok := r.looks.first(); ok {
		next = earliest(next, s.look)
	}
	return next
}

func byName(a, b *station) int {
	return cmp.Or(strings.Compare(a.tenant, b.tenant), strings.Compare(a.id, b.id),
		strings.Compare(a.at, b.at), strings.Compare(a.pin.Device, b.pin.Device),
		strings.Compare(a.pin.Printer, b.pin.Printer), staying(a)-staying(b))
}

func staying(s *station) int {
	if s.stays {
		return 1
	}
	return 0
}

// station does what presence and time ask for at s, and puts it in line where it has something to
// hand over.
func (r *Relay) station(s *station, now time.Time) {
	r.board.ripen(s, now)
	for _, i := range slices.SortedFunc(slices.Values(s.leased.members), order) {
		r.leaseOver(i)
	}
	again := r.failover(s, now)
	if d, served := r.serving(s); d != nil {
		// A lease that waits for its judgement gets it at once, room or not: the next birth may be
		// another process.
		r.each(&s.unheard, func(i *item) { r.wake(i, d) })
	} else {
		leave := func(i *item) {
			r.advance(i, delivery.Leave{Epoch: i.epoch, Reason: away(served.Device)})
		}
		r.each(&s.ready, leave)
		r.each(&s.blocked, leave)
	}
	r.enter(s, now)
	r.looks.drop(s)
	if i, ok := s.later.first(); ok {
		again = earliest(again, i.look())
	}
	if s.look = again; !again.IsZero() {
		r.looks.put(s)
	}
}

// each asks about the members of a queue, oldest first, as far as the desk has room.
func (r *Relay) each(q *queue[*item], ask func(*item)) {
	q.each(func(i *item) (more bool) {
		if r.full() {
			r.dirty[i.station] = true
			return false
		}
		ask(i)
		return true
	})
}

// serving is the present device that serves s now, nil where it is away.
func (r *Relay) serving(s *station) (*device, Station) {
	served := r.served(s)
	d := r.devices[served.Device]
	if d == nil || !d.present || d.tenant != s.tenant {
		return nil, served
	}
	return d, served
}

// enter puts s in line with the oldest ticket that it may hand over now, or takes it out where
// there is none. What is parked and older is woken first.
func (r *Relay) enter(s *station, now time.Time) {
	if i := r.oldest(s); i != nil {
		r.line.join(s, i, now)
	} else {
		r.line.leave(s)
	}
}

func (r *Relay) oldest(s *station) *item {
	d, served := r.serving(s)
	if d == nil {
		return nil
	}
	for room := r.room(d, served.Printer) - len(s.waking.members); room > 0; room-- {
		i, ok := s.ready.first()
		sleeper, sleeps := s.parked.first()
		switch {
		case ok && (!sleeps || order(i, sleeper) < 0):
			if older, wakes := s.waking.first(); wakes && order(older, i) < 0 {
				return nil // It is ready in a moment, and goes first.
			}
			return i
		case !sleeps:
			return nil
		case r.full():
			r.dirty[s] = true
			return nil
		}
		r.wake(sleeper, d)
	}
	d.crowded[s] = true
	return nil
}

// handOut hands over what the rate allows, each in its turn, and says when there is a token for the
// next one.
func (r *Relay) handOut(now time.Time) time.Time {
	for {
		s, at := r.line.next(now)
		if s == nil {
			return at
		}
		head := s.head
		if r.enter(s, now); s.head != head {
			continue // Its device left, its printer is full, or something older came.
		}
		r.line.served(s, now)
		r.dispatch(head)
		r.enter(s, now)
	}
}

func away(device string) string {
	if device == "" {
		return "no-device"
	}
	return "away"
}

// room is how many more deliveries a printer may have unsettled.
func (r *Relay) room(d *device, printer string) int {
	window := WindowMax
	if d.narrow {
		window = windowNarrow
		printer = "" // A crash is the process's: its printers share the one.
	}
	for key, on := range d.leased {
		if i := r.board.items[key]; i != nil && (printer == "" || on == printer) {
			window--
		}
	}
	return window
}

// dispatch hands i over to the present device that serves its station.
func (r *Relay) dispatch(i *item) {
	d, served := r.serving(i.station)
	d.leased[i.key] = served.Printer // Counted from now on, so that one turn does not overfill it.
	r.ask(i, delivery.Dispatch{
		Tenant: i.key.Tenant, Ticket: i.key.ID, Epoch: i.epoch, Device: d.id,
		Printer: served.Printer, Session: d.record.Session, Status: d.hint(), Lease: served.Lease,
		Address: r.conf.Address(d.id), StaleAfter: served.StaleAfter, OnStale: served.OnStale,
		Zone: served.Zone, DayCut: served.DayCut,
		Place: delivery.Place{Station: i.station.at, Name: served.Name},
	}, func(i *item, err error) {
		// Where it was not leased, or no longer is, it takes no room.
		if i.lease == nil || i.state != delivery.Leased || i.lease.Device != d.id {
			delete(d.leased, i.key)
			r.freed(d)
		}
		r.answered(i, err)
	})
}
