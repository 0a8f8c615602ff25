package relay_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"chit/broker/delivery"
	"chit/broker/relay"
	"chit/device/wire"
)

func TestATicketReachesAPresentDeviceAndSettles(t *testing.T) {
	build(t, func(w *world) {
		d := w.fleet["d1"]
		d.answer = d.prints
		d.connect()
		w.accept("o1/1")
		d.wantTickets("o1/1@grill")
		got := w.want("o1/1", delivery.Settled, 0)
		if got.Evidence != wire.EvidenceConfirmed || got.Attempt != 1 || got.Number != "1" {
			t.Errorf("%+v", got)
		}
		c := w.relay.Counters()
		if c.Sent != 1 || c.Acks["printed"] != 1 || c.Acks["stored"] != 1 || c.Open != 0 ||
			c.Present != 1 || c.Leased != 0 || c.Events["printed"] != 1 {
			t.Errorf("%+v", c)
		}
		if rows := w.rows(delivery.ListOpen); len(rows) != 0 {
			t.Errorf("still owed: %v", rows)
		}
	})
}

func TestAnAbsentDevicesTicketsAreParkedUntilItsBirth(t *testing.T) {
	build(t, func(w *world) {
		w.accept("o1/1")
		w.want("o1/1", delivery.Parked, 0)
		w.advance(5 * time.Hour)
		w.want("o1/1", delivery.Parked, 0)
		d := w.fleet["d1"]
		d.answer = d.prints
		d.connect()
		got := w.want("o1/1", delivery.Settled, 0)
		if got.Attempt != 1 || len(d.got) != 1 || !slices.Contains(d.got[0].Marks, wire.MarkLate) {
			t.Errorf("attempt %d, %+v", got.Attempt, d.got)
		}
	})
}

func TestAnUnansweredTicketDiesAfterTenAttempts(t *testing.T) {
	build(t, func(w *world) {
		d := w.fleet["d1"]
		d.connect()
		w.accept("o1/1")
		w.advance(delivery.LeaseFor - time.Millisecond)
		w.want("o1/1", delivery.Leased, 0)
		w.advance(time.Millisecond)
		w.want("o1/1", delivery.Waiting, 1)
		w.advance(time.Second) // Half of the first limit.
		w.want("o1/1", delivery.Leased, 1)
		w.advance(20 * time.Minute)
		got := w.want("o1/1", delivery.Dead, delivery.AttemptsMax)
		if got.Reason != "attempts" || len(d.tickets()) != 10 || len(w.rows(delivery.ListDead)) != 1 {
			t.Errorf("%s, %d sent", got.Reason, len(d.tickets()))
		}
	})
}

func TestAParkedTicketDiesWithItsWindow(t *testing.T) {
	build(t, func(w *world) {
		w.accept("o1/1")
		w.advance(delivery.Window - time.Millisecond)
		w.want("o1/1", delivery.Parked, 0)
		w.advance(time.Millisecond)
		if got := w.want("o1/1", delivery.Dead, 0); got.Reason != "window" {
			t.Errorf("died of %s", got.Reason)
		}
	})
}

func TestARedrivenTicketGoesOutAgain(t *testing.T) {
	build(t, func(w *world) {
		d := w.fleet["d1"]
		d.connect()
		d.answer = func(t wire.Ticket) []wire.Ack {
			ack := about(t, wire.OutcomeRefused)
			ack.Permanent, ack.Reason = true, "poison"
			return []wire.Ack{ack}
		}
		w.accept("o1/1")
		w.want("o1/1", delivery.Dead, 0)
		d.answer = d.prints
		if _, err := w.desk.Do(context.Background(), delivery.Redrive{Tenant: "t1",
			Ticket: "o1/1@grill", Who: "ana", Why: "fixed"}); err != nil {
			t.Fatal(err)
		}
		w.settle()
		if got := w.want("o1/1", delivery.Settled, 0); got.Attempt != 2 || got.Number != "1" {
			t.Errorf("%+v", got)
		}
		if len(w.rows(delivery.ListDead)) != 0 {
			t.Error("still among the dead letters")
		}
	})
}

func TestOldestFirstAndAtMostEightPerPrinter(t *testing.T) {
	build(t, func(w *world) {
		var grill, all []string
		for i := range 12 {
			w.accept(fmt.Sprintf("o%02d/1", i), "grill", "bar")
			grill = append(grill, fmt.Sprintf("o%02d/1@grill", i))
			w.advance(time.Millisecond)
		}
		d := w.fleet["d1"]
		d.connect()
		for _, id := range d.tickets() {
			if strings.HasSuffix(id, "@grill") {
				all = append(all, id)
			}
		}
		if !slices.Equal(all, grill[:relay.WindowMax]) || len(d.tickets()) != 2*relay.WindowMax {
			t.Fatalf("handed over %v", d.tickets())
		}
		// One settles, one more goes out, and to the same printer only.
		d.mu.Lock()
		d.say(about(d.got[slices.IndexFunc(d.got, func(t wire.Ticket) bool {
			return t.ID == grill[3]
		})], wire.OutcomePrinted))
		d.mu.Unlock()
		w.settle()
		if got := d.tickets(); len(got) != 17 || got[16] != grill[8] {
			t.Errorf("then %v", got[16:])
		}
		if c := w.relay.Counters(); c.Leased != 16 || c.Open != 23 {
			t.Errorf("%d leased, %d open", c.Leased, c.Open)
		}
	})
}

func TestStationsThatShareAPrinterShareItsWindow(t *testing.T) {
	build(t, func(w *world) {
		w.serves["bar"] = w.serves["grill"]
		d := w.fleet["d1"]
		d.connect()
		for i := range relay.WindowMax {
			w.accept(fmt.Sprintf("o%d/1", i))
		}
		w.accept("o9/1", "bar")
		if got := d.tickets(); len(got) != relay.WindowMax {
			t.Fatalf("handed over %v", got)
		}
		d.mu.Lock()
		d.say(about(d.got[0], wire.OutcomePrinted))
		d.mu.Unlock()
		w.settle()
		if got := d.tickets(); got[len(got)-1] != "o9/1@bar" {
			t.Errorf("handed over %v", got)
		}
	})
}

func TestAHeldPrinterStopsOnlyItsOwnStation(t *testing.T) {
	build(t, func(w *world) {
		d := w.fleet["d1"]
		d.answer = func(t wire.Ticket) []wire.Ack {
			if t.Station == "bar" {
				return d.prints(t)
			}
			held := about(t, wire.OutcomeHeld)
			held.Reason = "paper_out"
			return []wire.Ack{held}
		}
		d.connect()
		for i := range 20 {
			w.accept(fmt.Sprintf("o%02d/1", i), "grill", "bar")
		}
		for i := range 20 {
			w.want(fmt.Sprintf("o%02d/1@bar", i), delivery.Settled, 0)
		}
		w.want("o07/1@grill", delivery.Leased, 0)
		w.want("o08/1@grill", delivery.Waiting, 0)
		// Minutes without paper cost no attempt.
		w.advance(15 * time.Minute)
		if got := w.delivery("o00/1@grill"); got.Failed != 0 || !got.State.Open() {
			t.Errorf("%s with %d failed", got.State, got.Failed)
		}
	})
}

func TestAfterACrashOneAtATimeUntilOneSettles(t *testing.T) {
	build(t, func(w *world) {
		d := w.fleet["d1"]
		d.connect()
		for i := range 4 {
			w.accept(fmt.Sprintf("o%d/1", i))
			w.advance(time.Millisecond)
		}
		d.crash()
		for i := range 4 {
			w.want(fmt.Sprintf("o%d/1", i), delivery.Parked, 0)
		}
		d.got = nil
		d.connect()
		// Every one of them was an attempt, for nobody knows which one it was.
		for i := range 4 {
			w.want(fmt.Sprintf("o%d/1", i), delivery.Waiting, 1)
		}
		w.advance(3 * time.Second)
		if got := d.tickets(); len(got) != 1 {
			t.Fatalf("handed over %v", got)
		}
		d.mu.Lock()
		d.answer = d.prints
		d.say(about(d.got[0], wire.OutcomePrinted))
		d.mu.Unlock()
		w.advance(3 * time.Second)
		for i := range 4 {
			if got := w.delivery(fmt.Sprintf("o%d/1", i)); got.State != delivery.Settled {
				t.Errorf("o%d is %s", i, got.State)
			}
		}
	})
}

func TestALostLinkIsNoAttempt(t *testing.T) {
	build(t, func(w *world) {
		d := w.fleet["d1"]
		d.connect()
		w.accept("o1/1")
		d.drop()
		w.want("o1/1", delivery.Parked, 0)
		w.advance(time.Hour)
		d.answer = d.prints
		d.connect()
		if got := w.want("o1/1", delivery.Settled, 0); got.Deferrals["link"].Count != 1 {
			t.Errorf("%v", got.Deferrals)
		}
		// A will of an older session says nothing.
		d.status("offline", "some-older-session")
		w.settle()
		w.accept("o2/1")
		w.want("o2/1", delivery.Settled, 0)
	})
}

func TestANewSessionWithoutAWillEndsTheOldLeases(t *testing.T) {
	build(t, func(w *world) {
		d := w.fleet["d1"]
		d.connect()
		w.accept("o1/1")
		w.advance(time.Second)
		d.answer = d.prints
		d.connect()
		if got := w.want("o1/1", delivery.Settled, 0); got.Attempt != 2 {
			t.Errorf("attempt %d", got.Attempt)
		}
	})
}

func TestARestartOfTheBrokerIsADeferral(t *testing.T) {
	build(t, func(w *world) {
		d := w.fleet["d1"]
		d.connect()
		w.accept("o1/1")
		w.want("o1/1", delivery.Leased, 0)
		w.restart()
		if got := w.want("o1/1", delivery.Parked, 0); got.Deferrals["restart"].Count != 1 {
			t.Errorf("%v", got.Deferrals)
		}
		d.answer = d.prints
		d.connect()
		w.want("o1/1", delivery.Settled, 0)
	})
}

func TestTimersSurviveARestart(t *testing.T) {
	build(t, func(w *world) {
		w.accept("o1/1")
		w.advance(delivery.Window - time.Hour)
		w.restart()
		w.want("o1/1", delivery.Parked, 0)
		w.advance(time.Hour)
		w.want("o1/1", delivery.Dead, 0)
	})
}

func TestALowerMutationComesFirst(t *testing.T) {
	build(t, func(w *world) {
		d := w.fleet["d1"]
		d.connect()
		w.accept("o1/3")
		w.accept("o1/5")
		w.accept("o2/1")
		d.wantTickets("o1/3@grill", "o2/1@grill")
		d.mu.Lock()
		d.answer = d.prints
		d.say(about(d.got[0], wire.OutcomePrinted))
		d.mu.Unlock()
		w.settle()
		d.wantTickets("o1/3@grill", "o2/1@grill", "o1/5@grill")
		if last := d.got[2]; last.Pred != "o1/3@grill" {
			t.Errorf("pred %q", last.Pred)
		}
	})
}

func TestAReleaseIsWaitedFor(t *testing.T) {
	build(t, func(w *world) {
		d := w.fleet["d1"]
		d.answer = d.prints
		d.connect()
		w.post(wire.Content{ID: "o1/1", Kitchen: "main", Station: "grill", Kind: wire.KindNotice,
			Note: "x", ReleaseAt: time.Now().Add(2 * time.Hour).UTC().Format(time.RFC3339)})
		w.advance(2*time.Hour - time.Second)
		w.want("o1/1", delivery.Waiting, 0)
		w.advance(time.Second)
		w.want("o1/1", delivery.Settled, 0)
	})
}

func TestAMessageThatDoesNotLeaveIsADeferral(t *testing.T) {
	build(t, func(w *world) {
		d := w.fleet["d1"]
		d.answer = d.prints
		d.connect()
		w.fail(errors.New("engine gone"))
		w.accept("o1/1")
		if got := w.want("o1/1", delivery.Waiting, 0); got.Deferrals["unsent"].Count != 1 {
			t.Errorf("%v", got.Deferrals)
		}
		w.fail(nil)
		w.advance(2 * time.Second)
		w.want("o1/1", delivery.Settled, 0)
	})
}

func TestDispatchesArePaced(t *testing.T) {
	build(t, func(w *world) {
		w.end()
		w.rate, w.burst = 10, 5
		w.start()
		d := w.fleet["d1"]
		d.answer = d.prints
		for i := range 100 {
			w.accept(fmt.Sprintf("o%02d/1", i), []string{"grill", "bar"}[i%2])
		}
		d.connect()
		if got := len(d.tickets()); got != 5 {
			t.Errorf("%d at once, want 5", got)
		}
		w.advance(3*time.Second + time.Millisecond)
		if got := len(d.tickets()); got < 33 || got > 35 {
			t.Errorf("%d after 3 s, want 35", got)
		}
		w.advance(8 * time.Second)
		if got := len(d.tickets()); got != 100 {
			t.Errorf("%d in the end", got)
		}
	})
}

func TestALostJournalMarksWhatWasHandedOver(t *testing.T) {
	build(t, func(w *world) {
		d := w.fleet["d1"]
		d.connect()
		w.accept("o1/1")
		d.drop()
		d.journal, d.n, d.boot = "j-new", 0, 1
		d.answer = d.prints
		d.connect()
		w.advance(2 * time.Second)
		w.accept("o2/1")
		w.want("o1/1", delivery.Settled, 1)
		for i, want := range [][]wire.Mark{nil, {wire.MarkPossibleDuplicate}, nil} {
			if got := d.got[i]; !slices.Equal(got.Marks, want) {
				t.Errorf("%s, attempt %d, is marked %v", got.ID, got.Attempt, got.Marks)
			}
		}
		if got := w.delivery("o1/1"); !got.Marked {
			t.Error("the mark on the paper is not recorded")
		}
	})
}

func TestAMovedStationIsServedByItsNewDevice(t *testing.T) {
	build(t, func(w *world) {
		w.accept("o1/1")
		d2 := w.add("d2", "grill")
		d2.answer = d2.prints
		d2.connect()
		if got := w.want("o1/1", delivery.Settled, 0); got.Printed.Device != "d2" {
			t.Errorf("printed by %s", got.Printed.Device)
		}
		if len(d2.got[0].Marks) != 0 {
			t.Errorf("never handed over, and marked %v", d2.got[0].Marks)
		}
	})
}
