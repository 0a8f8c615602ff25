package link

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"chit/device/wire"
)

// patience bounds every wait in these tests.
const patience = 20 * time.Second

// engine is an MQTT engine of which the test is every decision. It listens on loopback.
type engine struct {
	t        *testing.T
	listener net.Listener
	conns    chan *engineConn
	over     chan struct{} // closed at the end of the test
}

// engineConn is one connection, after its CONNECT was read.
type engineConn struct {
	t       *testing.T
	conn    net.Conn
	connect *packets.ConnectPacket
	in      chan packets.ControlPacket // closed at the end of the connection
	gone    chan struct{}              // the same
}

func newEngine(t *testing.T) *engine {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &engine{t: t, listener: listener, conns: make(chan *engineConn, 16),
		over: make(chan struct{})}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			c := &engineConn{t: t, conn: conn, in: make(chan packets.ControlPacket, 4096),
				gone: make(chan struct{})}
			wg.Go(func() { e.read(c) })
			wg.Go(func() {
				select {
				case <-e.over:
					conn.Close()
				case <-c.gone:
				}
			})
		}
	})
	t.Cleanup(func() { close(e.over); listener.Close(); wg.Wait() })
	return e
}

// read answers pings by itself and hands on the rest.
func (e *engine) read(c *engineConn) {
	defer close(c.in)
	defer close(c.gone)
	defer c.conn.Close()
	for {
		p, err := packets.ReadPacket(c.conn)
		if err != nil {
			return
		}
		switch p := p.(type) {
		case *packets.ConnectPacket:
			c.connect = p
			select {
			case e.conns <- c:
			case <-e.over:
				return
			}
		case *packets.PingreqPacket:
			_ = packets.NewControlPacket(packets.Pingresp).Write(c.conn)
		default:
			c.in <- p
		}
	}
}

func (e *engine) address() string { return "tcp://" + e.listener.Addr().String() }

// accept waits for the next connection and answers its CONNECT with code.
func (e *engine) accept(code byte) *engineConn {
	e.t.Helper()
	c := within(e.t, e.conns, "a connection")
	ack := packets.NewControlPacket(packets.Connack).(*packets.ConnackPacket)
	ack.ReturnCode = code
	c.send(ack)
	return c
}

// greeted accepts a connection up to its hello.
func (e *engine) greeted() *engineConn {
	e.t.Helper()
	c := e.accept(0)
	c.subscribed()
	c.wantPublish(wire.LeafStatus)
	c.wantPublish(wire.LeafAck)
	return c
}

func (c *engineConn) send(p packets.ControlPacket) {
	c.t.Helper()
	if err := p.Write(c.conn); err != nil {
		c.t.Fatalf("engine sends %v: %v", p, err)
	}
}

// next returns the next packet of type T.
func next[T packets.ControlPacket](c *engineConn) T {
	c.t.Helper()
	var want T
	p := within(c.t, c.in, fmt.Sprintf("%T", want))
	got, ok := p.(T)
	if !ok {
		c.t.Fatalf("engine got %T %v, want %T", p, p, want)
	}
	return got
}

// subscribed answers SUBSCRIBE with codes, or with QoS 1 for every filter.
func (c *engineConn) subscribed(codes ...byte) *packets.SubscribePacket {
	c.t.Helper()
	p := next[*packets.SubscribePacket](c)
	ack := packets.NewControlPacket(packets.Suback).(*packets.SubackPacket)
	ack.MessageID = p.MessageID
	for i := range p.Topics {
		code := byte(1)
		if i < len(codes) {
			code = codes[i]
		}
		ack.ReturnCodes = append(ack.ReturnCodes, code)
	}
	c.send(ack)
	return p
}

// wantPublish takes the next packet, a PUBLISH on leaf, and acknowledges it.
func (c *engineConn) wantPublish(leaf wire.Leaf) *packets.PublishPacket {
	c.t.Helper()
	p := next[*packets.PublishPacket](c)
	if want := wire.DeviceTopic("t1", "d1", leaf).String(); p.TopicName != want {
		c.t.Fatalf("engine got a publish on %s, want %s", p.TopicName, want)
	}
	if p.Qos == 1 {
		ack := packets.NewControlPacket(packets.Puback).(*packets.PubackPacket)
		ack.MessageID = p.MessageID
		c.send(ack)
	}
	return p
}

// publish sends a message at QoS 1.
func (c *engineConn) publish(id uint16, topic wire.Topic, payload string, retained bool) {
	c.t.Helper()
	p := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
	p.Qos, p.MessageID, p.TopicName = 1, id, topic.String()
	p.Payload, p.Retain = []byte(payload), retained
	c.send(p)
}

// wantAck waits for the PUBACK of id.
func (c *engineConn) wantAck(id uint16) {
	c.t.Helper()
	if p := next[*packets.PubackPacket](c); p.MessageID != id {
		c.t.Fatalf("engine got PUBACK %d, want %d", p.MessageID, id)
	}
}

// wantEnd waits for the end of the connection and returns what came before it.
func (c *engineConn) wantEnd() []packets.ControlPacket {
	c.t.Helper()
	var rest []packets.ControlPacket
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		select {
		case p, ok := <-c.in:
			if !ok {
				return rest
			}
			rest = append(rest, p)
		case <-limit.C:
			c.t.Fatal("the connection still stands")
		}
	}
}

func ours(leaf wire.Leaf) wire.Topic { return wire.DeviceTopic("t1", "d1", leaf) }

// kitchen is the device behind the link.
type kitchen struct {
	mu       sync.Mutex
	sessions int
	greets   int

	failSession bool
	messages    chan Message
	ups, downs  chan string
	hold        chan struct{} // where not nil, Deliver waits for it
}

func newKitchen() *kitchen {
	return &kitchen{
		messages: make(chan Message, 1024),
		ups:      make(chan string, 1024), downs: make(chan string, 1024),
	}
}

func (k *kitchen) Session() (Session, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failSession {
		return Session{}, errors.New("no entropy")
	}
	k.sessions++
	id := fmt.Sprintf("s%d", k.sessions)
	return Session{ID: id, Will: status("offline", id), Offline: []byte(`{"planned":true}`)}, nil
}

func (k *kitchen) Greeting(session string) (birth, hello []byte, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.greets++
	return status("online", session), fmt.Appendf(nil, "hello %d of %s", k.greets, session), nil
}

func (k *kitchen) HostEpoch(payload []byte) (string, bool) {
	return string(payload), string(payload) != "forged"
}

func (k *kitchen) Deliver(m Message) {
	if k.hold != nil {
		<-k.hold
	}
	k.messages <- m
}

func (k *kitchen) Up(session string) { k.ups <- session }

func (k *kitchen) Down(session string, cause error) { k.downs <- session }

func status(state, session string) []byte {
	b, err := json.Marshal(wire.Status{State: state, Session: session})
	if err != nil {
		panic(err)
	}
	return b
}

// start runs a link to e with short waits and ends it with the test.
func start(t *testing.T, e *engine, k *kitchen, change func(*Config)) (l *Link, stop func()) {
	t.Helper()
	conf := Config{
		Address: e.address(), Tenant: "t1", Device: "d1", AckQoS: 1,
		Jitter:      func(time.Duration) time.Duration { return 0 },
		StopTimeout: 20 * time.Millisecond,
	}
	if change != nil {
		change(&conf)
	}
	l, err := New(conf, k)
	if err != nil {
		t.Fatal(err)
	}
	return l, runLink(t, l)
}

func within[T any](t testing.TB, c <-chan T, what string) T {
	t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case v, ok := <-c:
		if !ok {
			t.Fatalf("the connection ended while the test waited for %s", what)
		}
		return v
	case <-limit.C:
		t.Fatalf("waited in vain for %s", what)
		panic("unreachable")
	}
}

// eventually waits for a condition that has no channel.
func eventually(t testing.TB, what string, met func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for !met() {
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}
