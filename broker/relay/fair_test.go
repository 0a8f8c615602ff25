package relay_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"chit/broker/delivery"
	"chit/broker/relay"
	"chit/device/wire"
)

// slow is a broker that hands over rate tickets a second and two at once.
func (w *world) slow(rate float64) {
	w.t.Helper()
	w.end()
	w.rate, w.burst = rate, 2
	w.start()
}

// TestAStormAtOneStationDoesNotStarveAnother: the names no longer decide.
func TestAStormAtOneStationDoesNotStarveAnother(t *testing.T) {
	build(t, func(w *world) {
		w.slow(10)
		d := w.add("d2", "a-storm", "z-quiet")
		d.answer = d.prints
		for i := range 60 {
			w.accept(fmt.Sprintf("o%02d/1", i), "a-storm")
		}
		d.connect()
		w.advance(500 * time.Millisecond)
		w.accept("late/1", "z-quiet")
		w.advance(100 * time.Millisecond) // One token.
		w.want("late/1@z-quiet", delivery.Settled, 0)
		if got := d.tickets(); len(got) > 9 {
			t.Errorf("%d went, the rate is not the limit here", len(got))
		}
		w.advance(10 * time.Second)
		storm := slices.DeleteFunc(d.tickets(), func(id string) bool {
			return !strings.HasSuffix(id, "@a-storm")
		})
		if len(storm) != 60 || !slices.IsSorted(storm) {
			t.Errorf("%d of the storm, sorted %v", len(storm), slices.IsSorted(storm))
		}
	})
}

// TestEveryKitchensOldestTicketComesFirst: three kitchens come back with tickets of different ages.
func TestEveryKitchensOldestTicketComesFirst(t *testing.T) {
	build(t, func(w *world) {
		w.slow(1)
		names := []string{"c", "a", "b"} // By the age of their oldest.
		for round := range 3 {
			for _, name := range names {
				w.accept(fmt.Sprintf("%s%d/1", name, round), name)
				w.advance(time.Second)
			}
		}
		w.accept("c9/1", "c") // The youngest of all.
		other := w.fleet["d1"]
		other.answer = other.prints
		other.connect()
		w.accept("x1/1", "grill", "bar") // They spend the tokens: from now on the rate is the limit.
		d := w.add("d2", names...)
		d.answer = d.prints
		d.connect()
		w.advance(20 * time.Second)
		d.wantTickets("c0/1@c", "a0/1@a", "b0/1@b", "c1/1@c", "a1/1@a", "b1/1@b", "c2/1@c", "a2/1@a",
			"b2/1@b", "c9/1@c")
	})
}

// TestStationsThatShareAPrinterTakeTurnsAtIt: here the window is the limit.
func TestStationsThatShareAPrinterTakeTurnsAtIt(t *testing.T) {
	build(t, func(w *world) {
		d := w.add("d2", "a-storm", "z-quiet")
		w.serves["z-quiet"] = w.serves["a-storm"]
		d.connect()
		for i := range 30 {
			w.accept(fmt.Sprintf("o%02d/1", i), "a-storm")
		}
		w.accept("late/1", "z-quiet")
		d.mu.Lock()
		d.say(about(d.got[0], wire.OutcomePrinted))
		d.mu.Unlock()
		w.settle()
		got := d.tickets()
		if len(got) != relay.WindowMax+1 || got[relay.WindowMax] != "late/1@z-quiet" {
			t.Errorf("handed over %v", got)
		}
	})
}

// TestWhatIsParkedAndOlderGoesBeforeWhatIsWaiting: a ticket that comes while the old ones are woken
// does not overtake them.
func TestWhatIsParkedAndOlderGoesBeforeWhatIsWaiting(t *testing.T) {
	build(t, func(w *world) {
		var want []string
		for i := range 50 {
			w.accept(fmt.Sprintf("o%02d/1", i))
			want = append(want, fmt.Sprintf("o%02d/1@grill", i))
			w.advance(time.Millisecond)
		}
		d := w.fleet["d1"]
		d.connect()
		w.advance(time.Second)
		w.accept("late/1")
		d.mu.Lock()
		d.answer = d.prints
		for _, ticket := range slices.Clone(d.got) {
			d.memory[ticket.ID] = true
			d.say(about(ticket, wire.OutcomePrinted))
		}
		d.mu.Unlock()
		w.settle()
		d.wantTickets(append(want, "late/1@grill")...)
	})
}

// TestAllTenantsTogetherAreBoundedToo: below Total, whatever each may do.
func TestAllTenantsTogetherAreBoundedToo(t *testing.T) {
	build(t, func(w *world) {
		w.end()
		w.total, w.totalBurst = 10, 5
		w.start()
		d := w.fleet["d1"]
		d.answer = d.prints
		for i := range 60 {
			w.accept(fmt.Sprintf("o%02d/1", i))
		}
		d.connect()
		w.advance(time.Second + time.Millisecond)
		if got := len(d.tickets()); got < 14 || got > 15 {
			t.Errorf("%d in the first second, want 15", got)
		}
	})
}
