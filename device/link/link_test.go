package link

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"chit/device/wire"
)

// runLink runs l and returns a function that stops it and waits; the test calls it at its end too.
func runLink(t *testing.T, l *Link) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := within(t, done, "Run to return"); err != nil {
				t.Errorf("Run: %v", err)
			}
		})
	}
	t.Cleanup(stop)
	return stop
}

func TestALinkConnectsSubscribesIsBornAndSaysHello(t *testing.T) {
	e, k := newEngine(t), newKitchen()
	l, stop := start(t, e, k, nil)
	c := e.accept(0)
	p := c.connect
	if p.ClientIdentifier != "d1" || p.Username != "d1" || !p.CleanSession || p.Keepalive != 6 ||
		p.ProtocolVersion != 4 || p.ProtocolName != "MQTT" {
		t.Fatalf("CONNECT %+v", p)
	}
	if !p.WillFlag || !p.WillRetain || p.WillQos != 1 ||
		p.WillTopic != ours(wire.LeafStatus).String() ||
		string(p.WillMessage) != string(status("offline", "s1")) {
		t.Fatalf("will of CONNECT %+v", p)
	}
	sub := c.subscribed()
	want := wire.DeviceFilters("t1", "d1")
	slices.Sort(want)
	slices.Sort(sub.Topics)
	if !slices.Equal(sub.Topics, want) || slices.Contains(sub.Qoss, 0) {
		t.Fatalf("SUBSCRIBE %v at %v, want %v at QoS 1", sub.Topics, sub.Qoss, want)
	}
	birth := c.wantPublish(wire.LeafStatus)
	if !birth.Retain || birth.Qos != 1 || string(birth.Payload) != string(status("online", "s1")) {
		t.Fatalf("birth %v %q", birth, birth.Payload)
	}
	hello := c.wantPublish(wire.LeafAck)
	if hello.Retain || hello.Qos != 1 || string(hello.Payload) != "hello 1 of s1" {
		t.Fatalf("hello %v %q", hello, hello.Payload)
	}
	if up := within(t, k.ups, "Up"); up != "s1" || l.Session() != "s1" {
		t.Fatalf("up with %q, session %q", up, l.Session())
	}

	stop()
	offline := next[*packets.PublishPacket](c)
	if !offline.Retain || string(offline.Payload) != `{"planned":true}` {
		t.Fatalf("at a planned stop %v %q", offline, offline.Payload)
	}
	// The engine did not acknowledge the offline, so there is no DISCONNECT: the will says it too.
	if rest := c.wantEnd(); len(rest) != 0 {
		t.Fatalf("after it %v", rest)
	}
	if down := within(t, k.downs, "Down"); down != "s1" || l.Session() != "" {
		t.Fatalf("down with %q, session %q", down, l.Session())
	}
	if err := l.Run(t.Context()); err == nil {
		t.Fatal("Run ran twice")
	}
}

func TestAPlannedStopSaysOfflineAndThenDisconnects(t *testing.T) {
	e, k := newEngine(t), newKitchen()
	_, stop := start(t, e, k, func(c *Config) { c.StopTimeout = patience })
	c := e.greeted()
	within(t, k.ups, "Up")
	var wg sync.WaitGroup
	wg.Go(stop)
	c.wantPublish(wire.LeafStatus)
	rest := c.wantEnd()
	wg.Wait()
	if len(rest) != 1 {
		t.Fatalf("after the offline came %v, want DISCONNECT", rest)
	}
	if _, ok := rest[0].(*packets.DisconnectPacket); !ok {
		t.Fatalf("after the offline came %v, want DISCONNECT", rest[0])
	}
}

func TestEveryConnectionIsANewSessionAndWaitsGrow(t *testing.T) {
	e, k := newEngine(t), newKitchen()
	limits := make(chan time.Duration, 64)
	l, _ := start(t, e, k, func(c *Config) {
		c.Jitter = func(n time.Duration) time.Duration { limits <- n; return 0 }
	})
	e.accept(5).wantEnd() // Not authorised.
	e.accept(3).wantEnd() // Server unavailable.
	c := e.greeted()
	if session := within(t, k.ups, "Up"); session != "s3" {
		t.Fatalf("session %q, want a new one for each CONNECT", session)
	}
	c.conn.Close()
	if session := within(t, k.downs, "Down"); session != "s3" {
		t.Fatalf("down with %q", session)
	}
	c = e.greeted()
	if string(c.connect.WillMessage) != string(status("offline", "s4")) {
		t.Fatalf("will %q", c.connect.WillMessage)
	}
	within(t, k.ups, "Up")
	for i, want := range []time.Duration{10, 20, 40} {
		if got := within(t, limits, "a wait"); got != want*time.Second {
			t.Fatalf("wait %d is drawn below %v, want %v", i, got, want*time.Second)
		}
	}
	if s := l.Stats(); s.Connects != 2 || s.Failures != 3 {
		t.Fatalf("stats %+v", s)
	}
}

func TestARefusedSubscriptionEndsTheConnectionBeforeTheBirth(t *testing.T) {
	e, k := newEngine(t), newKitchen()
	start(t, e, k, nil)
	c := e.accept(0)
	c.subscribed(1, 1, 0x80)
	for _, p := range c.wantEnd() {
		if _, ok := p.(*packets.PublishPacket); ok {
			t.Fatalf("after SUBACK 0x80 came %v", p)
		}
	}
	e.greeted()
	within(t, k.ups, "Up")
}

func TestMessagesComeInOrderAndPUBACKWaitsForAck(t *testing.T) {
	e, k := newEngine(t), newKitchen()
	l, _ := start(t, e, k, nil)
	c := e.greeted()
	within(t, k.ups, "Up")
	c.publish(11, ours(wire.LeafTicket), "a", false)
	c.publish(12, ours(wire.LeafRecall), "b", false)
	c.publish(13, ours(wire.LeafCommand), "c", false)
	c.publish(14, wire.HostTopic("t1"), "epoch", true)
	var got []Message
	for i, want := range []Message{
		{Leaf: wire.LeafTicket, Payload: []byte("a")},
		{Leaf: wire.LeafRecall, Payload: []byte("b")},
		{Leaf: wire.LeafCommand, Payload: []byte("c")},
		{Leaf: wire.LeafHost, Payload: []byte("epoch"), Retained: true},
	} {
		m := within(t, k.messages, "a message")
		if m.Leaf != want.Leaf || string(m.Payload) != string(want.Payload) ||
			m.Retained != want.Retained || m.Session != "s1" {
			t.Fatalf("message %d is %+v", i, m)
		}
		got = append(got, m)
	}
	// A publish of our own shows that no PUBACK went before it.
	if err := publishAcked(t, l, c, wire.LeafAck, "x"); err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{2, 1, 3, 0} {
		got[i].Ack()
		got[i].Ack()
	}
	for id := uint16(11); id <= 14; id++ {
		c.wantAck(id)
	}
}

// publishAcked publishes and has the engine acknowledge it.
func publishAcked(t *testing.T, l *Link, c *engineConn, leaf wire.Leaf, payload string) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- l.Publish(t.Context(), leaf, []byte(payload)) }()
	if p := c.wantPublish(leaf); string(p.Payload) != payload {
		t.Fatalf("engine got %q, want %q", p.Payload, payload)
	}
	return within(t, done, "Publish to return")
}

func TestAckAfterTheConnectionEndedDoesNothing(t *testing.T) {
	e, k := newEngine(t), newKitchen()
	l, _ := start(t, e, k, nil)
	c := e.greeted()
	c.publish(7, ours(wire.LeafTicket), "a", false)
	old := within(t, k.messages, "the message")
	c.conn.Close()
	within(t, k.downs, "Down")
	c = e.greeted()
	within(t, k.ups, "Up")
	within(t, k.ups, "Up again")
	old.Ack()
	c.publish(1, ours(wire.LeafTicket), "a", false)
	again := within(t, k.messages, "the message again")
	if again.Session == old.Session {
		t.Fatal("a new connection has the old session")
	}
	again.Ack()
	c.wantAck(1)
	if err := publishAcked(t, l, c, wire.LeafAck, "x"); err != nil {
		t.Fatal(err)
	}
}

func TestAFullQueueDropsUnacknowledgedAndThenRenewsTheConnection(t *testing.T) {
	e, k := newEngine(t), newKitchen()
	k.hold = make(chan struct{})
	l, _ := start(t, e, k, func(c *Config) { c.Queue = 2 })
	c := e.greeted()
	within(t, k.ups, "Up")
	// One is with Deliver and two wait; the rest cannot be kept.
	for id := uint16(1); id <= 3+dropsMax; id++ {
		p := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
		p.Qos, p.MessageID, p.TopicName = 1, id, ours(wire.LeafTicket).String()
		_ = p.Write(c.conn) // The last may find the connection gone, where Deliver began late.
	}
	for _, p := range waitForEnd(t, c, k.hold) {
		if _, ok := p.(*packets.PubackPacket); ok {
			t.Fatal("a dropped message was acknowledged")
		}
	}
	e.greeted()
	within(t, k.ups, "Up again")
	if s := l.Stats(); s.Dropped < dropsMax {
		t.Fatalf("stats %+v", s)
	}
}

// waitForEnd releases Deliver once the overrun has cut the socket.
func waitForEnd(t *testing.T, c *engineConn, hold chan struct{}) []packets.ControlPacket {
	t.Helper()
	rest := c.wantEnd()
	close(hold)
	return rest
}

func TestTheSightOfOnesOwnOfflineIsAnsweredByBirthAndHello(t *testing.T) {
	e, k := newEngine(t), newKitchen()
	l, _ := start(t, e, k, nil)
	c := e.greeted()
	for i, payload := range []string{
		string(status("online", "s1")), string(status("offline", "other")), "", "{", "null",
	} {
		c.publish(uint16(i+1), ours(wire.LeafStatus), payload, true)
		c.wantAck(uint16(i + 1)) // The link acknowledges its own status itself.
	}
	// At QoS 0, so that no PUBACK comes among the greeting.
	p := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
	p.TopicName, p.Payload = ours(wire.LeafStatus).String(), status("offline", "s1")
	c.send(p)
	c.wantPublish(wire.LeafStatus)
	if p := c.wantPublish(wire.LeafAck); string(p.Payload) != "hello 2 of s1" {
		t.Fatalf("hello %q", p.Payload)
	}
	eventually(t, "the greeting is counted", func() bool { return l.Stats().Greetings == 1 })
	if len(k.messages) != 0 {
		t.Fatal("the device's own status was delivered")
	}
}

func TestANewEpochOfTheBrokerAsksForAHello(t *testing.T) {
	type heard struct {
		epoch    string
		retained bool
		greets   bool
	}
	for name, messages := range map[string][]heard{
		"the same":         {{"e1", true, false}, {"e1", false, false}},
		"another":          {{"e1", true, false}, {"e2", false, true}, {"e2", false, false}},
		"there and back":   {{"e1", true, false}, {"e2", false, true}, {"e1", false, true}},
		"first heard live": {{"e1", false, true}, {"e1", false, false}},
		"forged":           {{"e1", true, false}, {"forged", false, false}, {"e1", false, false}},
	} {
		conf := Config{Address: "tcp://127.0.0.1:1", Tenant: "t1", Device: "d1"}
		l, err := New(conf, newKitchen())
		if err != nil {
			t.Fatal(err)
		}
		c := &connection{link: l}
		for i, m := range messages {
			c.sawHost(Message{Payload: []byte(m.epoch), Retained: m.retained})
			asked := false
			select {
			case <-l.greet:
				asked = true
			default:
			}
			if asked != m.greets {
				t.Errorf("%s: message %d asks for a hello: %v, want %v", name, i, asked, m.greets)
			}
		}
	}
}

func TestALinkThatStandsSaysHelloToANewBroker(t *testing.T) {
	e, k := newEngine(t), newKitchen()
	start(t, e, k, nil)
	c := e.greeted()
	for i, epoch := range []string{"e1", "e2"} {
		c.publish(uint16(i+1), wire.HostTopic("t1"), epoch, i == 0)
		if m := within(t, k.messages, "the host"); string(m.Payload) != epoch {
			t.Fatalf("delivered %q", m.Payload)
		}
	}
	c.wantPublish(wire.LeafStatus)
	if p := c.wantPublish(wire.LeafAck); string(p.Payload) != "hello 2 of s1" {
		t.Fatalf("hello %q", p.Payload)
	}
}

func TestPublishSaysWhatWentAndWhatDidNot(t *testing.T) {
	e, k := newEngine(t), newKitchen()
	l, _ := start(t, e, k, func(c *Config) {
		c.AckQoS = 0
		c.PublishTimeout = 100 * time.Millisecond
	})
	if err := l.Publish(t.Context(), wire.LeafAck, nil); !errors.Is(err, ErrNotConnected) {
		t.Fatalf("before the connection: %v", err)
	}
	c := e.accept(0)
	c.subscribed()
	c.wantPublish(wire.LeafStatus)
	if p := c.wantPublish(wire.LeafAck); p.Qos != 0 {
		t.Fatalf("hello at QoS %d, want 0 on the embedded engine", p.Qos)
	}
	within(t, k.ups, "Up")
	for _, leaf := range []wire.Leaf{wire.LeafTicket, wire.LeafHost, "x/y", ""} {
		if err := l.Publish(t.Context(), leaf, nil); !errors.Is(err, ErrLeaf) {
			t.Fatalf("on %q: %v, want ErrLeaf", leaf, err)
		}
	}
	large := make([]byte, wire.MessageMax+1)
	if err := l.Publish(t.Context(), wire.LeafAck, large); !errors.Is(err, ErrTooLarge) {
		t.Fatalf("too large: %v", err)
	}
	if err := l.Publish(t.Context(), wire.LeafAck, large[1:]); err != nil {
		t.Fatalf("as large as may be: %v", err)
	}
	if p := c.wantPublish(wire.LeafAck); len(p.Payload) != wire.MessageMax || p.Retain {
		t.Fatalf("engine got %d bytes", len(p.Payload))
	}
	if err := l.Publish(t.Context(), wire.LeafTelemetry, []byte("t")); err != nil {
		t.Fatal(err)
	}
	c.wantPublish(wire.LeafTelemetry)
	// Nobody acknowledges this one.
	if err := l.Publish(t.Context(), wire.LeafStatus, []byte("s")); !errors.Is(err, ErrUnsent) {
		t.Fatalf("unacknowledged: %v, want ErrUnsent", err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Publish(over, wire.LeafStatus, nil); !errors.Is(err, context.Canceled) {
		t.Fatalf("with a dead context: %v", err)
	}
}

func TestASessionThatCannotBeMadeIsTriedAgain(t *testing.T) {
	e, k := newEngine(t), newKitchen()
	k.failSession = true
	l, _ := start(t, e, k, nil)
	eventually(t, "it failed twice", func() bool { return l.Stats().Failures >= 2 })
	k.mu.Lock()
	k.failSession = false
	k.mu.Unlock()
	e.greeted()
	within(t, k.ups, "Up")
}

func TestFiveHundredConnectionsLeakNoGoroutine(t *testing.T) {
	e, k := newEngine(t), newKitchen()
	_, stop := start(t, e, k, func(c *Config) { c.AckQoS = 0 })
	cycle := func() {
		c := e.greeted()
		within(t, k.ups, "Up")
		c.publish(1, ours(wire.LeafTicket), "x", false)
		within(t, k.messages, "the ticket").Ack()
		c.wantAck(1)
		c.conn.Close()
		within(t, k.downs, "Down")
	}
	cycle()
	before := runtime.NumGoroutine()
	for i := range 500 {
		if i%10 == 0 {
			e.accept(3).wantEnd()
			continue
		}
		cycle()
	}
	// One connection more or less may be on its way; a leak would be of hundreds.
	eventually(t, "the goroutines are gone", func() bool {
		return runtime.NumGoroutine() <= before+20
	})
	// Nobody answers this one: stopping in the middle of an attempt leaves nothing either.
	within(t, e.conns, "a connection")
	stop()
}
