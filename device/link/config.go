package link

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"chit/device/wire"
)

// Defaults and limits; research/mqtt.md sections 3 and 5 say why.
const (
	keepAliveMax = 60 * time.Second // the embedded engine refuses more

	// dropsMax is how many messages one connection may drop on a full queue. Each of them keeps a
	// place in the engine's window, which is 20 in mosquitto; the connection is renewed before.
	dropsMax = 16
	// quiesce is paho's own wait for DISCONNECT to leave.
	quiesce = 250 * time.Millisecond
)

// Config says where the broker is and how patient the link is. The zero duration of each field
// means the default beside it.
type Config struct {
	// Address is tls://host:port; tcp://host:port is taken for loopback addresses only.
	Address string
	// TLS holds the device certificate and the broker's roots; required for tls addresses.
	TLS *tls.Config
	// Tenant and Device are the topic levels; Device is client id and user name too.
	Tenant, Device string

	// KeepAlive is 6 s, whole seconds, 1 s to 60 s. A device that is stuck with a stored ticket is
	// missed after one and a half of them and its backup prints 5 s later: together less than the
	// 17 s that a ticket may take to the backup's paper.
	KeepAlive      time.Duration
	PingTimeout    time.Duration // 10 s
	ConnectTimeout time.Duration // 15 s: TCP, TLS and CONNACK together
	WriteTimeout   time.Duration // 5 s for each packet; ends half-open links (pitfall 1)
	PublishTimeout time.Duration // 10 s: the longest a SUBACK or PUBACK is awaited
	StopTimeout    time.Duration // 2 s: the same for the offline status of a planned stop

	WaitFirst   time.Duration // 10 s: the first retry is at random before it
	WaitMax     time.Duration // 120 s: where the doubling ends
	StableAfter time.Duration // 5 min: a link that stood this long resets the waits
	GreetWithin time.Duration // 5 s: an extra hello is sent at random before it

	// AckQoS is the QoS of topic ack: 0 on the embedded engine, 1 elsewhere (DESIGN section 4).
	AckQoS byte
	// Queue is how many messages may wait for Deliver: 256. Past it they are dropped
	// unacknowledged.
	Queue int
	// Jitter returns a random duration in [0, n); nil means math/rand/v2.
	Jitter func(n time.Duration) time.Duration
	Log    *slog.Logger // nil discards
}

func (c Config) withDefaults() Config {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&c.KeepAlive, 6 * time.Second},
		{&c.PingTimeout, 10 * time.Second},
		{&c.ConnectTimeout, 15 * time.Second},
		{&c.WriteTimeout, 5 * time.Second},
		{&c.PublishTimeout, 10 * time.Second},
		{&c.StopTimeout, 2 * time.Second},
		{&c.WaitFirst, 10 * time.Second},
		{&c.WaitMax, 120 * time.Second},
		{&c.StableAfter, 5 * time.Minute},
		{&c.GreetWithin, 5 * time.Second},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if c.Queue == 0 {
		c.Queue = 256
	}
	if c.Jitter == nil {
		c.Jitter = func(n time.Duration) time.Duration {
			if n <= 0 {
				return 0
			}
			return rand.N(n)
		}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// validate names the field, what was found and what was expected.
func (c Config) validate() error {
	if err := wire.CheckID(c.Tenant); err != nil {
		return fmt.Errorf("link: tenant: %w", err)
	}
	if err := wire.CheckID(c.Device); err != nil {
		return fmt.Errorf("link: device: %w", err)
	}
	if _, _, err := splitAddress(c.Address, c.TLS != nil); err != nil {
		return err
	}
	if c.KeepAlive < time.Second || c.KeepAlive > keepAliveMax || c.KeepAlive%time.Second != 0 {
		return fmt.Errorf("link: keep-alive %v, want whole seconds, 1 s to %v",
			c.KeepAlive, keepAliveMax)
	}
	if c.AckQoS > 1 {
		return fmt.Errorf("link: ack QoS %d, want 0 or 1", c.AckQoS)
	}
	if c.Queue < 0 {
		return fmt.Errorf("link: queue of %d messages, want 1 or more", c.Queue)
	}
	for name, d := range map[string]time.Duration{
		"ping timeout": c.PingTimeout, "connect timeout": c.ConnectTimeout,
		"write timeout": c.WriteTimeout, "publish timeout": c.PublishTimeout,
		"stop timeout": c.StopTimeout,
		"first wait":   c.WaitFirst, "longest wait": c.WaitMax, "stable after": c.StableAfter,
		"greet within": c.GreetWithin,
	} {
		if d < 0 {
			return fmt.Errorf("link: %s %v, want more than 0", name, d)
		}
	}
	return nil
}

// splitAddress reads tls://host:port or tcp://host:port. Plain TCP would show tickets and the
// device's name to the network, so it is for tests and for an engine on the same machine.
func splitAddress(address string, certified bool) (scheme, hostPort string, err error) {
	scheme, hostPort, ok := strings.Cut(address, "://")
	if !ok || scheme != "tls" && scheme != "tcp" {
		return "", "", fmt.Errorf("link: address %q, want tls://host:port", address)
	}
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil || host == "" || port == "" {
		return "", "", fmt.Errorf("link: address %q, want %s://host:port", address, scheme)
	}
	if scheme == "tls" {
		if !certified {
			return "", "", fmt.Errorf("link: address %q without a TLS configuration", address)
		}
		return scheme, hostPort, nil
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", "", fmt.Errorf("link: address %q, want tls:// unless on loopback", address)
	}
	return scheme, hostPort, nil
}
