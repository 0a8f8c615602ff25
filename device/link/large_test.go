package link

import (
	"strings"
	"testing"

	"chit/device/wire"
)

// A message over its size reaches the handler, which owes the broker a signed refusal; the link
// stands. Ending it would have the ticket handed over again at every hello, for hours.
func TestAMessageOverItsSizeIsHandedOnAndTheLinkStands(t *testing.T) {
	e, k := newEngine(t), newKitchen()
	start(t, e, k, nil)
	c := e.greeted()
	large := strings.Repeat("x", wire.OpenMax)
	c.publish(7, ours(wire.LeafTicket), large, false)
	m := within(t, k.messages, "the large message")
	if string(m.Payload) != large {
		t.Fatalf("got %d bytes, want %d", len(m.Payload), len(large))
	}
	m.Ack()
	c.wantAck(7)
	c.publish(8, ours(wire.LeafTicket), "small", false)
	if m := within(t, k.messages, "the next message"); string(m.Payload) != "small" ||
		m.Session != "s1" {
		t.Errorf("got %+v in session %s, want the first session's", m.Payload, m.Session)
	}
}
