package alarm

import (
	"strings"
	"testing"
	"time"

	"chit/broker/delivery"
	"chit/device/wire"
)

// canary says where the morning ticket stands; it was accepted at noon.
func (k *kitchenStory) canary(day string, state delivery.State, reason string) {
	k.epoch++
	d := delivery.Delivery{Tenant: "t1", Ticket: "canary-" + day + "/1@grill", Station: "grill",
		Kitchen: "main", State: state, Reason: reason, Release: noon, Accepted: noon,
		Expires: noon.Add(12 * time.Hour), Epoch: k.epoch, Canary: true}
	if state == delivery.Settled {
		d.Evidence = wire.EvidenceConfirmed
	}
	k.w.Changed(delivery.Changed{Delivery: d}, k.now)
}

func TestACanaryThatPrintsInTimeIsNoAlarm(t *testing.T) {
	k := watch(t)
	k.canary("1", delivery.Parked, "away")
	k.want("")
	k.wait(CanaryAfter) // Also not for being late: nobody waits for it.
	k.canary("1", delivery.Settled, "")
	k.want("")
	if len(k.w.canaries) != 0 {
		t.Error("it is kept")
	}
}

func TestACanaryWithoutPaperIsToldOfWithItsReasonUntilItPrints(t *testing.T) {
	k := watch(t)
	k.canary("1", delivery.Parked, "away")
	k.want("")
	k.wait(CanaryAfter)
	commands, _ := k.w.Due(k.now)
	raise, ok := commands[0].(Raise)
	if !ok || raise.Severity != P1 || raise.Cause != "canary/grill" || raise.Kitchen != "main" ||
		!strings.Contains(raise.Text, "parked, away") || raise.For != 12*time.Hour-CanaryAfter {
		t.Fatalf("said %+v", commands)
	}
	k.want("")
	// Another reason is told, but not at once.
	k.canary("1", delivery.Leased, "")
	k.want("")
	k.now = k.now.Add(UpdateAfter)
	k.want("P1 canary/grill 1")
	k.canary("1", delivery.Settled, "")
	k.want("clear canary/grill")
	k.want("")
}

func TestACanaryThatIsRefusedForGoodIsToldOfAtOnce(t *testing.T) {
	k := watch(t)
	k.canary("1", delivery.Leased, "")
	k.want("")
	k.canary("1", delivery.Cancelled, "refused:printer")
	k.want("P1 canary/grill 1")
	k.now = noon.Add(12 * time.Hour)
	k.w.dirty[grill] = true
	k.want("clear canary/grill")
}

func TestACanaryThatAPersonCancelsIsNoAlarmAnyMore(t *testing.T) {
	k := watch(t)
	k.canary("1", delivery.Parked, "away")
	k.now = noon.Add(CanaryAfter)
	k.want("P1 canary/grill 1")
	k.canary("1", delivery.Cancelled, delivery.ReasonCancelled)
	k.want("clear canary/grill")
}

func TestYesterdaysNewsOfACanaryChangeNothing(t *testing.T) {
	k := watch(t)
	k.canary("1", delivery.Cancelled, "expired") // Read at the start: its day is over.
	k.want("")
	k.canary("2", delivery.Parked, "away")
	k.epoch = 0
	k.canary("2", delivery.Settled, "")
	k.now = noon.Add(CanaryAfter)
	k.want("P1 canary/grill 1")
}
