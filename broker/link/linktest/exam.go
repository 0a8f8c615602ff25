// Package linktest is the exam that every MQTT engine behind broker/link has to pass, with the
// devices and engines that it takes: raw clients, a throw-away CA, a mosquitto of one's own.
//
//	linktest.Exam(t, linktest.Rig{Engine: e, Address: addr, Authority: ca, Hub: hub})
package linktest

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"chit/broker/link"
	"chit/device/wire"
)

// Tenant is the tenant of every device in the exam.
const Tenant = "t1"

// Hub is a handler that sorts messages by device.
type Hub struct {
	mu      sync.Mutex
	devices map[string]chan link.Message
}

// Handle implements link.Handler.
func (h *Hub) Handle(m link.Message) { h.of(m.Device) <- m }

func (h *Hub) of(device string) chan link.Message {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.devices == nil {
		h.devices = map[string]chan link.Message{}
	}
	c := h.devices[device]
	if c == nil {
		c = make(chan link.Message, 1024)
		h.devices[device] = c
	}
	return c
}

// Next waits for the next message of device.
func (h *Hub) Next(tb testing.TB, device string) link.Message {
	tb.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case m := <-h.of(device):
		return m
	case <-limit.C:
		tb.Fatalf("no message of %s came to the broker", device)
		return link.Message{}
	}
}

// Rig is an engine in its place.
type Rig struct {
	Engine    link.Engine // running and ready
	Hub       *Hub        // its handler
	Address   string      // host:port with TLS
	Authority *Authority
	// Refuses says that the engine tells a device when it refuses it: SUBACK 0x80, and a closed
	// connection for a publish. mosquitto says yes to both and drops the message.
	Refuses bool
}

// Device connects a device and fails the test where it may not.
func (r Rig) Device(tb testing.TB, device string) *Client {
	tb.Helper()
	connect := WithWill(Connect(device), r.topic(device, wire.LeafStatus), "offline")
	c, code, err := Dial(tb, r.Address, r.Authority.Client(device), connect)
	if err != nil || code != 0 {
		tb.Fatalf("connecting %s: code %d, %v", device, code, err)
	}
	return c
}

func (r Rig) topic(device string, leaf wire.Leaf) string {
	return wire.DeviceTopic(Tenant, device, leaf).String()
}

func (r Rig) publish(tb testing.TB, device string, leaf wire.Leaf, payload string, retain bool) {
	tb.Helper()
	err := r.Engine.Publish(tb.Context(), r.topic(device, leaf), []byte(payload), retain)
	if err != nil {
		tb.Fatalf("publishing to %s: %v", device, err)
	}
}

// Exam runs every case. They run beside each other, each with devices of its own.
func Exam(t *testing.T, rig Rig) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, Rig)
	}{
		{"a ticket reaches the device and its answer the broker", roundTrip},
		{"a retained message is set, replaced and cleared", retained},
		{"the will is published when the socket is cut", willOnCut},
		{"the will is published when the device falls silent", willOnSilence},
		{"a clean disconnect publishes no will", noWillOnDisconnect},
		{"a denied subscription brings nothing", deniedSubscribe},
		{"a denied publish reaches nobody", deniedPublish},
		{"a second connection of a device ends the first", takeover},
		{"another device's client id takes nothing over", foreignID},
		{"64 KiB arrive whole", large},
		{"a stalled subscriber does not stall others", stalled},
		{"a device's packet ids disturb no delivery", packetIDs},
		{"PUBACKs kept back do not stop the device's own messages", unacknowledged},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, rig)
		})
	}
}

func roundTrip(t *testing.T, r Rig) {
	c := r.Device(t, "round")
	codes := c.Subscribe(wire.DeviceFilters(Tenant, "round")...)
	if !bytes.Equal(codes, []byte{1, 1, 1, 1, 1}) {
		t.Fatalf("SUBACK % x, want five times QoS 1", codes)
	}
	r.publish(t, "round", wire.LeafTicket, "a ticket", false)
	p := c.Next()
	if p.Qos != 1 || p.Retain || string(p.Payload) != "a ticket" {
		t.Fatalf("device got %v", p)
	}
	c.Publish(9, r.topic("round", wire.LeafAck), "printed", false)
	c.Acked(9)
	c.Ack(p)
	want := link.Message{
		Topic: r.topic("round", wire.LeafAck), Payload: []byte("printed"),
		Tenant: Tenant, Device: "round", Leaf: wire.LeafAck,
	}
	if got := r.Hub.Next(t, "round"); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("broker got %+v, want %+v", got, want)
	}
}

func retained(t *testing.T, r Rig) {
	look := func() string {
		t.Helper()
		c := r.Device(t, "keeps")
		defer c.Leave()
		c.Subscribe(r.topic("keeps", wire.LeafStatus), r.topic("keeps", wire.LeafCommand))
		// An engine may send what is retained after SUBACK; at the answer to a ping it is on its
		// way, and the command comes after it.
		c.Ping()
		r.publish(t, "keeps", wire.LeafCommand, "mark", false)
		p := c.Next()
		if string(p.Payload) != "mark" && !p.Retain {
			t.Fatalf("%q came without the retain flag", p.Payload)
		}
		return string(p.Payload)
	}
	for _, step := range []struct{ publish, want string }{
		{"one", "one"}, {"two", "two"}, {"", "mark"}, {"three", "three"},
	} {
		r.publish(t, "keeps", wire.LeafStatus, step.publish, true)
		if got := look(); got != step.want {
			t.Fatalf("after publishing %q a new subscriber got %q, want %q",
				step.publish, got, step.want)
		}
	}
}

func willOnCut(t *testing.T, r Rig) {
	r.Device(t, "cut").Cut()
	wantOffline(t, r, "cut")
}

func willOnSilence(t *testing.T, r Rig) {
	connect := WithWill(Connect("silent"), r.topic("silent", wire.LeafStatus), "offline")
	connect.Keepalive = 1
	if _, code, err := Dial(t, r.Address, r.Authority.Client("silent"), connect); err != nil ||
		code != 0 {
		t.Fatalf("code %d, %v", code, err)
	}
	wantOffline(t, r, "silent") // One and a half keep-alives later [MQTT-3.1.2-24].
}

func wantOffline(t *testing.T, r Rig, device string) {
	t.Helper()
	m := r.Hub.Next(t, device)
	if m.Leaf != wire.LeafStatus || string(m.Payload) != "offline" || m.Retained {
		t.Fatalf("broker got %+v, want the will", m)
	}
}

func noWillOnDisconnect(t *testing.T, r Rig) {
	r.Device(t, "leaves").Leave()
	c := r.Device(t, "leaves")
	c.Publish(1, r.topic("leaves", wire.LeafAck), "back", false)
	if m := r.Hub.Next(t, "leaves"); string(m.Payload) != "back" {
		t.Fatalf("broker got %q, want no will before it", m.Payload)
	}
}

func deniedSubscribe(t *testing.T, r Rig) {
	c := r.Device(t, "curious")
	victim := r.Device(t, "victim")
	victim.Subscribe(wire.DeviceFilters(Tenant, "victim")...)
	filters := []string{
		r.topic("victim", wire.LeafTicket), r.topic("curious", wire.LeafAck), "chit/1/+/+/ticket",
		"chit/1/#", "chit/1/" + Tenant + "/curious/#", "$share/g/chit/1/+/victim/ticket",
	}
	for i, code := range c.Subscribe(filters...) {
		if r.Refuses && code != 0x80 {
			t.Errorf("%s: SUBACK 0x%02x, want 0x80", filters[i], code)
		}
	}
	if code := c.Subscribe(r.topic("curious", wire.LeafCommand)); code[0] != 1 {
		t.Fatalf("its own command: SUBACK 0x%02x", code[0])
	}
	r.publish(t, "victim", wire.LeafTicket, "private", false)
	victim.Next()
	r.publish(t, "curious", wire.LeafCommand, "mark", false)
	if p := c.Next(); string(p.Payload) != "mark" {
		t.Fatalf("the device heard %s: %q", p.TopicName, p.Payload)
	}
}

func deniedPublish(t *testing.T, r Rig) {
	victim := r.Device(t, "target")
	victim.Subscribe(wire.DeviceFilters(Tenant, "target")...)
	for i, topic := range []string{
		r.topic("target", wire.LeafTicket), r.topic("target", wire.LeafAck),
		r.topic("target", wire.LeafStatus), "chit/1/" + Tenant + "/host", "elsewhere",
	} {
		device := fmt.Sprintf("forger-%d", i)
		c := r.Device(t, device)
		c.Publish(1, topic, "forged", false)
		if r.Refuses {
			c.Ended()
			if m := r.Hub.Next(t, device); string(m.Payload) != "offline" {
				t.Fatalf("broker got %q of %s", m.Payload, device)
			}
			continue
		}
		c.Acked(1) // mosquitto says yes and drops it; only the signed ack proves anything.
	}
	victim.Publish(1, r.topic("target", wire.LeafAck), "own", false)
	if m := r.Hub.Next(t, "target"); string(m.Payload) != "own" {
		t.Fatalf("broker got forged %q", m.Payload)
	}
	r.publish(t, "target", wire.LeafTicket, "real", false)
	if p := victim.Next(); string(p.Payload) != "real" {
		t.Fatalf("device got forged %q", p.Payload)
	}
}

func takeover(t *testing.T, r Rig) {
	const device = "twice"
	first := r.Device(t, device)
	first.Subscribe(wire.DeviceFilters(Tenant, device)...)
	for range 5 {
		second := r.Device(t, device)
		second.Subscribe(r.topic(device, wire.LeafTicket))
		first.Ended()
		r.publish(t, device, wire.LeafTicket, "still heard", false)
		second.Ack(second.Next())
		first = second
	}
	// Whether the will goes out at a takeover is undefined across engines; nothing relies on it.
}

func foreignID(t *testing.T, r Rig) {
	owner := r.Device(t, "owner")
	thief, code, err := Dial(t, r.Address, r.Authority.Client("thief"), Connect("owner"))
	if err == nil && code == 0 {
		// mosquitto takes the name of the certificate instead of the one that was said.
		thief.Publish(1, r.topic("owner", wire.LeafAck), "stolen", false)
		thief.Acked(1)
	}
	if r.Refuses && code == 0 {
		t.Fatalf("a foreign client id was let in (%v)", err)
	}
	owner.Ping()
	owner.Publish(1, r.topic("owner", wire.LeafAck), "own", false)
	if m := r.Hub.Next(t, "owner"); string(m.Payload) != "own" {
		t.Fatalf("broker got %q", m.Payload)
	}
}

func large(t *testing.T, r Rig) {
	c := r.Device(t, "large")
	c.Subscribe(r.topic("large", wire.LeafTicket))
	payload := strings.Repeat("chit", wire.MessageMax/4)
	r.publish(t, "large", wire.LeafTicket, payload, false)
	if p := c.Next(); string(p.Payload) != payload {
		t.Fatalf("device got %d bytes", len(p.Payload))
	}
	c.Publish(1, r.topic("large", wire.LeafAck), payload, false)
	c.Acked(1)
	if m := r.Hub.Next(t, "large"); string(m.Payload) != payload {
		t.Fatalf("broker got %d bytes", len(m.Payload))
	}
	err := r.Engine.Publish(t.Context(), r.topic("large", wire.LeafTicket),
		make([]byte, wire.MessageMax+1), false)
	if err == nil {
		t.Fatal("one byte more was taken")
	}
}

func stalled(t *testing.T, r Rig) {
	stuck := r.Device(t, "stuck") // It never reads after SUBACK.
	stuck.Subscribe(r.topic("stuck", wire.LeafTicket))
	lively := r.Device(t, "lively")
	lively.Subscribe(r.topic("lively", wire.LeafTicket))
	big := strings.Repeat("x", wire.MessageMax)
	for i := range 150 {
		r.publish(t, "stuck", wire.LeafTicket, big, false)
		start := time.Now()
		r.publish(t, "lively", wire.LeafTicket, fmt.Sprint(i), false)
		p := lively.Next()
		lively.Ack(p)
		if string(p.Payload) != fmt.Sprint(i) {
			t.Fatalf("message %d came as %q", i, p.Payload)
		}
		// Less than the deadline of a write: what waited for it would take longer.
		if took := time.Since(start); took > 4*time.Second {
			t.Fatalf("message %d took %v", i, took)
		}
	}
}

func packetIDs(t *testing.T, r Rig) {
	c := r.Device(t, "ids")
	c.Subscribe(r.topic("ids", wire.LeafTicket))
	held := map[uint16]bool{}
	for i := range 5 {
		r.publish(t, "ids", wire.LeafTicket, fmt.Sprint(i), false)
		held[c.Next().MessageID] = true
	}
	if len(held) != 5 {
		t.Fatalf("5 deliveries under the ids %v", held)
	}
	for id := range held { // The device's ids are its own; they may be the same.
		c.Publish(id, r.topic("ids", wire.LeafAck), fmt.Sprint(id), false)
		c.Acked(id)
		if m := r.Hub.Next(t, "ids"); string(m.Payload) != fmt.Sprint(id) {
			t.Fatalf("broker got %q, want %d", m.Payload, id)
		}
	}
	for i := range 10 { // An id that is not acknowledged is not used again [MQTT-2.3.1-2].
		r.publish(t, "ids", wire.LeafTicket, fmt.Sprint("new ", i), false)
		p := c.Next()
		if held[p.MessageID] {
			t.Fatalf("id %d was given to a second delivery", p.MessageID)
		}
		c.Ack(p)
	}
}

func unacknowledged(t *testing.T, r Rig) {
	c := r.Device(t, "slowly")
	c.Subscribe(r.topic("slowly", wire.LeafTicket))
	for i := range 8 { // The window of one printer, all kept back.
		r.publish(t, "slowly", wire.LeafTicket, fmt.Sprint(i), false)
	}
	var all []string
	for range 8 {
		p := c.Next()
		all = append(all, string(p.Payload))
		c.Publish(100+p.MessageID, r.topic("slowly", wire.LeafAck), string(p.Payload), false)
	}
	for _, want := range all {
		if m := r.Hub.Next(t, "slowly"); string(m.Payload) != want {
			t.Fatalf("broker got %q, want %q", m.Payload, want)
		}
	}
}
