package relay_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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
		// An hour without paper costs no attempt.
		w.advance(time.Hour)
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
		w.want("o0/1", delivery.Waiting, 1)
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

// TestUnderFaultsNothingIsLostAndNothingDoubledUnmarked lets a device that remembers lose its link,
// its process, its answers and its broker, in random order, and then heals everything.
func TestUnderFaultsNothingIsLostAndNothingDoubledUnmarked(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			build(t, func(w *world) { chaos(t, w, rand.New(rand.NewPCG(seed, 7))) })
		})
	}
}

func chaos(t *testing.T, w *world, random *rand.Rand) {
	d := w.fleet["d1"]
	flaky := func(t wire.Ticket) []wire.Ack {
		switch random.IntN(6) {
		case 0:
			return nil // Lost on the way.
		case 1:
			d.prints(t)
			return nil // Printed, and the answer is lost.
		case 2:
			refused := about(t, wire.OutcomeRefused)
			refused.Reason = "storage"
			return []wire.Ack{refused}
		}
		return d.prints(t)
	}
	d.answer = flaky
	d.connect()
	var ids []string
	for i := range 60 {
		id := fmt.Sprintf("o%d/%d", random.IntN(12), i+1)
		w.accept(id)
		ids = append(ids, id)
		switch random.IntN(10) {
		case 0:
			d.drop()
			w.advance(time.Duration(random.IntN(90)) * time.Second)
			d.connect()
		case 1:
			d.crash()
			w.advance(time.Duration(random.IntN(90)) * time.Second)
			d.connect()
		case 2:
			w.restart()
			d.connect()
		case 3:
			w.fail(errors.New("engine gone"))
			w.advance(time.Second)
			w.fail(nil)
		default:
			w.advance(time.Duration(random.IntN(20)) * time.Second)
		}
	}
	d.mu.Lock()
	d.answer = d.prints
	d.mu.Unlock()
	d.connect()
	w.advance(2 * time.Hour)
	for _, id := range ids {
		got := w.delivery(id)
		if got.State != delivery.Settled {
			t.Errorf("%s is %s (%s)", id, got.State, got.Reason)
		}
		papers := d.papers[id+"@grill"]
		if len(papers) == 0 {
			t.Errorf("%s has no paper", id)
		}
		for i, marked := range papers {
			if i > 0 && !marked {
				t.Errorf("%s has %d papers: %v", id, len(papers), papers)
			}
		}
	}
	if c := w.relay.Counters(); c.Open != 0 || c.Leased != 0 {
		t.Errorf("%d open, %d leased", c.Open, c.Leased)
	}
	order(t, d)
}

// order checks I6 on what was handed over first: within an order, the first handing-over of a
// mutation comes after that of every lower one that had been accepted by then.
func order(t *testing.T, d *device) {
	newest := map[string]int{}
	seen := map[string]bool{}
	for _, ticket := range d.got {
		id, err := wire.ParseTicketID(ticket.ID)
		if err != nil {
			t.Fatal(err)
		}
		if seen[ticket.ID] {
			continue
		}
		seen[ticket.ID] = true
		if id.Seq < newest[id.Order] {
			t.Errorf("%s was first handed over after seq %d", ticket.ID, newest[id.Order])
		}
		newest[id.Order] = id.Seq
	}
}
