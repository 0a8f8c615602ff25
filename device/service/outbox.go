package service

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"chit/device/link"
	"chit/device/wire"
	"chit/failpoint"
)

// outMax bounds what waits to be sent.
const outMax = 4096

// publishMax is the longest a publish may hold up those behind it.
const publishMax = 15 * time.Second

// outgoing is one thing to send, in the order of the core's effects: a message, or a PUBACK.
type outgoing struct {
	leaf    wire.Leaf
	payload []byte
	session string // the message is for this session only
	ack     func()
}

// voice is how the daemon speaks to the broker; device/link is it.
type voice interface {
	// Publish fails with link.ErrNotConnected where there is no session; nothing is queued then.
	Publish(ctx context.Context, leaf wire.Leaf, payload []byte) error
	// Session is the one that stands now, or "".
	Session() string
	// Greet says birth and hello again, after jitter.
	Greet()
	// Renew opens another session on a new connection.
	Renew()
}

// outbox publishes in order, so that an answer is on the wire before the PUBACK of its ticket and n
// ascends. It keeps nothing: what cannot be sent now is said again at the next hello.
type outbox struct {
	voice voice
	queue chan outgoing
	log   *slog.Logger
	count func(name, label string)
}

// put never waits. A full queue drops messages and lets PUBACKs go at once: both are repeated by
// the other side or by the next hello, and a core loop that waits for a network stops the
// printers.
func (o *outbox) put(m outgoing) {
	select {
	case o.queue <- m:
		return
	default:
	}
	o.count("unsent", "full")
	if m.ack != nil {
		m.ack()
	}
}

// run sends until ctx ends and the queue is empty.
func (o *outbox) run(ctx context.Context) {
	for {
		select {
		case m := <-o.queue:
			o.send(m)
		default:
			select {
			case m := <-o.queue:
				o.send(m)
			case <-ctx.Done():
				return
			}
		}
	}
}

func (o *outbox) send(m outgoing) {
	if m.ack != nil {
		failpoint.Here("device.puback.before")
		m.ack()
		failpoint.Here("device.puback.after")
		return
	}
	if m.session != "" && m.session != o.voice.Session() {
		return // Of a session that is over.
	}
	answer := m.leaf == wire.LeafAck
	if answer {
		failpoint.Here("device.ack.before-publish")
	}
	ctx, cancel := context.WithTimeout(context.Background(), publishMax)
	defer cancel()
	err := o.voice.Publish(ctx, m.leaf, m.payload)
	if answer && err == nil {
		failpoint.Here("device.ack.after-publish")
	}
	if err != nil && !errors.Is(err, link.ErrNotConnected) {
		o.count("unsent", string(m.leaf))
		o.log.Warn("message was not sent", "leaf", string(m.leaf), "err", err)
	}
}
