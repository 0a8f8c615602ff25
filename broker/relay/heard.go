package relay

import (
	"chit/broker/delivery"
	"chit/broker/desk"
	"chit/broker/entity"
	"chit/device/wire"
)

// Heard takes a message from a device: leaf is the topic's last level (ack, status, telemetry), and
// tenant and device are the topic's. It checks the signature and hands on; it never waits for the
// store. The payload is kept. It may be called from several goroutines.
func (r *Relay) Heard(tenant, device, leaf string, payload []byte, retained bool) {
	keys, owner, ok := r.conf.Devices.Keys(device)
	switch {
	case !ok:
		r.bad("unknown-device", tenant, device, nil)
		return
	case owner != tenant:
		r.bad("tenant", tenant, device, nil)
		return
	}
	switch wire.Leaf(leaf) {
	case wire.LeafAck:
		if retained {
			r.bad("retained", tenant, device, nil) // Nothing signed is ever retained by a device.
			return
		}
		r.signed(tenant, device, wire.Keys(keys), payload)
	case wire.LeafStatus:
		status, err := wire.DecodeStatus(payload)
		if err != nil {
			r.bad("status", tenant, device, err)
			return
		}
		r.inbox.Post(func(r *Relay) { r.hinted(tenant, device, status) })
	case wire.LeafTelemetry:
		telemetry, err := wire.DecodeTelemetry(payload)
		if err != nil {
			r.bad("telemetry", tenant, device, err)
			return
		}
		r.inbox.Post(func(r *Relay) {
			d := r.device(tenant, device)
			d.telemetry = &telemetry
			r.stranger(d)
		})
	default:
		r.bad("topic", tenant, device, nil)
	}
}

// hinted takes a status. A hint settles and prints nothing; a will ends the session that it names,
// where that is the one on record.
func (r *Relay) hinted(tenant, id string, status wire.Status) {
	d := r.device(tenant, id)
	if status.State == "offline" {
		if status.Session == d.record.Session {
			d.status = status
			r.left(d, "offline")
		}
		return
	}
	r.felt(d, status)
	r.stranger(d)
}

// signed opens a signed message and asks the desk what it means.
func (r *Relay) signed(tenant, device string, keys wire.Keys, payload []byte) {
	typ, _, err := wire.Peek(payload)
	if err != nil {
		r.bad(wire.Reason(err), tenant, device, err)
		return
	}
	switch typ {
	case wire.TypeAck:
		ack, err := keys.OpenAck(payload)
		if r.genuine(tenant, device, ack.Device, err) {
			r.acked(tenant, device, ack)
		}
	case wire.TypeHello:
		hello, err := keys.OpenHello(payload)
		if r.genuine(tenant, device, hello.Device, err) {
			r.counts.hello()
			r.greet(tenant, device, hello)
		}
	case wire.TypeMade:
		made, err := keys.OpenMade(payload)
		if r.genuine(tenant, device, made.Device, err) {
			r.made(tenant, device, made)
		}
	case wire.TypeReply:
		reply, err := keys.OpenReply(payload)
		if r.genuine(tenant, device, reply.Device, err) {
			r.replied(tenant, device, reply)
		}
	default:
		r.bad("typ", tenant, device, nil)
	}
}

// genuine counts and refuses a message that does not verify or speaks in another's name.
func (r *Relay) genuine(tenant, device, issuer string, err error) bool {
	if err != nil {
		r.bad(wire.Reason(err), tenant, device, err)
		return false
	}
	if issuer != device {
		r.bad("foreign-device", tenant, device, nil)
		return false
	}
	return true
}

// allows counts a message against what the device may send. What is over it is told again: at the
// next hello, or because the ticket is handed over again.
func (r *Relay) allows(tenant, device string, k *kind) bool {
	ok := r.allow.take(device, k, r.now())
	if !ok {
		r.bad("rate", tenant, device, nil)
	}
	return ok
}

func (r *Relay) greet(tenant, device string, hello wire.Hello) {
	if !r.allows(tenant, device, kindHello) {
		return
	}
	command := delivery.Greet{Tenant: tenant, Hello: hello}
	r.submit(command, tenant, device, func(a answer) {
		if word := string(a.Data); word != "" {
			r.bad(word, tenant, device, nil, "session", hello.Session)
		}
	})
}

func (r *Relay) acked(tenant, device string, ack wire.Ack) {
	if !r.allows(tenant, device, r.allow.ack) {
		return
	}
	command := delivery.Acknowledge{Tenant: tenant, Device: device, Ack: ack, Chance: r.conf.Rand(),
		Known: !r.allow.left(device, kindStray, r.now())}
	r.submit(command, tenant, device, func(a answer) {
		switch word := string(a.Data); word {
		case "":
			r.counts.ack(ack.Outcome)
		case "kept":
			r.allow.take(device, kindStray, r.now())
			r.counts.bad(word) // Early, not wrong.
		case "settled", "old-attempt":
			r.counts.bad(word) // Late, not wrong.
		default:
			r.bad(word, tenant, device, nil, "ticket", ack.Ticket)
		}
	})
}

func (r *Relay) made(tenant, device string, made wire.Made) {
	content, err := wire.ParseContent(made.Data)
	if err != nil {
		r.bad("content", tenant, device, err)
		return
	}
	served, ok := r.conf.Devices.Station(tenant, made.Station)
	if id, err := wire.ParseTicketID(made.Ticket); err != nil || id.Content() != content.ID ||
		id.Station != made.Station || !ok || served.Device != device {
		r.bad("station", tenant, device, err, "ticket", made.Ticket)
		return
	}
	if !r.allows(tenant, device, kindMade) {
		return
	}
	command := delivery.Report{Tenant: tenant, Device: device, Made: made, Content: content}
	r.submit(command, tenant, device, nil)
}

// submit asks the desk. What it refuses or has no room for is said again by the device: hellos and
// acks at its next hello, and a ticket without an answer is handed over again.
func (r *Relay) submit(c entity.Command, tenant, device string, done func(answer)) {
	err := r.conf.Desk.Submit(c, func(a answer, err error) {
		switch {
		case err != nil && !desk.Stopped(err):
			r.bad("refused", tenant, device, err)
		case err == nil && done != nil:
			done(a)
		}
	})
	if err != nil && !desk.Stopped(err) {
		r.bad("busy", tenant, device, err)
	}
}

// bad counts a message that changed nothing, and tells of it: reason is one of a fixed set of
// words.
func (r *Relay) bad(reason, tenant, device string, err error, more ...any) {
	r.counts.bad(reason)
	facts := append([]any{"reason", reason, "tenant", tenant, "device", device}, more...)
	if err != nil {
		facts = append(facts, "error", err)
	}
	r.conf.Log.Warn("message of a device ignored", facts...)
}
