package link

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"

	"chit/device/wire"
)

// EmbeddedConfig configures an [Embedded] engine. Zero means the default beside each field.
type EmbeddedConfig struct {
	// Listener accepts TCP connections; Run closes it. nil: only ServeConn brings connections.
	Listener net.Listener
	// TLS must require and verify client certificates; required with Listener.
	TLS  *tls.Config
	Gate Gate
	Log  *slog.Logger // nil discards

	ConnectTimeout time.Duration // 10 s for TLS and CONNECT together
	WriteTimeout   time.Duration // 5 s for each write to a device
	AcceptRate     int           // 300 connections a second, as many at once (mqtt.md section 5)
	ConnectsMax    int           // 256 connections in TLS or CONNECT at the same time
	ClientsMax     int           // 20 000 connections
}

// Embedded is the engine inside this process: mochi-mqtt, wrapped as research/mqtt.md 1.4 says.
type Embedded struct {
	conf    EmbeddedConfig
	handler Handler
	server  *mqtt.Server

	ready    chan struct{}
	stop     chan struct{} // closed when Run ends
	started  atomic.Bool
	running  atomic.Bool
	connects chan struct{} // a place for each connection in TLS or CONNECT
	wg       sync.WaitGroup

	mu     sync.Mutex
	closed bool
	open   map[net.Conn]struct{}  // every connection, also before CONNECT
	slots  map[string]*deviceConn // by device: the one that is let in
	// beginning are the connections in TLS or CONNECT by address, IPv6 by /64.
	beginning map[netip.Addr]int

	counters counters
}

var _ Engine = (*Embedded)(nil)

type counters struct {
	accepted, refused, handshakeFailed, takenOver, slow, panics atomic.Uint64
	subscribeDenied, publishDenied                              atomic.Uint64
	handled, published, qosDropped                              atomic.Uint64
}

// NewEmbedded checks the configuration. It does not listen yet.
func NewEmbedded(conf EmbeddedConfig, handler Handler) (*Embedded, error) {
	if conf.Gate == nil || handler == nil {
		return nil, errors.New("link: embedded engine without gate or handler")
	}
	if conf.Listener != nil && (conf.TLS == nil ||
		conf.TLS.ClientAuth != tls.RequireAndVerifyClientCert) {
		return nil, errors.New("link: embedded engine must require client certificates")
	}
	for _, d := range []struct {
		field *int
		value int
	}{{&conf.AcceptRate, 300}, {&conf.ConnectsMax, 256}, {&conf.ClientsMax, 20_000}} {
		if *d.field == 0 {
			*d.field = d.value
		}
		if *d.field < 0 {
			return nil, fmt.Errorf("link: embedded engine: limit %d, want more than 0", *d.field)
		}
	}
	if conf.ConnectTimeout == 0 {
		conf.ConnectTimeout = 10 * time.Second
	}
	if conf.WriteTimeout == 0 {
		conf.WriteTimeout = 5 * time.Second
	}
	if conf.Log == nil {
		conf.Log = slog.New(slog.DiscardHandler)
	}
	e := &Embedded{
		conf: conf, handler: handler,
		ready: make(chan struct{}), stop: make(chan struct{}),
		connects: make(chan struct{}, conf.ConnectsMax),
		open:     map[net.Conn]struct{}{}, slots: map[string]*deviceConn{},
		beginning: map[netip.Addr]int{},
	}
	return e, nil
}

// newServer configures mochi: research/mqtt.md 1.4 gives the reason of each line.
func (e *Embedded) newServer() (*mqtt.Server, error) {
	caps := mqtt.NewDefaultServerCapabilities()
	caps.MaximumClients = int64(e.conf.ClientsMax)
	caps.MaximumMessageExpiryInterval = 0 // else a retained status is gone after 24 h
	caps.MaximumClientWritesPending = 256
	caps.MaximumInflight = 256
	caps.MaximumPacketSize = packetMax
	caps.MaximumQos = 2 // else a will at QoS 2 gets a code of MQTT 5; the hook refuses it
	caps.TopicAliasMaximum = 0
	caps.MinimumProtocolVersion = 4
	server := mqtt.New(&mqtt.Options{
		Capabilities:             caps,
		ClientNetReadBufferSize:  1024,
		ClientNetWriteBufferSize: 1024,
		Logger:                   slog.New(quietHandler{e.conf.Log}),
		// $SYS topics have no reader here, and each round stops the world for its memory figures.
		SysTopicResendInterval: int64(math.MaxInt64 / time.Second / 2),
		InlineClient:           true,
	})
	if err := server.AddHook(&hook{engine: e}, nil); err != nil {
		return nil, fmt.Errorf("link: adding the hook: %w", err)
	}
	if err := server.Serve(); err != nil {
		return nil, fmt.Errorf("link: starting the engine: %w", err)
	}
	for topic := range server.Topics.Retained.GetAll() {
		server.Topics.Retained.Delete(topic) // $SYS: nobody may read it, and it would be counted.
	}
	for i, filter := range wire.BrokerFilters("+") {
		if err := server.Subscribe(filter, i+1, e.heard); err != nil {
			return nil, fmt.Errorf("link: subscribing to %s: %w", filter, err)
		}
	}
	return server, nil
}

// Run implements [Engine]. The handler is called until it returns: the wills of the devices that it
// disconnects at the end come too.
func (e *Embedded) Run(ctx context.Context) error {
	if e.started.Swap(true) {
		return errors.New("link: Run called twice")
	}
	server, err := e.newServer()
	if err != nil {
		return err
	}
	e.server = server
	e.running.Store(true)
	close(e.ready)
	if e.conf.Listener == nil {
		<-ctx.Done()
	} else {
		err = e.accept(ctx)
	}
	e.shutDown()
	return err
}

// shutDown ends every connection before it closes mochi, which would wait for them for ever: they
// belong to none of its listeners.
func (e *Embedded) shutDown() {
	e.running.Store(false)
	e.mu.Lock()
	e.closed = true
	open := make([]net.Conn, 0, len(e.open))
	for conn := range e.open {
		open = append(open, conn)
	}
	e.mu.Unlock()
	close(e.stop)
	for _, conn := range open {
		conn.Close()
	}
	e.wg.Wait()
	_ = e.server.Close() // It has no error to return in this version.
}

// Ready implements [Engine].
func (e *Embedded) Ready() <-chan struct{} { return e.ready }

// Publish implements [Engine]. It does not wait for any device.
func (e *Embedded) Publish(
	ctx context.Context, topic string, payload []byte, retain bool,
) (err error) {
	if err := checkPublish(ctx, topic, payload); err != nil {
		return err
	}
	if !e.running.Load() {
		return ErrNotRunning
	}
	defer func() {
		if r := recover(); r != nil {
			e.counters.panics.Add(1)
			err = fmt.Errorf("link: engine panicked while publishing: %v", r)
		}
	}()
	if err := e.server.Publish(topic, payload, retain, 1); err != nil {
		return fmt.Errorf("link: publishing: %w", err)
	}
	e.counters.published.Add(1)
	return nil
}

// checkPublish says what no engine should be asked.
func checkPublish(ctx context.Context, topic string, payload []byte) error {
	if len(payload) > wire.MessageMax {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(payload), wire.MessageMax)
	}
	if topic == "" || len(topic) > 512 || strings.ContainsAny(topic, "+#\x00") {
		return fmt.Errorf("%w: %.100q", ErrTopic, topic)
	}
	return ctx.Err()
}

// heard is mochi's call for a message on one of the broker's filters.
func (e *Embedded) heard(_ *mqtt.Client, _ packets.Subscription, pk packets.Packet) {
	topic, err := wire.ParseTopic(pk.TopicName)
	if err != nil || !topic.Leaf.Publishes() {
		return // Our own publish on a strange topic; no device can send one.
	}
	e.counters.handled.Add(1)
	e.handler.Handle(Message{
		Topic: pk.TopicName, Payload: pk.Payload,
		Tenant: topic.Tenant, Device: topic.Device, Leaf: topic.Leaf,
	})
}

// Disconnect implements [Engine].
func (e *Embedded) Disconnect(device string) error {
	e.mu.Lock()
	c := e.slots[device]
	e.mu.Unlock()
	if c != nil {
		c.Close()
	}
	return nil
}

// Address is the network address that a device is connected from, "" where it is not connected
// here. Behind a balancer it is the balancer's.
func (e *Embedded) Address(device string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c := e.slots[device]; c != nil {
		return c.RemoteAddr().String()
	}
	return ""
}

// Stats implements [Engine].
func (e *Embedded) Stats() Stats {
	s := Stats{
		Accepted:        e.counters.accepted.Load(),
		Refused:         e.counters.refused.Load(),
		HandshakeFailed: e.counters.handshakeFailed.Load(),
		TakenOver:       e.counters.takenOver.Load(),
		Slow:            e.counters.slow.Load(),
		Panics:          e.counters.panics.Load(),
		SubscribeDenied: e.counters.subscribeDenied.Load(),
		PublishDenied:   e.counters.publishDenied.Load(),
		Handled:         e.counters.handled.Load(),
		Published:       e.counters.published.Load(),
		QoSDropped:      e.counters.qosDropped.Load(),
	}
	select {
	case <-e.ready:
	default:
		return s
	}
	info := e.server.Info
	s.Connected = atomic.LoadInt64(&info.ClientsConnected)
	s.MessagesDropped = uint64(atomic.LoadInt64(&info.MessagesDropped))
	s.InflightDropped = uint64(atomic.LoadInt64(&info.InflightDropped))
	s.Retained = atomic.LoadInt64(&info.Retained)
	return s
}
