package relay_test

import (
	"testing"
	"time"

	"chit/broker/delivery"
	"chit/broker/relay"
)

// away ends the broker for a while; the devices' engine, and what it heard of them, lives on.
func (w *world) away(d time.Duration) {
	w.t.Helper()
	w.end()
	<-time.After(d) // The bubble's clock.
	w.start()
	w.settle()
}

// TestALeaseThatEndedWhileTheBrokerWasAwayIsADeferral: nobody was there to hear the answer, so the
// ticket spends no attempt.
func TestALeaseThatEndedWhileTheBrokerWasAwayIsADeferral(t *testing.T) {
	build(t, func(w *world) {
		d := w.fleet["d1"]
		d.connect()
		w.accept("o1/1")
		w.want("o1/1", delivery.Leased, 0)
		w.away(10 * delivery.LeaseFor)
		if got := w.want("o1/1", delivery.Parked, 0); got.Deferrals["restart"].Count != 1 {
			t.Errorf("%v", got.Deferrals)
		}
		d.answer = d.prints
		d.connect()
		w.want("o1/1", delivery.Settled, 0)
	})
}

// TestARestartedBrokerCountsNothingAgainstADeviceThatIsStillThere: its engine outlived the broker,
// and it says hello when it hears of the new one.
func TestARestartedBrokerCountsNothingAgainstADeviceThatIsStillThere(t *testing.T) {
	build(t, func(w *world) {
		d := w.fleet["d1"]
		d.connect()
		for _, id := range []string{"o1/1", "o2/1", "o3/1"} {
			w.accept(id)
		}
		w.away(time.Minute)
		w.accept("o4/1")
		w.advance(relay.PresenceGrace - time.Second)
		if p := w.relay.Presence("t1", "d1"); p.Present || p.Absent != 0 {
			t.Errorf("before its hello: %+v", p)
		}
		d.answer = d.prints
		d.connect()
		for _, id := range []string{"o1/1", "o2/1", "o3/1", "o4/1"} {
			w.want(id, delivery.Settled, 0)
		}
		w.advance(time.Hour)
		if p := w.relay.Presence("t1", "d1"); !p.Present || p.Absent != 0 {
			t.Errorf("after it: %+v", p)
		}
	})
}

func TestAbsenceCountsFromTheRelaysStartAndOnlyAfterItsGrace(t *testing.T) {
	build(t, func(w *world) {
		start := time.Now().UTC().Truncate(time.Millisecond)
		want := func(device string, present bool, since, absent time.Duration) {
			t.Helper()
			got := w.relay.Presence("t1", device)
			if got.Present != present || got.Since.Sub(start) != since || got.Absent != absent {
				t.Errorf("%s after %s: %+v (since %s), want %v since %s, absent %s", device,
					time.Since(start), got, got.Since.Sub(start), present, since, absent)
			}
		}
		d := w.fleet["d1"]
		w.advance(2 * time.Second)
		want("d1", false, 0, 0)
		d.connect()
		want("d1", true, 2*time.Second, 0)
		w.advance(time.Second)
		d.drop()
		w.advance(relay.PresenceGrace - 3*time.Second - time.Millisecond)
		want("d1", false, 3*time.Second, 0)
		want("never-heard", false, 0, 0)
		w.advance(time.Millisecond)
		want("d1", false, 3*time.Second, relay.PresenceGrace-3*time.Second)
		want("never-heard", false, 0, relay.PresenceGrace)
		d.connect()
		want("d1", true, relay.PresenceGrace, 0)
		w.advance(time.Hour)
		d.drop()
		w.advance(5 * time.Second)
		want("d1", false, relay.PresenceGrace+time.Hour, 5*time.Second)
		if got := w.relay.Presence("t2", "d1"); got.Present || got.Since != start {
			t.Errorf("another tenant's: %+v", got)
		}
	})
}
