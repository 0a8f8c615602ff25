package relay

import (
	"errors"
	"time"

	"chit/broker/delivery"
	"chit/broker/desk"
	"chit/broker/entity"
)

// asksMax bounds the questions about time and presence that the desk has not answered yet, so that
// a storm does not fill its queue. Dispatches have their own bounds.
const asksMax = 512

// full is true where the desk has enough to do; each answer brings the loop back.
func (r *Relay) full() bool { return r.asking >= asksMax }

// ends asks the desk about every delivery whose own end has come, and says when the next one does,
// zero for none or for when the desk has answered.
func (r *Relay) ends(now time.Time) (next time.Time) {
	for !r.stopped && !r.full() {
		i, ok := r.board.ends.first()
		switch {
		case !ok:
			return time.Time{}
		case now.Before(i.until()):
			return i.until()
		case i.lost:
			r.leaseOver(i) // The broker was not there to hear the answer.
		case i.drops:
			served, _ := r.conf.Devices.Station(i.key.Tenant, i.station.id)
			r.advance(i, delivery.Drop{Epoch: i.epoch, Policy: served.OnStale, After: served.StaleAfter})
		default:
			r.advance(i, delivery.Elapse{Chance: r.conf.Rand()})
		}
	}
	return time.Time{}
}

// drops is when a delivery is to be dropped whose device is away.
func (r *Relay) drops(d delivery.Delivery) time.Time {
	if d.State != delivery.Parked {
		return time.Time{}
	}
	served, _ := r.conf.Devices.Station(d.Tenant, d.Station)
	return d.Drops(served.OnStale, served.StaleAfter)
}

// advance asks the desk what an action makes of i.
func (r *Relay) advance(i *item, a delivery.Action) {
	r.ask(i, delivery.Advance{Tenant: i.key.Tenant, Ticket: i.key.ID, Action: a}, r.answered)
}

// wake asks the desk to make a parked delivery ready for d, and to judge the lease that it may
// have. Until the answer it takes room.
func (r *Relay) wake(i *item, d *device) {
	i.waking = true
	r.advance(i, delivery.Birth{Device: d.id, Journal: d.record.Journal, Boot: d.record.Boot,
		Chance: r.conf.Rand()})
}

// ask submits a command about i, which is busy until the answer came.
func (r *Relay) ask(i *item, c entity.Command, answered func(*item, error)) {
	r.asking++
	i.busy, i.asked = true, i.epoch
	r.board.file(i)
	tell := func(err error) {
		r.inbox.Post(func(r *Relay) {
			r.asking--
			answered(i, err)
		})
	}
	if err := r.conf.Desk.Submit(c, func(_ answer, err error) { tell(err) }); err != nil {
		tell(err)
	}
}

// answered ends i's wait for the desk. A refusal, or that nothing came of the question, means that
// the relay knew less than the desk: the delivery is looked at again a little later.
func (r *Relay) answered(i *item, err error) {
	if desk.Stopped(err) {
		r.stopped = true // The program ends; asking on would only spin.
		return
	}
	r.board.unfile(i)
	i.busy, i.waking = false, false
	switch {
	case err == nil, errors.Is(err, delivery.ErrMoved), errors.Is(err, delivery.ErrBlocked),
		errors.Is(err, delivery.ErrSession), errors.Is(err, desk.ErrBusy):
	default:
		r.conf.Log.Warn("delivery not moved", "ticket", i.key.ID, "error", err)
	}
	if i.epoch == i.asked {
		i.retry, i.ripe = r.now().Add(retryAfter), false
	}
	r.board.file(i)
	r.dirty[i.station] = true
}

// leaseOver asks about a lease whose session is over. Where a newer
// session has begun, its birth tells what the lease was; where none has, the next one will.
func (r *Relay) leaseOver(i *item) {
	d := r.devices[i.lease.Device]
	switch {
	case i.lost || d == nil:
		r.advance(i, delivery.Leave{Epoch: i.epoch, Reason: "restart"})
	case !d.present:
		r.advance(i, delivery.Leave{Epoch: i.epoch, Reason: "session", Judge: true})
	case d.record.Epoch > i.lease.Epoch:
		r.wake(i, d)
	}
}

// earliest is the earlier of two instants, of which zero means never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
