package relay_test

import (
	"fmt"
	"testing"
	"time"

	"chit/broker/delivery"
	"chit/device/wire"
)

// TestAHelloOfAnEarlierSessionIsOldNews: an engine or a stranger that repeats one must not end the
// session that stands, nor make the broker believe that the device lost its memory.
func TestAHelloOfAnEarlierSessionIsOldNews(t *testing.T) {
	build(t, func(w *world) {
		d := w.fleet["d1"]
		var old [][]byte
		for range 3 {
			raw, err := d.signer.SignHello(wire.Hello{Device: d.id, Session: d.session, Boot: d.boot,
				Journal: d.journal, N: d.n, Version: "test", Format: 1})
			if err != nil && d.session != "" {
				t.Fatal(err)
			}
			if d.session != "" {
				old = append(old, raw)
			}
			d.n += 10
			d.connect()
			w.advance(time.Second)
		}
		w.accept("o1/1") // It is on its way when the old hellos come.
		before, was := w.delivery("o1/1"), w.relay.Devices()[0]
		heard := len(d.welcomes)
		for _, raw := range old {
			w.relay.Heard("t1", "d1", "ack", raw, false)
			w.settle()
		}
		w.wantBad("old-session", uint64(len(old)))
		after, is := w.delivery("o1/1"), w.relay.Devices()[0]
		if after.State != delivery.Leased || after.Epoch != before.Epoch {
			t.Errorf("an old hello moved the ticket: %+v", after.Timeline)
		}
		if is.Session != was.Session || !is.Present || len(d.welcomes) != heard {
			t.Errorf("an old hello opened a session: %+v, was %+v", is, was)
		}
		device, _, err := delivery.LoadDevice(w.store, "t1", "d1")
		if err != nil || device.Memory != 0 {
			t.Errorf("memory losses %d, %v; want none", device.Memory, err)
		}
	})
}

// TestPastSessionsAreBounded keeps a device that reconnects for ever from growing its record.
func TestPastSessionsAreBounded(t *testing.T) {
	build(t, func(w *world) {
		d := w.fleet["d1"]
		for range delivery.PastMax + 5 {
			d.connect()
			w.advance(time.Second)
		}
		device, _, err := delivery.LoadDevice(w.store, "t1", "d1")
		if err != nil || len(device.Past) != delivery.PastMax {
			t.Fatalf("%d past sessions, %v; want %d", len(device.Past), err, delivery.PastMax)
		}
		if fmt.Sprint(device.Past[len(device.Past)-1]) == device.Session {
			t.Error("the present session is among the past ones")
		}
	})
}

// TestCopiesAreCountedAndServed: two devices with one identity throw one another out for ever. The
// broker says so, and gives whoever is there its tickets: a wrong refusal would close a kitchen.
func TestCopiesAreCountedAndServed(t *testing.T) {
	build(t, func(w *world) {
		d := w.fleet["d1"]
		for round, journal := range []string{"card", "copy", "card", "copy"} {
			d.journal = journal
			d.connect()
			w.advance(time.Second)
			if is, want := w.relay.Counters().Copies, uint64(max(0, round-1)); is != want {
				t.Errorf("round %d: %d copies counted, want %d", round, is, want)
			}
		}
		w.accept("o1/1")
		w.settle()
		d.wantTickets("o1/1@grill")
		device, _, err := delivery.LoadDevice(w.store, "t1", "d1")
		if err != nil || device.Copies.Count != 2 {
			t.Errorf("%+v, %v; want 2 on record", device.Copies, err)
		}
	})
}
