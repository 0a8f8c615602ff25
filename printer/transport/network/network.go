// Package network drives a printer over raw TCP, port 9100 by custom (JetDirect, AppSocket).
//
// One connection is kept for as long as the printer is there: cheap boards lose a second job that
// comes on a new connection soon after the first, and have one slot that a dead client keeps taken
// for minutes (research/escpos.md 2.11). So the kernel watches the peer with keepalives, unanswered
// bytes end the connection after [UserTimeout], and Close sends what was accepted and then FIN.
//
// A printer whose address comes by DHCP may move, and another may get its address. With [Unit] a
// dialer takes only the printer that is meant, and looks for it in the machine's own networks where
// it is not at its address. By hardware address nobody is disturbed; by serial number the listeners
// on the port are asked, so a hardware address is the better name. Searches pause for [SearchMin]
// to [SearchMax]. A host name is resolved at every dial.
package network

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"chit/printer/transport"
)

// The waits of a connection, and the port where the URL names none.
const (
	// ConnectTimeout bounds a dial: without it a switched-off printer blocks for over 40 s.
	ConnectTimeout = 5 * time.Second
	// KeepaliveIdle, KeepaliveInterval and KeepaliveCount let the kernel find a dead idle peer in
	// 15 + 3·5 s.
	KeepaliveIdle     = 15 * time.Second
	KeepaliveInterval = 5 * time.Second
	KeepaliveCount    = 3
	// UserTimeout is how long bytes may stay unacknowledged (TCP_USER_TIMEOUT, Linux only). Linux
	// counts a closed window too, see SetPatient; so it must be longer than a line feed and
	// shorter than a cook's patience.
	UserTimeout = 30 * time.Second
	// PortDefault is the raw printing port.
	PortDefault = 9100
)

// Dialer opens one printer by host and port.
type Dialer struct {
	host    string
	port    int
	address string
	timeout time.Duration
	unit    Unit
	conf    Config

	mu    sync.Mutex
	where whereabouts
}

// New makes a dialer for a host name or address and a port.
func New(host string, port int) *Dialer { return NewUnit(host, port, Unit{}, Config{}) }

// NewUnit makes a dialer for one certain printer that was last seen at a host.
func NewUnit(host string, port int, unit Unit, conf Config) *Dialer {
	return &Dialer{
		host: host, port: port, address: net.JoinHostPort(host, strconv.Itoa(port)),
		timeout: ConnectTimeout, unit: unit, conf: conf.withDefaults(),
	}
}

// Name is the printer's URL.
func (d *Dialer) Name() string { return "tcp://" + d.address }

// TwoWay is true: what a board answers is probed, not assumed.
func (d *Dialer) TwoWay() bool { return true }

// Dial connects within ConnectTimeout. For a certain unit it may take three times as long and a
// search; its errors then wrap [ErrMoved] or [transport.ErrStranger] where another unit has the
// address.
func (d *Dialer) Dial(ctx context.Context) (transport.Conn, error) {
	if d.unit == (Unit{}) {
		return d.connect(ctx, d.address)
	}
	return d.dialUnit(ctx)
}

// resolve is the IPv4 address of the URL's host now.
func (d *Dialer) resolve(ctx context.Context) (netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	all, err := d.conf.Resolver.LookupNetIP(ctx, "ip4", d.host)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("network: resolving %s: %w", d.host, err)
	}
	return all[0].Unmap(), nil
}

// connect opens one connection and takes it if no other unit is known to be there.
func (d *Dialer) connect(ctx context.Context, address string) (transport.Conn, error) {
	dialer := net.Dialer{
		Timeout: d.timeout, Resolver: d.conf.Resolver,
		KeepAliveConfig: net.KeepAliveConfig{
			Enable: true, Idle: KeepaliveIdle, Interval: KeepaliveInterval, Count: KeepaliveCount,
		},
	}
	c, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("network: connecting to %s: %w", address, err)
	}
	far := c.RemoteAddr().(*net.TCPAddr).AddrPort()
	far = netip.AddrPortFrom(far.Addr().Unmap(), far.Port())
	conn := &conn{TCPConn: c.(*net.TCPConn), dialer: d, far: far, moved: address != d.address}
	err = conn.SetPatient(false)
	if err != nil {
		err = fmt.Errorf("network: setting TCP_USER_TIMEOUT on %s: %w", address, err)
	} else {
		err = d.check(far)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return conn, nil
}

// conn is a TCP connection as Go makes it: no SO_LINGER, so Close returns at once while the kernel
// delivers what was accepted, for at most the user time-out; TCP_NODELAY is on.
type conn struct {
	*net.TCPConn
	dialer *Dialer
	far    netip.AddrPort
	moved  bool
}

// Place is the address; it has moved where that is not the URL's.
func (c *conn) Place() (string, bool) { return c.far.String(), c.moved }

// Recognise compares the serial number that the printer says with the one that is wanted.
func (c *conn) Recognise(serial string) error {
	want := c.dialer.unit.Serial
	if want == "" || serial == "" || transport.Plain(serial) == transport.Plain(want) {
		return nil // A printer that says none cannot be told from another.
	}
	c.dialer.reject(c.far)
	return fmt.Errorf("network: the printer at %s has serial number %s, not %s: %w", c.far,
		transport.Plain(serial), transport.Plain(want), transport.ErrStranger)
}

// SetPatient switches off the user time-out while the printer says that it must wait: Linux ends a
// connection whose window stays closed for that long even if the peer answers every window probe,
// and a closed window is how a printer without paper looks (RFC 9293 §3.8.6.1 would wait for ever).
func (c *conn) SetPatient(patient bool) error {
	wait := UserTimeout
	if patient {
		wait = 0
	}
	return setUserTimeout(c.TCPConn, wait)
}

// Close may be called twice.
func (c *conn) Close() error {
	if err := c.TCPConn.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("network: closing: %w", err)
	}
	return nil
}
