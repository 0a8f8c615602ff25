package simulate_test

import (
	"testing"
	"time"

	"chit/device/wire"
	"chit/simulate"
)

// TestAPlainTicketIsPaperToo ends the process three times with a ticket next in line: it comes out
// laid out plainly then, and the judge must know it.
func TestAPlainTicketIsPaperToo(t *testing.T) {
	post := simulate.Post{At: time.Hour, Order: "101", Seq: 1, Station: "grill", Kind: wire.KindNew,
		Items: []wire.Item{{Quantity: 2, Name: "Fries"}}}
	plan := simulate.Plan{
		Kitchens: []simulate.Kitchen{{Tenant: "t0", Stations: []string{"grill"},
			Printers: []string{"hot"}, Lacks: []string{"mute"}, Mute: true}},
		Posts: []simulate.Post{post},
		Faults: []simulate.Fault{{Name: simulate.PaperOut, At: time.Hour - time.Minute,
			For: 4 * time.Minute}, // The first process dies between two effects of its first paper.
			{Name: simulate.DeviceCrash, At: time.Hour - time.Minute, Pick: 7}},
	}
	for i := range 3 {
		plan.Faults = append(plan.Faults, simulate.Fault{Name: simulate.DeviceCrash,
			At: time.Hour + time.Duration(30+40*i)*time.Second, For: 2 * time.Second})
	}
	o := simulate.Options{Seed: 1, Hours: 3, Kitchens: 1, Tell: true}
	r := simulate.Tell(o, plan)
	if r.Broken() || r.Printed != 1 || r.MarkedDuplicates != 1 {
		for _, line := range r.Story {
			t.Log(line)
		}
		t.Errorf("%d printed, %d marked duplicates, want 1 and 1; %v", r.Printed, r.MarkedDuplicates,
			r.Violations)
	}
}
