package link

import (
	"fmt"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"chit/device/wire"
)

// arrived is called by paho's router, one message after the other. It only hands on: a router that
// waits stops the pings, and then the loss of the connection is never told (pitfalls 3 and 4).
func (c *connection) arrived(m mqtt.Message) {
	leaf, ok := c.topics[m.Topic()]
	if !ok {
		c.link.count(func(s *Stats) { s.Foreign++ })
		m.Ack()
		return
	}
	// Only this goroutine fills the queue, so what has room now has room below.
	if len(c.queue) == cap(c.queue) {
		c.link.count(func(s *Stats) { s.Dropped++ })
		if c.drops++; c.drops >= dropsMax {
			c.fail(fmt.Errorf("%w: %d", ErrOverrun, c.drops))
		}
		return
	}
	message := Message{
		Topic: m.Topic(), Leaf: leaf, Payload: m.Payload(), Retained: m.Retained(),
		Dup: m.Duplicate(), Session: c.session.ID,
	}
	if m.Qos() > 0 {
		message.ack = c.acks.add(m.Ack)
	}
	c.queue <- message
}

// startDelivery calls Deliver for each message until the connection is closed.
func (c *connection) startDelivery() {
	c.wg.Go(func() {
		for {
			select {
			case <-c.stop:
				return
			case m := <-c.queue:
				c.deliver(m)
			}
		}
	})
}

func (c *connection) deliver(m Message) {
	switch m.Leaf {
	case wire.LeafStatus:
		c.sawStatus(m.Payload)
		m.Ack()
		return
	case wire.LeafHost:
		c.sawHost(m)
	}
	c.link.handler.Deliver(m)
}

// sawStatus says hello again at the sight of the device's own "offline" with its present session: a
// will of a connection that the engine gave up late, published after the birth (mqtt.md 2.2).
func (c *connection) sawStatus(payload []byte) {
	status, err := wire.DecodeStatus(payload)
	if err != nil {
		return // Not ours to judge: the status is a hint, and anything may be retained there.
	}
	if status.State == "offline" && status.Session == c.session.ID {
		c.link.Greet()
	}
}

// sawHost says hello again when the broker changed while the link to the engine stood. The retained
// message at the start only tells which broker the first hello went to.
func (c *connection) sawHost(m Message) {
	epoch, ok := c.link.handler.HostEpoch(m.Payload)
	if !ok {
		return
	}
	if (c.heard && epoch != c.epoch) || (!c.heard && !m.Retained) {
		c.link.Greet()
	}
	c.epoch, c.heard = epoch, true
}
