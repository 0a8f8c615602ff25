package link

import (
	"bytes"
	"errors"
	"testing"

	"github.com/eclipse/paho.mqtt.golang/packets"
	"pgregory.net/rapid"
)

func TestGuardTakesWhatPahoCanTake(t *testing.T) {
	body := func(n int) []byte { return make([]byte, n) }
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	suback := []byte{0x90, 4, 0, 1, 1, 1}
	for _, c := range []struct {
		name string
		in   []byte
		ok   bool
	}{
		{"nothing", nil, true},
		{"CONNACK", []byte{0x20, 2, 0, 0}, true},
		{"SUBACK of two", suback, true},
		{"SUBACK of one", []byte{0x90, 3, 0, 1, 1}, false},
		{"SUBACK of three", []byte{0x90, 5, 0, 1, 1, 1, 1}, false},
		{"SUBACK without id", []byte{0x90, 0}, false},
		{"two packets", join([]byte{0xd0, 0}, suback), true},
		{"the second is bad", join([]byte{0xd0, 0, 0x40, 2, 0, 9}, []byte{0x90, 9}), false},
		{"largest", join([]byte{0x30, 0x80, 0x88, 16}, body(packetMax), suback), true},
		{"one more", []byte{0x30, 0x81, 0x88, 16}, false},
		{"256 MB", []byte{0x30, 0xff, 0xff, 0xff, 0x7f}, false},
		{"endless length", []byte{0x30, 0x80, 0x80, 0x80, 0x80}, false},
	} {
		g := guard{filters: 2}
		if err := g.check(c.in); (err == nil) != c.ok || err != nil && !errors.Is(err, errFrame) {
			t.Errorf("%s: %v, want good = %v", c.name, err, c.ok)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 4, 0x30, 0x80, 0x90, 0xd0}), 0, 40).
			Draw(t, "bytes")
		whole, parts := guard{filters: 2}, guard{filters: 2}
		want := whole.check(in)
		var got error
		for i := 0; i < len(in) && got == nil; i++ {
			got = parts.check(in[i : i+1])
		}
		if (want == nil) != (got == nil) {
			t.Fatalf("% x: in one piece %v, byte by byte %v", in, want, got)
		}
	})
}

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
		g := guard{filters: 2}
		if g.check(in) != nil {
			return
		}
		r := bytes.NewReader(in)
		for {
			p, err := packets.ReadPacket(r)
			if err != nil {
				return
			}
			if ack, ok := p.(*packets.SubackPacket); ok && len(ack.ReturnCodes) > g.filters {
				t.Fatalf("% x: SUBACK of %d codes", in, len(ack.ReturnCodes))
			}
		}
	})
}
