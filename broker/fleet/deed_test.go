package fleet_test

import (
	"context"
	"slices"
	"testing"

	"chit/broker/fleet"
)

func TestWhatPeopleDoToADeviceIsWrittenWithItOnce(t *testing.T) {
	b := newBench(t)
	ctx := context.Background()
	a := b.pair(newKit(t), fleet.Station{Station: "grill"}).Device
	for range 2 { // The second changes nothing.
		if err := b.Revoke(ctx, a, "stolen", "ana"); err != nil {
			t.Fatal(err)
		}
	}
	want := []fleet.Deed{{Tenant: "bistro", Device: a, What: fleet.Revoked, Who: "ana",
		Why: "stolen"}}
	if !slices.Equal(b.records.Deeds, want) {
		t.Errorf("written %+v, want %+v", b.records.Deeds, want)
	}
}
