package relay_test

import (
	"testing"
	"time"

	"chit/broker/delivery"
	"chit/device/wire"
)

// dropping makes the grill a station that wants no stale tickets.
func dropping(t *testing.T, story func(w *world, d *device)) {
	buildWith(t, func(w *world) {
		w.add("d1", "grill", "bar")
		served := w.serves["grill"]
		served.OnStale, served.StaleAfter = wire.OnStaleDrop, 10*time.Minute
		w.serves["grill"] = served
	}, func(w *world) { story(w, w.fleet["d1"]) })
}

func TestAStaleTicketIsDroppedWhenItIsStaleAlsoWhereTheDeviceIsAway(t *testing.T) {
	dropping(t, func(w *world, d *device) {
		w.accept("o1/1")
		w.advance(10*time.Minute - time.Second)
		w.want("o1/1", delivery.Parked, 0)
		w.advance(time.Second)
		if got := w.want("o1/1", delivery.Dead, 0); got.Reason != delivery.ReasonStale {
			t.Errorf("dead of %q, want %q", got.Reason, delivery.ReasonStale)
		}
		d.answer = d.prints
		d.connect()
		w.want("o1/1", delivery.Dead, 0)
	})
}

func TestWhatGotStaleWhileTheBrokerWasAwayIsDroppedWithoutTheDevice(t *testing.T) {
	dropping(t, func(w *world, _ *device) {
		w.accept("o1/1")
		w.away(time.Hour)
		w.want("o1/1", delivery.Dead, 0)
	})
}

func TestALeaseThatTheBirthJudgesIsNotDropped(t *testing.T) {
	dropping(t, func(w *world, d *device) {
		d.connect()
		w.accept("o1/1")
		w.want("o1/1", delivery.Leased, 0)
		d.drop()
		w.advance(time.Hour)
		w.want("o1/1", delivery.Parked, 0)
	})
}

func TestAnotherPolicyDropsNothing(t *testing.T) {
	build(t, func(w *world) {
		w.accept("o1/1")
		w.advance(3 * time.Hour)
		w.want("o1/1", delivery.Parked, 0)
	})
}
