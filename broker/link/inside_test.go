package link

import (
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"net"
	"testing"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

type cardGate struct{}

func (cardGate) Admit(cert *x509.Certificate) (tenant, device string, err error) {
	return "t1", cert.Subject.CommonName, nil
}

// inside starts an engine without a listener, for connections by ServeConn.
func inside(tb testing.TB) *Embedded {
	tb.Helper()
	e, err := NewEmbedded(EmbeddedConfig{Gate: cardGate{}}, HandlerFunc(func(Message) {}))
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	<-e.Ready()
	tb.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			tb.Error(err)
		}
	})
	return e
}

// plug connects a pipe as device d1.
func plug(e *Embedded) (conn net.Conn, ended chan error) {
	conn, theirs := net.Pipe()
	ended = make(chan error, 1)
	go func() {
		ended <- e.ServeConn(theirs, &x509.Certificate{Subject: pkix.Name{CommonName: "d1"}})
	}()
	return conn, ended
}

func connectPacket() *packets.ConnectPacket {
	p := packets.NewControlPacket(packets.Connect).(*packets.ConnectPacket)
	p.ProtocolName, p.ProtocolVersion, p.CleanSession = "MQTT", 4, true
	p.ClientIdentifier, p.UsernameFlag, p.Username, p.Keepalive = "d1", true, "d1", 30
	return p
}

// mochi deletes a delivery that waits for its PUBACK when the device publishes under the same
// packet id (mochi#545). Without the packet hook this test finds none of the five left.
func TestAPublishUnderTheIDOfADeliveryLeavesTheDeliveryInFlight(t *testing.T) {
	e := inside(t)
	conn, ended := plug(e)
	send := func(p packets.ControlPacket) {
		t.Helper()
		if err := p.Write(conn); err != nil {
			t.Fatal(err)
		}
	}
	read := func() packets.ControlPacket {
		t.Helper()
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
		p, err := packets.ReadPacket(conn)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	send(connectPacket())
	read()
	sub := packets.NewControlPacket(packets.Subscribe).(*packets.SubscribePacket)
	sub.MessageID, sub.Topics, sub.Qoss = 1, []string{"chit/1/t1/d1/ticket"}, []byte{1}
	send(sub)
	read()
	for range 5 {
		if err := e.Publish(t.Context(), "chit/1/t1/d1/ticket", []byte("x"), false); err != nil {
			t.Fatal(err)
		}
	}
	client, ok := e.server.Clients.Get("d1")
	if !ok {
		t.Fatal("the engine does not know the client")
	}
	var ids []uint16
	for range 5 {
		ids = append(ids, read().(*packets.PublishPacket).MessageID)
	}
	for _, id := range ids {
		p := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
		p.Qos, p.MessageID, p.TopicName, p.Payload = 1, id, "chit/1/t1/d1/ack", []byte("y")
		send(p)
		if ack := read().(*packets.PubackPacket); ack.MessageID != id {
			t.Fatalf("PUBACK %d, want %d", ack.MessageID, id)
		}
	}
	if n := client.State.Inflight.Len(); n != 5 {
		t.Errorf("%d deliveries in flight, want 5", n)
	}
	conn.Close()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if n := e.Stats().QoSDropped; n != 5 {
		t.Errorf("%d unacknowledged deliveries counted at the end, want 5", n)
	}
}

func TestRetainedMessagesAndBuffersAreConfigured(t *testing.T) {
	e := inside(t)
	caps := e.server.Options.Capabilities
	if caps.MaximumMessageExpiryInterval != 0 || caps.MaximumClientWritesPending != 256 ||
		caps.MaximumInflight != 256 || caps.MaximumPacketSize != packetMax {
		t.Errorf("capabilities %+v", caps)
	}
}

// The decoder is mochi's; what comes out of a device's socket may cost that connection only.
func FuzzConnectionBytes(f *testing.F) {
	f.Add([]byte{0x10, 12, 0, 4, 'M', 'Q', 'T', 'T', 5, 2, 0, 20, 0, 0}, false)
	f.Add([]byte{0x82, 1, 0}, true)                         // SUBSCRIBE without filters
	f.Add([]byte{0x82, 5, 0, 1, 0, 9, 'a'}, true)           // filter longer than the packet
	f.Add([]byte{0x32, 4, 0, 9, 'a', 'b'}, true)            // topic longer than the packet
	f.Add([]byte{0xc0, 0, 0xe0, 0}, true)                   // PINGREQ, DISCONNECT
	f.Add([]byte{0x30, 0xff, 0xff, 0xff, 0xff, 0xff}, true) // endless length
	f.Add([]byte{0x10, 2, 0, 4}, true)                      // second CONNECT
	e := inside(f)
	f.Fuzz(func(t *testing.T, data []byte, connected bool) {
		conn, ended := plug(e)
		read := make(chan struct{})
		go func() {
			defer close(read)
			buf := make([]byte, 4096)
			for {
				if _, err := conn.Read(buf); err != nil {
					return
				}
			}
		}()
		if connected {
			_ = connectPacket().Write(conn)
		}
		_ = conn.SetWriteDeadline(time.Now().Add(5 * time.Second))
		_, _ = conn.Write(data)
		conn.Close()
		<-read
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if n := e.Stats().Panics; n > 0 {
			t.Fatalf("the engine panicked on % x", data)
		}
	})
}
