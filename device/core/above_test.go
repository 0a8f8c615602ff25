package core_test

import (
	"fmt"
	"testing"
	"time"

	"chit/device/core"
	"chit/device/wire"
	"chit/printer/session"
)

func number(n string) func(*core.TicketArrived) {
	return func(e *core.TicketArrived) { e.Ticket.Number = n }
}

// cleared lets the printer answer that it forgot the rest, or why not.
func (k *kitchen) cleared(err error) {
	k.t.Helper()
	c, ok := k.clears["kitchen"]
	if !ok {
		k.t.Fatal("nobody asked the printer to forget the rest")
	}
	delete(k.clears, "kitchen")
	k.do(core.Cleared{Printer: "kitchen", Token: c.Token, Err: err})
}

// midway is a kitchen whose ticket 41 is recalled while the printer has its bytes and no paper.
func midway(t *testing.T) *kitchen {
	k := opened(t)
	k.arrives(ticket("1/1@grill", number("41")))
	k.printer("kitchen", session.HoldPaper)
	k.recalls("1/1@grill", 1)
	k.forget()
	return k
}

// takenBack ends the wait for the ticket: the printer forgets the rest, and says nothing of it.
func (k *kitchen) takenBack(r session.Resolution) {
	k.t.Helper()
	k.cleared(nil)
	k.result("kitchen", session.Result{Started: true, Err: session.ErrWithdrawn})
	k.printer("kitchen", session.HoldNone)
	k.advance(2 * core.RetryPause)
	k.resolve(r)
}

func TestARecalledTicketAtThePrinterIsClearedAndNeverPrintedAgain(t *testing.T) {
	for _, c := range []struct {
		name  string
		r     session.Resolution
		ack   string
		paper []string
	}{
		{"surely nothing came out", session.Resolution{Untouched: true},
			"recalled 1/1@grill rc-1/1@grill", nil},
		{"it came out whole", session.Resolution{Evidence: session.Counted},
			"printed 1/1@grill counted", nil},
		{"nobody knows", session.Resolution{Counters: session.Counters{Known: true}},
			"refused 1/1@grill doubtful permanent", []string{"above (41 moved bar torn)"}},
		{"a piece hangs in the printer", session.Resolution{Torn: true},
			"refused 1/1@grill doubtful permanent", []string{"above (41 moved bar torn)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := midway(t)
			k.takenBack(c.r)
			k.wantAcks(append([]string{"stored 1/1@grill"}, c.ack)...)
			k.wantPaper(c.paper...)
			if len(c.paper) > 0 {
				k.printed(session.Sent)
			}
			t.Log("# and whatever happens, it is said once")
			k.crash()
			k.printer("kitchen", session.HoldNone)
			k.advance(time.Hour)
			k.wantPaper()
		})
	}
}

func TestATicketRecalledBeforeItsPaperNeedsNoNotice(t *testing.T) {
	k := midway(t)
	k.cleared(nil)
	k.result("kitchen", session.Result{Err: session.ErrWithdrawn})
	k.wantAcks("recalled 1/1@grill rc-1/1@grill")
	k.printer("kitchen", session.HoldNone)
	k.advance(time.Minute)
	k.wantPaper()
}

func TestTheNextTicketSaysWhatWentElsewhere(t *testing.T) {
	k := midway(t)
	k.arrives(ticket("2/1@grill"))
	k.forget()
	k.cleared(session.ErrNotCleared)
	k.result("kitchen", session.Result{Started: true, Err: session.ErrLink})
	k.printer("kitchen", session.HoldNone)
	k.advance(2 * core.RetryPause)
	k.resolve(session.Resolution{})
	k.wantPaper("2/1@grill (41 moved bar)")
	t.Log("# until such a paper is out it is said again")
	k.crash()
	k.printer("kitchen", session.HoldNone)
	k.resolve(session.Resolution{})
	k.wantPaper("2/1@grill DUPLICATE (41 moved bar)")
	k.printed(session.Sent)
	k.arrives(ticket("3/1@grill"))
	k.wantPaper("3/1@grill")
}

func TestManyNoticesAreBoundedAndComeOnASlipOfTheirOwn(t *testing.T) {
	k := opened(t)
	list, want := "", "above ("
	for n := 1; n <= core.AboveMax; n++ {
		list += fmt.Sprintf(`{"n":%d,"Arrival":%d,"Number":"%d","Reason":"cancelled"},`, n, 900+n, n)
		if n > 1 {
			want += fmt.Sprintf("%d cancelled, ", n)
		}
	}
	k.store.Settings[core.AboveKey("kitchen")] = fmt.Appendf(nil, `{"last":%d,"list":[%s]}`,
		core.AboveMax, list[:len(list)-1])
	k.crash()
	k.arrives(ticket("1/1@grill", number("41")), ticket("2/1@grill"))
	k.printer("kitchen", session.HoldNone)
	k.wantPaper("above (1 cancelled, " + want[len("above ("):len(want)-2] + ")")
	k.crash()
	k.printer("kitchen", session.HoldPaper)
	k.resolve(session.Resolution{})
	k.recalls("1/1@grill", 1)
	k.printer("kitchen", session.HoldNone)
	k.printed(session.Sent)
	k.wantPaper("above (1 cancelled, "+want[len("above ("):len(want)-2]+")", "2/1@grill")
	t.Log("# one more than can be named")
	k.result("kitchen", session.Result{Started: true, Err: session.ErrLink})
	k.store.Settings[core.AboveKey("kitchen")] = fmt.Appendf(nil, `{"last":%d,"list":[%s]}`,
		core.AboveMax, list[:len(list)-1])
	k.crash()
	k.recalls("2/1@grill", 1)
	k.printer("kitchen", session.HoldNone)
	k.cleared(session.ErrNotCleared)
	k.resolve(session.Resolution{})
	k.wantPaper(want + "moved bar, and 1 more)")
	k.printed(session.Sent)
	k.advance(time.Minute)
	k.wantPaper()
}

func TestAPrinterThatGoesAwayIsAskedAgainToForget(t *testing.T) {
	k := midway(t)
	k.cleared(session.ErrHeld)
	k.result("kitchen", session.Result{Started: true, Err: session.ErrLink})
	k.printer("kitchen", session.HoldAbsent)
	k.advance(time.Minute)
	if len(k.clears) > 0 {
		t.Fatal("an absent printer is asked to forget")
	}
	k.printer("kitchen", session.HoldPaper)
	k.cleared(nil)
	k.resolve(session.Resolution{Torn: true})
	k.printer("kitchen", session.HoldNone)
	k.wantPaper("above (41 moved bar torn)")
}

// Whoever dies at whatever step, after the restart the rest is cleared first and asked about then,
// and what was recalled does not print.
func TestARecallSurvivesADeathAtEachStep(t *testing.T) {
	ends := func(k *kitchen) {
		k.t.Helper()
		k.printer("kitchen", session.HoldPaper)
		if len(k.asked) > 0 {
			k.t.Fatal("asked before it was cleared")
		}
		k.cleared(nil)
		k.printer("kitchen", session.HoldNone)
		k.resolve(session.Resolution{Torn: true})
		k.wantPaper("above (41 moved bar torn)")
	}
	t.Run("after the recall", func(t *testing.T) {
		k := midway(t)
		k.crash()
		ends(k)
	})
	t.Run("after the clearing", func(t *testing.T) {
		k := midway(t)
		k.cleared(nil)
		k.crash()
		ends(k)
	})
	t.Run("after the result", func(t *testing.T) {
		k := midway(t)
		k.cleared(nil)
		k.result("kitchen", session.Result{Started: true, Err: session.ErrWithdrawn})
		k.powerCut()
		ends(k)
	})
	t.Run("after the answer", func(t *testing.T) {
		k := midway(t)
		k.takenBack(session.Resolution{Torn: true})
		k.forget()
		k.crash()
		t.Log("# the slip itself is in doubt: said again")
		k.printer("kitchen", session.HoldNone)
		k.resolve(session.Resolution{})
		k.wantPaper("above (41 moved bar torn)")
		k.printed(session.Fenced)
		k.crash()
		k.printer("kitchen", session.HoldNone)
		k.advance(time.Minute)
		k.wantPaper()
	})
	t.Run("the journal fails and comes back", func(t *testing.T) {
		k := midway(t)
		k.do(core.StorageLost{})
		k.forget()
		clear(k.clears)
		k.do(core.Started{State: k.store.Load(), KernelBoot: k.boot})
		ends(k)
	})
}

func TestATicketInDoubtThatIsRecalledIsNotPrintedAgain(t *testing.T) {
	k := opened(t)
	k.arrives(ticket("1/1@grill", number("41")), ticket("2/1@grill"))
	k.result("kitchen", session.Result{Started: true, Err: session.ErrLink})
	k.printer("kitchen", session.HoldPaper)
	k.advance(2 * core.RetryPause)
	k.resolve(session.Resolution{Torn: true})
	t.Log("# it waits for paper, to be printed once more, marked")
	k.forget()
	k.recalls("1/1@grill", 1)
	k.wantAcks("refused 1/1@grill doubtful permanent")
	k.printer("kitchen", session.HoldNone)
	k.wantPaper("above (41 moved bar torn)")
	k.printed(session.Fenced)
	k.wantPaper("2/1@grill")
	t.Log("# wanted here again, it is marked")
	k.printed(session.Fenced)
	k.forget()
	k.arrives(ticket("1/1@grill", attempt(2)))
	k.wantPaper("1/1@grill DUPLICATE")
}

func TestATicketThatIsWantedHereAgainIsNotToBeIgnored(t *testing.T) {
	k := midway(t)
	k.arrives(ticket("1/1@grill", attempt(2), number("41")))
	k.takenBack(session.Resolution{Torn: true})
	k.wantPaper("torn")
	k.printed(session.Fenced)
	k.wantPaper("1/1@grill DUPLICATE")
}

// The paper of a dead ticket may be all that there is of a paid order: it is not to be ignored.
func TestADeadTicketIsNotToBeIgnored(t *testing.T) {
	recalled := func(t *testing.T) *kitchen {
		k := opened(t)
		k.arrives(ticket("1/1@grill", number("41")))
		k.printer("kitchen", session.HoldPaper)
		k.do(core.Recalled{Recall: wire.Recall{ID: "rc", Ticket: "1/1@grill", Attempt: 1,
			Reason: "dead"}})
		k.forget()
		return k
	}
	t.Run("a piece that hangs is closed", func(t *testing.T) {
		k := recalled(t)
		k.takenBack(session.Resolution{Torn: true})
		k.wantPaper("above (41 dead torn)")
	})
	t.Run("nothing is said of what may be whole", func(t *testing.T) {
		k := recalled(t)
		k.cleared(session.ErrNotCleared)
		k.result("kitchen", session.Result{Started: true, Err: session.ErrLink})
		k.printer("kitchen", session.HoldNone)
		k.advance(2 * core.RetryPause)
		k.resolve(session.Resolution{})
		k.wantAcks("stored 1/1@grill", "refused 1/1@grill doubtful permanent")
		k.advance(time.Minute)
		k.wantPaper()
	})
}
