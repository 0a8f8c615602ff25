package core_test

import (
	"testing"

	"chit/device/core"
	"chit/device/wire"
	"chit/printer/session"
)

func TestALateLowerMutationSaysWhatCameBeforeEvenIfThatWasAnsweredLongAgo(t *testing.T) {
	k := opened(t)
	k.arrives(ticket("7/2@s"))
	k.printed(session.Confirmed)
	k.connect(1 << 40) // The broker has all answers, and the device lets go of what ended.
	k.do(core.Button{}, core.Recalled{Recall: wire.Recall{ID: "r", Ticket: "8/1@s", Attempt: 1}})
	k.forget()
	late := ticket("7/1@s")
	for _, later := range core.Later(late.Ticket.ID) {
		if k.store.Lookup(later.String()).Found {
			late.Higher = later.Seq
		}
	}
	k.arrives(late)
	k.wantPaper("7/1@s older than 2")
}

func TestADeviceThatLostItsMemoryBelievesTheBrokerAboutWhatStandsAbove(t *testing.T) {
	k := opened(t)
	late := ticket("7/1@s")
	late.Ticket.Above = 2
	k.arrives(late)
	k.wantPaper("7/1@s older than 2")
	again := ticket("8/1@s")
	again.Ticket.Above, again.Kind = 2, wire.KindReprint
	k.printed(session.Confirmed)
	k.arrives(again)
	k.wantPaper("8/1@s")
}

func TestOnlyTheMutationsOfAnOrderHaveLaterOnes(t *testing.T) {
	later := core.Later("7/3@grill")
	if len(later) != core.LaterMax || later[0].String() != "7/4@grill" {
		t.Errorf("later than 7/3@grill: %v", later)
	}
	for _, id := range []string{"7/3/r1@grill", "nonsense", ""} {
		if later := core.Later(id); later != nil {
			t.Errorf("later than %q: %v", id, later)
		}
	}
}
