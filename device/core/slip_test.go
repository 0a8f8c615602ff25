package core_test

import (
	"testing"

	"chit/device/core"
)

func TestASlipWithoutMemoryTakesTheOdometersWordAway(t *testing.T) {
	k := opened(t)
	k.arrives(ticket("1/1@grill"))
	in := k.store.Intents["kitchen"]
	in.Trusted = true
	k.store.Intents["kitchen"] = in
	k.do(core.StorageLost{}) // A slip goes to the printer, behind a ticket in doubt.
	k.do(core.Started{State: k.store.Load(), KernelBoot: k.boot})
	if q := k.asked["kitchen"]; q.Token != in.Token || q.Intent.Trusted {
		t.Fatalf("asks %+v: the slip's own lines and cut would be taken for the ticket's", q)
	}
}
