package crash

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"chit/device/wire"
	"chit/rig"
)

// TestTheBrokerIsKilledAtEachStepOfARestore puts an old copy of the store back and kills the broker
// around the commit that tells of it: the numbers jump, and they jump once.
func TestTheBrokerIsKilledAtEachStepOfARestore(t *testing.T) {
	t.Parallel()
	ctx, dir := bounded(t), t.TempDir()
	r := install(ctx, t, rig.Config{Dir: dir, Stations: []string{"grill"}})
	play(ctx, t, r, "grill")
	file := filepath.Join(dir, "broker", "broker.db")
	before := numberOf(ctx, t, r, "before")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(r.Broker.Kill())
	copied, err := os.ReadFile(file)
	must(err)
	must(r.Broker.Start())
	lost := numberOf(ctx, t, r, "lost")
	must(r.Broker.Kill())
	must(os.WriteFile(file+".copy", copied, 0o600))
	must(os.Rename(file+".copy", file))
	for _, point := range []string{"broker.restore.before-commit", "broker.restore.after-commit"} {
		arm(t, r.Broker, point, 1)
		must(r.Broker.Start())
		die(ctx, t, r.Broker, point)
	}
	must(r.Broker.Start())
	after := numberOf(ctx, t, r, "after")
	const jump = 1000
	if after <= lost || after-before < jump || after-before >= 2*jump {
		t.Errorf("numbers were %d in the copy and %d in the lost time, and go on with %d", before, lost,
			after)
	}
	if next := numberOf(ctx, t, r, "next"); next != after+1 {
		t.Errorf("number %d follows %d", next, after)
	}
	_, raw, err := r.Call(ctx, "GET", "/v1/audit", nil)
	if n := strings.Count(string(raw), `restored"`); err != nil || n != 1 {
		t.Errorf("the audit tells %d times of a restore (%v), want once: %s", n, err, raw)
	}
}

// numberOf lets a ticket be printed and says its running number.
func numberOf(ctx context.Context, t *testing.T, r *rig.Rig, name string) int {
	t.Helper()
	c := order(name, 1, "grill", wire.KindNew)
	if status, err := r.Post(ctx, c); err != nil || status/100 != 2 {
		t.Fatalf("posting %s: status %d, %v", c.ID, status, err)
	}
	got, err := r.Over(ctx, c.ID, c.Station)
	if err != nil || got.State != "settled" {
		t.Fatalf("%s is %s: %v", c.ID, got.State, err)
	}
	n, err := strconv.Atoi(got.Number)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
