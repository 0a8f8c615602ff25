package simulate

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"chit/broker/entity"
	"chit/broker/store"
)

// disk is the broker's store as what survives a crash: whole batches. It implements store.Store.
type disk struct {
	states  map[entity.Key]entity.State
	records map[[2]string]entity.Record
	rows    map[entity.Row]bool
	timers  map[entity.Key]time.Time
	// forgetful is true for a list that a planted bug does not read.
	forgetful func(list string) bool
}

var _ store.Store = (*disk)(nil)

func newDisk() *disk {
	return &disk{states: map[entity.Key]entity.State{}, records: map[[2]string]entity.Record{},
		rows: map[entity.Row]bool{}, timers: map[entity.Key]time.Time{}}
}

// Load implements store.Store.
func (d *disk) Load(key entity.Key) (entity.State, error) { return d.states[key], nil }

// Commit implements store.Store: the whole batch or nothing.
func (d *disk) Commit(batch []entity.Commit) error {
	versions := map[entity.Key]uint64{}
	for _, c := range batch {
		for _, change := range c.Changes {
			was, ok := versions[change.Key]
			if !ok {
				was = d.states[change.Key].Version
			}
			if was != change.Was {
				return entity.ErrMoved
			}
			versions[change.Key] = was + 1
		}
	}
	for _, c := range batch {
		d.apply(c)
	}
	return nil
}

func (d *disk) apply(c entity.Commit) {
	for _, change := range c.Changes {
		d.states[change.Key] = entity.State{Version: change.Was + 1, Data: change.Data,
			Timer: change.Timer}
		if change.Timer.IsZero() {
			delete(d.timers, change.Key)
			continue
		}
		d.timers[change.Key] = change.Timer
	}
	for _, row := range c.Owed {
		row.At = row.At.UTC().Round(0) // Comparable.
		d.rows[row] = true
	}
	for _, row := range c.Paid {
		row.At = row.At.UTC().Round(0)
		delete(d.rows, row)
	}
	if c.Command != nil {
		d.records[[2]string{c.Command.Tenant, c.Command.ID}] = *c.Command
	}
}

// Recorded implements store.Store.
func (d *disk) Recorded(tenant, id string) (entity.Record, bool, error) {
	r, ok := d.records[[2]string{tenant, id}]
	return r, ok, nil
}

func rowOrder(a, b entity.Row) int {
	return cmp.Or(strings.Compare(a.Key.Tenant, b.Key.Tenant), a.At.Compare(b.At),
		strings.Compare(a.Key.Kind, b.Key.Kind), strings.Compare(a.Key.ID, b.Key.ID))
}

// Rows implements store.Store.
func (d *disk) Rows(list, tenant string, after entity.Row, limit int) ([]entity.Row, error) {
	var rows []entity.Row
	if d.forgetful(list) {
		return nil, nil
	}
	for row := range d.rows {
		if row.List == list && (tenant == "" || row.Key.Tenant == tenant) &&
			(after == (entity.Row{}) || rowOrder(row, after) > 0) {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, rowOrder)
	return rows[:min(limit, len(rows))], nil
}

// Timers implements store.Store.
func (d *disk) Timers(kind string, now time.Time, limit int) ([]store.Due, time.Time, error) {
	var due []store.Due
	for key, at := range d.timers {
		if kind == "" || key.Kind == kind {
			due = append(due, store.Due{Key: key, At: at})
		}
	}
	slices.SortFunc(due, func(a, b store.Due) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Key.String(), b.Key.String()))
	})
	n := 0
	for n < min(limit, len(due)) && !now.Before(due[n].At) {
		n++
	}
	if n == len(due) {
		return due, time.Time{}, nil
	}
	return due[:n], due[n].At, nil
}

// Scan implements store.Store. Nobody in the simulation scans.
func (d *disk) Scan(string, string, entity.Key, int) ([]store.Stored, error) { return nil, nil }

// Snapshot implements store.Store. The simulation has one goroutine: nothing moves meanwhile.
func (d *disk) Snapshot(read func(store.Reader) error) error { return read(d) }

// Events implements store.Store. Nobody in the simulation subscribes.
func (d *disk) Events(uint64, int) ([]store.Logged, error) { return nil, nil }

// Prune implements store.Store: late, never early, so never is right too.
func (d *disk) Prune(time.Time) error { return nil }

// Generation implements store.Store.
func (d *disk) Generation() uint64 { return 1 }

// Check implements store.Store.
func (d *disk) Check() error { return nil }

// Close implements store.Store.
func (d *disk) Close() error { return nil }
