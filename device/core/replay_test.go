package core_test

import (
	"fmt"
	"testing"
	"time"

	"chit/device/core"
	"chit/device/wire"
	"chit/printer/session"
)

// A recall names the newest attempt that was handed over. One that comes again after the ticket was
// handed over anew, from an engine or a stranger, must not take the paper away.
func TestOldRecallToldAgainStopsNoNewerAttempt(t *testing.T) {
	k := opened(t)
	k.arrives(ticket("1/1@grill"), ticket("2/1@grill"))
	k.recalls("2/1@grill", 1)
	k.arrives(ticket("2/1@grill", attempt(2)))
	k.forget()
	k.recalls("2/1@grill", 1)
	k.wantAcks("stored 2/1@grill")
	k.printed(session.Fenced)
	k.wantPaper("2/1@grill")
	t.Logf("# nor once it is at the printer and nothing has left yet")
	k.recalls("2/1@grill", 1)
	k.result("kitchen", session.Result{Err: session.ErrHeld, Hold: session.HoldCover})
	k.forget()
	k.printer("kitchen", session.HoldNone)
	k.advance(core.RetryPause)
	k.wantPaper("2/1@grill")
}

// Time is the broker's, and only forward: a welcome of this session that is told again later would
// set the clock back, and old tickets would look young.
func TestWelcomeToldAgainDoesNotSetTheClockBack(t *testing.T) {
	k := opened(t)
	again := core.Welcomed{Welcome: wire.Welcome{
		Session: fmt.Sprint("s", k.sessions), Now: 1_700_000_000_000, Journal: k.store.Meta.Journal,
	}}
	k.advance(10 * time.Minute)
	k.do(again)
	k.arrives(ticket("1/1@grill"))
	said := k.acks[len(k.acks)-1].IssuedAt
	if want := int64(1_700_000_600); said != want {
		t.Errorf("said at %d, want %d", said, want)
	}
}
