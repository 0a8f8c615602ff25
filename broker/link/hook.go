package link

import (
	"bytes"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// hook is how the engine judges what mochi does. Its methods run on the device's own goroutine.
type hook struct {
	mqtt.HookBase
	engine *Embedded
}

// ID implements mqtt.Hook.
func (h *hook) ID() string { return "chit" }

// Provides implements mqtt.Hook.
func (h *hook) Provides(b byte) bool {
	return bytes.IndexByte([]byte{
		mqtt.OnConnectAuthenticate, mqtt.OnACLCheck, mqtt.OnPacketRead, mqtt.OnSubscribed,
		mqtt.OnQosDropped,
	}, b) >= 0
}

// deviceOf returns the connection behind a mochi client; nil for the inline one.
func deviceOf(cl *mqtt.Client) *deviceConn {
	c, _ := cl.Net.Conn.(*deviceConn)
	return c
}

// OnConnectAuthenticate checks CONNECT against the certificate and waits for the device's older
// connection to be gone. A false is answered by CONNACK 5, not authorised.
//
// mochi's own takeover runs beside the end of the older connection, whose clean-up can then delete
// the new client's entry and leave it deaf. So there is none: the old one has ended, its will is
// out, before the new one is let in.
func (h *hook) OnConnectAuthenticate(cl *mqtt.Client, pk packets.Packet) bool {
	c := deviceOf(cl)
	if c == nil {
		return false
	}
	c.asked = true
	err := checkConnect(c.grant, cl, pk)
	if err == nil {
		err = h.engine.takeSlot(c)
	}
	if err == nil {
		err = c.again() // From here on Disconnect finds it.
	}
	if err != nil {
		h.engine.refused(c.grant, c.RemoteAddr(), err)
		return false
	}
	h.engine.counters.accepted.Add(1)
	return true
}

// OnACLCheck decides on subscriptions, on publishes, and once more on every delivery.
func (h *hook) OnACLCheck(cl *mqtt.Client, topic string, write bool) bool {
	c := deviceOf(cl)
	switch {
	case c == nil:
		return false
	case write:
		return c.grant.writes(topic, false)
	}
	return c.grant.reads(topic)
}

// OnSubscribed counts the filters that were answered 0x80.
func (h *hook) OnSubscribed(_ *mqtt.Client, _ packets.Packet, codes []byte) {
	for _, code := range codes {
		if code >= packets.ErrUnspecifiedError.Code {
			h.engine.counters.subscribeDenied.Add(1)
		}
	}
}

// OnQosDropped counts messages that a session left unacknowledged.
func (h *hook) OnQosDropped(*mqtt.Client, packets.Packet) { h.engine.counters.qosDropped.Add(1) }

// OnPacketRead takes a device's publishes out of mochi's hands as far as packet ids go.
//
// mochi keeps one table for the ids of both directions: a publish with the id of an unacknowledged
// ticket deletes that ticket (research/mqtt.md 1.2, mochi#545). So the PUBACK is written here and
// the packet goes on at QoS 0 with id 0, which no delivery has. That is done always and not only on
// a collision, because a delivery may take the id between our look and mochi's.
func (h *hook) OnPacketRead(cl *mqtt.Client, pk packets.Packet) (packets.Packet, error) {
	if pk.FixedHeader.Type != packets.Publish {
		return pk, nil
	}
	c := deviceOf(cl)
	if c == nil || pk.FixedHeader.Qos > 1 || !c.grant.writes(pk.TopicName, pk.FixedHeader.Retain) {
		// MQTT 3.1.1 §3.3.5: a publish that is not authorised may be answered by closing.
		h.engine.counters.publishDenied.Add(1)
		return pk, packets.ErrRejectPacket
	}
	if pk.FixedHeader.Qos == 0 {
		return pk, nil
	}
	err := cl.WritePacket(packets.Packet{
		FixedHeader: packets.FixedHeader{Type: packets.Puback},
		PacketID:    pk.PacketID,
	})
	if err != nil {
		return pk, packets.ErrRejectPacket
	}
	pk.FixedHeader.Qos, pk.FixedHeader.Dup, pk.PacketID = 0, false, 0
	return pk, nil
}
