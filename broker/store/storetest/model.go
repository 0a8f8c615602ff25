package storetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"chit/broker/entity"
	"chit/broker/store"
)

// model is a store told as four maps.
type model struct {
	states  map[entity.Key]entity.State
	rows    map[entity.Row]bool
	records map[string]string
	events  []string
}

func (m *model) clone() *model {
	return &model{states: maps.Clone(m.states), rows: maps.Clone(m.rows),
		records: maps.Clone(m.records), events: slices.Clone(m.events)}
}

// take applies one Commit and reports whether it was decided on what is.
func (m *model) take(c entity.Commit) bool {
	for _, change := range c.Changes {
		if m.states[change.Key].Version != change.Was {
			return false
		}
		m.states[change.Key] = entity.State{Version: change.Was + 1, Data: change.Data,
			Timer: change.Timer}
	}
	for _, row := range c.Paid {
		delete(m.rows, row)
	}
	for _, row := range c.Owed {
		m.rows[row] = true
	}
	for _, event := range c.Events {
		m.events = append(m.events, event.Type)
	}
	if c.Command != nil {
		m.records[c.Command.Tenant+"/"+c.Command.ID] = c.Command.Digest
	}
	return true
}

// Histories runs random histories of batches, good and bad, with the store closed and opened in
// between, against the model. The store must be empty; nothing in it expires.
func Histories(t *testing.T, open func(*rapid.T) (s store.Store, again func() store.Store)) {
	rapid.Check(t, func(rt *rapid.T) {
		s, again := open(rt)
		m := &model{states: map[entity.Key]entity.State{}, rows: map[entity.Row]bool{},
			records: map[string]string{}}
		count := 0
		rt.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) { m.compare(t, s) },
			"commit": func(t *rapid.T) {
				after := m.clone()
				var batch []entity.Commit
				good := true
				for range rapid.IntRange(1, 4).Draw(t, "commits") {
					count++
					c := after.draw(t, count)
					batch = append(batch, c)
					good = good && after.take(c)
				}
				switch err := s.Commit(batch); {
				case good && err != nil:
					t.Fatalf("commit: %v", err)
				case !good && !errors.Is(err, entity.ErrMoved):
					t.Fatalf("commit on another version: %v", err)
				case good:
					m = after
				}
			},
			"reopen": func(t *rapid.T) {
				if rapid.IntRange(0, 3).Draw(t, "really") > 0 {
					return
				}
				if err := errors.Join(s.Check(), s.Close()); err != nil {
					t.Fatal(err)
				}
				s = again()
			},
		})
		if err := errors.Join(s.Check(), s.Close()); err != nil {
			rt.Fatal(err)
		}
	})
}

// draw is a Commit, most often one that fits.
func (m *model) draw(t *rapid.T, count int) entity.Commit {
	c := entity.Commit{At: Day.AddDate(0, 0, rapid.IntRange(0, 3).Draw(t, "day"))}
	key := func(what string) entity.Key {
		return entity.Key{Tenant: rapid.SampledFrom([]string{"t1", "t2"}).Draw(t, what),
			Kind: rapid.SampledFrom([]string{"k", "kk"}).Draw(t, what),
			ID:   rapid.SampledFrom([]string{"a", "a/1", "b"}).Draw(t, what)}
	}
	one := key("key")
	change := entity.Change{Key: one, Was: m.states[one].Version, Data: fmt.Append(nil, count)}
	if rapid.IntRange(0, 9).Draw(t, "stale") == 0 {
		change.Was++
	}
	if minute := rapid.IntRange(0, 5).Draw(t, "timer"); minute > 0 {
		change.Timer = Day.Add(time.Duration(minute) * time.Minute)
	}
	if rapid.Bool().Draw(t, "expires") {
		change.Expires = c.At.AddDate(1, 0, 0)
	}
	c.Changes = append(c.Changes, change)
	row := entity.Row{List: rapid.SampledFrom([]string{"l", "ll"}).Draw(t, "list"), Key: one,
		At: Day.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "at")) * time.Hour)}
	if rapid.Bool().Draw(t, "owe") {
		c.Owed = append(c.Owed, row)
	} else {
		c.Paid = append(c.Paid, row)
	}
	c.Events = append(c.Events, entity.Event{Key: one, At: c.At, Type: fmt.Sprint("e", count)})
	if rapid.Bool().Draw(t, "command") {
		c.Command = &entity.Record{Tenant: one.Tenant, ID: one.ID, Digest: fmt.Sprint("d", count)}
	}
	return c
}

func (m *model) compare(t *rapid.T, s store.Store) {
	timers := 0
	for key, want := range m.states {
		got, err := s.Load(key)
		if err != nil || got.Version != want.Version || string(got.Data) != string(want.Data) ||
			!got.Timer.Equal(want.Timer) {
			t.Fatalf("%s is %+v, %v, want %+v", key, got, err, want)
		}
		if !want.Timer.IsZero() {
			timers++
		}
	}
	due, _, err := s.Timers("", Day.AddDate(1, 0, 0), 1000)
	if err != nil || len(due) != timers {
		t.Fatalf("%d timers, %v, want %d", len(due), err, timers)
	}
	for i, d := range due {
		if !m.states[d.Key].Timer.Equal(d.At) || i > 0 && d.At.Before(due[i-1].At) {
			t.Fatalf("timer %d of %v", i, due)
		}
	}
	rows := 0
	for _, list := range []string{"l", "ll"} {
		got, err := s.Rows(list, "", entity.Row{}, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range got {
			if !m.rows[row] || i > 0 && row.Key.Tenant == got[i-1].Key.Tenant &&
				row.At.Before(got[i-1].At) {
				t.Fatalf("row %d of %v", i, got)
			}
		}
		rows += len(got)
	}
	if rows != len(m.rows) {
		t.Fatalf("%d rows, want %d", rows, len(m.rows))
	}
	m.compareLogs(t, s)
}

func (m *model) compareLogs(t *rapid.T, s store.Store) {
	events, err := s.Events(0, 10000)
	if err != nil || len(events) != len(m.events) {
		t.Fatalf("%d events, %v, want %d", len(events), err, len(m.events))
	}
	for i, event := range events {
		if event.Type != m.events[i] {
			t.Fatalf("event %d is %s, want %s", i, event.Type, m.events[i])
		}
	}
	for name, digest := range m.records {
		tenant, id := name[:2], name[3:]
		got, ok, err := s.Recorded(tenant, id)
		if err != nil || !ok || got.Digest != digest {
			t.Fatalf("command %s: %+v, %v, %v, want %s", name, got, ok, err, digest)
		}
	}
}
