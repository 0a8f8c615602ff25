package link

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	randv2 "math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"chit/device/wire"
)

// OutsideConfig configures an [Outside] engine. Zero means the default beside each field.
type OutsideConfig struct {
	// Address is tls://host:port; tcp://host:port is taken for loopback addresses only.
	Address string
	TLS     *tls.Config
	// Replica names this process in its client id, which gets a random end: a copied id would make
	// two replicas take over each other for ever. At most 64 of a-z, 0-9 and -.
	Replica            string
	Username, Password string       // for engines that know the broker by password
	Log                *slog.Logger // nil discards

	KeepAlive      time.Duration // 20 s
	PingTimeout    time.Duration // 10 s
	ConnectTimeout time.Duration // 15 s
	WriteTimeout   time.Duration // 5 s
	PublishTimeout time.Duration // 10 s
	WaitMax        time.Duration // 30 s: back-off is full jitter from 1 s, doubling to this
	Queue          int           // 4096 messages may wait for the handler
	// HandoverTimeout is how long a message waits for room in the queue: 5 s. Meanwhile nothing is
	// read, which pushes back on the engine; after it the connection is given up and renewed.
	HandoverTimeout time.Duration
	// Jitter returns a random duration in [0, n); nil means math/rand/v2.
	Jitter func(n time.Duration) time.Duration
}

func (c OutsideConfig) withDefaults() OutsideConfig {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&c.KeepAlive, 20 * time.Second},
		{&c.PingTimeout, 10 * time.Second},
		{&c.ConnectTimeout, 15 * time.Second},
		{&c.WriteTimeout, 5 * time.Second},
		{&c.PublishTimeout, 10 * time.Second},
		{&c.WaitMax, 30 * time.Second},
		{&c.HandoverTimeout, 5 * time.Second},
	} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	if c.Queue <= 0 {
		c.Queue = 4096
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Jitter == nil {
		c.Jitter = func(n time.Duration) time.Duration { return randv2.N(n) }
	}
	return c
}

// Outside is an engine that somebody else runs: mosquitto, EMQX, NATS, a cloud's. It must let this
// client read and write under chit/1, and must keep each device to its own topics; package
// linktest shows what is asked of it.
type Outside struct {
	conf     OutsideConfig
	handler  Handler
	clientID string

	ready     chan struct{}
	readyOnce sync.Once
	started   atomic.Bool
	current   atomic.Pointer[outsideConn]

	handled, published, overflows, reconnects, refused atomic.Uint64
}

var _ Engine = (*Outside)(nil)

// NewOutside checks the configuration. It does not connect yet.
func NewOutside(conf OutsideConfig, handler Handler) (*Outside, error) {
	conf = conf.withDefaults()
	if handler == nil {
		return nil, errors.New("link: outside engine without handler")
	}
	if err := wire.CheckID(conf.Replica); err != nil {
		return nil, fmt.Errorf("link: replica: %w", err)
	}
	if err := CheckAddress(conf.Address); err != nil {
		return nil, err
	}
	if strings.HasPrefix(conf.Address, "tls://") && conf.TLS == nil {
		return nil, fmt.Errorf("link: address %q without a TLS configuration", conf.Address)
	}
	var end [8]byte
	_, _ = rand.Read(end[:]) // It never fails (crypto/rand).
	return &Outside{
		conf: conf, handler: handler, ready: make(chan struct{}),
		clientID: conf.Replica + "-" + hex.EncodeToString(end[:]),
	}, nil
}

// CheckAddress wants tls://host:port, or tcp://host:port where nobody can listen in, on loopback.
func CheckAddress(address string) error {
	scheme, hostPort, _ := strings.Cut(address, "://")
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil || host == "" || port == "" {
		return fmt.Errorf("link: address %q, want tls://host:port", address)
	}
	ip := net.ParseIP(host)
	if scheme == "tls" || scheme == "tcp" && (host == "localhost" || ip != nil && ip.IsLoopback()) {
		return nil
	}
	return fmt.Errorf("link: address %q, want tls:// unless on loopback", address)
}

// Run implements [Engine]. It connects and reconnects until ctx ends.
func (o *Outside) Run(ctx context.Context) error {
	if o.started.Swap(true) {
		return errors.New("link: Run called twice")
	}
	fails, last := 0, ""
	for ctx.Err() == nil {
		stood, err := o.connectOnce(ctx)
		if ctx.Err() != nil {
			break
		}
		if stood {
			o.reconnects.Add(1)
			fails = 0
		}
		limit := o.conf.WaitMax
		if fails < 16 {
			limit = min(limit, time.Second<<fails)
		}
		fails++
		pause := o.conf.Jitter(limit)
		if text := err.Error(); text != last || stood {
			last = text
			o.conf.Log.Error("MQTT engine is away", "error", err, "retry_in", pause)
		}
		wait(ctx, pause)
	}
	return nil
}

// connectOnce runs one connection to its end; stood says whether it came to hear devices.
func (o *Outside) connectOnce(ctx context.Context) (stood bool, err error) {
	c, err := o.open(ctx)
	if err != nil {
		return false, err
	}
	defer c.close()
	if err := c.subscribe(ctx); err != nil {
		return false, err
	}
	o.current.Store(c)
	defer o.current.Store(nil)
	o.conf.Log.Info("MQTT engine is connected", "client", o.clientID)
	o.readyOnce.Do(func() { close(o.ready) })
	select {
	case <-ctx.Done():
		return true, ctx.Err()
	case err := <-c.lost:
		return true, err
	}
}

// Ready implements [Engine].
func (o *Outside) Ready() <-chan struct{} { return o.ready }

// Publish implements [Engine]. It waits for the engine's PUBACK.
func (o *Outside) Publish(ctx context.Context, topic string, payload []byte, retain bool) error {
	if err := checkPublish(ctx, topic, payload); err != nil {
		return err
	}
	c := o.current.Load()
	if c == nil {
		return ErrNotRunning
	}
	if err := c.await(ctx, c.client.Publish(topic, 1, retain, payload)); err != nil {
		return err
	}
	o.published.Add(1)
	return nil
}

// Disconnect implements [Engine]; it returns ErrUnsupported: MQTT has no packet for it. A device is
// kept out of an outside engine by that engine's revocation list.
func (o *Outside) Disconnect(string) error { return ErrUnsupported }

// Stats implements [Engine].
func (o *Outside) Stats() Stats {
	s := Stats{
		Refused:          o.refused.Load(),
		Handled:          o.handled.Load(),
		Published:        o.published.Load(),
		HandlerOverflows: o.overflows.Load(),
		Reconnects:       o.reconnects.Load(),
	}
	if o.current.Load() != nil {
		s.Connected = 1
	}
	return s
}
