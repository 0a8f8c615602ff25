package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chit/broker/delivery"
	"chit/broker/intake"
	"chit/device/wire"
	"chit/rig"
)

// Two zones whose dates always differ: a kitchen that moves from one to the other has a new day.
const (
	yesterday = "Etc/GMT+12"
	tomorrow  = "Etc/GMT-14"
)

// TestTheBrokerIsKilledAtEachStepOfADaysEnd kills the broker around the commit that closes a
// business day: the day is closed once, with its number, and its slip is handed over once.
func TestTheBrokerIsKilledAtEachStepOfADaysEnd(t *testing.T) {
	t.Parallel()
	ctx, dir := bounded(t), t.TempDir()
	var stations, steps []string
	more := fmt.Sprintf("[[kitchens]]\nid = \"days\"\nzone = %q\nday_slip = true\n", yesterday)
	for round := range max(2, *rounds/10) {
		for _, when := range []string{"before-commit", "after-commit"} {
			station := fmt.Sprintf("day%d-%d", round, len(steps))
			stations, steps = append(stations, station), append(steps, "broker.close-day."+when)
			more += fmt.Sprintf("[[kitchens.stations]]\nid = %q\n", station)
		}
	}
	r := install(ctx, t, rig.Config{Dir: dir, More: more})
	a := play(ctx, t, r, stations...)
	for i, station := range stations {
		endDay(ctx, t, r, a, station, steps[i], filepath.Join(dir, "broker.toml"))
	}
}

// endDay prints one ticket at a station, lets its day end, and kills the broker there.
func endDay(ctx context.Context, t *testing.T, r *rig.Rig, a *actor, station, point, file string) {
	t.Helper()
	zone, err := time.LoadLocation(yesterday)
	if err != nil {
		t.Fatal(err)
	}
	c := order("of-"+station, 1, station, wire.KindNew)
	c.Kitchen = "days"
	if status, err := r.Post(ctx, c); err != nil || status/100 != 2 {
		t.Fatalf("posting %s: status %d, %v", c.ID, status, err)
	}
	day := delivery.BusinessDay(time.Now(), zone, 4*time.Hour)
	if got, err := r.Over(ctx, c.ID, station); err != nil || got.State != "settled" {
		t.Fatalf("%s is %s: %v", c.ID, got.State, err)
	}
	if err := r.Broker.Kill(); err != nil {
		t.Fatal(err)
	}
	move(t, file, yesterday, tomorrow)
	arm(t, r.Broker, point, 1)
	for range 2 { // The second run lives.
		if err := r.Broker.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(armFile(r.Broker)); err == nil {
			die(ctx, t, r.Broker, point)
		}
	}
	closed(ctx, t, r, station, day)
	slip := "day-" + day + "." + station + "/1"
	if got, err := r.Over(ctx, slip, station); err != nil || got.State != "settled" {
		t.Errorf("%s is %s: %v", slip, got.State, err)
	}
	a.mu.Lock()
	handed := 0
	for _, ticket := range a.handed {
		if strings.HasSuffix(ticket.ID, "@"+station) && ticket.ID != c.ID+"@"+station {
			handed++
		}
	}
	a.mu.Unlock()
	if handed != 1 {
		t.Errorf("%s: %d slips were handed over, want 1", station, handed)
	}
	if err := r.Broker.Kill(); err != nil {
		t.Fatal(err)
	}
	move(t, file, tomorrow, yesterday)
	if err := r.Broker.Start(); err != nil {
		t.Fatal(err)
	}
}

// move gives the kitchen another zone.
func move(t *testing.T, file, from, to string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(raw), from) != 1 {
		t.Fatalf("%s: found no single %s", file, from)
	}
	err = os.WriteFile(file, []byte(strings.Replace(string(raw), from, to, 1)), 0o600)
	if err != nil {
		t.Fatal(err)
	}
}

// closed waits until the station's day is closed, with the one number that was given.
func closed(ctx context.Context, t *testing.T, r *rig.Rig, station, day string) {
	t.Helper()
	var answer struct {
		Days []intake.Day `json:"days"`
	}
	err := r.Until(ctx, day+" of "+station+" to be closed", func(ctx context.Context) bool {
		status, raw, err := r.Call(ctx, "GET", "/v1/days/"+day+"?station="+station, nil)
		return err == nil && status == http.StatusOK && json.Unmarshal(raw, &answer) == nil &&
			len(answer.Days) == 1 && answer.Days[0].ClosedAt != nil
	})
	if err != nil || answer.Days[0].Count != 1 || len(answer.Days[0].Missing) > 0 {
		t.Errorf("%s of %s: %v; it is %+v, want one number and its paper", day, station, err,
			answer.Days)
	}
}
