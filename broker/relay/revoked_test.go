package relay_test

import (
	"testing"
	"time"

	"chit/broker/delivery"
	"chit/device/wire"
)

// TestARevokedDeviceIsAwayAtOnceAndSettlesNothing: nothing that it signs counts any more, its will
// neither, so nobody else would say that its session is over.
func TestARevokedDeviceIsAwayAtOnceAndSettlesNothing(t *testing.T) {
	build(t, func(w *world) {
		d := w.fleet["d1"]
		d.connect()
		w.accept("o1/1")
		w.want("o1/1", delivery.Leased, 0)
		delete(w.fleet, "d1")
		w.relay.Revoked("t1", "d1")
		d.drop() // Its connection is closed, and the engine publishes its will.
		w.wantBad("unknown-device", 1)
		if is := w.relay.Devices()[0]; is.Present {
			t.Errorf("it is still here: %+v", is)
		}
		w.want("o1/1", delivery.Parked, 0)
		d.mu.Lock()
		d.say(about(d.got[0], wire.OutcomePrinted))
		d.mu.Unlock()
		d.hello()
		w.advance(time.Minute)
		w.wantBad("unknown-device", 3)
		w.want("o1/1", delivery.Parked, 0)
		if is := w.relay.Devices()[0]; is.Present {
			t.Errorf("its hello brought it back: %+v", is)
		}
	})
}
