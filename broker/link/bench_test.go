package link_test

import (
	"context"
	"fmt"
	"testing"

	"chit/broker/link/linktest"
	"chit/device/wire"
)

func engines(b *testing.B, run func(*testing.B, linktest.Rig)) {
	b.Run("embedded", func(b *testing.B) { rig, _ := embedded(b, nil); run(b, rig) })
	b.Run("mosquitto", func(b *testing.B) { rig, _ := outside(b); run(b, rig) })
}

// BenchmarkConnect is TLS with two certificates, CONNECT, SUBSCRIBE to five topics, and the end;
// both ends' CPU is in it. Above 300 a second the embedded engine's accept rate shows.
func BenchmarkConnect(b *testing.B) {
	engines(b, func(b *testing.B, rig linktest.Rig) {
		conf := rig.Authority.Client("bench")
		filters := wire.DeviceFilters(linktest.Tenant, "bench")
		for b.Loop() {
			c, code, err := linktest.Dial(b, rig.Address, conf, linktest.Connect("bench"))
			if err != nil || code != 0 {
				b.Fatal(code, err)
			}
			c.Subscribe(filters...)
			c.Leave()
		}
	})
}

// BenchmarkPublishDeliver is one ticket of 2 KiB from Publish to the device's socket, one at a
// time.
func BenchmarkPublishDeliver(b *testing.B) {
	engines(b, func(b *testing.B, rig linktest.Rig) {
		c := rig.Device(b, "bench")
		c.Subscribe(topic("bench", wire.LeafTicket))
		payload := make([]byte, 2<<10)
		for b.Loop() {
			ticket := topic("bench", wire.LeafTicket)
			err := rig.Engine.Publish(context.Background(), ticket, payload, false)
			if err != nil {
				b.Fatal(err)
			}
			c.Ack(c.Next())
		}
	})
}

// BenchmarkPublishAway is a publish to a device that is not there, which is most of them at night.
func BenchmarkPublishAway(b *testing.B) {
	rig, _ := embedded(b, nil)
	payload := make([]byte, 2<<10)
	i := 0
	for b.Loop() {
		i++
		device := fmt.Sprintf("d%d", i%1000)
		if err := rig.Engine.Publish(context.Background(), topic(device, wire.LeafTicket), payload,
			false); err != nil {
			b.Fatal(err)
		}
	}
}
