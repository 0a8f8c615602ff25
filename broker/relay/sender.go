package relay

import (
	"context"
	"fmt"
	"hash/fnv"
	"sync"

	"chit/broker/delivery"
	"chit/device/wire"
	"chit/failpoint"
)

// sendersMax is how many goroutines sign and publish: a device that does not read delays its share
// of the others, not the loop. Messages to one device keep their order.
const sendersMax = 16

// sender publishes one message after the other.
type sender struct {
	relay *Relay
	ready chan struct{}

	mu    sync.Mutex
	queue []message
}

// message is what is to be signed and published, and whom to tell if it did not leave.
type message struct {
	tenant, device string
	leaf           wire.Leaf
	topic          string // instead of the device's leaf, where it is not empty
	retain         bool
	sign           func(*wire.Signer) ([]byte, error)
	// unsent posts to the loop; final is true where the message cannot be made at all.
	unsent func(err error, final bool)
	sent   func()
}

func newSender(r *Relay) *sender { return &sender{relay: r, ready: make(chan struct{}, 1)} }

// sender is the one for a device.
func (r *Relay) sender(device string) *sender {
	hash := fnv.New32a()
	hash.Write([]byte(device)) // Never fails (hash.Hash).
	return r.senders[hash.Sum32()%sendersMax]
}

func (s *sender) add(m message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, m)
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

func (s *sender) take() []message {
	s.mu.Lock()
	defer s.mu.Unlock()
	queue := s.queue
	s.queue = nil
	return queue
}

func (s *sender) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.ready:
		}
		for _, m := range s.take() {
			if ctx.Err() != nil {
				return // What is leased and was not sent is a deferral after the restart.
			}
			s.publish(ctx, m)
		}
	}
}

func (s *sender) publish(ctx context.Context, m message) {
	signer, err := s.relay.conf.Devices.Signer(m.tenant)
	if err != nil {
		m.unsent(fmt.Errorf("relay: key of %s: %w", m.tenant, err), false)
		return
	}
	payload, err := m.sign(signer)
	if err != nil {
		m.unsent(fmt.Errorf("relay: signing for %s: %w", m.device, err), true)
		return
	}
	topic := m.topic
	if topic == "" {
		topic = wire.DeviceTopic(m.tenant, m.device, m.leaf).String()
	}
	if err := s.relay.conf.Publisher.Publish(ctx, topic, payload, m.retain); err != nil {
		m.unsent(fmt.Errorf("relay: publishing to %s: %w", m.device, err), false)
		return
	}
	m.sent()
}

// send hands a ticket over whose lease is durable.
func (r *Relay) send(e delivery.Send) {
	r.sender(e.Lease.Device).add(message{
		tenant: e.Key.Tenant, device: e.Lease.Device, leaf: wire.LeafTicket,
		sign: func(s *wire.Signer) ([]byte, error) { return s.SignTicket(e.Message) },
		sent: func() {
			failpoint.Here("broker.ticket.after-publish")
			r.counts.sent()
		},
		unsent: func(err error, final bool) {
			r.counts.unsent()
			reason := "unsent"
			if final {
				reason = "unsendable"
			}
			r.conf.Log.Warn("ticket not sent", "ticket", e.Key.ID, "device", e.Lease.Device,
				"reason", reason, "error", err)
			r.inbox.Post(func(r *Relay) { r.unsent(e, reason, final) })
		},
	})
}

func (r *Relay) unsent(e delivery.Send, reason string, final bool) {
	if i := r.board.items[e.Key]; i != nil {
		r.advance(i, delivery.Unsend{Epoch: e.Epoch, Reason: reason, Final: final,
			Chance: r.conf.Rand()})
	}
}

// welcome answers a hello.
func (r *Relay) welcome(d *device) {
	record, id := d.record, d.id
	r.sender(id).add(message{
		tenant: d.tenant, device: id, leaf: wire.LeafCommand,
		sign: func(s *wire.Signer) ([]byte, error) {
			return s.SignWelcome(wire.Welcome{Session: record.Session, Epoch: record.Epoch,
				Host: r.conf.Host, Now: r.now().UnixMilli(), Journal: record.Journal,
				NSeen: record.N})
		},
		sent: func() {},
		unsent: func(err error, _ bool) {
			r.conf.Log.Warn("welcome not sent", "device", id, "error", err)
			r.inbox.Post(func(r *Relay) {
				// Without a welcome there is no session; the device says hello again.
				if d.record.Session == record.Session {
					r.left(d, "unwelcomed")
				}
			})
		},
	})
}
