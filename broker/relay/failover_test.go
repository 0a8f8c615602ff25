package relay_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"chit/broker/delivery"
	"chit/broker/relay"
	"chit/device/wire"
)

// pair is a world whose grill is served by d1 and whose bar by d2, which takes over for the grill.
func pair(t *testing.T, story func(w *world, grill, bar *device)) {
	t.Helper()
	buildWith(t, func(w *world) {
		w.add("d1", "grill")
		w.add("d2", "bar")
		w.serves["grill"] = relay.Station{Device: "d1", Printer: "p1", Name: "Grill", Backup: "bar"}
		w.serves["bar"] = relay.Station{Device: "d2", Printer: "p1", Name: "the bar"}
	}, func(w *world) {
		grill, bar := w.fleet["d1"], w.fleet["d2"]
		bar.answer = bar.prints
		grill.connect()
		bar.connect()
		story(w, grill, bar)
		w.noSilentDoubles(grill, bar)
	})
}

// noSilentDoubles checks that of all papers of a ticket at most one is unmarked.
func (w *world) noSilentDoubles(devices ...*device) {
	w.t.Helper()
	unmarked := map[string]int{}
	for _, d := range devices {
		for ticket, papers := range d.papers {
			for _, marked := range papers {
				if !marked {
					unmarked[ticket]++
				}
			}
		}
	}
	for ticket, n := range unmarked {
		if n > 1 {
			w.t.Errorf("%s printed %d times without a mark", ticket, n)
		}
	}
}

// holds answers that the ticket is held.
func holds(t wire.Ticket) []wire.Ack {
	held := about(t, wire.OutcomeHeld)
	held.Reason = "paper_out"
	return []wire.Ack{held}
}

// gives answers a recall: nothing of it is on paper, and it will not start.
func gives(r wire.Recall) []wire.Ack {
	return []wire.Ack{{Ticket: r.Ticket, Attempt: r.Attempt, Outcome: wire.OutcomeRecalled,
		Reason: r.ID}}
}

func (d *device) wantMarks(marks ...wire.Mark) wire.Ticket {
	d.w.t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.got) == 0 {
		d.w.t.Fatalf("%s got nothing", d.id)
	}
	last := d.got[len(d.got)-1]
	if !slices.Equal(last.Marks, marks) {
		d.w.t.Fatalf("%s got %s with %v, want %v", d.id, last.ID, last.Marks, marks)
	}
	return last
}

// first is the first recall that it was told.
func (d *device) first() wire.Recall {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.recalls[0]
}

func (d *device) recalled() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.recalls)
}

func TestTheBackupPrintsWithinSeventeenSecondsOfSilence(t *testing.T) {
	pair(t, func(w *world, grill, bar *device) {
		w.accept("o1/1")
		grill.wantTickets("o1/1@grill")
		w.advance(delivery.SilentMax - time.Second)
		bar.wantTickets()
		w.advance(time.Second)
		if grill.recalled() != 1 {
			t.Fatalf("%d recalls", grill.recalled())
		}
		bar.wantTickets() // It waits a moment for the answer.
		w.advance(delivery.RecallWait)
		ticket := bar.wantMarks(wire.MarkMoved, wire.MarkPossibleDuplicate)
		if ticket.From != "Grill" || ticket.Number != "1" || ticket.Station != "grill" {
			t.Errorf("%+v", ticket)
		}
		d := w.want("o1/1", delivery.Settled, 1)
		if since := d.Printed.At.Sub(d.Tries[0].At); since > 17*time.Second {
			t.Errorf("printed %v after the hand-over", since)
		}
		if r := grill.first(); r.MovedTo != "the bar" || r.Reason != "moved" || r.Attempt != 1 {
			t.Errorf("%+v", r)
		}
		if got := len(w.rows(delivery.ListRecall)); got != 1 {
			t.Errorf("%d rows of recalls", got)
		}
		// It is told until it answers, also after a restart of the broker.
		w.advance(relay.RecallEvery)
		if grill.recalled() != 2 {
			t.Errorf("told %d times", grill.recalled())
		}
		w.restart()
		grill.mu.Lock()
		grill.takeBack = gives
		grill.mu.Unlock()
		grill.connect()
		if grill.recalled() != 3 || len(w.rows(delivery.ListRecall)) != 0 {
			t.Errorf("told %d times, %d rows", grill.recalled(), len(w.rows(delivery.ListRecall)))
		}
		w.advance(10 * relay.RecallEvery)
		if grill.recalled() != 3 {
			t.Error("told again after its answer")
		}
	})
}

func TestAnAnsweredRecallMovesWithoutTheWordDuplicate(t *testing.T) {
	pair(t, func(w *world, grill, bar *device) {
		grill.answer, grill.takeBack = holds, gives
		w.accept("o1/1")
		w.advance(delivery.HeldMax - time.Second)
		bar.wantTickets()
		w.advance(time.Second)
		bar.wantMarks(wire.MarkMoved) // At once: the answer ended the wait.
		d := w.want("o1/1", delivery.Settled, 0)
		if d.MovedTo != "bar" || len(d.Recalls) != 0 {
			t.Errorf("%q, %+v", d.MovedTo, d.Recalls)
		}
	})
}

func TestARecallThatIsAnsweredByPaperSettles(t *testing.T) {
	pair(t, func(w *world, grill, bar *device) {
		grill.answer = func(ticket wire.Ticket) []wire.Ack { return nil }
		grill.takeBack = func(r wire.Recall) []wire.Ack { // It was on its way to the paper.
			return grill.prints(grill.got[0])[1:]
		}
		w.accept("o1/1")
		w.advance(delivery.SilentMax + time.Minute)
		w.want("o1/1", delivery.Settled, 1)
		bar.wantTickets()
		if rows := w.rows(delivery.ListRecall); len(rows) != 0 {
			t.Errorf("%v", rows)
		}
	})
}

func TestALatePaperOfThePrimaryIsToldAsDoubled(t *testing.T) {
	pair(t, func(w *world, grill, bar *device) {
		w.accept("o1/1")
		w.advance(delivery.SilentMax + delivery.RecallWait)
		w.want("o1/1", delivery.Settled, 1)
		grill.mu.Lock()
		grill.say(grill.prints(grill.got[0])[1])
		grill.mu.Unlock()
		w.settle()
		d := w.want("o1/1", delivery.Settled, 1)
		if len(d.Doubled) != 1 || len(d.Recalls) != 0 {
			t.Errorf("%+v, %+v", d.Doubled, d.Recalls)
		}
	})
}

func TestAnAwayDevicesTicketsMoveAfterFiveSeconds(t *testing.T) {
	pair(t, func(w *world, grill, bar *device) {
		w.advance(relay.PresenceGrace)
		w.accept("o1/1") // Handed over, not answered.
		grill.drop()
		w.accept("o2/1") // Never handed over.
		w.advance(delivery.AwayMax - time.Second)
		bar.wantTickets()
		w.advance(time.Second)
		bar.wantTickets("o1/1@grill", "o2/1@grill")
		bar.wantMarks()
		bar.mu.Lock()
		first := bar.got[0]
		bar.mu.Unlock()
		if !slices.Equal(first.Marks, []wire.Mark{wire.MarkMoved,
			wire.MarkPossibleDuplicate}) {
			t.Errorf("%v", first.Marks)
		}
		w.accept("o3/1") // While it is away, at once.
		bar.wantTickets("o1/1@grill", "o2/1@grill", "o3/1@grill")
		grill.answer, grill.takeBack = grill.prints, gives
		grill.connect()
		if grill.recalled() != 1 {
			t.Errorf("%d recalls", grill.recalled())
		}
		w.accept("o4/1")
		grill.wantTickets("o1/1@grill", "o4/1@grill")
		if last := grill.wantMarks(); last.Gaps != "1:moved:bar,2:moved:bar,3:moved:bar" {
			t.Errorf("%+v", last)
		}
	})
}

func TestAfterTheBrokersStartPresenceIsLearntFirst(t *testing.T) {
	pair(t, func(w *world, grill, bar *device) {
		w.restart()
		bar.connect()
		w.accept("o1/1")
		w.advance(relay.PresenceGrace - time.Second)
		bar.wantTickets()
		w.advance(time.Second)
		bar.wantTickets("o1/1@grill")
	})
}

func TestADegradedDeviceIsRelievedAtOnce(t *testing.T) {
	pair(t, func(w *world, grill, bar *device) {
		grill.hint.Degraded = "storage"
		grill.status("online", grill.session)
		w.settle()
		w.accept("o1/1")
		bar.wantTickets("o1/1@grill")
		bar.wantMarks()
		grill.wantTickets()
	})
}

func TestNothingMovesToABackupThatIsInTrouble(t *testing.T) {
	for name, trouble := range map[string]func(w *world, bar *device){
		"away": func(w *world, bar *device) { bar.drop() },
		"held": func(w *world, bar *device) {
			bar.hint.Printers = []wire.PrinterStatus{{Name: "p1", Held: "cover_open"}}
			bar.status("online", bar.session)
		},
		"degraded": func(w *world, bar *device) {
			bar.hint.Degraded = "storage"
			bar.status("online", bar.session)
		},
	} {
		t.Run(name, func(t *testing.T) {
			pair(t, func(w *world, grill, bar *device) {
				w.advance(relay.PresenceGrace)
				trouble(w, bar)
				w.settle()
				w.accept("o1/1")
				grill.drop()
				w.advance(time.Hour)
				bar.wantTickets()
				w.want("o1/1", delivery.Parked, 0)
				bar.hint = wire.Status{}
				bar.connect()
				w.advance(time.Second) // Its old session may have been asked first.
				bar.wantTickets("o1/1@grill")
			})
		})
	}
}

func TestAMovedTicketStaysUntilTheBackupFailsAndThePrimaryIsWell(t *testing.T) {
	pair(t, func(w *world, grill, bar *device) {
		w.advance(relay.PresenceGrace)
		bar.answer, bar.takeBack = holds, gives
		grill.drop()
		w.accept("o1/1")
		w.advance(delivery.AwayMax)
		bar.wantTickets("o1/1@grill")
		grill.answer = grill.prints
		grill.connect()
		w.advance(delivery.HeldMax - 5*time.Second)
		grill.wantTickets()
		w.advance(10 * time.Second)
		grill.wantTickets("o1/1@grill")
		if back := grill.wantMarks(wire.MarkMoved); back.From != "the bar" {
			t.Errorf("%+v", back)
		}
		d := w.want("o1/1", delivery.Settled, 0)
		if d.MovedTo != "" || d.Moves != 2 {
			t.Errorf("%q after %d moves", d.MovedTo, d.Moves)
		}
	})
}

func TestAMutationWaitsForTheLowerOneThatMoved(t *testing.T) {
	pair(t, func(w *world, grill, bar *device) {
		bar.answer = func(wire.Ticket) []wire.Ack { return nil }
		w.accept("o1/1")
		w.advance(delivery.SilentMax + delivery.RecallWait)
		bar.wantTickets("o1/1@grill")
		w.accept("o1/2")
		grill.wantTickets("o1/1@grill")
		bar.mu.Lock()
		bar.say(bar.prints(bar.got[0])[1])
		bar.mu.Unlock()
		w.settle()
		grill.wantTickets("o1/1@grill", "o1/2@grill")
	})
}

func TestARestartedBrokerKnowsWhereATicketIs(t *testing.T) {
	pair(t, func(w *world, grill, bar *device) {
		bar.answer = nil
		w.accept("o1/1")
		w.advance(delivery.SilentMax + delivery.RecallWait)
		bar.wantTickets("o1/1@grill")
		w.restart()
		bar.answer = bar.prints
		bar.connect()
		grill.connect()
		bar.wantMarks(wire.MarkMoved, wire.MarkPossibleDuplicate)
		w.want("o1/1", delivery.Settled, 1)
		grill.wantTickets("o1/1@grill")
	})
}

func TestACancelledTicketIsRecalledUntilItsEnd(t *testing.T) {
	pair(t, func(w *world, grill, bar *device) {
		w.accept("o1/1")
		if _, err := w.desk.Do(context.Background(), delivery.Cancel{Tenant: "t1", Ticket: "o1/1@grill",
			Who: "ana", Reason: "refund"}); err != nil {
			t.Fatal(err)
		}
		w.settle()
		if grill.recalled() != 1 || grill.first().Reason != "cancelled" {
			t.Fatalf("%d recalls", grill.recalled())
		}
		grill.drop()
		w.advance(delivery.ExpiresAfter + relay.RecallEvery)
		if rows := w.rows(delivery.ListRecall); len(rows) != 0 {
			t.Errorf("recalled for ever: %v", rows)
		}
	})
}

func TestACanaryStaysWithItsPrinterWhileOrdersMove(t *testing.T) {
	pair(t, func(w *world, grill, bar *device) {
		grill.drop()
		canary, err := delivery.NewCanary("t1", "main", "grill", "2026-03-01", 12*time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.desk.Do(context.Background(), canary); err != nil {
			t.Fatal(err)
		}
		w.accept("o1/1")
		w.advance(time.Minute)
		bar.wantTickets("o1/1@grill")
		w.want("o1/1", delivery.Settled, 0)
		if d := w.want(canary.Ticket(), delivery.Parked, 0); d.MovedTo != "" || d.Moves != 0 {
			t.Errorf("the canary moved to %q", d.MovedTo)
		}
		grill.answer = grill.prints
		grill.connect()
		w.advance(time.Second)
		grill.wantTickets(canary.Ticket())
		w.want(canary.Ticket(), delivery.Settled, 0)
	})
}
