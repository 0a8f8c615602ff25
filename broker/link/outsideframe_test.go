package link_test

import (
	"bytes"
	"testing"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"chit/device/wire"
)

// A SUBACK of more codes than filters panics in paho. A broken engine must not end the broker.
func TestASUBACKThatWouldPanicPahoCostsTheBrokerAConnectionOnly(t *testing.T) {
	o, _, accept := script(t, nil)
	p := accept()
	sub := readPacket[*packets.SubscribePacket](p)
	ack := packets.NewControlPacket(packets.Suback).(*packets.SubackPacket)
	ack.MessageID, ack.ReturnCodes = sub.MessageID, make([]byte, len(sub.Topics)+1)
	p.send(ack)
	accept().suback(1)
	within(t, o.Ready(), "the engine")
}

// A device whose engine lets it publish a megabyte loses that message and nothing else: the others
// are heard on the same connection, and the queue holds no more of it than tells its size.
func TestAMessageOverItsSizeIsCutAndTheConnectionStands(t *testing.T) {
	o, hub, accept := script(t, nil)
	p := accept()
	p.suback(1)
	within(t, o.Ready(), "the engine")
	publish := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
	publish.Qos, publish.MessageID, publish.TopicName = 1, 7, topic("d1", wire.LeafAck)
	publish.Payload = bytes.Repeat([]byte("x"), 1<<20)
	p.send(publish)
	if m := hub.Next(t, "d1"); len(m.Payload) != wire.MessageMax+1 {
		t.Errorf("handed on %d bytes, want %d", len(m.Payload), wire.MessageMax+1)
	}
	publish.MessageID, publish.Payload = 8, []byte("small")
	p.send(publish)
	if m := hub.Next(t, "d1"); string(m.Payload) != "small" {
		t.Errorf("handed on %d bytes, want the small message", len(m.Payload))
	}
	if s := o.Stats(); s.Reconnects != 0 {
		t.Errorf("%d reconnects, want none", s.Reconnects)
	}
}
