package relay

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"chit/broker/delivery"
	"chit/broker/desk"
	"chit/broker/entity"
	"chit/device/wire"
)

// RecallEvery is how often an open recall is told again to a device that is here.
const RecallEvery = 30 * time.Second

// recalls are those that are open, by device. The store has them in a list of their own, because
// they outlive their deliveries.
type recalls struct {
	devices map[string]map[entity.Key]*recall
	of      map[entity.Key][]string // the devices that a delivery is recalled from
	next    time.Time               // when to look again, zero for when something changes
	changed bool
}

// recall is one open recall.
type recall struct {
	delivery.Recall
	key     entity.Key
	expires time.Time
	said    time.Time // when it was told last, zero where it was not in this session
}

func newRecalls() *recalls {
	return &recalls{devices: map[string]map[entity.Key]*recall{}, of: map[entity.Key][]string{}}
}

// set takes in which recalls of a delivery are open.
func (l *recalls) set(d delivery.Delivery) {
	key := delivery.Key(d.Tenant, d.Ticket)
	if len(d.Recalls) == 0 && len(l.of[key]) == 0 {
		return
	}
	said := map[string]time.Time{}
	for _, device := range l.of[key] {
		if known := l.devices[device][key]; known != nil {
			said[known.ID] = known.said
		}
		delete(l.devices[device], key)
	}
	delete(l.of, key)
	for _, open := range d.Recalls {
		if l.devices[open.Device] == nil {
			l.devices[open.Device] = map[entity.Key]*recall{}
		}
		l.devices[open.Device][key] = &recall{Recall: open, key: key, expires: d.Expires,
			said: said[open.ID]}
		l.of[key] = append(l.of[key], open.Device)
	}
	l.changed = true
}

// again tells everything anew: a session has begun.
func (l *recalls) again(device string) {
	for _, open := range l.devices[device] {
		open.said = time.Time{}
		l.changed = true
	}
}

// recall tells devices that are here what they shall not start any more, and says when to do so
// again, zero for when something changes.
func (r *Relay) recall(now time.Time) time.Time {
	l := r.recalls
	if r.stopped || !l.changed && (l.next.IsZero() || now.Before(l.next)) {
		return l.next
	}
	l.changed, l.next = false, time.Time{}
	var due []*recall
	for device, open := range l.devices {
		d := r.devices[device]
		for _, one := range open {
			switch again := one.said.Add(RecallEvery); {
			case !now.Before(one.expires):
				r.forget(one)
				l.next = earliest(l.next, now.Add(RecallEvery))
			case d == nil || !d.present || d.tenant != one.key.Tenant:
				l.next = earliest(l.next, one.expires)
			case one.said.IsZero() || !now.Before(again):
				one.said = now
				due = append(due, one)
				l.next = earliest(l.next, now.Add(RecallEvery))
			default:
				l.next = earliest(l.next, again)
			}
		}
	}
	slices.SortFunc(due, func(a, b *recall) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(a.key.String(), b.key.String()),
			strings.Compare(a.Device, b.Device))
	})
	for _, one := range due {
		r.sayRecall(one.key, one.Recall, now)
	}
	return l.next
}

// forget asks the desk to end a recall that nobody needs to remember any more.
func (r *Relay) forget(one *recall) {
	command := delivery.Advance{Tenant: one.key.Tenant, Ticket: one.key.ID,
		Action: delivery.Elapse{Chance: r.conf.Rand()}}
	err := r.conf.Desk.Submit(command, func(_ answer, err error) {
		if err != nil && !desk.Stopped(err) {
			r.conf.Log.Warn("recall not ended", "ticket", one.key.ID, "error", err)
		}
	})
	if err != nil && !desk.Stopped(err) {
		r.conf.Log.Warn("recall not ended", "ticket", one.key.ID, "error", err)
	}
}

// sayRecall sends a recall. One that does not leave is told again like one that is not answered.
func (r *Relay) sayRecall(key entity.Key, open delivery.Recall, now time.Time) {
	said := wire.Recall{ID: open.ID, Ticket: key.ID, Attempt: open.Attempt, Reason: open.Reason,
		IssuedAt: now.Unix(), MovedTo: open.MovedTo, Device: open.Device}
	r.sender(open.Device).add(message{
		tenant: key.Tenant, device: open.Device, leaf: wire.LeafRecall,
		sign: func(s *wire.Signer) ([]byte, error) { return s.SignRecall(said) },
		sent: r.counts.recalled,
		unsent: func(err error, _ bool) {
			r.conf.Log.Warn("recall not sent", "ticket", key.ID, "device", open.Device, "error", err)
		},
	})
}
