package relay_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"chit/broker/delivery"
	"chit/device/wire"
)

func TestTheWelcomeAnswersTheHello(t *testing.T) {
	build(t, func(w *world) {
		d := w.fleet["d1"]
		d.answer = d.prints
		d.connect()
		w.accept("o1/1")
		first := d.session
		d.hello() // Repeated by the engine.
		w.settle()
		d.drop()
		w.advance(time.Second)
		d.connect()
		if len(d.welcomes) != 3 {
			t.Fatalf("%d welcomes", len(d.welcomes))
		}
		for i, want := range []wire.Welcome{{Session: first, Epoch: 1}, {Session: first, Epoch: 1,
			NSeen: 2}, {Session: d.session, Epoch: 2, NSeen: 2}} {
			got := d.welcomes[i]
			if got.Session != want.Session || got.Epoch != want.Epoch || got.NSeen != want.NSeen ||
				got.Journal != d.journal || got.Host != "host-1" || got.Now == 0 {
				t.Errorf("welcome %d: %+v, want %+v", i, got, want)
			}
		}
	})
}

func TestAnAckIsOnlyBelievedForItsOwnEvent(t *testing.T) {
	build(t, func(w *world) {
		d, other := w.fleet["d1"], w.add("d2")
		d.connect()
		w.accept("o1/1")
		ticket := d.got[0]
		forger := signer(t, "forger")
		send := func(from string, s *wire.Signer, set func(*wire.Ack)) []byte {
			ack := about(ticket, wire.OutcomePrinted)
			ack.Device, ack.Journal, ack.Boot, ack.N = from, "j-"+from, 1, 70
			set(&ack)
			raw, err := s.SignAck(ack)
			if err != nil {
				t.Fatal(err)
			}
			w.relay.Heard("t1", from, "ack", raw, false)
			w.settle()
			return raw
		}
		before := w.delivery("o1/1")
		keep := func(*wire.Ack) {}
		send("d1", forger, keep)
		w.wantBad("kid", 1)
		send("d2", other.signer, keep)
		w.wantBad("foreign-device", 1)
		send("d1", d.signer, func(a *wire.Ack) { a.Device = "d2" })
		w.wantBad("foreign-device", 2)
		send("d1", d.signer, func(a *wire.Ack) { a.Digest = wire.Digest([]byte("else")) })
		w.wantBad("digest", 1)
		send("d1", d.signer, func(a *wire.Ack) { a.Attempt = 7 })
		w.wantBad("unknown-attempt", 1)
		w.relay.Heard("t1", "d9", "ack", []byte("x"), false)
		w.wantBad("unknown-device", 1)
		w.relay.Heard("t1", "d1", "ack", []byte("x"), false)
		w.wantBad("malformed", 1)
		w.relay.Heard("t1", "d1", "nonsense", nil, false)
		w.wantBad("topic", 1)
		if after := w.delivery("o1/1"); after.Epoch != before.Epoch || after.State != delivery.Leased {
			t.Fatalf("a false ack moved the ticket: %+v", after.Timeline)
		}

		good := send("d1", d.signer, keep)
		w.want("o1/1", delivery.Settled, 0)
		settled := w.delivery("o1/1")
		for range 3 {
			w.relay.Heard("t1", "d1", "ack", good, false)
			w.settle()
		}
		w.wantBad("replayed", 3)
		w.relay.Heard("t2", "d1", "ack", good, false)
		w.wantBad("tenant", 1)
		w.relay.Heard("t1", "d1", "ack", good, true)
		w.wantBad("retained", 1)
		altered := slices.Clone(good)
		altered[len(altered)/2] ^= 1
		w.relay.Heard("t1", "d1", "ack", altered, false)
		w.settle()
		if after := w.delivery("o1/1"); after.Epoch != settled.Epoch {
			t.Fatalf("a replayed ack moved the ticket: %+v", after.Timeline)
		}
	})
}

func TestAnUnansweredHelloIsNoSession(t *testing.T) {
	build(t, func(w *world) {
		d := w.fleet["d1"]
		d.answer = d.prints
		w.fail(errors.New("engine gone"))
		d.connect()
		w.accept("o1/1")
		w.want("o1/1", delivery.Parked, 0)
		w.fail(nil)
		d.hello()
		w.settle()
		w.want("o1/1", delivery.Settled, 0)
	})
}

func TestATicketMadeOnTheDeviceSettlesToo(t *testing.T) {
	build(t, func(w *world) {
		d := w.fleet["d1"]
		d.connect()
		data, err := wire.CanonicalContent(wire.Content{ID: "L-1/1", Kitchen: "main",
			Station: "grill", Kind: wire.KindNotice, Note: "hello"})
		if err != nil {
			t.Fatal(err)
		}
		ticket := wire.Ticket{ID: "L-1/1/d1@grill", Data: data, Attempt: 1}
		d.mu.Lock()
		d.say(about(ticket, wire.OutcomePrinted)) // Before the report: kept.
		d.n++
		raw, err := d.signer.SignMade(wire.Made{Device: "d1", Ticket: ticket.ID, Data: data,
			Digest: wire.Digest(data), Number: "L1", Station: "grill", Printer: "p1",
			Journal: d.journal, Boot: 1, N: d.n, IssuedAt: 1})
		d.mu.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		w.settle()
		w.wantBad("kept", 1)
		w.relay.Heard("t1", "d1", "ack", raw, false)
		w.settle()
		if got := w.want(ticket.ID, delivery.Settled, 0); got.Number != "L1" {
			t.Errorf("%+v", got)
		}
	})
}
