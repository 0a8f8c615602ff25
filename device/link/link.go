// Package link keeps a device connected to its broker over MQTT 3.1.1.
//
// It owns the paho client and nothing else does. It connects with a device certificate and a clean
// session, subscribes, checks the SUBACK codes, publishes the birth and says hello; when the link
// breaks it comes back with full jitter. It does not verify, store or queue: a message goes to the
// [Handler] with the duty to call Ack once its state is on disk, and what cannot be published now is
// an error for the caller.
//
//	l, err := link.New(conf, handler)
//	go func() { done <- l.Run(ctx) }()
//	err = l.Publish(ctx, wire.TopicAck, signed)
//
// What paho does wrong and how this package goes round it: research/mqtt.md section 3; the comments
// here name its items as "pitfall n".
package link

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"time"
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
	// ErrSubscription means that the engine refused a subscription: SUBACK 0x80, MQTT 3.1.1 §3.9.3.
	ErrSubscription = errors.New("link: subscription refused")
)

// Config says where the broker is and how patient the link is. The zero duration of each field means
// the default beside it.
type Config struct {
	// Address is tls://host:port; tcp://host:port is taken for loopback addresses only.
	Address string
	// TLS holds the device certificate and the broker's roots; required for tls addresses.
	TLS *tls.Config
	// Tenant and Device are the topic levels; Device is client id and user name too.
	Tenant, Device string

	KeepAlive      time.Duration // 20 s, whole seconds, 1 s to 60 s
	PingTimeout    time.Duration // 10 s
	ConnectTimeout time.Duration // 15 s: TCP, TLS and CONNACK together
	WriteTimeout   time.Duration // 5 s for each packet; ends half-open links (pitfall 1)
	PublishTimeout time.Duration // 10 s: the longest a SUBACK or PUBACK is awaited

	WaitFirst   time.Duration // 10 s: the first retry is at random before it
	WaitMax     time.Duration // 120 s: where the doubling ends
	StableAfter time.Duration // 5 min: a link that stood this long resets the waits
	GreetWithin time.Duration // 5 s: an extra hello is sent at random before it

	// AckQoS is the QoS of topic ack: 0 on the embedded engine, 1 elsewhere (DESIGN section 4).
	AckQoS byte
	// Queue is how many messages may wait for Deliver: 256. Past it they are dropped unacknowledged.
	Queue int
	// Jitter returns a random duration in [0, n); nil means math/rand/v2.
	Jitter func(n time.Duration) time.Duration
	Log    *slog.Logger // nil discards
}

// Session is what one connection is known by.
type Session struct {
	// ID is random and new for every connection.
	ID string
	// Will is the offline status with this ID, published by the engine when the link breaks.
	Will []byte
	// Offline is the status published retained before a planned DISCONNECT; nil publishes Will.
	Offline []byte
}

// Handler is the device behind the link. Its methods are called by the link's own goroutines, one at
// a time for each connection, and should return soon: while Deliver blocks, the queue fills.
type Handler interface {
	// Session opens a new session. It is called before every CONNECT.
	Session() (Session, error)
	// Greeting returns birth (status, retained) and hello (ack) of the session as they are now. It
	// is called after SUBACK, and again when the broker must hear them again.
	Greeting(session string) (birth, hello []byte, err error)
	// HostEpoch verifies a message of the host topic and returns the broker's epoch in it.
	HostEpoch(payload []byte) (epoch string, ok bool)
	// Deliver takes a ticket, recall, command or host message. The device's own status is not delivered.
	Deliver(Message)
	// Up says that the session stands: the greeting was sent. Down says that it is over.
	Up(session string)
	Down(session string, cause error)
}

// Message is one message from the broker.
type Message struct {
	Topic    string
	Payload  []byte
	Retained bool
	Dup      bool
	// Session is the connection it came by.
	Session string

	ack func()
}

// Ack lets the PUBACK go, once the state that it stands for is on disk (I1). It never blocks, may be
// called from any goroutine and more than once, and does nothing on a connection that is gone: the
// engine or the broker sends the message again. PUBACKs leave in order of arrival [MQTT-4.6.0-2], so
// a message that is never acknowledged holds back those after it.
func (m Message) Ack() {
	if m.ack != nil {
		m.ack()
	}
}

// Link is a device's connection to its broker.
type Link struct {
	conf    Config
	handler Handler
}

// New checks the configuration. It does not connect.
func New(conf Config, handler Handler) (*Link, error) {
	return &Link{conf: conf, handler: handler}, nil
}

// Run connects and reconnects until ctx ends; then it publishes the planned offline, disconnects and
// returns nil. It may be called once.
func (l *Link) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// Publish sends payload on the device's own topic leaf: "ack", "status" (retained) or "telemetry".
// Telemetry goes at QoS 0, status at 1, ack at Config.AckQoS. A nil error is no proof of delivery
// (pitfall 5). Errors: ErrNotConnected, ErrUnsent, ErrTooLarge, or ctx's.
func (l *Link) Publish(ctx context.Context, leaf string, payload []byte) error {
	return ErrNotConnected
}

// Greet makes the link publish birth and hello again, after jitter; calls in between are one.
func (l *Link) Greet() {}

// Session returns the session that stands now, or "".
func (l *Link) Session() string { return "" }
