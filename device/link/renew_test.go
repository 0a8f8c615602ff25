package link

import "testing"

func TestARenewedLinkOpensAnotherSession(t *testing.T) {
	e, k := newEngine(t), newKitchen()
	l, _ := start(t, e, k, nil)
	l.Renew() // Without a connection there is nothing to renew.
	e.greeted()
	first := within(t, k.ups, "Up")
	l.Renew()
	if session := within(t, k.downs, "Down"); session != first {
		t.Fatalf("down with %q, want %q", session, first)
	}
	e.greeted()
	if second := within(t, k.ups, "Up again"); second == first {
		t.Fatalf("the new connection has the old session %q", second)
	}
}
