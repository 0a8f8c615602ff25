package core_test

import (
	"slices"
	"testing"

	"chit/device/core"
	"chit/device/wire"
)

func TestAHelloWithoutAWelcomeIsSaidAgain(t *testing.T) {
	k := newKitchen(t)
	greets := func() (n int) {
		_, then := k.decide(core.Tick{})
		for _, e := range then {
			if _, ok := e.(core.Greet); ok {
				n++
			}
		}
		return n
	}
	k.do(core.Connected{Session: "s1"})
	next, ok := k.m.Next(k.now)
	if want := k.now.Up + core.HelloEvery; !ok || next != want {
		t.Fatalf("asks to be woken at %v (%v), want %v", next, ok, want)
	}
	if n := greets(); n != 0 {
		t.Fatal("greets again at once")
	}
	for range 3 {
		k.now.Up += core.HelloEvery
		if n := greets(); n != 1 {
			t.Fatalf("unwelcomed for %v it greets %d times, want once", core.HelloEvery, n)
		}
	}
	k.do(core.Welcomed{Welcome: wire.Welcome{Session: "s1", Journal: "journal-1", Now: 1}})
	k.now.Up += 2 * core.HelloEvery
	if n := greets(); n != 0 {
		t.Fatal("a welcomed device greets again")
	}
	// The broker started again, the link said hello to the new one, and that was dropped.
	k.do(core.Greeted{Session: "s1"})
	k.now.Up += core.HelloEvery
	if n := greets(); n != 1 {
		t.Fatalf("a second hello without a welcome is said again %d times, want once", n)
	}
	k.do(core.Greeted{Session: "s0"}, core.Welcomed{Welcome: wire.Welcome{Session: "s1", Now: 1}})
	k.now.Up += 2 * core.HelloEvery
	if n := greets(); n != 0 {
		t.Fatal("it greets for a session that is over")
	}
}

func TestAJournalThatIsOpenedAgainIsTheSameBoot(t *testing.T) {
	k := opened(t)
	boot := k.store.Meta.Boot
	k.do(core.StorageLost{})
	k.do(core.Started{State: k.store.Load(), KernelBoot: k.boot})
	if k.store.Meta.Boot != boot {
		t.Fatalf("reopened it is boot %d, want %d: the broker takes another for a crash",
			k.store.Meta.Boot, boot)
	}
	k.crash()
	if k.store.Meta.Boot != boot+1 {
		t.Fatalf("a new process is boot %d, want %d", k.store.Meta.Boot, boot+1)
	}
}

func TestASessionThatIsNeverWelcomedIsGivenUp(t *testing.T) {
	k := opened(t)
	session := k.m.Status().Session
	k.do(core.Welcomed{Welcome: wire.Welcome{Session: "an old one", Journal: "journal-1", Now: 1}})
	var renewed []bool
	for range core.HellosMax {
		k.now.Up += core.HelloEvery
		_, then := k.decide(core.Tick{})
		for _, e := range then {
			if g, ok := e.(core.Greet); ok {
				renewed = append(renewed, g.Renew)
			}
		}
	}
	if want := []bool{false, false, true}; !slices.Equal(renewed, want) {
		t.Fatalf("renews %v, want %v", renewed, want)
	}
	k.do(core.Welcomed{Welcome: wire.Welcome{Session: session, Journal: "journal-1", Now: 1}})
	k.now.Up += core.HelloEvery
	if _, then := k.decide(core.Tick{}); slices.Contains(then, core.Effect(core.Greet{})) {
		t.Fatal("a welcomed session is not left alone")
	}
}
