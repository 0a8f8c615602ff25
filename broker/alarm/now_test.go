package alarm

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"chit/broker/delivery"
)

func TestWhoeverLooksAtALateAlarmSeesTheCountAndAgeOfNow(t *testing.T) {
	k := watch(t)
	if _, _, ok := k.w.LateNow(grill, k.now); ok {
		t.Error("a station without tickets is late")
	}
	k.is("41", k.now, delivery.Parked)
	k.now = k.now.Add(LateAfter)
	k.want("P2 late/grill 1")
	for _, after := range []time.Duration{10 * time.Second, time.Minute} {
		count, text, ok := k.w.LateNow(grill, k.now.Add(after))
		want := fmt.Sprintf("number 41 for %s: parked, away", LateAfter+after)
		if !ok || count != 1 || !strings.Contains(text, want) {
			t.Errorf("after %v: %d, %q, want %q", after, count, text, want)
		}
	}
	k.want("") // Looking tells nobody.
	k.is("42", k.now.Add(-LateAfter), delivery.Parked)
	if count, text, _ := k.w.LateNow(grill, k.now.Add(time.Second)); count != 2 ||
		!strings.Contains(text, "2 tickets") {
		t.Errorf("with another: %d, %q", count, text)
	}
}

func TestDoubledTicketsAreNamedUpToFive(t *testing.T) {
	k := watch(t)
	text := func() string {
		t.Helper()
		commands, _ := k.w.Due(k.now)
		return commands[len(commands)-1].(Raise).Text
	}
	for n := 1; n <= NamesMax; n++ {
		k.is(fmt.Sprint(n), noon, delivery.Settled, delivery.Doubled)
	}
	want := "number 5, number 4, number 3, number 2, number 1 came out"
	if got := text(); !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	k.is("6", noon, delivery.Settled, delivery.Doubled)
	k.is("7", noon, delivery.Settled, delivery.Doubled)
	want = "number 7, number 6, number 5, number 4, number 3 and 2 more came out"
	if got := text(); !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}

	t.Log("# after a restart the names are gone, the count is not")
	again := watch(t)
	again.w.Known(Alarm{Tenant: "t1", Cause: "doubled/grill", Station: "grill", State: Raised,
		Severity: P2, Count: 7, Ends: noon.Add(DoubledFor)})
	again.is("8", noon, delivery.Settled, delivery.Doubled)
	commands, _ := again.w.Due(again.now)
	got := commands[len(commands)-1].(Raise)
	if want := "number 8 and 7 more came out"; got.Count != 8 || !strings.HasPrefix(got.Text, want) {
		t.Errorf("%d, %q, want 8, %q", got.Count, got.Text, want)
	}
}
