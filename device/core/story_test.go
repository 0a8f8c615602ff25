package core_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"chit/device/core"
	"chit/device/wire"
	"chit/printer/session"
)

func TestTicketTakesTwoCommitsAndTwoAnswers(t *testing.T) {
	k := opened(t)
	k.wantCommits(1, func() { k.arrives(ticket("1/1@grill")) })
	k.wantPaper("1/1@grill")
	k.wantAcks("stored 1/1@grill")
	if !slices.Equal(k.pubacks, []core.Handle{1}) {
		t.Fatalf("pubacks %v, want [1]", k.pubacks)
	}
	k.wantCommits(1, func() { k.printed(session.Confirmed) })
	k.wantAcks("printed 1/1@grill confirmed")
	if len(k.store.Intents) != 0 {
		t.Fatalf("intents left: %v", k.store.Intents)
	}
	if !slices.Equal(k.sounds, []core.Pattern{core.SoundNew}) {
		t.Fatalf("sounds %v", k.sounds)
	}
}

func TestTicketsThatArriveTogetherShareACommitAndPrintInOrder(t *testing.T) {
	k := opened(t)
	k.wantCommits(1, func() {
		k.arrives(ticket("1/1@grill"), ticket("2/1@grill"), ticket("3/1@grill"))
	})
	k.wantAcks("stored 1/1@grill", "stored 2/1@grill", "stored 3/1@grill")
	k.wantPaper("1/1@grill")
	t.Logf("# the intent of the second rides on the result of the first")
	k.wantCommits(3, func() {
		k.printed(session.Fenced)
		k.printed(session.Fenced)
		k.printed(session.Fenced)
	})
	k.wantPaper("2/1@grill", "3/1@grill")
}

func TestSameIdAThousandTimesIsOnePaperAndNoCommit(t *testing.T) {
	k := opened(t)
	k.arrives(ticket("1/1@grill"))
	k.printed(session.Confirmed)
	k.forget()
	k.wantCommits(0, func() {
		for range 1000 {
			k.arrives(ticket("1/1@grill", attempt(2)))
		}
	})
	k.wantPaper()
	for _, a := range k.acks {
		if a.Outcome != wire.OutcomeDuplicate || a.Evidence != wire.EvidenceConfirmed || a.Attempt != 2 {
			t.Fatalf("ack %+v, want a duplicate that carries confirmed", a)
		}
	}
	if len(k.pubacks) != 1000 {
		t.Fatalf("%d pubacks, want 1000", len(k.pubacks))
	}
}

func TestKnownUnfinishedIdIsAnsweredStoredOrHeldAgain(t *testing.T) {
	k := opened(t)
	k.arrives(ticket("1/1@grill"), ticket("2/1@grill"))
	k.forget()
	k.wantCommits(0, func() { k.arrives(ticket("2/1@grill")) })
	k.wantAcks("stored 2/1@grill")
	k.printer("kitchen", session.HoldPaper)
	k.wantAcks("held 1/1@grill paper_out", "held 2/1@grill paper_out")
	k.arrives(ticket("2/1@grill", attempt(2)))
	k.wantAcks("held 2/1@grill paper_out")
}

func TestSameIdWithOtherContentIsRefusedAndChangesNothing(t *testing.T) {
	other := func(e *core.TicketArrived) { e.Digest = "sha256:" + strings.Repeat("cd", 32) }
	k := opened(t)
	k.arrives(ticket("1/1@grill"), ticket("2/1@grill"))
	k.forget()
	for _, id := range []string{"1/1@grill", "2/1@grill"} {
		k.arrives(ticket(id, other))
		k.wantAcks("refused " + id + " digest permanent")
	}
	k.printed(session.Fenced)
	k.forget()
	k.arrives(ticket("1/1@grill", other))
	k.wantAcks("refused 1/1@grill digest permanent")
	k.wantPaper()
}

func TestTwoIdenticalIdsInOneBatchAreOnePaper(t *testing.T) {
	k := opened(t)
	k.arrives(ticket("1/1@grill"), ticket("1/1@grill"))
	k.wantAcks("stored 1/1@grill", "stored 1/1@grill")
	k.printed(session.Fenced)
	k.wantPaper("1/1@grill")
}

func TestExpiredTicketIsAnsweredExpired(t *testing.T) {
	k := opened(t)
	k.arrives(ticket("1/1@grill", func(e *core.TicketArrived) { e.Ticket.Expires = 0 }))
	k.wantAcks("expired 1/1@grill")
	t.Logf("# one that expires while its printer is held")
	k.printer("kitchen", session.HoldCover)
	k.arrives(ticket("2/1@grill", func(e *core.TicketArrived) { e.Ticket.Expires = 60 }))
	k.forget()
	k.advance(61 * time.Second)
	if last := k.acks[len(k.acks)-1]; last.Outcome != wire.OutcomeExpired {
		t.Fatalf("last ack %+v, want expired", last)
	}
	k.printer("kitchen", session.HoldNone)
	k.wantPaper()
}

func TestBacklogIsBounded(t *testing.T) {
	k := opened(t)
	k.printer("kitchen", session.HoldPaper)
	for i := range core.BacklogMax {
		k.arrives(ticket(fmt.Sprintf("%d/1@grill", i)))
	}
	k.forget()
	k.arrives(ticket("over/1@grill"))
	k.wantAcks("refused over/1@grill storage")
	if k.store.Lookup("over/1@grill").Found {
		t.Fatal("a refused ticket is remembered")
	}
}

func TestUnknownPrinterAndUnusableTicketAreRefused(t *testing.T) {
	k := opened(t)
	k.arrives(ticket("1/1@grill", func(e *core.TicketArrived) { e.Ticket.Printer = "bar" }))
	k.wantAcks("refused 1/1@grill printer permanent")
	k.do(core.TicketUnusable{ID: "2/1@grill", Attempt: 1, Reason: "version", Handle: 9})
	k.wantAcks("refused 2/1@grill version permanent")
	if k.pubacks[len(k.pubacks)-1] != 9 {
		t.Fatal("a refused message got no PUBACK")
	}
}

func TestCrashBeforeTheResultPrintsMarkedUnlessThePaperIsProven(t *testing.T) {
	for _, tt := range []struct {
		name       string
		resolution session.Resolution
		paper      []string
		ack        string
	}{
		{"odometer fits", session.Resolution{Evidence: session.Counted}, nil,
			"printed 1/1@grill counted"},
		{"late answer", session.Resolution{Evidence: session.Confirmed}, nil,
			"printed 1/1@grill confirmed"},
		{"whole but uncut", session.Resolution{Evidence: session.Fenced, Torn: true},
			[]string{"cut"}, "printed 1/1@grill fenced"},
		{"unknown", session.Resolution{}, []string{"1/1@grill DUPLICATE"},
			"printed 1/1@grill sent marked"},
		{"torn", session.Resolution{Torn: true}, []string{"torn", "1/1@grill DUPLICATE"},
			"printed 1/1@grill sent marked"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := opened(t)
			k.arrives(ticket("1/1@grill"), ticket("2/1@grill"))
			k.crash()
			k.connect(0)
			k.forget()
			k.printer("kitchen", session.HoldNone)
			k.wantPaper() // Nothing prints before the question is answered.
			k.resolve(tt.resolution)
			for range tt.paper {
				k.printed(session.Sent)
			}
			k.printed(session.Sent)
			k.wantPaper(append(tt.paper, "2/1@grill")...)
			k.wantAcks(tt.ack, "printed 2/1@grill sent")
		})
	}
}

func TestPrinterThatCannotBeAskedIsAskedAgain(t *testing.T) {
	k := opened(t)
	k.arrives(ticket("1/1@grill"))
	k.result("kitchen", session.Result{Started: true, Err: session.ErrLink})
	k.forget()
	k.advance(core.RetryPause)
	q := k.asked["kitchen"]
	delete(k.asked, "kitchen")
	k.do(core.Resolved{Printer: "kitchen", Token: q.Token, Err: errTest})
	k.wantPaper()
	k.advance(core.RetryPause)
	k.resolve(session.Resolution{Evidence: session.Confirmed})
	k.wantAcks("printed 1/1@grill confirmed")
	k.wantPaper()
}

func TestPrintThatSurelyDidNotStartIsPrintedAgainWithoutAMark(t *testing.T) {
	k := opened(t)
	k.arrives(ticket("1/1@grill"))
	k.result("kitchen", session.Result{Err: session.ErrHeld, Hold: session.HoldPaper})
	if len(k.store.Intents) != 0 {
		t.Fatalf("intents %v, want none", k.store.Intents)
	}
	k.wantAcks("stored 1/1@grill", "held 1/1@grill paper_out")
	k.advance(time.Minute)
	k.printer("kitchen", session.HoldNone)
	k.wantPaper("1/1@grill", "1/1@grill")
	k.forget()
	k.printed(session.Confirmed)
	k.wantAcks("printed 1/1@grill confirmed")
}

func TestHeldTicketProlongsItsLeaseAndCallsPeople(t *testing.T) {
	k := opened(t)
	k.printer("kitchen", session.HoldPaper)
	k.arrives(ticket("1/1@grill"))
	if k.light != core.LightAlarm || !slices.Contains(k.sounds, core.SoundAlarm) {
		t.Fatalf("light %s, sounds %v; want an alarm", k.light, k.sounds)
	}
	k.forget()
	k.advance(2 * time.Minute)
	if got := len(k.acks); got < 4 || got > 8 {
		t.Fatalf("%d answers in two minutes of 30 s leases, want one each 15 s", got)
	}
	if len(k.sounds) != 2 {
		t.Fatalf("sounds %v, want an alarm each minute", k.sounds)
	}
	k.do(core.Button{})
	k.forget()
	k.advance(5 * time.Minute)
	if len(k.sounds) != 0 {
		t.Fatalf("sounds %v after the button", k.sounds)
	}
	k.printer("kitchen", session.HoldNone)
	if k.light != core.LightReady {
		t.Fatalf("light %s, want ready", k.light)
	}
}

func TestATicketThatBecameTooOldPrintsAndSaysThatItIsLate(t *testing.T) {
	stale := func(e *core.TicketArrived) { e.Ticket.Stale = (30 * time.Minute).Milliseconds() }
	k := opened(t)
	k.printer("kitchen", session.HoldPaper)
	k.arrives(ticket("1/1@grill", stale), ticket("2/1@grill"))
	k.advance(31 * time.Minute)
	k.forget()
	t.Logf("# it is late after a restart, too")
	k.crash()
	k.printer("kitchen", session.HoldNone)
	k.wantPaper("1/1@grill LATE")
	k.printed(session.Fenced)
	k.wantPaper("2/1@grill")
}

func TestAgeAfterAPowerCut(t *testing.T) {
	stale := func(e *core.TicketArrived) { e.Ticket.Stale = (30 * time.Minute).Milliseconds() }
	stored := func(t *testing.T) *kitchen {
		k := opened(t)
		k.printer("kitchen", session.HoldPaper)
		k.arrives(ticket("1/1@grill", stale))
		k.powerCut()
		k.printer("kitchen", session.HoldNone)
		k.forget()
		k.wantPaper()
		return k
	}
	hostSays := func(k *kitchen, later time.Duration) {
		k.do(core.Connected{Session: "again"})
		k.do(core.Welcomed{Welcome: wire.Welcome{
			Session: "again", Now: 1_700_000_000_000 + later.Milliseconds(),
		}})
	}
	t.Run("young by host time prints unmarked", func(t *testing.T) {
		k := stored(t)
		hostSays(k, 5*time.Minute)
		k.wantPaper("1/1@grill")
	})
	t.Run("old by host time is late", func(t *testing.T) {
		k := stored(t)
		hostSays(k, time.Hour)
		k.wantPaper("1/1@grill LATE")
	})
	t.Run("without host time it prints with a warning after a minute", func(t *testing.T) {
		k := stored(t)
		k.advance(core.HostWait - time.Second)
		k.wantPaper()
		k.advance(2 * time.Second)
		k.wantPaper("1/1@grill POWER-CUT")
	})
	t.Run("a restart of the process alone leaves the age known", func(t *testing.T) {
		k := opened(t)
		k.printer("kitchen", session.HoldPaper)
		k.arrives(ticket("1/1@grill", stale))
		k.advance(10 * time.Minute)
		k.crash()
		k.forget()
		k.printer("kitchen", session.HoldNone)
		k.wantPaper("1/1@grill")
	})
}

func TestRecall(t *testing.T) {
	t.Run("not started is never printed", func(t *testing.T) {
		k := opened(t)
		k.arrives(ticket("1/1@grill"), ticket("2/1@grill"))
		k.forget()
		k.recalls("2/1@grill", 1)
		k.wantAcks("recalled 2/1@grill rc-2/1@grill")
		k.printed(session.Fenced)
		k.wantPaper()
		k.forget()
		k.arrives(ticket("2/1@grill"))
		k.wantAcks("recalled 2/1@grill rc-2/1@grill")
		t.Logf("# a later attempt is a new wish")
		k.arrives(ticket("2/1@grill", attempt(2)))
		k.wantPaper("2/1@grill")
	})
	t.Run("printed is answered with the truth", func(t *testing.T) {
		k := opened(t)
		k.arrives(ticket("1/1@grill"))
		k.printed(session.Fenced)
		k.forget()
		k.recalls("1/1@grill", 1)
		k.wantAcks("printed 1/1@grill fenced")
	})
	t.Run("printing is answered when it is known", func(t *testing.T) {
		k := opened(t)
		k.arrives(ticket("1/1@grill"))
		k.forget()
		k.recalls("1/1@grill", 1)
		k.wantAcks("stored 1/1@grill")
		k.printed(session.Fenced)
		k.wantAcks("printed 1/1@grill fenced")
	})
	t.Run("printing that did not start is recalled", func(t *testing.T) {
		k := opened(t)
		k.arrives(ticket("1/1@grill"))
		k.recalls("1/1@grill", 1)
		k.forget()
		k.result("kitchen", session.Result{Err: session.ErrHeld, Hold: session.HoldCover})
		k.wantAcks("held 1/1@grill cover_open", "recalled 1/1@grill rc-1/1@grill")
	})
	t.Run("unknown is remembered against a late copy", func(t *testing.T) {
		k := opened(t)
		k.recalls("9/1@grill", 3)
		k.wantAcks("recalled 9/1@grill rc-9/1@grill")
		k.crash()
		k.printer("kitchen", session.HoldNone)
		k.connect(1 << 40)
		k.forget()
		k.arrives(ticket("9/1@grill", attempt(3)))
		k.wantAcks("recalled 9/1@grill rc-9/1@grill")
		k.wantPaper()
	})
}

func TestAcksThatTheBrokerHasNotSeenAreRepeatedAtHello(t *testing.T) {
	k := opened(t)
	k.arrives(ticket("1/1@grill"), ticket("2/1@grill"))
	k.printed(session.Fenced)
	seen := k.acks[len(k.acks)-1].N
	k.printed(session.Fenced)
	k.forget()
	k.do(core.Disconnected{})
	k.connect(seen)
	k.wantAcks("printed 2/1@grill fenced")
	t.Logf("# what is answered is dropped with the next commit, and its id stays known")
	k.arrives(ticket("3/1@grill"))
	if len(k.store.Open) != 2 || k.store.Lookup("1/1@grill").Record.Outcome != wire.OutcomePrinted {
		t.Fatalf("open %v, want 2/1 and 3/1", k.store.Open)
	}
	k.forget()
	k.arrives(ticket("1/1@grill", attempt(2)))
	k.wantAcks("duplicate 1/1@grill fenced")
	t.Logf("# a printed ticket outlives a crash until it is answered")
	k.crash()
	k.connect(seen)
	k.acks = k.acks[len(k.acks)-2:]
	k.wantAcks("printed 2/1@grill fenced", "stored 3/1@grill")
}

func TestNothingIsAnsweredOutsideASession(t *testing.T) {
	k := newKitchen(t)
	k.printer("kitchen", session.HoldNone)
	k.arrives(ticket("1/1@grill"))
	k.printed(session.Confirmed)
	k.wantAcks()
	if len(k.pubacks) != 1 {
		t.Fatalf("pubacks %v", k.pubacks)
	}
	k.connect(0)
	k.wantAcks("printed 1/1@grill confirmed")
}
