package link

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"chit/device/wire"
)

// connection is one MQTT connection, with its own paho client: a client is never used twice, which
// keeps its goroutines, its packet ids and its will bound to one session (pitfalls 16 and 18).
type connection struct {
	link    *Link
	session Session
	client  mqtt.Client
	wire    *socket
	topics  map[string]wire.Leaf // what this device subscribes to

	queue chan Message
	acks  *acks
	lost  chan error // holds one: the first reason
	stop  chan struct{}
	once  sync.Once
	wg    sync.WaitGroup

	drops int    // owned by paho's router goroutine
	epoch string // the broker's, owned by the delivery goroutine
	heard bool   // an epoch was heard on this connection
}

// open dials, does TLS and CONNECT, and has every route registered before (pitfall 10).
func (l *Link) open(ctx context.Context, session Session) (*connection, error) {
	c := &connection{
		link: l, session: session, topics: map[string]wire.Leaf{},
		queue: make(chan Message, l.conf.Queue), acks: newAcks(),
		lost: make(chan error, 1), stop: make(chan struct{}),
	}
	for _, filter := range wire.DeviceFilters(l.conf.Tenant, l.conf.Device) {
		topic, err := wire.ParseTopic(filter)
		if err != nil {
			return nil, fmt.Errorf("link: own filter: %w", err)
		}
		c.topics[filter] = topic.Leaf
	}
	ctx, cancel := context.WithTimeout(ctx, l.conf.ConnectTimeout)
	defer cancel()
	c.wire = &socket{ctx: ctx, timeout: l.conf.WriteTimeout, filters: len(c.topics)}
	c.client = mqtt.NewClient(c.options())
	token := c.client.Connect()
	select {
	case <-token.Done():
	case <-ctx.Done():
		// The dial sees ctx and the handshake loses its socket, so the token completes at once.
		c.wire.kill()
		<-token.Done()
	}
	if err := token.Error(); err != nil {
		c.close()
		return nil, fmt.Errorf("link: connecting to %s: %w", l.conf.Address, err)
	}
	if ctx.Err() != nil {
		c.close()
		return nil, ctx.Err()
	}
	c.wg.Go(c.acks.run)
	return c, nil
}

// options starts from paho's constructor: a zero-valued struct disconnects at once (pitfall 19).
func (c *connection) options() *mqtt.ClientOptions {
	conf := c.link.conf
	o := mqtt.NewClientOptions()
	o.AddBroker(conf.Address)
	o.SetClientID(conf.Device)
	o.SetUsername(conf.Device)
	o.SetProtocolVersion(4) // MQTT 3.1.1 only, no fall-back to 3.1
	o.SetCleanSession(true)
	o.SetAutoReconnect(false) // no jitter in paho's (pitfall 14)
	o.SetConnectRetry(false)
	o.SetResumeSubs(false)
	o.SetStore(mqtt.NewMemoryStore()) // the file store panics on a full card (pitfall 12)
	o.SetAutoAckDisabled(true)
	o.SetOrderMatters(true)
	o.SetKeepAlive(conf.KeepAlive)
	o.SetPingTimeout(conf.PingTimeout)
	o.SetConnectTimeout(conf.ConnectTimeout)
	o.SetWriteTimeout(conf.WriteTimeout)
	o.SetCustomOpenConnectionFn(c.wire.open(conf.Address, conf.TLS))
	status := wire.DeviceTopic(conf.Tenant, conf.Device, wire.LeafStatus).String()
	o.SetBinaryWill(status, c.session.Will, 1, true)
	o.SetDefaultPublishHandler(func(_ mqtt.Client, m mqtt.Message) { c.arrived(m) })
	o.SetConnectionLostHandler(func(_ mqtt.Client, err error) {
		c.fail(fmt.Errorf("%w: %w", errLost, err))
	})
	return o
}

// subscribe asks for all topics in one packet and reads the codes: paho's token has no error for a
// refused subscription (pitfall 9).
func (c *connection) subscribe(ctx context.Context) error {
	filters := map[string]byte{}
	for topic := range c.topics {
		filters[topic] = 1
	}
	token := c.client.SubscribeMultiple(filters, nil)
	if err := c.await(ctx, token); err != nil {
		return fmt.Errorf("link: subscribing: %w", err)
	}
	for topic, code := range token.(*mqtt.SubscribeToken).Result() {
		if code > 2 {
			return fmt.Errorf("%w: %s: code 0x%02x", ErrSubscription, topic, code)
		}
	}
	return nil
}

// sayHello publishes birth and hello.
func (c *connection) sayHello(ctx context.Context) error {
	birth, hello, err := c.link.handler.Greeting(c.session.ID)
	if err != nil {
		return fmt.Errorf("link: greeting: %w", err)
	}
	if err := c.publish(ctx, wire.LeafStatus, birth); err != nil {
		return fmt.Errorf("link: publishing birth: %w", err)
	}
	if err := c.publish(ctx, wire.LeafAck, hello); err != nil {
		return fmt.Errorf("link: publishing hello: %w", err)
	}
	return nil
}

func (c *connection) publish(ctx context.Context, leaf wire.Leaf, payload []byte) error {
	if len(payload) > wire.MessageMax {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(payload), wire.MessageMax)
	}
	qos := byte(0)
	switch leaf {
	case wire.LeafStatus:
		qos = 1
	case wire.LeafAck:
		qos = c.link.conf.AckQoS
	}
	topic := wire.DeviceTopic(c.link.conf.Tenant, c.link.conf.Device, leaf).String()
	return c.await(ctx, c.client.Publish(topic, qos, leaf.Retained(), payload))
}

// await waits for a token no longer than PublishTimeout: paho's Wait can hang for hours (pitfall
// 5).
func (c *connection) await(ctx context.Context, token mqtt.Token) error {
	limit := time.NewTimer(c.link.conf.PublishTimeout)
	defer limit.Stop()
	select {
	case <-token.Done():
		if err := token.Error(); errors.Is(err, mqtt.ErrNotConnected) {
			return ErrNotConnected
		} else if err != nil {
			return fmt.Errorf("%w: %w", ErrUnsent, err)
		}
		return nil
	case <-limit.C:
		return fmt.Errorf("%w in %v", ErrUnsent, c.link.conf.PublishTimeout)
	case <-c.stop:
		return fmt.Errorf("%w: connection closed", ErrUnsent)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// farewell tells the broker that this is a planned stop: a clean DISCONNECT discards the will
// [MQTT-3.14.4-3], so the retained status would say online for ever.
func (c *connection) farewell() {
	ctx, cancel := context.WithTimeout(context.Background(), c.link.conf.StopTimeout)
	defer cancel()
	offline := c.session.Offline
	if offline == nil {
		offline = c.session.Will
	}
	err := c.publish(ctx, wire.LeafStatus, offline)
	if err != nil {
		// Without DISCONNECT the engine publishes the will, which says the same.
		c.link.conf.Log.Warn("planned offline was not published", "error", err)
		return
	}
	c.client.Disconnect(uint(quiesce / time.Millisecond))
}

// fail ends the connection for a reason; the first one stays.
func (c *connection) fail(err error) {
	select {
	case c.lost <- err:
	default:
	}
}

// close cuts the socket, ends paho's workers, and waits for our own. Unless farewell went before,
// the engine sees a broken link and publishes the will.
func (c *connection) close() {
	c.once.Do(func() {
		close(c.stop)
		c.acks.end()
		c.wire.kill()
		c.client.Disconnect(uint(quiesce / time.Millisecond))
		c.wg.Wait()
	})
}
