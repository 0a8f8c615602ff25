package link

import (
	"bytes"
	"testing"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"chit/device/wire/frame"
)

func TestASUBACKThatWouldPanicPahoCostsTheConnectionOnly(t *testing.T) {
	e, k := newEngine(t), newKitchen()
	start(t, e, k, nil)
	c := e.accept(0)
	p := next[*packets.SubscribePacket](c)
	ack := packets.NewControlPacket(packets.Suback).(*packets.SubackPacket)
	ack.MessageID, ack.ReturnCodes = p.MessageID, make([]byte, len(p.Topics)+1)
	c.send(ack)
	c.wantEnd()
	e.greeted()
	within(t, k.ups, "Up")
}

// FuzzEngineBytes gives what the guard lets through to paho's decoder.
func FuzzEngineBytes(f *testing.F) {
	f.Add([]byte{0x20, 2, 0, 0, 0x90, 4, 0, 1, 1, 1})
	f.Add([]byte{0x32, 7, 0, 1, 'a', 0, 1, 'x', 'y'})
	f.Add([]byte{0x30, 3, 0, 9, 'a'})
	f.Fuzz(func(t *testing.T, in []byte) {
		g := frame.Guard{Filters: 2, Max: frame.Max}
		if g.Check(in) != nil {
			return
		}
		r := bytes.NewReader(in)
		for {
			p, err := packets.ReadPacket(r)
			if err != nil {
				return
			}
			if ack, ok := p.(*packets.SubackPacket); ok && len(ack.ReturnCodes) > g.Filters {
				t.Fatalf("% x: SUBACK of %d codes", in, len(ack.ReturnCodes))
			}
		}
	})
}
