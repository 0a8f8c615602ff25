package relay

import (
	"time"

	"chit/broker/delivery"
	"chit/broker/desk"
	"chit/broker/entity"
	"chit/device/wire"
)

type answer = desk.Answer

// device is one device since the relay's start.
type device struct {
	tenant, id string
	// present is true from a durable hello to the will of its session, a hello that could not be
	// answered, or the end of the program.
	present bool
	since   time.Time // when it came or left
	record  delivery.Device
	// narrow is true after a crash of its process until a delivery settles.
	narrow bool
	// leased is what it has unsettled, and on which printer.
	leased map[entity.Key]string
	// held is since when each of its printers is held, as its status says.
	held map[string]time.Time
	// crowded are stations that found its printer full.
	crowded   map[*station]bool
	status    wire.Status
	telemetry *wire.Telemetry
	seen      time.Time
}

// device finds or makes the record of a device that was heard.
func (r *Relay) device(tenant, id string) *device {
	d := r.devices[id]
	if d == nil {
		d = &device{tenant: tenant, id: id, since: r.listening, leased: map[entity.Key]string{},
			crowded: map[*station]bool{}}
		r.devices[id] = d
	}
	d.tenant, d.seen = tenant, r.now()
	return d
}

// hint is the device's last status in one line, for the telemetry of an attempt.
func (d *device) hint() string {
	state := d.status.State
	if d.status.Degraded != "" {
		state += " degraded:" + d.status.Degraded
	}
	for _, p := range d.status.Printers {
		if p.Held != "" {
			state += " " + p.Name + ":" + p.Held
		}
	}
	return state
}

// Effects takes the effects of durable Commits from the desk. It never blocks.
func (r *Relay) Effects(effects []entity.Effect) {
	for _, effect := range effects {
		switch e := effect.(type) {
		case delivery.Changed:
			r.counts.events(e.What)
			r.inbox.Post(func(r *Relay) { r.changed(e) })
		case delivery.Send:
			r.send(e)
		case delivery.Greeted:
			r.inbox.Post(func(r *Relay) { r.greeted(e) })
		}
	}
}

// changed keeps the board, the windows and the next end.
func (r *Relay) changed(e delivery.Changed) {
	s, was := r.board.set(e.Delivery)
	r.backlogs.set(e.Delivery, r.now())
	is := e.Delivery.Lease
	if e.Delivery.State != delivery.Leased {
		is = nil
	}
	if was != nil && (is == nil || is.Device != was.Device) {
		if d := r.devices[was.Device]; d != nil {
			delete(d.leased, e.Key)
			r.freed(d)
		}
	}
	if is != nil {
		if d := r.devices[is.Device]; d != nil {
			d.leased[e.Key] = is.Printer
		}
	}
	if p := e.Delivery.Printed; p != nil && e.Delivery.State == delivery.Settled {
		if d := r.devices[p.Device]; d != nil && d.narrow {
			d.narrow = false
			r.touch(d)
		}
	}
	if s != nil {
		for _, lane := range s.lanes { // What it kept waiting may be with another printer.
			r.dirty[lane] = true
		}
	}
	r.recalls.set(e.Delivery)
}

// freed looks again at the stations that may have waited for room at d's printers.
func (r *Relay) freed(d *device) {
	for s := range d.crowded {
		r.dirty[s] = true
	}
	clear(d.crowded)
}

// touch looks again at every lane that the device serves or could take over.
func (r *Relay) touch(d *device) {
	for _, s := range r.board.stations {
		if s.open > 0 && r.concerns(s, d) {
			r.dirty[s] = true
		}
	}
}

// greeted opens a session: the welcome goes out first, then what is due. The same sender carries
// both, in order.
func (r *Relay) greeted(e delivery.Greeted) {
	d := r.device(e.Tenant, e.ID)
	if _, _, ok := r.conf.Devices.Keys(d.id); !ok || e.Device.Epoch < d.record.Epoch {
		return // It was revoked, or a newer session has begun meanwhile.
	}
	unanswered := r.board.owing[d.id]
	for i := range unanswered {
		r.dirty[i.station] = true // Whoever serves the station now, this birth judges the lease.
	}
	if e.Restarted && len(unanswered) > 0 {
		d.narrow = true
	}
	if e.Forgot {
		r.conf.Log.Warn("device lost its memory", "device", d.id, "journal", e.Device.Journal)
	}
	if e.Copied {
		r.counts.copied()
		r.conf.Log.Error("two devices use one identity", "device", d.id,
			"journal", e.Device.Journal, "boot", e.Device.Boot, "count", e.Device.Copies.Count)
	}
	if !d.present || d.record.Session != e.Device.Session {
		r.conf.Log.Info("session opened", "device", d.id, "session", e.Device.Session,
			"epoch", e.Device.Epoch)
	}
	if !d.present {
		d.present, d.since = true, r.now()
	}
	d.record = e.Device
	r.welcome(d)
	r.backlogs.changed = true
	r.recalls.again(d.id)
	r.touch(d)
}

// left ends a session: what it had not answered is parked until the next birth tells what that was.
func (r *Relay) left(d *device, reason string) {
	if !d.present {
		return
	}
	d.present, d.since = false, r.now()
	r.conf.Log.Info("session ended", "device", d.id, "session", d.record.Session, "reason", reason)
	for key := range d.leased {
		if i := r.board.items[key]; i != nil {
			r.dirty[i.station] = true
		}
	}
	r.touch(d)
}

// Revoked ends the session of a device that may speak no more: its will is not believed either.
func (r *Relay) Revoked(tenant, device string) {
	r.inbox.Post(func(r *Relay) { r.left(r.device(tenant, device), "revoked") })
}

// hostEvery is the shortest pause between two host messages to one tenant.
const hostEvery = time.Minute

// stranger says again that this broker is alive where a device speaks that has no session here: an
// engine that outlived the last broker may have dropped the message at the start, and the device
// believes that its old welcome still holds. A device without a welcome says hello again by itself.
func (r *Relay) stranger(d *device) {
	now := r.now()
	if d.present || now.Sub(r.started) < hostEvery || now.Sub(r.hostSaid[d.tenant]) < hostEvery {
		return
	}
	r.hostSaid[d.tenant] = now
	tenant := d.tenant
	r.sender(d.id).add(message{
		tenant: tenant, device: d.id, topic: wire.HostTopic(tenant).String(), retain: true,
		sign: func(s *wire.Signer) ([]byte, error) {
			return s.SignHost(wire.Host{State: "alive", Epoch: r.conf.Host})
		},
		sent: func() {},
		unsent: func(err error, _ bool) {
			r.conf.Log.Warn("host message not sent", "tenant", tenant, "error", err)
		},
	})
}

// DeviceState is a device as the relay sees it.
type DeviceState struct {
	Tenant, Device string
	Present        bool
	Session        string
	Status         wire.Status     // the last hint
	Telemetry      *wire.Telemetry // the last hint, nil for none
	Seen           time.Time       // when it was last heard
	Leased         int
	Narrow         bool // one at a time, after a crash of its process
}
