// Package storetest is the exam that every store passes: Exercise for what a store promises.
package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"chit/broker/entity"
	"chit/broker/store"
)

// Maker opens one store; a second call with the same test opens the same data again after the first
// was closed.
type Maker func(t *testing.T) store.Store

// Day is the birth of everything in the exam.
var Day = time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)

// exam is one test's store and the language its story is told in.
type exam struct {
	*testing.T
	open Maker
	store.Store
}

// Exercise runs the exam. make must give each (sub)test a store of its own; the store is checked
// and closed at the end of every test.
func Exercise(t *testing.T, open Maker) {
	for _, part := range []struct {
		name string
		run  func(*exam)
	}{
		{"a missing entity has version 0", missing},
		{"a commit is found, also after reopening", found},
		{"a commit decided on another version is refused whole", refused},
		{"a batch may change one entity twice", chained},
		{"a refused batch leaves the store usable", usable},
		{"a bad key is refused before anything is written", badKey},
		{"a command's answer is remembered", recorded},
		{"outbox rows come oldest first, by list and tenant", rows},
		{"outbox rows are read in pages", pages},
		{"an entity has one timer", timers},
		{"timers come earliest first and only when due", due},
		{"scans find one kind of one tenant, in pages", scans},
		{"events keep their positions", events},
		{"nothing is forgotten before it expires", prunes},
		{"a day with an unjudged timer is not forgotten", pruneHeld},
		{"reads see whole batches", snapshots},
		{"a snapshot stays as it is", instants},
		{"a closed store refuses", closed},
	} {
		t.Run(part.name, func(t *testing.T) {
			e := &exam{T: t, open: open, Store: open(t)}
			part.run(e)
			e.shut()
		})
	}
}

func (e *exam) shut() {
	e.Helper()
	if err := e.Check(); err != nil && !errors.Is(err, store.ErrClosed) {
		e.Errorf("check: %v", err)
	}
	for range 2 {
		if err := e.Close(); err != nil {
			e.Errorf("close: %v", err)
		}
	}
}

func (e *exam) reopen() {
	e.Helper()
	e.shut()
	e.Store = e.open(e.T)
}

func key(id string) entity.Key { return entity.Key{Tenant: "t1", Kind: "thing", ID: id} }

func put(id string, was uint64, data string) entity.Commit {
	return entity.Commit{At: Day, Changes: []entity.Change{
		{Key: key(id), Was: was, Data: []byte(data)},
	}}
}

func (e *exam) commit(batch ...entity.Commit) {
	e.Helper()
	if err := e.Commit(batch); err != nil {
		e.Fatalf("commit: %v", err)
	}
}

func (e *exam) wantRefused(cause error, batch ...entity.Commit) {
	e.Helper()
	if err := e.Commit(batch); !errors.Is(err, cause) {
		e.Fatalf("commit: got %v, want %v", err, cause)
	}
}

func (e *exam) want(id string, version uint64, data string) {
	e.Helper()
	state, err := e.Load(key(id))
	if err != nil {
		e.Fatalf("load %s: %v", id, err)
	}
	if state.Version != version || string(state.Data) != data {
		e.Fatalf("%s is %q at %d, want %q at %d", id, state.Data, state.Version, data, version)
	}
}

func missing(e *exam) {
	e.want("a", 0, "")
	if _, ok, err := e.Recorded("t1", "a"); ok || err != nil {
		e.Fatalf("recorded: %v, %v", ok, err)
	}
	e.commit()
}

func found(e *exam) {
	if e.Generation() == 0 {
		e.Error("generation is 0")
	}
	e.commit(put("a", 0, "one"), put("b", 0, ""))
	e.want("a", 1, "one")
	e.want("b", 1, "")
	e.reopen()
	e.want("a", 1, "one")
	e.want("b", 1, "")
	e.commit(put("a", 1, "two"))
	e.want("a", 2, "two")
}

func refused(e *exam) {
	e.commit(put("a", 0, "one"))
	for _, was := range []uint64{0, 2} {
		c := put("b", 0, "other")
		c.Owed = []entity.Row{{List: "open", At: Day, Key: key("b")}}
		c.Events = []entity.Event{{Key: key("b"), Type: "made", At: Day}}
		c.Command = &entity.Record{Tenant: "t1", ID: "c"}
		e.wantRefused(entity.ErrMoved, c, put("a", was, "two"))
		e.want("a", 1, "one")
		e.want("b", 0, "")
		if rows, err := e.Rows("open", "", entity.Row{}, 9); len(rows) != 0 || err != nil {
			e.Fatalf("rows of a refused batch: %v, %v", rows, err)
		}
		if events, err := e.Events(0, 9); len(events) != 0 || err != nil {
			e.Fatalf("events of a refused batch: %v, %v", events, err)
		}
		if _, ok, err := e.Recorded("t1", "c"); ok || err != nil {
			e.Fatalf("command of a refused batch: %v, %v", ok, err)
		}
	}
}

func chained(e *exam) {
	e.commit(put("a", 0, "one"), put("a", 1, "two"), put("b", 0, "x"), put("a", 2, "three"))
	e.want("a", 3, "three")
	e.wantRefused(entity.ErrMoved, put("a", 3, "four"), put("a", 3, "five"))
	e.want("a", 3, "three")
}

func usable(e *exam) {
	e.wantRefused(entity.ErrMoved, put("a", 7, "no"))
	e.commit(put("a", 0, "yes"))
	e.want("a", 1, "yes")
}

func badKey(e *exam) {
	for _, bad := range []entity.Key{
		{}, {Tenant: "t", Kind: "k"}, {Tenant: "t", ID: "i"}, {Kind: "k", ID: "i"},
		{Tenant: "t\x00", Kind: "k", ID: "i"}, {Tenant: "t", Kind: "k", ID: "a\x00b"},
	} {
		e.wantRefused(entity.ErrKey, put("a", 0, "x"),
			entity.Commit{At: Day, Changes: []entity.Change{{Key: bad}}})
		e.wantRefused(entity.ErrKey, entity.Commit{At: Day, Owed: []entity.Row{{List: "l", Key: bad}}})
		if _, err := e.Load(bad); !errors.Is(err, entity.ErrKey) {
			e.Fatalf("load %q: %v", bad, err)
		}
	}
	e.want("a", 0, "")
}

func recorded(e *exam) {
	for _, expires := range []time.Time{{}, Day.Add(time.Hour)} {
		want := entity.Record{Tenant: "t1", ID: "c" + expires.Format("15"), Digest: "sha256:ab",
			Answer: []byte("\x00 bytes \xff"), Expires: expires}
		e.commit(entity.Commit{At: Day, Command: &want})
		e.reopen()
		got, ok, err := e.Recorded("t1", want.ID)
		if err != nil || !ok || !got.Expires.Equal(expires) {
			e.Fatalf("got %+v, %v, %v", got, ok, err)
		}
		if got.Digest != want.Digest || string(got.Answer) != string(want.Answer) {
			e.Fatalf("got %+v, want %+v", got, want)
		}
		if _, ok, _ := e.Recorded("t2", want.ID); ok {
			e.Fatal("another tenant has it too")
		}
	}
}

func row(list, tenant, id string, minute int) entity.Row {
	return entity.Row{List: list, At: Day.Add(time.Duration(minute) * time.Minute),
		Key: entity.Key{Tenant: tenant, Kind: "thing", ID: id}}
}

// owe adds rows together with their entities.
func (e *exam) owe(rows ...entity.Row) {
	e.Helper()
	for _, r := range rows {
		state, err := e.Load(r.Key)
		if err != nil {
			e.Fatal(err)
		}
		e.commit(entity.Commit{At: Day, Owed: []entity.Row{r},
			Changes: []entity.Change{{Key: r.Key, Was: state.Version}}})
	}
}

func (e *exam) wantRows(list, tenant string, want ...entity.Row) {
	e.Helper()
	got, err := e.Rows(list, tenant, entity.Row{}, 100)
	if err != nil || !reflect.DeepEqual(got, want) {
		e.Fatalf("list %s of %q:\n got %v, %v\nwant %v", list, tenant, got, err, want)
	}
}

func rows(e *exam) {
	early, late := row("open", "t1", "z", 1), row("open", "t1", "a", 300)
	other, dead := row("open", "t2", "m", 2), row("dead", "t1", "z", 0)
	longer := row("opened", "t1", "z", 0)
	e.owe(late, other, early, dead, longer, early)
	e.wantRows("open", "t1", early, late)
	e.wantRows("open", "t2", other)
	e.wantRows("open", "t", []entity.Row(nil)...)
	e.wantRows("open", "", early, late, other)
	e.wantRows("dead", "", dead)
	e.reopen()
	e.commit(entity.Commit{At: Day, Paid: []entity.Row{early, row("open", "t1", "never", 1)}})
	e.wantRows("open", "", late, other)
	e.wantRows("dead", "t1", dead)
	// A row that is paid and owed in one Commit stands: the debt was renewed.
	e.commit(entity.Commit{At: Day, Paid: []entity.Row{late}, Owed: []entity.Row{late}})
	e.wantRows("open", "t1", late)
}

func pages(e *exam) {
	var want []entity.Row
	for i := range 10 {
		want = append(want, row("open", fmt.Sprintf("t%d", i/5), fmt.Sprint("id", 9-i), i))
	}
	e.owe(want...)
	var got []entity.Row
	var last entity.Row
	for {
		page, err := e.Rows("open", "", last, 3)
		if err != nil {
			e.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		got, last = append(got, page...), page[len(page)-1]
		// What was read may be paid before the next page is asked for.
		e.commit(entity.Commit{At: Day, Paid: page})
	}
	if !reflect.DeepEqual(got, want) {
		e.Fatalf("got %v\nwant %v", got, want)
	}
}

func scans(e *exam) {
	want := map[string]bool{}
	for i := range 20 {
		c := put(fmt.Sprintf("id%02d", i), 0, "x")
		if i%2 == 0 {
			c.At = Day.AddDate(0, 0, i%3)
			c.Changes[0].Expires = c.At.AddDate(0, 1, 0)
		}
		want[c.Changes[0].Key.ID] = true
		noise := c.Changes[0]
		noise.Key.Kind = "thing2"
		other := c.Changes[0]
		other.Key.Tenant = "t2"
		c.Changes = append(c.Changes, noise, other)
		e.commit(c)
	}
	got := map[string]bool{}
	var last entity.Key
	for {
		page, err := e.Scan("t1", "thing", last, 3)
		if err != nil {
			e.Fatal(err)
		}
		for _, s := range page {
			if got[s.Key.ID] || s.Key.Tenant != "t1" || s.Key.Kind != "thing" || s.Version != 1 {
				e.Fatalf("scan gave %v twice or wrongly", s.Key)
			}
			got[s.Key.ID] = true
		}
		if len(page) < 3 {
			break
		}
		last = page[len(page)-1].Key
	}
	if !reflect.DeepEqual(got, want) {
		e.Fatalf("got %v, want %v", got, want)
	}
}

func events(e *exam) {
	var want []string
	for i := range 7 {
		at := Day.AddDate(0, 0, []int{0, 0, 1, 0, 2, 1, 2}[i]) // the clock also steps back
		name := fmt.Sprint("event", i)
		e.commit(entity.Commit{At: at, Events: []entity.Event{
			{Key: key("a"), Type: name, At: at, Data: []byte(strings.Repeat("x", i))},
		}})
		want = append(want, name)
	}
	e.reopen()
	var got []string
	after := uint64(0)
	for {
		page, err := e.Events(after, 2)
		if err != nil {
			e.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, event := range page {
			if event.Position <= after || event.Key != key("a") || len(event.Data) != len(got) {
				e.Fatalf("position %d after %d: %+v", event.Position, after, event)
			}
			after = event.Position
			got = append(got, event.Type)
		}
	}
	if !reflect.DeepEqual(got, want) {
		e.Fatalf("got %v, want %v", got, want)
	}
}

func (e *exam) prune(at time.Time) {
	e.Helper()
	if err := e.Prune(at); err != nil {
		e.Fatal(err)
	}
}

func prunes(e *exam) {
	short, long := put("short", 0, "s"), put("long", 0, "l")
	short.Changes[0].Expires = Day.Add(time.Hour)
	long.Changes[0].Expires = Day.AddDate(0, 0, 30)
	long.Owed = []entity.Row{{List: "dead", At: Day, Key: key("long")}}
	record := entity.Commit{At: Day, Command: &entity.Record{Tenant: "t1", ID: "c",
		Expires: Day.Add(time.Hour)}}
	e.commit(short, long, record, put("ever", 0, "e"))
	later := put("later", 0, "x")
	later.At = Day.AddDate(0, 0, 1)
	later.Changes[0].Expires = later.At.AddDate(0, 0, 30)
	e.commit(later)

	e.prune(Day.AddDate(0, 0, 30).Add(-time.Millisecond))
	e.want("short", 1, "s") // Its day is kept for the sake of long: late, never early.
	e.want("long", 1, "l")
	// A later change may prolong what it changes, and with it the day.
	longer := put("long", 1, "l2")
	longer.Changes[0].Expires = Day.AddDate(0, 0, 40)
	e.commit(longer)
	e.prune(Day.AddDate(0, 0, 39))
	e.want("long", 2, "l2")
	e.want("later", 0, "")
	e.prune(Day.AddDate(0, 0, 40))
	e.want("short", 0, "")
	e.want("long", 0, "")
	e.want("ever", 1, "e")
	if _, ok, err := e.Recorded("t1", "c"); ok || err != nil {
		e.Fatalf("record: %v, %v", ok, err)
	}
	e.wantRows("dead", "t1", []entity.Row(nil)...)
	e.commit(put("long", 0, "again"))
	e.want("long", 1, "again")
}

func pruneHeld(e *exam) {
	c := timed("a", 0, 5)
	c.Changes[0].Expires = Day.Add(time.Hour)
	e.commit(c)
	e.prune(Day.AddDate(1, 0, 0))
	e.want("a", 1, "x")
	e.commit(timed("a", 1, 0))
	e.prune(Day.AddDate(1, 0, 0))
	e.want("a", 0, "")
}

// snapshots reads two entities of every batch while batches are written: a reader may be behind,
// but b, which it reads first, never ahead of a, which was written with it.
func snapshots(e *exam) {
	const batches = 50
	done := make(chan error, 1)
	go func() {
		for i := range uint64(batches) {
			if err := e.Commit([]entity.Commit{put("a", i, "x"), put("b", i, "x")}); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for {
		b, errB := e.Load(key("b"))
		a, errA := e.Load(key("a"))
		if errA != nil || errB != nil || b.Version > a.Version {
			e.Errorf("b is at %d, a at %d (%v, %v)", b.Version, a.Version, errB, errA)
		}
		if a.Version == batches || e.Failed() {
			break
		}
	}
	if err := <-done; err != nil {
		e.Fatal(err)
	}
}

func instants(e *exam) {
	// Room for what is committed below: a store that must make some waits for the snapshot's end.
	e.commit(put("big", 0, strings.Repeat("x", 1<<20)))
	e.commit(put("big", 1, ""), put("a", 0, "one"), put("b", 0, "one"))
	enough := errors.New("enough")
	err := e.Snapshot(func(r store.Reader) error {
		e.commit(put("a", 1, "two"), put("c", 0, "two"))
		a, errA := r.Load(key("a"))
		c, errC := r.Load(key("c"))
		if string(a.Data) != "one" || a.Version != 1 || c.Version != 0 || errA != nil || errC != nil {
			e.Errorf("the snapshot has %q at %d and c at %d (%v, %v)", a.Data, a.Version, c.Version, errA,
				errC)
		}
		found, err := r.Scan("t1", "thing", entity.Key{}, 10)
		if err != nil || len(found) != 3 || string(found[0].Data) != "one" {
			e.Errorf("the snapshot has %d entities, %v", len(found), err)
		}
		if _, err := r.Load(entity.Key{}); !errors.Is(err, entity.ErrKey) {
			e.Errorf("a bad key: %v", err)
		}
		return enough
	})
	if !errors.Is(err, enough) {
		e.Errorf("got %v, want the reader's own error", err)
	}
	e.want("a", 2, "two")
	e.want("c", 1, "two")
}

func closed(e *exam) {
	if err := e.Close(); err != nil {
		e.Fatal(err)
	}
	if err := e.Commit([]entity.Commit{put("a", 0, "x")}); !errors.Is(err, store.ErrClosed) {
		e.Errorf("commit: %v", err)
	}
	if _, err := e.Load(key("a")); !errors.Is(err, store.ErrClosed) {
		e.Errorf("load: %v", err)
	}
	never := func(store.Reader) error {
		e.Error("a closed store was read")
		return nil
	}
	if err := e.Snapshot(never); !errors.Is(err, store.ErrClosed) {
		e.Errorf("snapshot: %v", err)
	}
}
