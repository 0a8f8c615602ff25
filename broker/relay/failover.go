package relay

import (
	"maps"
	"slices"
	"time"

	"chit/broker/delivery"
	"chit/device/wire"
)

// served is how a lane is served now: by the station's own printer, its backup's, or a pinned one.
func (r *Relay) served(s *station) Station {
	served, _ := r.conf.Devices.Station(s.tenant, s.id)
	switch {
	case s.pin != delivery.Pin{}:
		served.Device, served.Printer, served.Backup = s.pin.Device, s.pin.Printer, ""
	case s.at != s.id:
		place, _ := r.conf.Devices.Station(s.tenant, s.at)
		served.Device, served.Printer, served.Name = place.Device, place.Printer, place.Name
	}
	return served
}

// ways are both places where a lane's deliveries may go.
type ways struct {
	home, backup   delivery.Place
	atHome, atBack delivery.Seat
}

// waysOf resolves a lane's places; ok is false where it has only one. What is with a station that
// is no longer the backup stays there until its trouble, as with any backup.
func (r *Relay) waysOf(s *station) (w ways, ok bool) {
	home, known := r.conf.Devices.Station(s.tenant, s.id)
	back := home.Backup
	if s.at != s.id {
		back = s.at
	}
	if !known || back == "" || s.stays || s.pin != (delivery.Pin{}) {
		return ways{}, false
	}
	backup, _ := r.conf.Devices.Station(s.tenant, back)
	w = ways{home: delivery.Place{Station: s.id, Name: home.Name},
		backup: delivery.Place{Station: back, Name: backup.Name},
		atHome: r.seat(s.tenant, home), atBack: r.seat(s.tenant, backup)}
	return w, true
}

// seat is a station's device and printer as they are now.
func (r *Relay) seat(tenant string, served Station) delivery.Seat {
	seat := delivery.Seat{Device: served.Device}
	d := r.devices[served.Device]
	if d != nil && d.tenant != tenant {
		d = nil
	}
	if d == nil || !d.present {
		// Absence counts no earlier than presence could be learnt.
		if seat.Away = r.since(d); seat.Away.Add(delivery.AwayMax).Before(r.judges()) {
			seat.Away = r.judges().Add(-delivery.AwayMax)
		}
		return seat
	}
	seat.Present, seat.Degraded, seat.Held = true, d.status.Degraded != "", d.held[served.Printer]
	return seat
}

// concerns reports whether the lane's deliveries are, or could be, with the device.
func (r *Relay) concerns(s *station, d *device) bool {
	if r.served(s).Device == d.id {
		return true
	}
	home, _ := r.conf.Devices.Station(s.tenant, s.id)
	other := home.Backup
	if s.at != s.id {
		other = s.id
	}
	if other == "" || s.stays || s.pin != (delivery.Pin{}) {
		return false
	}
	served, _ := r.conf.Devices.Station(s.tenant, other)
	return served.Device == d.id
}

// failover moves what its device does not serve to the other place, and says when to look again if
// nothing changes, zero for never. What concerns the device is asked once for the whole lane, what
// concerns one delivery only of those where something is to be watched.
func (r *Relay) failover(s *station, now time.Time) (next time.Time) {
	w, ok := r.waysOf(s)
	if !ok {
		return time.Time{}
	}
	move, reason, next := delivery.Watch{Moved: s.at != s.id}.Where(w.atHome, w.atBack, now)
	if move {
		for _, q := range []*queue[*item]{&s.leased, &s.unheard, &s.parked, &s.ready, &s.blocked} {
			r.each(q, func(i *item) { r.move(i, w, reason) })
		}
		return time.Time{}
	}
	for _, i := range slices.SortedFunc(maps.Keys(s.watched), order) {
		if i.busy || r.full() {
			continue // The answer brings the lane back.
		}
		if now.Before(i.retry) {
			next = earliest(next, i.retry) // The desk knew more: what it knows is on its way.
			continue
		}
		move, reason, at := i.watch.Where(w.atHome, w.atBack, now)
		if move {
			r.move(i, w, reason)
		}
		next = earliest(next, at)
	}
	return next
}

// move asks the desk to give i to the other place.
func (r *Relay) move(i *item, w ways, reason string) {
	m := delivery.Move{Epoch: i.epoch, To: w.backup, Device: w.atBack.Device, Reason: reason,
		Here: w.atHome.Present, Chance: r.conf.Rand()}
	if i.watch.Moved {
		m.To, m.Device, m.Home, m.Here = w.home, w.atHome.Device, true, w.atBack.Present
	}
	r.conf.Log.Info("ticket moves", "ticket", i.key.ID, "reason", reason, "to", m.To.Station)
	r.advance(i, m)
}

// felt takes a device's hint how its printers fare.
func (r *Relay) felt(d *device, status wire.Status) {
	held := map[string]time.Time{}
	for _, p := range status.Printers {
		if p.Held == "" {
			continue
		}
		if held[p.Name] = d.held[p.Name]; held[p.Name].IsZero() {
			held[p.Name] = r.now()
		}
	}
	changed := !maps.Equal(held, d.held) || d.status.Degraded != status.Degraded
	d.status, d.held = status, held
	if changed {
		r.touch(d)
	}
}
