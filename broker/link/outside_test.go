package link_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"chit/broker/link"
	"chit/broker/link/linktest"
	"chit/device/wire"
)

func TestOutsideConfigNamesWhatIsWrong(t *testing.T) {
	good := link.OutsideConfig{Address: "tls://mqtt:8883", TLS: &tls.Config{}, Replica: "r1"}
	for _, c := range []struct {
		name   string
		change func(*link.OutsideConfig)
		want   string
	}{
		{"as it should be", func(*link.OutsideConfig) {}, ""},
		{"plain on loopback", func(c *link.OutsideConfig) { c.Address = "tcp://127.0.0.1:1" }, ""},
		{"plain elsewhere", func(c *link.OutsideConfig) { c.Address = "tcp://mqtt:1" }, "loopback"},
		{"no TLS", func(c *link.OutsideConfig) { c.TLS = nil }, "TLS"},
		{"no port", func(c *link.OutsideConfig) { c.Address = "tls://mqtt" }, "address"},
		{"no replica", func(c *link.OutsideConfig) { c.Replica = "" }, "replica"},
		{"wild replica", func(c *link.OutsideConfig) { c.Replica = "a/#" }, "replica"},
	} {
		conf := good
		c.change(&conf)
		_, err := link.NewOutside(conf, &linktest.Hub{})
		if c.want == "" && err != nil || c.want != "" &&
			(err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want an error about %q", c.name, err, c.want)
		}
	}
}

// peer is the engine's end of one connection, after CONNECT.
type peer struct {
	t       *testing.T
	conn    net.Conn
	connect *packets.ConnectPacket
}

// script listens as an engine whose every packet the test writes; nothing is read but by the test.
func script(t *testing.T, change func(*link.OutsideConfig)) (*link.Outside, *linktest.Hub,
	func() peer) {
	t.Helper()
	hub := &linktest.Hub{}
	o, accept := scripted(t, hub, change)
	return o, hub, accept
}

func scripted(t *testing.T, h link.Handler, change func(*link.OutsideConfig)) (*link.Outside,
	func() peer) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	conf := link.OutsideConfig{
		Address: "tcp://" + listener.Addr().String(), Replica: "replica",
		Jitter: func(time.Duration) time.Duration { return 0 },
	}
	if change != nil {
		change(&conf)
	}
	o, err := link.NewOutside(conf, h)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- o.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := within(t, done, "Run to return"); err != nil {
			t.Error(err)
		}
	})
	return o, func() peer {
		t.Helper()
		_ = listener.(*net.TCPListener).SetDeadline(time.Now().Add(30 * time.Second))
		conn, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		p := peer{t: t, conn: conn}
		p.connect = readPacket[*packets.ConnectPacket](p)
		p.send(packets.NewControlPacket(packets.Connack))
		return p
	}
}

func readPacket[T packets.ControlPacket](p peer) T {
	p.t.Helper()
	_ = p.conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	got, err := packets.ReadPacket(p.conn)
	if err != nil {
		p.t.Fatal(err)
	}
	want, ok := got.(T)
	if !ok {
		p.t.Fatalf("engine got %v", got)
	}
	return want
}

func (p peer) send(packet packets.ControlPacket) {
	p.t.Helper()
	if err := packet.Write(p.conn); err != nil {
		p.t.Fatal(err)
	}
}

// suback answers SUBSCRIBE with code for every filter.
func (p peer) suback(code byte) {
	p.t.Helper()
	sub := readPacket[*packets.SubscribePacket](p)
	ack := packets.NewControlPacket(packets.Suback).(*packets.SubackPacket)
	ack.MessageID = sub.MessageID
	for _, filter := range sub.Topics {
		if !strings.HasPrefix(filter, "chit/1/+/+/") {
			p.t.Errorf("subscribed to %s", filter)
		}
		ack.ReturnCodes = append(ack.ReturnCodes, code)
	}
	p.send(ack)
}

func TestOutsideIsReadyOnlyWhenItsSubscriptionsAreGranted(t *testing.T) {
	o, hub, accept := script(t, nil)
	err := o.Publish(t.Context(), "chit/1/t1/host", nil, true)
	if !errors.Is(err, link.ErrNotRunning) {
		t.Fatalf("publish before: %v", err)
	}
	first := accept()
	first.suback(0x80)
	second := accept()
	select {
	case <-o.Ready():
		t.Fatal("ready after SUBACK 0x80")
	default:
	}
	second.suback(1)
	within(t, o.Ready(), "the engine")
	id := first.connect.ClientIdentifier
	if id != second.connect.ClientIdentifier || !strings.HasPrefix(id, "replica-") ||
		!second.connect.CleanSession {
		t.Fatalf("CONNECT %v, then %v", first.connect, second.connect)
	}
	p := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
	p.Qos, p.MessageID, p.TopicName, p.Retain = 1, 5, topic("d1", wire.LeafStatus), true
	p.Payload = []byte("online")
	second.send(p)
	if m := hub.Next(t, "d1"); !m.Retained || string(m.Payload) != "online" {
		t.Fatalf("broker got %+v", m)
	}
	if ack := readPacket[*packets.PubackPacket](second); ack.MessageID != 5 {
		t.Fatalf("PUBACK %d", ack.MessageID)
	}
	second.conn.Close()
	accept().suback(1)
	eventually(t, "it is connected again", func() bool {
		s := o.Stats()
		return s.Connected == 1 && s.Reconnects == 1 && s.Refused == 1
	})
	if err := o.Disconnect("d1"); !errors.Is(err, link.ErrUnsupported) {
		t.Fatalf("Disconnect: %v", err)
	}
}

func TestTwoReplicasOfOneNameHaveTheirOwnClientIDs(t *testing.T) {
	_, _, one := script(t, nil)
	_, _, two := script(t, nil)
	if a, b := one().connect.ClientIdentifier, two().connect.ClientIdentifier; a == b {
		t.Fatalf("both are %s", a)
	}
}

func TestOutsidePublishIsNotConfirmedWithoutPUBACK(t *testing.T) {
	o, _, accept := script(t, func(c *link.OutsideConfig) {
		c.PublishTimeout = 50 * time.Millisecond
	})
	p := accept()
	p.suback(1)
	within(t, o.Ready(), "the engine")
	err := o.Publish(t.Context(), "chit/1/t1/host", []byte("alive"), true)
	if !errors.Is(err, link.ErrUnsent) {
		t.Fatalf("%v, want ErrUnsent", err)
	}
	if got := readPacket[*packets.PublishPacket](p); !got.Retain || got.Qos != 1 {
		t.Fatalf("engine got %v", got)
	}
}

func TestOutsideNoticesAHalfOpenLinkIdleAndUnderLoad(t *testing.T) {
	for _, load := range []bool{false, true} {
		o, _, accept := script(t, func(c *link.OutsideConfig) {
			c.KeepAlive, c.PingTimeout = time.Second, 500*time.Millisecond
			c.WriteTimeout, c.PublishTimeout = 500*time.Millisecond, 100*time.Millisecond
		})
		accept().suback(1) // From here on the engine neither reads nor writes.
		within(t, o.Ready(), "the engine")
		eventually(t, "the loss is noticed", func() bool {
			if load {
				ticket := topic("d1", wire.LeafTicket)
				_ = o.Publish(t.Context(), ticket, make([]byte, wire.MessageMax), false)
			}
			return o.Stats().Reconnects == 1
		})
	}
}

// slowHandler takes its first message and no second before it is let go.
type slowHandler struct{ took, release chan struct{} }

func (h slowHandler) Handle(link.Message) {
	h.took <- struct{}{}
	<-h.release
}

func TestOutsideGivesTheConnectionUpWhenItsHandlerDoesNotTakeMessages(t *testing.T) {
	h := slowHandler{took: make(chan struct{}, 100), release: make(chan struct{})}
	o, accept := scripted(t, h, func(c *link.OutsideConfig) {
		c.Queue, c.HandoverTimeout = 1, 20*time.Millisecond
	})
	p := accept()
	p.suback(1)
	within(t, o.Ready(), "the engine")
	for id := range uint16(3) {
		packet := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
		packet.Qos, packet.MessageID, packet.TopicName = 1, id+1, topic("d1", wire.LeafAck)
		p.send(packet)
	}
	within(t, h.took, "the first message")
	eventually(t, "the overflow is counted", func() bool { return o.Stats().HandlerOverflows > 0 })
	close(h.release)
	accept().suback(1)
	eventually(t, "it is connected again", func() bool { return o.Stats().Reconnects == 1 })
}
