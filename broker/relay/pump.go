package relay

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"chit/broker/delivery"
	"chit/broker/entity"
)

// load reads what is open. Every lease is one that the broker's restart has lost: a deferral.
func (r *Relay) load() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	const page = 512
	var after entity.Row
	for {
		rows, err := r.conf.Store.Rows(delivery.ListOpen, "", after, page)
		if err != nil {
			return err
		}
		for _, row := range rows {
			after = row
			d, version, err := delivery.Load(r.conf.Store, row.Key.Tenant, row.Key.ID)
			if err != nil {
				return err
			}
			if version == 0 {
				return fmt.Errorf("%s is owed and not there", row.Key)
			}
			if s, _ := r.board.set(d); s != nil {
				r.dirty[s] = true
				r.board.items[row.Key].lost = d.State == delivery.Leased
			}
		}
		if len(rows) < page {
			break
		}
	}
	_, next, err := r.conf.Store.Timers(time.Time{}, 1)
	r.nextEnd = next
	return err
}

// ends asks the desk about every delivery whose timer has come.
func (r *Relay) ends(now time.Time) error {
	if r.stopped || r.nextEnd.IsZero() || now.Before(r.nextEnd) {
		return nil
	}
	due, next, err := r.conf.Store.Timers(now, timersMax)
	if err != nil {
		return err
	}
	r.nextEnd = next
	for _, d := range due {
		if d.Key.Kind != delivery.KindDelivery {
			continue // Another owner's.
		}
		i := r.board.items[d.Key]
		// What is not on the board is an effect on its way here; it will set nextEnd again. What
		// the desk is being asked about comes back to wake.
		if i == nil || i.busy || now.Before(i.retry) {
			r.wake(now.Add(retryAfter))
			continue
		}
		r.advance(i, delivery.Elapse{Chance: r.conf.Rand()})
	}
	if len(due) == timersMax {
		r.wake(now.Add(retryAfter))
	}
	return nil
}

// wake makes the loop ask for timers at at, if not earlier.
func (r *Relay) wake(at time.Time) {
	if !at.IsZero() && (r.nextEnd.IsZero() || at.Before(r.nextEnd)) {
		r.nextEnd = at
	}
}

// advance asks the desk what an action makes of i.
func (r *Relay) advance(i *item, a delivery.Action) {
	r.ask(i, delivery.Advance{Tenant: i.key.Tenant, Ticket: i.key.ID, Action: a})
}

// ask submits a command about i, which is busy until the answer came.
func (r *Relay) ask(i *item, c entity.Command) {
	i.busy = true
	err := r.conf.Desk.Submit(c, func(_ answer, err error) {
		r.inbox.post(func(r *Relay) { r.answered(i, err) })
	})
	if err != nil {
		r.inbox.post(func(r *Relay) { r.answered(i, err) })
	}
}

// answered ends i's wait for the desk. A refusal means that the relay knew less than the desk: the
// delivery is looked at again a little later.
func (r *Relay) answered(i *item, err error) {
	i.busy = false
	r.dirty[i.station] = true
	switch {
	case err == nil:
		return
	case stoppedErr(err):
		r.stopped = true // The program ends; asking on would only spin.
		return
	case errors.Is(err, delivery.ErrMoved), errors.Is(err, delivery.ErrBlocked),
		errors.Is(err, delivery.ErrSession):
	default:
		r.conf.Log.Warn("delivery not moved", "ticket", i.key.ID, "error", err)
	}
	i.retry = r.now().Add(retryAfter)
}

// pump looks at the stations where something has changed or has come due, and says when the next
// one does.
func (r *Relay) pump(now time.Time) (next time.Time) {
	if r.stopped {
		return time.Time{}
	}
	for s, at := range r.later {
		if !now.Before(at) {
			r.dirty[s] = true
		}
	}
	// In one order, so that the same story is told the same way again.
	for _, s := range slices.SortedFunc(maps.Keys(r.dirty), byName) {
		delete(r.later, s)
		if again := r.station(s, now); !again.IsZero() {
			r.later[s] = again
		}
	}
	clear(r.dirty)
	for _, at := range r.later {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next
}

func byName(a, b *station) int {
	return cmp.Or(strings.Compare(a.tenant, b.tenant), strings.Compare(a.id, b.id))
}

// station hands over what is due and has room, oldest first, and says when to look again, zero for
// when something changes.
func (r *Relay) station(s *station, now time.Time) (next time.Time) {
	served, _ := r.conf.Devices.Station(s.tenant, s.id)
	d := r.devices[served.Device]
	here := d != nil && d.present && d.tenant == s.tenant
	room := 0
	if here {
		room = r.room(d, served.Printer)
	}
	look := func(at time.Time) {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	for _, i := range s.items {
		switch {
		case i.busy:
		case now.Before(i.retry):
			look(i.retry)
		case i.state == delivery.Leased:
			r.leased(i)
		case i.state == delivery.Parked && here && (room > 0 || i.lease != nil):
			// A lease that waits for its judgement gets it at once, room or not: the next birth may
			// be another process.
			room--
			r.advance(i, delivery.Birth{Device: d.id, Journal: d.record.Journal, Boot: d.record.Boot,
				Chance: r.conf.Rand()})
		case i.state != delivery.Waiting:
		case now.Before(i.due):
			look(i.due)
		case !here:
			r.advance(i, delivery.Leave{Epoch: i.epoch, Reason: away(served.Device)})
		case room > 0 && !s.blocked(i):
			if ok, at := r.bucket(s.tenant, now).take(now); !ok {
				look(at)
				return next
			}
			room--
			r.dispatch(i, d, served)
		}
	}
	return next
}

func away(device string) string {
	if device == "" {
		return "no-device"
	}
	return "away"
}

// leased ends a lease whose session is over. Where a newer one has begun, its birth tells what the
// lease was; where none has, the next one will.
func (r *Relay) leased(i *item) {
	d := r.devices[i.lease.Device]
	switch {
	case i.lost || d == nil:
		r.advance(i, delivery.Leave{Epoch: i.epoch, Reason: "restart"})
	case !d.present:
		r.advance(i, delivery.Leave{Epoch: i.epoch, Reason: "session", Judge: true})
	case d.record.Epoch > i.lease.Epoch:
		r.advance(i, delivery.Birth{Device: d.id, Journal: d.record.Journal, Boot: d.record.Boot,
			Chance: r.conf.Rand()})
	}
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

func (r *Relay) bucket(tenant string, now time.Time) *bucket {
	b := r.buckets[tenant]
	if b == nil {
		b = newBucket(r.conf.Rate, r.conf.Burst, now)
		r.buckets[tenant] = b
	}
	return b
}

func (r *Relay) dispatch(i *item, d *device, served Station) {
	d.leased[i.key] = served.Printer // Counted from now on, so that one turn does not overfill it.
	i.busy = true
	err := r.conf.Desk.Submit(delivery.Dispatch{
		Tenant: i.key.Tenant, Ticket: i.key.ID, Epoch: i.epoch, Device: d.id,
		Printer: served.Printer, Session: d.record.Session, Status: d.hint(), Lease: served.Lease,
		StaleAfter: served.StaleAfter, Zone: served.Zone, DayCut: served.DayCut,
	}, func(_ answer, err error) {
		r.inbox.post(func(r *Relay) { r.dispatched(i, d, err) })
	})
	if err != nil {
		r.inbox.post(func(r *Relay) { r.dispatched(i, d, err) })
	}
}

func (r *Relay) dispatched(i *item, d *device, err error) {
	// Where it was not leased, or no longer is, it takes no room.
	if i.lease == nil || i.state != delivery.Leased || i.lease.Device != d.id {
		delete(d.leased, i.key)
	}
	r.answered(i, err)
}
