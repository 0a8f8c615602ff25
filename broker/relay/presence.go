package relay

import "time"

// PresenceGrace is how long after its start a relay counts no device's absence: until then it only
// learns who is there. Devices say hello again within seconds of a broker's start, or of the
// connection's loss (DESIGN.md section 4, "Connecting").
const PresenceGrace = 15 * time.Second

// leapMin is how much more time than it had meant to sleep must have passed between two turns for
// the relay to believe that its clock was set forward or the machine slept. Nobody was listened to
// meanwhile, so absence counts anew, as after a start.
const leapMin = 30 * time.Second

// Presence is whether a device has an open session.
type Presence struct {
	Present bool
	// Since is when the session began, or the absence: at the earliest when this relay began to
	// listen, for what was before it does not know.
	Since time.Time
	// Absent is how long the absence has lasted as far as anything may follow from it: 0 where the
	// device is present, and until PresenceGrace has passed since the relay began to listen.
	Absent time.Duration
}

// Presence tells of a device of a tenant, heard or not.
func (r *Relay) Presence(tenant, device string) Presence {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.devices[device]
	if d != nil && d.tenant != tenant {
		d = nil
	}
	now := r.now()
	return Presence{Present: d != nil && d.present, Since: r.since(d),
		Absent: r.absentFor(d, now)}
}

// since is when d's presence or absence began as far as the relay knows. A nil d was never heard.
func (r *Relay) since(d *device) time.Time {
	if d == nil || !d.present && d.since.Before(r.listening) {
		return r.listening
	}
	return d.since
}

// absentFor is how long d has been away as far as anything may follow from it, see
// [Presence].Absent. A nil d was never heard.
func (r *Relay) absentFor(d *device, now time.Time) time.Duration {
	if d != nil && d.present || now.Before(r.judges()) {
		return 0
	}
	return max(now.Sub(r.since(d)), 0)
}

// judges is from when on absence counts: who is not here by then is away.
func (r *Relay) judges() time.Time { return r.listening.Add(PresenceGrace) }

// listen notices that nobody was listened to for a while.
func (r *Relay) listen(now time.Time) {
	if now.Sub(r.planned) > leapMin {
		r.listening = now
	}
	r.planned = now
}
