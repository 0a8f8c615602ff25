package bolt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"chit/broker/entity"
)

// Commit implements [store.Store]: one transaction, two flushes, for the whole batch.
func (s *Store) Commit(batch []entity.Commit) error {
	if len(batch) == 0 {
		return s.state()
	}
	return s.update(func(tx *bbolt.Tx) error {
		w := newWriter(tx)
		for _, commit := range batch {
			if err := w.commit(commit); err != nil {
				return err
			}
		}
		return nil
	})
}

// writer is one transaction's buckets, opened once.
type writer struct {
	tx                                       *bbolt.Tx
	kept, days, until, timers, rows, records *bbolt.Bucket
}

func newWriter(tx *bbolt.Tx) *writer {
	return &writer{
		tx: tx, kept: tx.Bucket(keptBucket), days: tx.Bucket(daysBucket),
		until: tx.Bucket(untilBucket), timers: tx.Bucket(timersBucket),
		rows: tx.Bucket(rowsBucket), records: tx.Bucket(recordsBucket),
	}
}

func (w *writer) commit(c entity.Commit) error {
	for _, change := range c.Changes {
		if err := w.change(change, c.At); err != nil {
			return err
		}
	}
	for _, row := range c.Paid {
		if err := w.rows.Delete(rowBytes(row)); err != nil {
			return fmt.Errorf("bolt: paying %s: %w", row.Key, err)
		}
	}
	for _, row := range c.Owed {
		if err := row.Key.Check(); err != nil {
			return err
		}
		if err := w.rows.Put(rowBytes(row), []byte{format}); err != nil {
			return fmt.Errorf("bolt: owing %s: %w", row.Key, err)
		}
	}
	for _, event := range c.Events {
		if err := w.event(event); err != nil {
			return err
		}
	}
	if c.Command == nil {
		return nil
	}
	return w.record(*c.Command, c.At)
}

func (w *writer) change(c entity.Change, at time.Time) error {
	if err := c.Key.Check(); err != nil {
		return err
	}
	key := keyBytes(c.Key)
	bucket, day, stored := find(w.kept, w.days, keptBucket, key)
	var was entity.State
	if stored != nil {
		var err error
		if was, err = readEntity(stored); err != nil {
			return err
		}
	}
	if was.Version != c.Was {
		return fmt.Errorf("%w: %s is at %d, decided on %d", entity.ErrMoved, c.Key, was.Version, c.Was)
	}
	if bucket == nil {
		var err error
		if bucket, day, err = w.place(keptBucket, w.kept, c.Expires, at); err != nil {
			return err
		}
	}
	if err := w.keepUntil(day, c.Expires); err != nil {
		return err
	}
	if err := bucket.Put(key, entityBytes(c.Was+1, c.Timer, c.Data)); err != nil {
		return fmt.Errorf("bolt: storing %s: %w", c.Key, err)
	}
	return w.timer(key, instant(was.Timer), instant(c.Timer))
}

// timer moves an entity's one timer.
func (w *writer) timer(key []byte, was, now uint64) error {
	if was == now {
		return nil
	}
	if was != 0 {
		if err := w.timers.Delete(timerBytes(was, key)); err != nil {
			return fmt.Errorf("bolt: clearing the timer of %q: %w", key, err)
		}
	}
	if now != 0 {
		if err := w.timers.Put(timerBytes(now, key), []byte{format}); err != nil {
			return fmt.Errorf("bolt: setting the timer of %q: %w", key, err)
		}
	}
	return nil
}

// place is the bucket for something new: ever where it does not expire, else the one called name in
// its day of birth.
func (w *writer) place(name []byte, ever *bbolt.Bucket, expires, at time.Time) (
	*bbolt.Bucket, []byte, error) {
	if expires.IsZero() {
		return ever, nil, nil
	}
	day := dayOf(at)
	bucket, err := w.days.CreateBucketIfNotExists(day)
	if err == nil {
		bucket, err = bucket.CreateBucketIfNotExists(name)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("bolt: opening day %s: %w", day, err)
	}
	return bucket, day, nil
}

// keepUntil makes sure that a day is not dropped before expires.
func (w *writer) keepUntil(day []byte, expires time.Time) error {
	if day == nil {
		return nil
	}
	if found := w.until.Get(day); len(found) == 8 && readNumber(found) >= instant(expires) {
		return nil
	}
	if err := w.until.Put(day, number(instant(expires))); err != nil {
		return fmt.Errorf("bolt: keeping day %s: %w", day, err)
	}
	return nil
}

func (w *writer) record(r entity.Record, at time.Time) error {
	key := recordKey(r.Tenant, r.ID)
	bucket, day, err := w.place(recordsBucket, w.records, r.Expires, at)
	if err != nil {
		return err
	}
	if err := w.keepUntil(day, r.Expires); err != nil {
		return err
	}
	value, err := json.Marshal(storedRecord{Format: format, Digest: r.Digest, Answer: r.Answer,
		Until: r.Expires.UTC()})
	if err == nil {
		err = bucket.Put(key, value)
	}
	if err != nil {
		return fmt.Errorf("bolt: recording command %s: %w", r.ID, err)
	}
	return nil
}

// event appends to the log. Its day is the event's, but never before the newest: positions must
// grow over the days also where the clock steps back.
func (w *writer) event(e entity.Event) error {
	events := w.tx.Bucket(eventsBucket)
	day := dayOf(e.At)
	if newest, _ := events.Cursor().Last(); newest != nil && bytes.Compare(newest, day) > 0 {
		day = bytes.Clone(newest)
	}
	bucket, err := events.CreateBucketIfNotExists(day)
	if err != nil {
		return fmt.Errorf("bolt: opening events of %s: %w", day, err)
	}
	position, err := events.NextSequence()
	if err != nil {
		return fmt.Errorf("bolt: numbering an event: %w", err)
	}
	value, err := json.Marshal(storedEvent{Format: format, Tenant: e.Key.Tenant, Kind: e.Key.Kind,
		ID: e.Key.ID, Type: e.Type, At: e.At, Data: e.Data})
	if err == nil {
		err = bucket.Put(number(position), value)
	}
	if err != nil {
		return fmt.Errorf("bolt: logging %s of %s: %w", e.Type, e.Key, err)
	}
	return nil
}

// find looks for a key where things are kept for ever and then in the days, newest first. name is
// the bucket within a day.
func find(ever, days *bbolt.Bucket, name, key []byte) (bucket *bbolt.Bucket, day, value []byte) {
	if value := ever.Get(key); value != nil {
		return ever, nil, value
	}
	cursor := days.Cursor()
	for day, _ := cursor.Last(); day != nil; day, _ = cursor.Prev() {
		bucket := days.Bucket(day).Bucket(name)
		if bucket == nil {
			continue
		}
		if value := bucket.Get(key); value != nil {
			return bucket, bytes.Clone(day), value
		}
	}
	return nil, nil, nil
}
