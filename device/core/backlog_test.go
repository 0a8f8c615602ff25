package core_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"chit/device/core"
	"chit/device/wire"
	"chit/printer/session"
)

const halfHour = 30 * time.Minute

// onStale makes a ticket that is too old in half an hour.
func onStale(policy wire.OnStale) func(*core.TicketArrived) {
	return func(e *core.TicketArrived) {
		e.Ticket.Stale, e.Ticket.OnStale = halfHour.Milliseconds(), policy
	}
}

// tooOld is a kitchen without paper in which tickets became stale under the policy ask.
func tooOld(t *testing.T, ids ...string) *kitchen {
	k := opened(t)
	k.printer("kitchen", session.HoldPaper)
	for _, id := range ids {
		k.arrives(ticket(id, onStale(wire.OnStaleAsk)))
	}
	k.forget()
	k.advance(halfHour)
	var want []string
	for _, id := range ids {
		want = append(want, "held "+id+" stale")
	}
	k.acks = slices.DeleteFunc(k.acks, func(a wire.Ack) bool { return a.Reason != "stale" })
	k.wantAcks(want...)
	k.forget()
	return k
}

// told is a kitchen whose slip has listed them.
func told(t *testing.T, ids ...string) *kitchen {
	k := tooOld(t, ids...)
	k.printer("kitchen", session.HoldNone)
	k.advance(core.BacklogGather + time.Second)
	k.wantPaper("backlog " + strings.Join(ids, " "))
	k.printed(session.Fenced)
	k.forget()
	return k
}

func (k *kitchen) commands(do string, args map[string]string) {
	k.t.Helper()
	k.handle++
	k.do(core.CommandArrived{Handle: k.handle,
		Command: wire.Command{ID: do + "-" + time.Duration(k.handle).String(), Do: do, Args: args}})
}

func (k *kitchen) backlog(lines string) {
	k.t.Helper()
	k.commands("backlog", map[string]string{"station": "grill", "tickets": lines})
}

func (k *kitchen) wantReplies(want ...string) {
	k.t.Helper()
	var got []string
	for _, r := range k.replies {
		got = append(got, strings.TrimSpace(strings.Join([]string{r.Result["answer"],
			r.Result["tickets"], r.Error}, " ")))
	}
	if !slices.Equal(got, want) {
		k.t.Fatalf("replies\n got %q\nwant %q", got, want)
	}
	k.replies = nil
}

func TestAStaleTicketWaitsForAPersonsWord(t *testing.T) {
	k := tooOld(t, "1/1@grill", "2/1@grill")
	k.printer("kitchen", session.HoldNone)
	k.wantPaper()
	t.Logf("# neither a restart nor a power cut is a word")
	k.crash()
	k.printer("kitchen", session.HoldNone)
	k.powerCut()
	k.printer("kitchen", session.HoldNone)
	k.connect(0)
	k.wantAcks("held 1/1@grill stale", "held 2/1@grill stale")
	k.advance(core.HostWait + time.Minute)
	k.wantPaper("backlog 1/1@grill 2/1@grill")
	k.printed(session.Fenced)
	t.Logf("# a new one is not kept waiting by them")
	k.arrives(ticket("3/1@grill", onStale(wire.OnStaleAsk)))
	k.wantPaper("3/1@grill")
	k.printed(session.Fenced)
	t.Logf("# a short press is none")
	k.do(core.Button{})
	k.wantPaper()
	k.forget()
	k.do(core.Button{Long: true})
	k.wantAcks("stored 1/1@grill", "stored 2/1@grill")
	k.printed(session.Fenced)
	k.printed(session.Fenced)
	k.wantPaper("1/1@grill LATE", "2/1@grill LATE")
	if len(k.store.Intents) != 0 {
		t.Errorf("intents %+v", k.store.Intents)
	}
}

func TestAnApprovedTicketIsStillApprovedAfterACrash(t *testing.T) {
	k := tooOld(t, "1/1@grill")
	k.do(core.Button{Long: true})
	k.wantPaper()
	k.crash()
	k.advance(10 * time.Minute)
	k.printer("kitchen", session.HoldNone)
	k.wantPaper("1/1@grill LATE")
}

func TestAnApprovedTicketThatWaitsTooLongAgainIsAskedAboutAgain(t *testing.T) {
	k := told(t, "1/1@grill")
	k.printer("kitchen", session.HoldPaper)
	k.do(core.Button{Long: true})
	k.advance(halfHour - time.Second)
	k.forget()
	k.advance(2 * time.Second)
	k.wantAcks("held 1/1@grill stale")
	k.printer("kitchen", session.HoldNone)
	k.advance(core.BacklogGather + time.Second)
	k.wantPaper("backlog 1/1@grill")
}

func TestUnderDropAStaleTicketIsRefusedForGood(t *testing.T) {
	k := opened(t)
	k.printer("kitchen", session.HoldPaper)
	k.arrives(ticket("1/1@grill", onStale(wire.OnStaleDrop)))
	k.advance(halfHour - time.Second)
	k.forget()
	k.advance(2 * time.Second)
	k.wantAcks("refused 1/1@grill stale permanent")
	k.printer("kitchen", session.HoldNone)
	k.do(core.Button{Long: true})
	k.wantPaper()
	t.Logf("# a redrive is a new wish")
	k.arrives(ticket("1/1@grill", attempt(2), onStale(wire.OnStaleDrop)))
	k.wantPaper("1/1@grill")
}

// Paper of a marked ticket may exist: stale promises that there is none.
func TestWhatMayBeOnPaperIsDroppedAsDoubtful(t *testing.T) {
	k := opened(t)
	k.arrives(ticket("1/1@grill", onStale(wire.OnStaleDrop)))
	k.crash()
	k.printer("kitchen", session.HoldNone)
	k.resolve(session.Resolution{})
	k.connect(0)
	k.result("kitchen", session.Result{Err: session.ErrHeld, Hold: session.HoldPaper})
	k.forget()
	k.advance(halfHour + time.Second)
	last := k.acks[len(k.acks)-1]
	if last.Outcome != wire.OutcomeRefused || last.Reason != "doubtful" {
		t.Errorf("said %+v", last)
	}
}

func TestAHalfTicketIsCutOffBeforeAnybodyIsAsked(t *testing.T) {
	k := opened(t)
	k.arrives(ticket("1/1@grill", onStale(wire.OnStaleAsk)))
	k.crash()
	k.printer("kitchen", session.HoldNone)
	k.resolve(session.Resolution{Torn: true})
	k.result("kitchen", session.Result{Err: session.ErrHeld, Hold: session.HoldPaper})
	k.advance(halfHour + time.Second)
	k.forget()
	k.printer("kitchen", session.HoldNone)
	k.wantPaper("torn")
	k.printed(session.Fenced)
	k.advance(core.BacklogGather + time.Second)
	k.wantPaper("backlog 1/1@grill")
	k.printed(session.Fenced)
	k.do(core.Button{Long: true})
	k.wantPaper("1/1@grill DUPLICATE LATE")
}

func TestANewerAttemptWantsAStaleTicketAgain(t *testing.T) {
	k := told(t, "1/1@grill")
	k.arrives(ticket("1/1@grill", onStale(wire.OnStaleAsk)))
	k.wantAcks("held 1/1@grill stale")
	k.wantPaper()
	k.arrives(ticket("1/1@grill", attempt(2), onStale(wire.OnStaleAsk)))
	k.wantAcks("stored 1/1@grill")
	k.wantPaper("1/1@grill")
}

func TestANewerHandingOverSetsAWaitingTicketsAge(t *testing.T) {
	k := opened(t)
	k.printer("kitchen", session.HoldPaper)
	k.arrives(ticket("1/1@grill", onStale(wire.OnStaleAsk)))
	k.advance(20 * time.Minute)
	k.arrives(ticket("1/1@grill", attempt(2), onStale(wire.OnStaleAsk)))
	k.crash()
	k.connect(0)
	k.advance(20 * time.Minute)
	k.printer("kitchen", session.HoldNone)
	k.wantPaper("1/1@grill")
}

func TestARecallOfAStaleTicketEndsIt(t *testing.T) {
	k := told(t, "1/1@grill", "2/1@grill")
	k.recalls("1/1@grill", 1)
	k.wantAcks("recalled 1/1@grill rc-1/1@grill")
	k.do(core.Button{Long: true})
	k.printed(session.Fenced)
	k.wantPaper("2/1@grill LATE")
}

func TestTheBacklogSlipIsPrintedAgainOnlyForNewsAndNotTooOften(t *testing.T) {
	k := told(t, "1/1@grill")
	k.advance(time.Hour)
	k.wantPaper()
	k.crash()
	k.printer("kitchen", session.HoldNone)
	k.advance(time.Hour)
	k.wantPaper()
	k.printer("kitchen", session.HoldPaper)
	k.arrives(ticket("2/1@grill", onStale(wire.OnStaleAsk)))
	k.advance(halfHour)
	k.printer("kitchen", session.HoldNone)
	k.advance(core.BacklogGather + time.Second)
	k.wantPaper("backlog 1/1@grill 2/1@grill")
	k.printed(session.Fenced)
	k.printer("kitchen", session.HoldPaper)
	k.arrives(ticket("3/1@grill", func(e *core.TicketArrived) {
		e.Ticket.Stale, e.Ticket.OnStale = 1000, wire.OnStaleAsk
	}))
	k.advance(2 * time.Second)
	k.printer("kitchen", session.HoldNone)
	k.advance(core.BacklogEvery - time.Minute)
	k.wantPaper()
	k.advance(time.Minute)
	k.wantPaper("backlog 1/1@grill 2/1@grill 3/1@grill")
}

func TestABacklogSlipThatIsInDoubtComesAgainAndOneThatCameOutDoesNot(t *testing.T) {
	for _, out := range []bool{true, false} {
		k := tooOld(t, "1/1@grill")
		k.printer("kitchen", session.HoldNone)
		k.advance(core.BacklogGather + time.Second)
		k.wantPaper("backlog 1/1@grill")
		k.crash()
		k.printer("kitchen", session.HoldNone)
		if out {
			k.resolve(session.Resolution{Evidence: session.Counted})
			k.advance(core.BacklogGather + time.Minute)
			k.wantPaper()
			continue
		}
		k.resolve(session.Resolution{})
		k.advance(core.BacklogGather + time.Minute)
		k.wantPaper("backlog 1/1@grill")
	}
}

func TestTheSlipListsWhatIsStaleAtTheBrokerAndAPressAnswersForIt(t *testing.T) {
	k := told(t, "1/1@grill")
	k.backlog(`[{"id":"1/1@grill"},{"id":"8/1@grill","number":"4","order":"A8","age_ms":3600000}]`)
	k.wantReplies()
	k.advance(core.BacklogEvery + core.BacklogGather)
	k.wantPaper("backlog 1/1@grill 8/1@grill")
	k.printed(session.Fenced)
	t.Logf("# the same list again is no news, also after a start")
	k.backlog(`[{"id":"1/1@grill"},{"id":"8/1@grill","number":"4","order":"A8","age_ms":3600000}]`)
	k.crash()
	k.printer("kitchen", session.HoldNone)
	k.connect(0)
	k.backlog(`[{"id":"1/1@grill"},{"id":"8/1@grill","number":"4","order":"A8","age_ms":3600000}]`)
	k.advance(time.Hour)
	k.wantPaper()
	k.forget()
	k.do(core.Button{Long: true})
	k.wantReplies("print 1/1@grill,8/1@grill")
	k.wantPaper("1/1@grill LATE")
	t.Logf("# the answer may be lost, so it is said again, and no longer when the list is another")
	k.crash()
	k.connect(0)
	k.wantReplies("print 1/1@grill,8/1@grill")
	k.backlog(`[]`)
	k.connect(0)
	k.wantReplies()
	k.do(core.Button{Long: true})
	k.wantReplies()
}

func TestAnOldAnswerIsNotToldAnyMore(t *testing.T) {
	k := opened(t)
	k.backlog(`[{"id":"8/1@grill"}]`)
	k.do(core.Disconnected{})
	k.do(core.Button{Long: true})
	k.wantReplies()
	k.advance(core.BacklogWord + time.Second)
	k.connect(0)
	k.wantReplies()
}

func TestAnAnswerFromElsewherePrintsOrDropsWhatItNames(t *testing.T) {
	k := told(t, "1/1@grill", "2/1@grill", "3/1@grill")
	k.commands("backlog-answer", map[string]string{"answer": "drop", "tickets": "1/1@grill,9/1@grill"})
	k.wantAcks("refused 1/1@grill not-wanted permanent")
	k.wantReplies("drop 1/1@grill")
	k.commands("backlog-answer",
		map[string]string{"answer": "print", "tickets": "1/1@grill,2/1@grill"})
	k.wantReplies("print 2/1@grill")
	k.printed(session.Fenced)
	k.wantPaper("2/1@grill LATE")
	k.commands("backlog-answer", map[string]string{"answer": "burn", "tickets": "3/1@grill"})
	k.wantReplies(`answer: found "burn", expected print or drop`)
	k.backlog(`{"id":`)
	if len(k.replies) != 1 || k.replies[0].OK {
		t.Errorf("replies %+v", k.replies)
	}
}

func TestWhatOvertookAStaleTicketIsSaidOnItsPaper(t *testing.T) {
	k := told(t, "7/1@grill")
	change := ticket("7/2@grill", func(e *core.TicketArrived) { e.Ticket.Pred = "7/1@grill" })
	k.arrives(change)
	k.printed(session.Fenced)
	k.wantPaper("7/2@grill missing 7/1@grill")
	k.connect(1 << 40) // The broker has the answer of 7/2, and the device lets it go.
	k.arrives(ticket("8/1@grill"))
	k.printed(session.Fenced)
	k.forget()
	k.do(core.Button{Long: true})
	k.wantPaper("7/1@grill LATE older than 2")
}

func TestAMutationBehindAnApprovedOneMissesNothing(t *testing.T) {
	k := told(t, "7/1@grill")
	k.printer("kitchen", session.HoldPaper)
	k.arrives(ticket("7/2@grill", func(e *core.TicketArrived) { e.Ticket.Pred = "7/1@grill" }))
	k.do(core.Button{Long: true})
	k.printer("kitchen", session.HoldNone)
	k.printed(session.Fenced)
	k.wantPaper("7/1@grill LATE", "7/2@grill")
}

func TestAgeAfterAPowerCutIsJudgedByThePolicy(t *testing.T) {
	k := opened(t)
	k.printer("kitchen", session.HoldPaper)
	k.arrives(ticket("1/1@grill", onStale(wire.OnStaleAsk)))
	k.powerCut()
	k.printer("kitchen", session.HoldNone)
	k.wantPaper()
	k.do(core.Connected{Session: "again"})
	k.do(core.Welcomed{Welcome: wire.Welcome{Session: "again",
		Now: 1_700_000_000_000 + time.Hour.Milliseconds()}})
	k.advance(core.BacklogGather + time.Second)
	k.wantPaper("backlog 1/1@grill")
}
