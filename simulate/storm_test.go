package simulate_test

import (
	"bytes"
	"image/png"
	"testing"
	"time"

	"chit/simulate"
)

// TestAfterAStormEveryKitchenGetsItsOldestTicketFirst lets 500 devices drop in one instant.
func TestAfterAStormEveryKitchenGetsItsOldestTicketFirst(t *testing.T) {
	t.Parallel()
	r := simulate.RunStorm(simulate.Storm{Seed: 1, Devices: 500, Tenants: 50, Away: 10 * time.Minute,
		Orders: 12})
	if r.Broken() {
		t.Errorf("%v", r.Violations)
	}
	if r.AttemptsAway > 0 || r.Backlog < 500 || r.Printed+r.Cancelled != r.Accepted {
		t.Errorf("%d attempts at absent devices, %d tickets waiting, %d of %d printed, %d cancelled",
			r.AttemptsAway, r.Backlog, r.Printed, r.Accepted, r.Cancelled)
	}
	if back := 4 * time.Minute; r.Drained > back { // Two of the longest waits of a link.
		t.Errorf("drained after %v, want within %v", r.Drained, back)
	}
	var b bytes.Buffer
	if err := r.Plot(&b); err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(&b); err != nil {
		t.Error(err)
	}
	t.Logf("%d tickets waited; busiest second %d; all present after %v, oldest %v, drained %v",
		r.Backlog, r.Peak, r.Known, r.Oldest, r.Drained)
}

// TestADispatchLimitMakesNobodyWaitForASecondTicket lets the limit bite: what every kitchen waits
// for, its oldest, comes long before all is drained.
func TestADispatchLimitMakesNobodyWaitForASecondTicket(t *testing.T) {
	t.Parallel()
	r := simulate.RunStorm(simulate.Storm{Seed: 3, Devices: 200, Tenants: 10, Away: 10 * time.Minute,
		Orders: 24, Total: 2})
	if r.Broken() {
		t.Errorf("%v", r.Violations)
	}
	if r.Peak < r.Limit-1 || r.Drained < 2*r.Known {
		t.Errorf("busiest second %d of %d, drained after %v: the limit did not bite", r.Peak, r.Limit,
			r.Drained)
	}
	if r.Oldest > r.Drained*2/3 || r.AttemptsAway > 0 {
		t.Errorf("every kitchen has its oldest after %v, all drained after %v; %d attempts",
			r.Oldest, r.Drained, r.AttemptsAway)
	}
	t.Logf("limit %d: %d tickets waited; oldest %v, drained %v", r.Limit, r.Backlog, r.Oldest,
		r.Drained)
}

func TestTheSameStormIsToldAgain(t *testing.T) {
	t.Parallel()
	s := simulate.Storm{Seed: 2, Devices: 20, Tenants: 4, Away: 2 * time.Minute, Orders: 30}
	first, second := simulate.RunStorm(s), simulate.RunStorm(s)
	if first.Hash != second.Hash || first.Drained != second.Drained {
		t.Errorf("hash %x, drained %v; then %x, %v", first.Hash, first.Drained, second.Hash,
			second.Drained)
	}
}
