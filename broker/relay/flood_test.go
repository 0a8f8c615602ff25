package relay_test

import (
	"fmt"
	"testing"
	"time"

	"chit/broker/delivery"
	"chit/device/wire"
)

// TestAFloodOfOneDeviceIsBoundedAndItsTicketsStillSettle: a stolen device signs as much as it
// likes. What it can have stored is bounded; what it was handed is settled by its acks all the
// same.
func TestAFloodOfOneDeviceIsBoundedAndItsTicketsStillSettle(t *testing.T) {
	build(t, func(w *world) {
		d := w.fleet["d1"]
		d.connect()
		w.accept("o1/1")
		handed := d.got[0]
		const flood = 1200
		made := func(i int) {
			c := wire.Content{ID: fmt.Sprintf("L-%d/1", i), Kitchen: "main", Station: "grill",
				Kind: wire.KindNotice, Note: "hello"}
			data, err := wire.CanonicalContent(c)
			if err != nil {
				t.Fatal(err)
			}
			d.n++
			raw, err := d.signer.SignMade(wire.Made{Device: "d1", Ticket: c.ID + "@grill", Data: data,
				Digest: wire.Digest(data), Number: "L1", Station: "grill", Printer: "p1",
				Journal: d.journal, Boot: 1, N: d.n, IssuedAt: 1})
			if err != nil {
				t.Fatal(err)
			}
			w.relay.Heard("t1", "d1", "ack", raw, false)
			w.settle()
		}
		stray := func(i int) {
			d.mu.Lock()
			d.say(about(wire.Ticket{ID: fmt.Sprintf("S-%d/1@grill", i), Attempt: 1,
				Data: []byte("{}")}, wire.OutcomePrinted))
			d.mu.Unlock()
			w.settle()
		}
		for i := range flood {
			made(i)
			stray(i)
		}
		w.wantBad("kept", 1000)
		w.wantBad("unknown-ticket", flood-1000)
		w.wantBad("rate", flood-1000)
		w.advance(10 * time.Second) // One more of each.
		made(flood)
		stray(flood)
		w.wantBad("kept", 1001)
		w.wantBad("rate", flood-1000)
		d.mu.Lock()
		d.say(about(handed, wire.OutcomePrinted))
		d.mu.Unlock()
		w.settle()
		w.want("o1/1", delivery.Settled, 0)
	})
}

// TestAFloodOfHellosOrAcksIsTurnedAwayBeforeTheDesk: the one desk decides for all devices.
func TestAFloodOfHellosOrAcksIsTurnedAwayBeforeTheDesk(t *testing.T) {
	build(t, func(w *world) {
		d := w.fleet["d1"]
		d.connect()
		w.accept("o1/1")
		ack := about(d.got[0], wire.OutcomeStored)
		ack.Device, ack.Journal, ack.Boot, ack.N = "d1", d.journal, 1, 9
		raw, err := d.signer.SignAck(ack)
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			d.hello()
			w.settle()
		}
		w.wantBad("rate", 41) // The first hello was one, too.
		for range 2*4096 + 10 {
			w.relay.Heard("t1", "d1", "ack", raw, false)
			w.settle()
		}
		w.wantBad("rate", 51)
		w.advance(time.Second)
		d.hello()
		w.settle()
		w.wantBad("rate", 51)
	})
}
