// Package fleettest holds records in memory and the exam that every store of fleet records passes.
package fleettest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"chit/broker/fleet"
)

// Memory is [fleet.Records] in memory. Its zero value is empty and ready.
type Memory struct {
	mu  sync.Mutex
	all map[string]fleet.Record
	// Deeds are what people did, in order.
	Deeds []fleet.Deed
	// Fail, where set, is asked before every Put and may refuse it.
	Fail func(key string) error
}

var _ fleet.Records = (*Memory)(nil)

// Get returns the record or [fleet.ErrNoRecord].
func (m *Memory) Get(_ context.Context, key string) (fleet.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.all[key]
	if !ok {
		return fleet.Record{}, fleet.ErrNoRecord
	}
	r.Value = slices.Clone(r.Value)
	return r, nil
}

// Put writes value where the stored version is version.
func (m *Memory) Put(_ context.Context, key string, value []byte, version uint64,
	did ...fleet.Deed) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Fail != nil {
		if err := m.Fail(key); err != nil {
			return err
		}
	}
	if m.all[key].Version != version {
		return fleet.ErrConflict
	}
	if m.all == nil {
		m.all = map[string]fleet.Record{}
	}
	m.Deeds = append(m.Deeds, did...)
	m.all[key] = fleet.Record{Key: key, Value: slices.Clone(value), Version: version + 1}
	return nil
}

// List returns all records whose key begins with prefix, by key.
func (m *Memory) List(_ context.Context, prefix string) ([]fleet.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []fleet.Record
	for key, r := range m.all {
		if strings.HasPrefix(key, prefix) {
			r.Value = slices.Clone(r.Value)
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b fleet.Record) int { return strings.Compare(a.Key, b.Key) })
	return found, nil
}

// Exercise examines empty records.
func Exercise(t *testing.T, records fleet.Records) {
	t.Helper()
	ctx := context.Background()
	if _, err := records.Get(ctx, "fleet/a/1"); !errors.Is(err, fleet.ErrNoRecord) {
		t.Fatalf("getting nothing: got %v, want ErrNoRecord", err)
	}
	if err := records.Put(ctx, "fleet/a/1", []byte(`1`), 7); !errors.Is(err, fleet.ErrConflict) {
		t.Fatalf("writing over what is not there: got %v, want ErrConflict", err)
	}
	for _, key := range []string{"fleet/a/2", "fleet/a/1", "fleet/b/1"} {
		if err := records.Put(ctx, key, []byte(`"`+key+`"`), 0); err != nil {
			t.Fatalf("writing %s: %v", key, err)
		}
		if err := records.Put(ctx, key, []byte(`2`), 0); !errors.Is(err, fleet.ErrConflict) {
			t.Fatalf("writing %s as new twice: got %v, want ErrConflict", key, err)
		}
	}
	first, err := records.Get(ctx, "fleet/a/1")
	if err != nil || string(first.Value) != `"fleet/a/1"` || first.Version == 0 {
		t.Fatalf("got %+v, %v", first, err)
	}
	if err := records.Put(ctx, first.Key, []byte(`2`), first.Version); err != nil {
		t.Fatalf("writing over: %v", err)
	}
	err = records.Put(ctx, first.Key, []byte(`3`), first.Version)
	if !errors.Is(err, fleet.ErrConflict) {
		t.Fatalf("writing over an old version: got %v, want ErrConflict", err)
	}
	list, err := records.List(ctx, "fleet/a/")
	if err != nil || len(list) != 2 || list[0].Key != "fleet/a/1" || list[1].Key != "fleet/a/2" ||
		string(list[0].Value) != `2` || list[0].Version == first.Version {
		t.Fatalf("listing: got %+v, %v", list, err)
	}
}
