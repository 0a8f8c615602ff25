package linktest

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

// patience is how long a client waits for what must come.
const patience = 20 * time.Second

// Client is a device that speaks MQTT packet by packet, so that it can do what a library would not:
// keep PUBACKs back, choose packet ids, stop reading, fall silent. It has no goroutine: it reads
// only inside its methods.
type Client struct {
	tb     testing.TB
	conn   net.Conn
	unread []packets.ControlPacket // read while something else was awaited
	id     uint16
}

// Connect is a CONNECT that the engines accept for device; change it before use.
func Connect(device string) *packets.ConnectPacket {
	p := packets.NewControlPacket(packets.Connect).(*packets.ConnectPacket)
	p.ProtocolName, p.ProtocolVersion = "MQTT", 4
	p.CleanSession = true
	p.ClientIdentifier = device
	p.UsernameFlag, p.Username = true, device
	p.Keepalive = 30
	return p
}

// WithWill adds the retained will on the device's status.
func WithWill(p *packets.ConnectPacket, topic string, payload string) *packets.ConnectPacket {
	p.WillFlag, p.WillRetain, p.WillQos = true, true, 1
	p.WillTopic, p.WillMessage = topic, []byte(payload)
	return p
}

// Dial does TLS and CONNECT and returns the CONNACK code.
func Dial(tb testing.TB, address string, conf *tls.Config, connect *packets.ConnectPacket) (
	*Client, byte, error) {
	tb.Helper()
	dialer := &net.Dialer{Timeout: patience}
	conn, err := tls.DialWithDialer(dialer, "tcp", address, conf)
	if err != nil {
		return nil, 0, err
	}
	tb.Cleanup(func() { conn.NetConn().Close() })
	c := &Client{tb: tb, conn: conn}
	if err := c.Send(connect); err != nil {
		return nil, 0, err
	}
	p, err := c.read(patience)
	if err != nil {
		return nil, 0, err
	}
	ack, ok := p.(*packets.ConnackPacket)
	if !ok {
		return nil, 0, fmt.Errorf("first answer is %v, want CONNACK", p)
	}
	return c, ack.ReturnCode, nil
}

// Send writes a packet.
func (c *Client) Send(p packets.ControlPacket) error {
	if err := c.conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	return p.Write(c.conn)
}

func (c *Client) read(limit time.Duration) (packets.ControlPacket, error) {
	if err := c.conn.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return nil, err
	}
	return packets.ReadPacket(c.conn)
}

// await returns the first packet that match takes; others stay for later.
func (c *Client) await(what string, match func(packets.ControlPacket) bool) packets.ControlPacket {
	c.tb.Helper()
	for i, p := range c.unread {
		if match(p) {
			c.unread = append(c.unread[:i:i], c.unread[i+1:]...)
			return p
		}
	}
	for {
		p, err := c.read(patience)
		if err != nil {
			c.tb.Fatalf("waiting for %s: %v", what, err)
		}
		if match(p) {
			return p
		}
		c.unread = append(c.unread, p)
	}
}

// Subscribe subscribes at QoS 1 and returns the SUBACK codes.
func (c *Client) Subscribe(filters ...string) []byte {
	c.tb.Helper()
	p := packets.NewControlPacket(packets.Subscribe).(*packets.SubscribePacket)
	c.id++
	p.MessageID, p.Topics = c.id, filters
	p.Qoss = make([]byte, len(filters))
	for i := range p.Qoss {
		p.Qoss[i] = 1
	}
	c.must(c.Send(p))
	ack := c.await("SUBACK", func(p packets.ControlPacket) bool {
		_, ok := p.(*packets.SubackPacket)
		return ok
	})
	return ack.(*packets.SubackPacket).ReturnCodes
}

// Publish sends a publish at QoS 1 with packet id id and does not wait for its PUBACK.
func (c *Client) Publish(id uint16, topic, payload string, retain bool) {
	c.tb.Helper()
	c.must(c.Send(publish(id, topic, payload, retain)))
}

func publish(id uint16, topic, payload string, retain bool) *packets.PublishPacket {
	p := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
	p.Qos, p.MessageID, p.TopicName, p.Payload, p.Retain = 1, id, topic, []byte(payload), retain
	return p
}

// Acked waits for the PUBACK of id.
func (c *Client) Acked(id uint16) {
	c.tb.Helper()
	c.await(fmt.Sprintf("PUBACK %d", id), func(p packets.ControlPacket) bool {
		ack, ok := p.(*packets.PubackPacket)
		return ok && ack.MessageID == id
	})
}

// Next waits for the next PUBLISH; it is not acknowledged.
func (c *Client) Next() *packets.PublishPacket {
	c.tb.Helper()
	return c.await("a PUBLISH", func(p packets.ControlPacket) bool {
		_, ok := p.(*packets.PublishPacket)
		return ok
	}).(*packets.PublishPacket)
}

// Ack sends the PUBACK of p.
func (c *Client) Ack(p *packets.PublishPacket) {
	c.tb.Helper()
	if p.Qos == 0 {
		return
	}
	ack := packets.NewControlPacket(packets.Puback).(*packets.PubackPacket)
	ack.MessageID = p.MessageID
	c.must(c.Send(ack))
}

// Ping shows that the connection stands: all that was sent before is read by the engine.
func (c *Client) Ping() {
	c.tb.Helper()
	c.must(c.Send(packets.NewControlPacket(packets.Pingreq)))
	c.await("PINGRESP", func(p packets.ControlPacket) bool {
		_, ok := p.(*packets.PingrespPacket)
		return ok
	})
}

// Ended waits until the engine closes the connection.
func (c *Client) Ended() {
	c.tb.Helper()
	for {
		_, err := c.read(patience)
		var late net.Error
		switch {
		case err == nil:
		case errors.As(err, &late) && late.Timeout():
			c.tb.Fatal("the connection still stands")
		default:
			return
		}
	}
}

// Cut closes the socket without a word.
func (c *Client) Cut() {
	if t, ok := c.conn.(*tls.Conn); ok {
		t.NetConn().Close()
	}
	c.conn.Close()
}

// Leave sends DISCONNECT and waits for the engine to close: a next connection of the same device
// that came before would take over from one that has not said goodbye.
func (c *Client) Leave() {
	c.tb.Helper()
	c.must(c.Send(packets.NewControlPacket(packets.Disconnect)))
	c.Ended()
	c.conn.Close()
}

func (c *Client) must(err error) {
	c.tb.Helper()
	if err != nil {
		c.tb.Fatal(err)
	}
}
