package link_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"chit/broker/link"
	"chit/broker/link/linktest"
	"chit/device/wire"
)

func topic(device string, leaf wire.Leaf) string {
	return wire.DeviceTopic(linktest.Tenant, device, leaf).String()
}

// eventually waits for a condition that has no channel.
func eventually(tb testing.TB, what string, met func() bool) {
	tb.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	limit := time.NewTimer(30 * time.Second)
	defer limit.Stop()
	for !met() {
		select {
		case <-tick.C:
		case <-limit.C:
			tb.Fatalf("waited in vain until %s", what)
		}
	}
}

func TestConnectIsRefusedUnlessItIsTheDeviceOfTheCertificate(t *testing.T) {
	rig, e := embedded(t, nil)
	status := topic("d1", wire.LeafStatus)
	for _, c := range []struct {
		name   string
		change func(*packets.ConnectPacket)
		want   byte // CONNACK code; 0 is accepted
	}{
		{"as it should be", func(*packets.ConnectPacket) {}, 0},
		{"MQTT 3.1", func(p *packets.ConnectPacket) {
			p.ProtocolName, p.ProtocolVersion = "MQIsdp", 3
		}, 1},
		{"MQTT 5", func(p *packets.ConnectPacket) { p.ProtocolVersion = 5 }, 1},
		{"other client id", func(p *packets.ConnectPacket) { p.ClientIdentifier = "d2" }, 5},
		{"empty client id", func(p *packets.ConnectPacket) { p.ClientIdentifier = "" }, 5},
		{"other user", func(p *packets.ConnectPacket) { p.Username = "d2" }, 5},
		{"no user", func(p *packets.ConnectPacket) { p.UsernameFlag, p.Username = false, "" }, 5},
		{"kept session", func(p *packets.ConnectPacket) { p.CleanSession = false }, 5},
		{"no keep-alive", func(p *packets.ConnectPacket) { p.Keepalive = 0 }, 5},
		{"long keep-alive", func(p *packets.ConnectPacket) { p.Keepalive = 61 }, 5},
		{"longest keep-alive", func(p *packets.ConnectPacket) { p.Keepalive = 60 }, 0},
		{"own will", func(p *packets.ConnectPacket) { linktest.WithWill(p, status, "x") }, 0},
		{"foreign will", func(p *packets.ConnectPacket) {
			linktest.WithWill(p, topic("d2", wire.LeafStatus), "x")
		}, 5},
		{"will that is an ack", func(p *packets.ConnectPacket) {
			linktest.WithWill(p, topic("d1", wire.LeafAck), "x")
		}, 5},
		{"will that is not kept", func(p *packets.ConnectPacket) {
			linktest.WithWill(p, status, "x").WillRetain = false
		}, 5},
		{"will at QoS 2", func(p *packets.ConnectPacket) {
			linktest.WithWill(p, status, "x").WillQos = 2
		}, 5},
	} {
		p := linktest.Connect("d1")
		c.change(p)
		before := e.Stats()
		client, code, err := linktest.Dial(t, rig.Address, rig.Authority.Client("d1"), p)
		if err != nil || code != c.want {
			t.Errorf("%s: CONNACK %d, %v; want %d", c.name, code, err, c.want)
			continue
		}
		if code == 0 {
			client.Ping()
			client.Leave()
			continue
		}
		client.Ended()
		after := e.Stats()
		if after.Refused+after.HandshakeFailed != before.Refused+before.HandshakeFailed+1 {
			t.Errorf("%s: not counted: %+v", c.name, after)
		}
	}
}

// gate refuses the devices whose name begins with "revoked" and calls the others as they ask.
type gate struct{}

func (gate) Admit(cert *x509.Certificate) (tenant, device string, err error) {
	switch name := cert.Subject.CommonName; {
	case strings.HasPrefix(name, "revoked"):
		return "", "", errors.New("revoked")
	case strings.HasPrefix(name, "alias"):
		return linktest.Tenant, "somebody-else", nil
	case strings.HasPrefix(name, "wild"):
		return "+", name, nil
	default:
		return linktest.Tenant, name, nil
	}
}

func TestGateAndCertificateDecideTogether(t *testing.T) {
	rig, e := embedded(t, func(c *link.EmbeddedConfig) { c.Gate = gate{} })
	for _, device := range []string{"revoked", "alias", "wild"} {
		connect := linktest.Connect(device)
		client, code, err := linktest.Dial(t, rig.Address, rig.Authority.Client(device), connect)
		if err != nil || code != 5 {
			t.Fatalf("%s: CONNACK %d, %v; want 5", device, code, err)
		}
		client.Ended()
	}
	if s := e.Stats(); s.Refused != 3 || s.Accepted != 0 {
		t.Fatalf("stats %+v", s)
	}
	stranger := linktest.NewAuthority(t).Client("d1")
	stranger.RootCAs = rig.Authority.Client("d1").RootCAs
	_, _, err := linktest.Dial(t, rig.Address, stranger, linktest.Connect("d1"))
	if err == nil {
		t.Fatal("a certificate of another CA was let in")
	}
	none := &tls.Config{RootCAs: stranger.RootCAs, ServerName: "localhost"}
	if _, _, err := linktest.Dial(t, rig.Address, none, linktest.Connect("d1")); err == nil {
		t.Fatal("no certificate was let in")
	}
	rig.Device(t, "d1").Ping()
}

func TestTakeoversAtOnceLeaveOneThatHears(t *testing.T) {
	rig, e := embedded(t, nil)
	const device, copies = "cloned", 20
	conf := rig.Authority.Client(device)
	var wg sync.WaitGroup
	for range copies {
		wg.Go(func() {
			status := topic(device, wire.LeafStatus)
			connect := linktest.WithWill(linktest.Connect(device), status, "off")
			_, _, _ = linktest.Dial(t, rig.Address, conf, connect)
		})
	}
	wg.Wait()
	last := rig.Device(t, device)
	last.Subscribe(wire.DeviceFilters(linktest.Tenant, device)...)
	err := e.Publish(t.Context(), topic(device, wire.LeafTicket), []byte("x"), false)
	if err != nil {
		t.Fatal(err)
	}
	for string(last.Next().Payload) != "x" {
	}
	eventually(t, "one is connected", func() bool { return e.Stats().Connected == 1 })
	if s := e.Stats(); s.TakenOver != s.Accepted-1 {
		t.Fatalf("stats %+v, want all but one of the accepted taken over", s)
	}
}

func TestDisconnectEndsADeviceAndPublishesItsWill(t *testing.T) {
	rig, e := embedded(t, nil)
	c := rig.Device(t, "d1")
	if err := e.Disconnect("d2"); err != nil {
		t.Fatal(err)
	}
	c.Ping()
	if at := e.Address("d1"); !strings.HasPrefix(at, "127.0.0.1:") || e.Address("d2") != "" {
		t.Errorf("d1 is at %q, d2 at %q", at, e.Address("d2"))
	}
	if err := e.Disconnect("d1"); err != nil {
		t.Fatal(err)
	}
	c.Ended()
	if m := rig.Hub.Next(t, "d1"); string(m.Payload) != "offline" {
		t.Fatalf("broker got %q", m.Payload)
	}
}

func TestDeviceMayRetainItsStatusOnly(t *testing.T) {
	rig, e := embedded(t, nil)
	c := rig.Device(t, "d1")
	c.Publish(1, topic("d1", wire.LeafStatus), "online", true)
	c.Acked(1)
	if m := rig.Hub.Next(t, "d1"); string(m.Payload) != "online" || m.Retained {
		t.Fatalf("broker got %+v", m)
	}
	c.Publish(2, topic("d1", wire.LeafAck), "for ever", true)
	c.Ended()
	if m := rig.Hub.Next(t, "d1"); string(m.Payload) != "offline" {
		t.Fatalf("broker got %q", m.Payload)
	}
	if s := e.Stats(); s.PublishDenied != 1 || s.Retained != 1 {
		t.Fatalf("stats %+v", s)
	}
}

// fragile panics on one message.
type fragile struct{ *linktest.Hub }

func (f fragile) Handle(m link.Message) {
	if string(m.Payload) == "boom" {
		panic("handler")
	}
	f.Hub.Handle(m)
}

func TestAPanicCostsOneConnection(t *testing.T) {
	authority := linktest.NewAuthority(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	hub := &linktest.Hub{}
	e, err := link.NewEmbedded(link.EmbeddedConfig{
		Listener: listener, TLS: authority.Server(), Gate: anyone{},
	}, fragile{hub})
	if err != nil {
		t.Fatal(err)
	}
	run(t, e)
	address := listener.Addr().String()
	rig := linktest.Rig{Engine: e, Hub: hub, Address: address, Authority: authority}
	other := rig.Device(t, "other")
	for range 3 {
		c := rig.Device(t, "d1")
		c.Subscribe(topic("d1", wire.LeafTicket))
		c.Publish(1, topic("d1", wire.LeafAck), "boom", false)
		c.Ended()
		if m := hub.Next(t, "d1"); string(m.Payload) != "offline" {
			t.Fatalf("broker got %q, want the will", m.Payload)
		}
	}
	other.Ping()
	eventually(t, "one is connected", func() bool { return e.Stats().Connected == 1 })
	if s := e.Stats(); s.Panics != 3 {
		t.Fatalf("stats %+v", s)
	}
}

func TestADeviceThatDoesNotReadIsGivenUp(t *testing.T) {
	rig, e := embedded(t, func(c *link.EmbeddedConfig) { c.WriteTimeout = 200 * time.Millisecond })
	stuck := rig.Device(t, "stuck")
	stuck.Subscribe(topic("stuck", wire.LeafTicket))
	big := make([]byte, wire.MessageMax)
	eventually(t, "the stuck device is gone", func() bool {
		if err := e.Publish(t.Context(), topic("stuck", wire.LeafTicket), big, false); err != nil {
			t.Fatal(err)
		}
		return e.Stats().Connected == 0
	})
	if s := e.Stats(); s.Slow != 1 {
		t.Fatalf("stats %+v", s)
	}
	if m := rig.Hub.Next(t, "stuck"); string(m.Payload) != "offline" {
		t.Fatalf("broker got %q", m.Payload)
	}
}

func TestAConnectionThatSaysNothingIsClosed(t *testing.T) {
	rig, e := embedded(t, func(c *link.EmbeddedConfig) {
		c.ConnectTimeout = 100 * time.Millisecond
	})
	conn, err := net.Dial("tcp", rig.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Fatalf("read: %v, want the end", err)
	}
	secured, err := tls.Dial("tcp", rig.Address, rig.Authority.Client("d1"))
	if err != nil {
		t.Fatal(err)
	}
	defer secured.Close()
	_ = secured.SetReadDeadline(time.Now().Add(30 * time.Second))
	if _, err := secured.Read(make([]byte, 1)); err == nil {
		t.Fatal("a byte came")
	}
	eventually(t, "both are counted", func() bool { return e.Stats().HandshakeFailed == 2 })
}

func TestShutdownEndsEveryConnectionAndGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	func() {
		authority := linktest.NewAuthority(t)
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		e, err := link.NewEmbedded(link.EmbeddedConfig{
			Listener: listener, TLS: authority.Server(), Gate: anyone{},
		}, &linktest.Hub{})
		if err != nil {
			t.Fatal(err)
		}
		err = e.Publish(t.Context(), "chit/1/t1/host", nil, true)
		if !errors.Is(err, link.ErrNotRunning) {
			t.Fatalf("publish before Run: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx) }()
		within(t, e.Ready(), "the engine")
		rig := linktest.Rig{Engine: e, Address: listener.Addr().String(), Authority: authority}
		for i := range 5 {
			device := fmt.Sprintf("d%d", i)
			c := rig.Device(t, device)
			c.Subscribe(topic(device, wire.LeafTicket))
			ticket := topic(device, wire.LeafTicket)
			err := e.Publish(t.Context(), ticket, make([]byte, 60_000), false)
			if err != nil {
				t.Fatal(err)
			}
		}
		silent, err := net.Dial("tcp", rig.Address)
		if err != nil {
			t.Fatal(err)
		}
		defer silent.Close()
		cancel()
		if err := within(t, done, "Run to return"); err != nil {
			t.Fatal(err)
		}
		err = e.Publish(t.Context(), "chit/1/t1/host", nil, true)
		if !errors.Is(err, link.ErrNotRunning) {
			t.Fatalf("publish after Run: %v", err)
		}
		one, two := net.Pipe()
		defer two.Close()
		if err := e.ServeConn(one, nil); !errors.Is(err, link.ErrNotRunning) {
			t.Fatalf("ServeConn after Run: %v", err)
		}
	}()
	eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
}

func TestPublishRefusesWhatNoEngineShouldSee(t *testing.T) {
	_, e := embedded(t, nil)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx     context.Context
		topic   string
		payload []byte
		want    error
	}{
		{t.Context(), "chit/1/t1/host", nil, nil},
		{t.Context(), "", nil, link.ErrTopic},
		{t.Context(), "chit/1/+/host", nil, link.ErrTopic},
		{t.Context(), "chit/#", nil, link.ErrTopic},
		{t.Context(), "chit/\x00", nil, link.ErrTopic},
		{t.Context(), "chit/1/t1/host", make([]byte, wire.MessageMax+1), link.ErrTooLarge},
		{over, "chit/1/t1/host", nil, context.Canceled},
	} {
		if err := e.Publish(c.ctx, c.topic, c.payload, true); !errors.Is(err, c.want) {
			t.Errorf("%q, %d bytes: %v, want %v", c.topic, len(c.payload), err, c.want)
		}
	}
}
