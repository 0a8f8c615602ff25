// Package link keeps a device connected to its broker over MQTT 3.1.1.
//
// It owns the paho client and nothing else does. It connects with a device certificate and a clean
// session, subscribes, checks the SUBACK codes, publishes the birth and says hello; when the link
// breaks it comes back with full jitter. It does not verify, store or queue: a message goes to the
// [Handler] with the duty to call Ack once its state is on disk, and what cannot be published now
// is an error for the caller.
//
//	l, err := link.New(conf, handler)
//	go func() { done <- l.Run(ctx) }()
//	err = l.Publish(ctx, wire.LeafAck, signed)
//
// What paho does wrong and how this package goes round it: research/mqtt.md section 3; the comments
// here name its items as "pitfall n".
package link

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"chit/device/wire"
)

// Errors of this package.
var (
	// ErrNotConnected means that there is no session now. Nothing was sent and nothing is queued.
	ErrNotConnected = errors.New("link: not connected")
	// ErrUnsent means that a publish was handed to the connection and did not leave it in time, or
	// at QoS 1 was not acknowledged by the engine. It may still arrive.
	ErrUnsent = errors.New("link: publish not confirmed")
	// ErrTooLarge means a payload over wire.MessageMax.
	ErrTooLarge = errors.New("link: message too large")
	// ErrSubscription means that the engine refused a subscription: SUBACK 0x80, §3.9.3.
	ErrSubscription = errors.New("link: subscription refused")
	// ErrOverrun means that Deliver was too slow and the connection was given up for it.
	ErrOverrun = errors.New("link: too many messages dropped on a full queue")
	// ErrRenewed ends a connection by [Link.Renew].
	ErrRenewed = errors.New("link: another session is wanted")
	// ErrLeaf means a topic that a device does not publish to.
	ErrLeaf = errors.New("link: not a leaf that a device publishes")
	// errLost means that the connection ended without our doing; it is wrapped with paho's reason.
	errLost = errors.New("link: connection lost")
)

// Session is what one connection is known by.
type Session struct {
	// ID is random and new for every connection.
	ID string
	// Will is the offline status with this ID, published by the engine when the link breaks.
	Will []byte
	// Offline is the status published retained before a planned DISCONNECT; nil publishes Will.
	Offline []byte
}

// Handler is the device behind the link. For one connection, Deliver is called by one goroutine, in
// order, after Up and never after Down; the other methods are called by the goroutine of Run.
// Neither may wait for the other.
type Handler interface {
	// Session opens a new session. It is called before every CONNECT.
	Session() (Session, error)
	// Greeting returns birth (status, retained) and hello (ack) of the session as they are now. It
	// is called after SUBACK, and again when the broker must hear them again.
	Greeting(session string) (birth, hello []byte, err error)
	// HostEpoch verifies a message of the host topic and returns the broker's epoch in it. It is
	// called by the goroutine of Deliver.
	HostEpoch(payload []byte) (epoch string, ok bool)
	// Deliver takes a ticket, recall, command or host message. The device's own status is not
	// delivered.
	Deliver(Message)
	// Up says that the session stands: the greeting was sent. Down says that it is over.
	Up(session string)
	Down(session string, cause error)
}

// Message is one message from the broker.
type Message struct {
	Topic    string
	Leaf     wire.Leaf // ticket, recall, command or host
	Payload  []byte
	Retained bool
	Dup      bool
	// Session is the connection it came by.
	Session string

	ack func()
}

// Ack lets the PUBACK go, once the state that it stands for is on disk (I1). It never blocks, may
// be called from any goroutine and more than once, and does nothing on a connection that is gone:
// the engine or the broker sends the message again (pitfall 7). PUBACKs leave in order of arrival
// [MQTT-4.6.0-2], so a message that is never acknowledged holds back those after it.
func (m Message) Ack() {
	if m.ack != nil {
		m.ack()
	}
}

// Stats are counters since New.
type Stats struct {
	Connects  uint64 // sessions that were greeted
	Failures  uint64 // attempts and sessions that ended without our wish
	Dropped   uint64 // messages dropped unacknowledged, because the queue was full
	Foreign   uint64 // messages of topics that are not this device's
	Greetings uint64 // hellos said again in a standing session
}

// Link is a device's connection to its broker.
type Link struct {
	conf    Config
	handler Handler

	current atomic.Pointer[connection]
	greet   chan struct{} // holds one
	running atomic.Bool

	mu    sync.Mutex
	stats Stats
}

// New checks the configuration. It does not connect.
func New(conf Config, handler Handler) (*Link, error) {
	conf = conf.withDefaults()
	if err := conf.validate(); err != nil {
		return nil, err
	}
	if handler == nil {
		return nil, errors.New("link: no handler")
	}
	return &Link{conf: conf, handler: handler, greet: make(chan struct{}, 1)}, nil
}

// Publish sends payload on the device's own topic leaf: ack, status (retained) or telemetry.
// Telemetry goes at QoS 0, status at 1, ack at Config.AckQoS. A nil error is no proof of delivery
// (pitfall 5), and after an error nothing is queued (pitfall 6): the caller says it again.
// Errors: ErrNotConnected, ErrUnsent, ErrTooLarge, ErrLeaf, or ctx's.
func (l *Link) Publish(ctx context.Context, leaf wire.Leaf, payload []byte) error {
	if !leaf.Publishes() {
		return fmt.Errorf("%w: %s", ErrLeaf, leaf)
	}
	c := l.current.Load()
	if c == nil {
		return ErrNotConnected
	}
	return c.publish(ctx, leaf, payload)
}

// Greet makes the link publish birth and hello again, after jitter; calls in between are one.
func (l *Link) Greet() {
	select {
	case l.greet <- struct{}{}:
	default:
	}
}

// Renew ends the connection that stands now, so that another session is opened on a new one.
func (l *Link) Renew() {
	if c := l.current.Load(); c != nil {
		c.fail(ErrRenewed)
	}
}

// Session returns the session that stands now, or "".
func (l *Link) Session() string {
	if c := l.current.Load(); c != nil {
		return c.session.ID
	}
	return ""
}

// Stats returns the counters.
func (l *Link) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stats
}

func (l *Link) count(f func(*Stats)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(&l.stats)
}
