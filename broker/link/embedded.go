package link

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"time"
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
	AcceptRate     int           // 300 connections a second, and as many at once (mqtt.md section 5)
	ConnectsMax    int           // 256 connections in TLS or CONNECT at the same time
	ClientsMax     int           // 20 000 connections
}

// Embedded is the engine inside this process.
type Embedded struct {
	conf    EmbeddedConfig
	handler Handler
}

var _ Engine = (*Embedded)(nil)

// NewEmbedded checks the configuration. It does not listen yet.
func NewEmbedded(conf EmbeddedConfig, handler Handler) (*Embedded, error) {
	return &Embedded{conf: conf, handler: handler}, nil
}

// Run implements [Engine].
func (e *Embedded) Run(ctx context.Context) error { <-ctx.Done(); return nil }

// Ready implements [Engine].
func (e *Embedded) Ready() <-chan struct{} { return nil }

// Publish implements [Engine].
func (e *Embedded) Publish(ctx context.Context, topic string, payload []byte, retain bool) error {
	return ErrNotRunning
}

// Disconnect implements [Engine].
func (e *Embedded) Disconnect(device string) error { return nil }

// Stats implements [Engine].
func (e *Embedded) Stats() Stats { return Stats{} }
