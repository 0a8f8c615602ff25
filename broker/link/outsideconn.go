package link

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"chit/device/wire"
	"chit/device/wire/frame"
)

var (
	errLost         = errors.New("link: connection to the engine lost")
	errSubscription = errors.New("link: the engine refused a subscription")
	errHandler      = errors.New("link: handler does not take messages")
)

// outsidePacketMax is the largest packet taken from an outside engine. It is far over any message
// of ours: a device whose engine lets it publish more must not be able to end everybody's
// connection, only its own message. The engine's own limit belongs below it.
const outsidePacketMax = 16 << 20

// quiesce is paho's own wait for DISCONNECT to leave.
const quiesce = 250 * time.Millisecond

// outsideConn is one connection to an outside engine, with its own paho client. What paho does
// wrong stands in research/mqtt.md section 3; chit/device/link goes round it in the same way.
type outsideConn struct {
	engine *Outside
	client paho.Client
	ctx    context.Context // of the dial

	queue chan heardMessage
	lost  chan error // holds one: the first reason
	stop  chan struct{}
	once  sync.Once
	wg    sync.WaitGroup

	mu     sync.Mutex
	raw    net.Conn
	killed bool
}

type heardMessage struct {
	Message
	ack func()
}

func (o *Outside) open(ctx context.Context) (*outsideConn, error) {
	ctx, cancel := context.WithTimeout(ctx, o.conf.ConnectTimeout)
	defer cancel()
	c := &outsideConn{
		engine: o, ctx: ctx, queue: make(chan heardMessage, o.conf.Queue),
		lost: make(chan error, 1), stop: make(chan struct{}),
	}
	c.client = paho.NewClient(c.options())
	token := c.client.Connect()
	select {
	case <-token.Done():
	case <-ctx.Done():
		c.kill()
		<-token.Done()
	}
	if err := token.Error(); err != nil {
		c.close()
		return nil, fmt.Errorf("link: connecting to %s: %w", o.conf.Address, err)
	}
	if ctx.Err() != nil {
		c.close()
		return nil, ctx.Err()
	}
	c.wg.Go(c.handle)
	return c, nil
}

func (c *outsideConn) options() *paho.ClientOptions {
	conf := c.engine.conf
	o := paho.NewClientOptions()
	o.AddBroker(conf.Address)
	o.SetClientID(c.engine.clientID)
	o.SetUsername(conf.Username)
	o.SetPassword(conf.Password)
	o.SetProtocolVersion(4)
	o.SetCleanSession(true)
	o.SetAutoReconnect(false)
	o.SetConnectRetry(false)
	o.SetResumeSubs(false)
	o.SetStore(paho.NewMemoryStore())
	o.SetAutoAckDisabled(true)
	o.SetOrderMatters(true)
	o.SetKeepAlive(conf.KeepAlive)
	o.SetPingTimeout(conf.PingTimeout)
	o.SetConnectTimeout(conf.ConnectTimeout)
	o.SetWriteTimeout(conf.WriteTimeout)
	o.SetCustomOpenConnectionFn(c.dial)
	o.SetDefaultPublishHandler(func(_ paho.Client, m paho.Message) { c.arrived(m) })
	o.SetConnectionLostHandler(func(_ paho.Client, err error) {
		c.fail(fmt.Errorf("%w: %w", errLost, err))
	})
	return o
}

// subscribe reads the SUBACK codes itself: paho reports a refusal nowhere else.
func (c *outsideConn) subscribe(ctx context.Context) error {
	filters := map[string]byte{}
	for _, filter := range wire.BrokerFilters("+") {
		filters[filter] = 1
	}
	token := c.client.SubscribeMultiple(filters, nil)
	if err := c.await(ctx, token); err != nil {
		return fmt.Errorf("link: subscribing: %w", err)
	}
	for filter, code := range token.(*paho.SubscribeToken).Result() {
		if code > 2 {
			c.engine.refused.Add(1)
			return fmt.Errorf("%w: %s: code 0x%02x", errSubscription, filter, code)
		}
	}
	return nil
}

// await waits for a token no longer than PublishTimeout.
func (c *outsideConn) await(ctx context.Context, token paho.Token) error {
	limit := time.NewTimer(c.engine.conf.PublishTimeout)
	defer limit.Stop()
	select {
	case <-token.Done():
		if err := token.Error(); errors.Is(err, paho.ErrNotConnected) {
			return ErrNotRunning
		} else if err != nil {
			return fmt.Errorf("%w: %w", ErrUnsent, err)
		}
		return nil
	case <-limit.C:
		return fmt.Errorf("%w in %v", ErrUnsent, c.engine.conf.PublishTimeout)
	case <-c.stop:
		return fmt.Errorf("%w: connection closed", ErrUnsent)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// arrived is called by paho's router for one message after the other.
func (c *outsideConn) arrived(m paho.Message) {
	topic, err := wire.ParseTopic(m.Topic())
	if err != nil || !topic.Leaf.Publishes() {
		c.put(heardMessage{ack: m.Ack}) // Nobody's message: it only gives its place back.
		return
	}
	payload := m.Payload()
	if len(payload) > wire.MessageMax {
		// Enough for whoever reads it to count it as too large; the rest would fill the queue.
		payload = bytes.Clone(payload[:wire.MessageMax+1])
	}
	c.put(heardMessage{ack: m.Ack, Message: Message{
		Topic: m.Topic(), Payload: payload, Retained: m.Retained(),
		Tenant: topic.Tenant, Device: topic.Device, Leaf: topic.Leaf,
	}})
}

func (c *outsideConn) put(m heardMessage) {
	select {
	case c.queue <- m:
		return
	default:
	}
	limit := time.NewTimer(c.engine.conf.HandoverTimeout)
	defer limit.Stop()
	select {
	case c.queue <- m:
	case <-c.stop:
	case <-limit.C:
		c.engine.overflows.Add(1)
		c.fail(errHandler)
	}
}

// handle gives messages to the handler and acknowledges them after it.
func (c *outsideConn) handle() {
	for {
		select {
		case <-c.stop:
			return
		case m := <-c.queue:
			if m.Topic != "" {
				c.engine.handled.Add(1)
				c.engine.handler.Handle(m.Message)
			}
			m.ack()
		}
	}
}

func (c *outsideConn) fail(err error) {
	select {
	case c.lost <- err:
	default:
	}
}

// dial is paho's dial function; the connection that it returns bounds every write.
func (c *outsideConn) dial(*url.URL, paho.ClientOptions) (net.Conn, error) {
	scheme, hostPort, _ := strings.Cut(c.engine.conf.Address, "://")
	var conn net.Conn
	var err error
	dialer := net.Dialer{}
	if scheme == "tls" {
		d := tls.Dialer{NetDialer: &dialer, Config: c.engine.conf.TLS}
		conn, err = d.DialContext(c.ctx, "tcp", hostPort)
	} else {
		conn, err = dialer.DialContext(c.ctx, "tcp", hostPort)
	}
	if err != nil {
		return nil, err
	}
	raw := conn
	if t, ok := conn.(*tls.Conn); ok {
		raw = t.NetConn()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.killed {
		raw.Close()
		return nil, net.ErrClosed
	}
	c.raw = raw
	return &boundedConn{
		Conn: conn, raw: raw, timeout: c.engine.conf.WriteTimeout,
		guard: frame.Guard{Filters: len(wire.BrokerFilters("+")), Max: outsidePacketMax},
	}, nil
}

func (c *outsideConn) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.killed = true
	if c.raw != nil {
		c.raw.Close()
	}
}

// close says DISCONNECT where that is possible, ends paho's workers and waits for our own.
func (c *outsideConn) close() {
	c.once.Do(func() {
		close(c.stop)
		c.client.Disconnect(uint(quiesce / time.Millisecond))
		c.kill()
		c.wg.Wait()
	})
}

// boundedConn gives every write a deadline, pings too, and closes after the first that failed.
type boundedConn struct {
	net.Conn
	raw     net.Conn
	timeout time.Duration
	guard   frame.Guard // owned by the reader
}

// Read ends the connection at the first packet that paho could not take.
func (c *boundedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if bad := c.guard.Check(p[:n]); bad != nil {
		c.raw.Close()
		return 0, bad
	}
	return n, err
}

// Write implements net.Conn.
func (c *boundedConn) Write(p []byte) (int, error) {
	if err := c.Conn.SetWriteDeadline(time.Now().Add(c.timeout)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(p)
	if err != nil {
		c.raw.Close()
	}
	return n, err
}

// SetWriteDeadline ignores paho's, which would lift ours in the middle of a ping.
func (c *boundedConn) SetWriteDeadline(time.Time) error { return nil }

// SetDeadline is called around CONNECT and CONNACK; writes have their own.
func (c *boundedConn) SetDeadline(t time.Time) error { return c.Conn.SetReadDeadline(t) }
