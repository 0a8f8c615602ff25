package alarm_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"chit/broker/alarm"
	"chit/broker/desk"
	"chit/broker/entity"
	"chit/broker/store/bolt"
)

// start runs a desk on a real store until the test ends.
func start(t *testing.T, now func() time.Time) (*desk.Desk, *bolt.Store) {
	t.Helper()
	s, err := bolt.Open(filepath.Join(t.TempDir(), "broker.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := desk.New(desk.Config{Store: s, Now: now})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-done, s.Check(), s.Close()); err != nil {
			t.Error(err)
		}
	})
	return d, s
}

func do(t *testing.T, d *desk.Desk, c entity.Command) desk.Answer {
	t.Helper()
	a, err := d.Do(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// row is whether the cause is in an outbox list.
func listed(t *testing.T, s *bolt.Store, list, cause string) bool {
	t.Helper()
	rows, err := s.Rows(list, "t1", entity.Row{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, r := range rows {
		if r.Key == alarm.Key("t1", cause) {
			found++
		}
	}
	if found > 1 {
		t.Fatalf("%d rows of %s in %s", found, cause, list)
	}
	return found == 1
}

func TestACauseThatIsRaisedAThousandTimesAtOnceIsOneAlarmAndOneMessage(t *testing.T) {
	d, s := start(t, nil)
	raise := alarm.Raise{Tenant: "t1", Cause: "late/grill", Station: "grill", Severity: alarm.P1,
		Count: 1, Text: "1 ticket"}
	var group sync.WaitGroup
	for range 1000 {
		group.Go(func() {
			if _, err := d.Do(context.Background(), raise); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	a, version, err := alarm.Load(s, "t1", "late/grill")
	if err != nil {
		t.Fatal(err)
	}
	if version != 1 || a.Episode != 1 || len(a.Notes) != 1 || a.LastNote != 1 {
		t.Errorf("version %d, episode %d, %d messages", version, a.Episode, len(a.Notes))
	}
	if !listed(t, s, alarm.ListOpen, "late/grill") || !listed(t, s, alarm.ListNotes, "late/grill") {
		t.Error("not in its lists")
	}
}

func TestAnAlarmLeavesItsListsWhenItIsOverAndTold(t *testing.T) {
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	var mu sync.Mutex
	d, s := start(t, func() time.Time { mu.Lock(); defer mu.Unlock(); return now })
	advance := func(by time.Duration) { mu.Lock(); defer mu.Unlock(); now = now.Add(by) }
	const cause = "dead/grill"
	want := func(open, notes bool) {
		t.Helper()
		if o, n := listed(t, s, alarm.ListOpen, cause), listed(t, s, alarm.ListNotes, cause); o != open ||
			n != notes {
			t.Errorf("open %v, notes %v, want %v, %v", o, n, open, notes)
		}
	}
	if _, err := d.Do(t.Context(), alarm.Acknowledge{Tenant: "t1", Cause: cause}); !errors.Is(err,
		alarm.ErrUnknown) {
		t.Errorf("an alarm that never was: %v", err)
	}
	do(t, d, alarm.Raise{Tenant: "t1", Cause: cause, Severity: alarm.P1, Count: 1, Text: "x"})
	want(true, true)
	timers, next, err := s.Timers(alarm.Kind, now, 10)
	if err != nil || len(timers) != 0 || !next.Equal(now.Add(alarm.LevelAfter)) {
		t.Errorf("timers %v, next %s, %v", timers, next, err)
	}
	do(t, d, alarm.Record{Tenant: "t1", Cause: cause, Note: 1, Destination: "phone",
		Outcome: alarm.Sent})
	do(t, d, alarm.Settle{Tenant: "t1", Cause: cause, Note: 1})
	want(true, false)
	var result alarm.Result
	answer := do(t, d, alarm.Acknowledge{Tenant: "t1", Cause: cause, Who: "ana"})
	if err := json.Unmarshal(answer.Data, &result); err != nil || !result.Changed ||
		result.State != alarm.Taken {
		t.Errorf("%s, %v", answer.Data, err)
	}
	do(t, d, alarm.Clear{Tenant: "t1", Cause: cause})
	advance(alarm.ClearFor)
	do(t, d, alarm.Elapse{Tenant: "t1", Cause: cause})
	want(false, true)
	do(t, d, alarm.Settle{Tenant: "t1", Cause: cause, Note: 2})
	want(false, false)
	events, err := s.Events(0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var story string
	for _, e := range events {
		story += e.Type + " "
	}
	if story != "alarm.began alarm.acknowledged alarm.ended " {
		t.Errorf("the audit says %q", story)
	}
}
