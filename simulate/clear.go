package simulate

import (
	"errors"

	"chit/device/core"
	"chit/printer/escpos"
	"chit/printer/session"
	"chit/printer/status"
)

// takenBack is true while the document of the order under way is wanted back.
func (t *dialogue) takenBack() bool {
	if !t.inOrder || t.p.recalled == nil {
		return false
	}
	switch e := t.order().(type) {
	case core.Print:
		return e.Job.Token == t.p.recalled.Token
	case core.Resolve:
		return e.Token == t.p.recalled.Token
	}
	return false
}

// clear has the printer forget what it has not printed.
func (t *dialogue) clear() {
	token := t.p.recalled.Token
	was := t.inOrder
	t.inOrder, t.clearing = true, true // Nothing is let in between.
	defer func() { t.inOrder, t.clearing = was, false }()
	written := func() bool { return len(t.out) == 0 }
	err := t.await(answerWait, false, written)
	if hold := t.health.Hold(); err == nil &&
		(hold == session.HoldCutter || hold == session.HoldError) {
		t.say(escpos.Recover())
		err = t.await(answerWait, false, written)
	}
	if err == nil {
		_, err = ask[status.Cleared](t, 0, escpos.ClearBuffers(), clearWait, false)
		t.stream.Reset()
		t.forgetFences()
		t.afresh, t.touched = true, true
	}
	switch {
	case err == nil:
		t.unit.Clears = session.Earned
		if t.document == token {
			t.cleared = token
		}
	case errors.Is(err, errNoAnswer):
		if t.unit.Clears == session.Unproven {
			t.unit.Clears = session.Lost
		}
		err = session.ErrNotCleared
	}
	t.p.cleared(err)
}
