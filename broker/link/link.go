// Package link is the broker's MQTT: one small interface, two engines behind it.
//
// [Embedded] runs an engine inside this process (mochi-mqtt, wrapped as research/mqtt.md 1.4 says);
// [Outside] connects to an engine of the operator over paho. Both are pipes: nothing here stores,
// retries or proves delivery, only a device's signed ack does (DESIGN section 4). No other package
// of the broker may import an MQTT library.
//
//	e, err := link.NewEmbedded(link.EmbeddedConfig{Listener: l, TLS: conf, Gate: fleet}, handler)
//	go func() { done <- e.Run(ctx) }()
//	<-e.Ready()
//	err = e.Publish(ctx, topic, payload, false)
package link

import (
	"context"
	"crypto/x509"
	"errors"

	"chit/device/wire"
)

// Errors of both engines.
var (
	// ErrNotRunning means that the engine has not started, has ended, or has no connection now.
	ErrNotRunning = errors.New("link: engine not running")
	// ErrUnsent means that an outside engine did not confirm a publish in time; it may still
	// arrive.
	ErrUnsent = errors.New("link: publish not confirmed")
	// ErrTooLarge means a payload over wire.MessageMax.
	ErrTooLarge = errors.New("link: message too large")
	// ErrTopic means a topic that cannot be published to: empty, over-long, or with a wildcard.
	ErrTopic = errors.New("link: bad topic")
	// ErrUnsupported means that the engine has no way to do this; only Outside returns it.
	ErrUnsupported = errors.New("link: not supported by an outside engine")
)

// Message is one message from a device: topic ack, status or telemetry of one device.
type Message struct {
	Topic   string
	Payload []byte
	// Retained is true where the engine sent it from its store, not because it was just published.
	Retained bool
	Tenant   string    // topic level
	Device   string    // topic level; the ACL makes sure that this device sent it
	Leaf     wire.Leaf // ack, status or telemetry
}

// Handler takes messages from devices.
//
// Handle is called in order of arrival for one device, by several goroutines at once for several.
// It should only hand the message on: while it blocks on the embedded engine that device is not
// read, on the outside engine nothing is, and Run does not return before it. The payload may be
// kept.
type Handler interface {
	Handle(Message)
}

// HandlerFunc is a function as a Handler.
type HandlerFunc func(Message)

// Handle calls f.
func (f HandlerFunc) Handle(m Message) { f(m) }

// Gate decides who may connect. It is called in the connect path of every device: it must not wait
// for a database without a cache and a deadline.
type Gate interface {
	// Admit returns tenant and device of a verified client certificate, or an error that says why
	// it may not connect: revoked, unknown, tenant gone. The engine checks by itself that device,
	// common name, client id and user name are the same.
	Admit(cert *x509.Certificate) (tenant, device string, err error)
}

// Engine is an MQTT engine.
type Engine interface {
	// Run serves until ctx ends and then returns nil, with every goroutine of the engine ended. It
	// may be called once.
	Run(ctx context.Context) error
	// Ready is closed when the engine first hears devices.
	Ready() <-chan struct{}
	// Publish sends payload to topic at QoS 1. A nil error proves nothing about delivery: not even
	// that somebody is subscribed.
	Publish(ctx context.Context, topic string, payload []byte, retain bool) error
	// Disconnect ends the connection of a device, if it has one here; its will is published.
	Disconnect(device string) error
	// Stats are counters since the start.
	Stats() Stats
}

// Stats are an engine's counters, for metrics. What an engine cannot know stays zero.
type Stats struct {
	Connected int64 // devices connected now; for Outside 1 or 0

	Accepted        uint64 // connections that passed CONNECT
	Refused         uint64 // connections refused: certificate, gate, ids, keep-alive, will
	HandshakeFailed uint64 // TLS or CONNECT did not complete, or not MQTT 3.1.1
	TakenOver       uint64 // connections ended by a newer one of the same device
	Slow            uint64 // connections ended because the device did not read
	Panics          uint64 // panics in the engine, contained to one connection

	SubscribeDenied uint64 // filters answered 0x80
	PublishDenied   uint64 // publishes that the ACL refused

	Handled          uint64 // messages given to the handler
	Published        uint64 // messages given to the engine
	MessagesDropped  uint64 // to a device whose queue was full
	InflightDropped  uint64 // to a device with too many unacknowledged messages
	QoSDropped       uint64 // unacknowledged messages of sessions that ended
	HandlerOverflows uint64 // messages of devices dropped because the handler was slow (Outside)
	Retained         int64  // retained messages in store
	Reconnects       uint64 // times that the connection was lost (Outside)
}
