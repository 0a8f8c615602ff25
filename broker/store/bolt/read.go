package bolt

import (
	"bytes"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"chit/broker/entity"
	"chit/broker/store"
)

// Load implements [entity.View].
func (s *Store) Load(key entity.Key) (entity.State, error) {
	if err := key.Check(); err != nil {
		return entity.State{}, err
	}
	var state entity.State
	err := s.view(func(tx *bbolt.Tx) (err error) {
		state, err = loadFrom(tx, key)
		return err
	})
	if err != nil {
		return entity.State{}, fmt.Errorf("bolt: loading %s: %w", key, err)
	}
	return state, nil
}

func loadFrom(tx *bbolt.Tx, key entity.Key) (entity.State, error) {
	_, _, stored := find(tx.Bucket(keptBucket), tx.Bucket(daysBucket), keptBucket, keyBytes(key))
	if stored == nil {
		return entity.State{}, nil
	}
	return readEntity(stored)
}

// snapshot is one transaction as a [store.Reader].
type snapshot struct{ tx *bbolt.Tx }

// Snapshot implements [store.Store].
func (s *Store) Snapshot(read func(store.Reader) error) error {
	return s.view(func(tx *bbolt.Tx) error { return read(snapshot{tx}) })
}

// Load implements [entity.View].
func (s snapshot) Load(key entity.Key) (entity.State, error) {
	if err := key.Check(); err != nil {
		return entity.State{}, err
	}
	state, err := loadFrom(s.tx, key)
	if err != nil {
		return entity.State{}, fmt.Errorf("bolt: loading %s: %w", key, err)
	}
	return state, nil
}

// Scan implements [store.Reader].
func (s snapshot) Scan(tenant, kind string, after entity.Key, limit int) ([]store.Stored, error) {
	found, err := scanFrom(s.tx, tenant, kind, after, limit)
	if err != nil {
		return nil, fmt.Errorf("bolt: scanning %s/%s: %w", tenant, kind, err)
	}
	return found, nil
}

// Recorded implements [store.Store].
func (s *Store) Recorded(tenant, id string) (entity.Record, bool, error) {
	record := entity.Record{Tenant: tenant, ID: id}
	found := false
	err := s.view(func(tx *bbolt.Tx) error {
		_, _, value := find(tx.Bucket(recordsBucket), tx.Bucket(daysBucket), recordsBucket,
			recordKey(tenant, id))
		if value == nil {
			return nil
		}
		var stored storedRecord
		if err := unmarshal(value, &stored, func() int { return stored.Format }); err != nil {
			return err
		}
		found = true
		record.Digest, record.Answer, record.Expires = stored.Digest, stored.Answer, stored.Until
		return nil
	})
	if err != nil {
		return entity.Record{}, false, fmt.Errorf("bolt: reading command %s: %w", id, err)
	}
	return record, found, nil
}

// Rows implements [store.Store].
func (s *Store) Rows(list, tenant string, after entity.Row, limit int) ([]entity.Row, error) {
	var rows []entity.Row
	err := s.view(func(tx *bbolt.Tx) error {
		prefix := rowPrefix(list, tenant)
		cursor := tx.Bucket(rowsBucket).Cursor()
		key, _ := cursor.Seek(prefix)
		if after != (entity.Row{}) {
			last := rowBytes(after)
			if key, _ = cursor.Seek(last); bytes.Equal(key, last) {
				key, _ = cursor.Next()
			}
		}
		for ; bytes.HasPrefix(key, prefix) && len(rows) < limit; key, _ = cursor.Next() {
			row, err := readRow(key)
			if err != nil {
				return err
			}
			rows = append(rows, row)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("bolt: listing %s: %w", list, err)
	}
	return rows, nil
}

// Timers implements [store.Store].
func (s *Store) Timers(kind string, now time.Time, limit int) (due []store.Due, next time.Time,
	err error) {
	var suffix []byte
	if kind != "" {
		suffix = append([]byte{0}, kind...) // An entity's key ends with its kind.
	}
	err = s.view(func(tx *bbolt.Tx) error {
		cursor := tx.Bucket(timersBucket).Cursor()
		for stored, _ := cursor.First(); stored != nil; stored, _ = cursor.Next() {
			if len(stored) < 8 {
				return fmt.Errorf("%w: timer %q", store.ErrCorrupt, stored)
			}
			if !bytes.HasSuffix(stored[8:], suffix) {
				continue
			}
			at := readInstant(readNumber(stored))
			if now.Before(at) || len(due) == limit {
				next = at
				return nil
			}
			key, err := readKey(stored[8:])
			if err != nil {
				return err
			}
			due = append(due, store.Due{Key: key, At: at})
		}
		return nil
	})
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("bolt: reading timers: %w", err)
	}
	return due, next, nil
}

// Scan implements [store.Store].
func (s *Store) Scan(tenant, kind string, after entity.Key, limit int) ([]store.Stored, error) {
	var found []store.Stored
	err := s.view(func(tx *bbolt.Tx) (err error) {
		found, err = scanFrom(tx, tenant, kind, after, limit)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("bolt: scanning %s/%s: %w", tenant, kind, err)
	}
	return found, nil
}

// scanFrom lists first what is kept for ever, then day by day.
func scanFrom(tx *bbolt.Tx, tenant, kind string, after entity.Key, limit int) (
	[]store.Stored, error) {
	prefix := append([]byte(tenant), 0)
	kept, days := tx.Bucket(keptBucket), tx.Bucket(daysBucket)
	buckets := []*bbolt.Bucket{kept}
	cursor := days.Cursor()
	for day, _ := cursor.First(); day != nil; day, _ = cursor.Next() {
		if bucket := days.Bucket(day).Bucket(keptBucket); bucket != nil {
			buckets = append(buckets, bucket)
		}
	}
	last := []byte(nil)
	if after != (entity.Key{}) {
		last = keyBytes(after)
		for len(buckets) > 0 && buckets[0].Get(last) == nil {
			buckets = buckets[1:]
		}
	}
	var found []store.Stored
	for _, bucket := range buckets {
		if err := scan(bucket, prefix, kind, last, limit, &found); err != nil {
			return nil, err
		}
		last = nil
	}
	return found, nil
}

// scan appends the bucket's entities of one kind under prefix from behind the key last. It passes
// over the tenant's other kinds: scans are rare, commits are not.
func scan(bucket *bbolt.Bucket, prefix []byte, kind string, last []byte, limit int,
	found *[]store.Stored) error {
	cursor := bucket.Cursor()
	key, value := cursor.Seek(prefix)
	if last != nil {
		if key, value = cursor.Seek(last); bytes.Equal(key, last) {
			key, value = cursor.Next()
		}
	}
	for ; bytes.HasPrefix(key, prefix) && len(*found) < limit; key, value = cursor.Next() {
		name, err := readKey(key)
		if err != nil {
			return err
		}
		if name.Kind != kind {
			continue
		}
		state, err := readEntity(value)
		if err != nil {
			return err
		}
		*found = append(*found, store.Stored{Key: name, State: state})
	}
	return nil
}

// Events implements [store.Store].
func (s *Store) Events(after uint64, limit int) ([]store.Logged, error) {
	var events []store.Logged
	err := s.view(func(tx *bbolt.Tx) error {
		root := tx.Bucket(eventsBucket)
		days := root.Cursor()
		for day, _ := days.First(); day != nil && len(events) < limit; day, _ = days.Next() {
			cursor := root.Bucket(day).Cursor()
			if newest, _ := cursor.Last(); newest == nil || readNumber(newest) <= after {
				continue
			}
			key, value := cursor.Seek(number(after + 1))
			for ; key != nil && len(events) < limit; key, value = cursor.Next() {
				var e storedEvent
				if err := unmarshal(value, &e, func() int { return e.Format }); err != nil {
					return err
				}
				events = append(events, store.Logged{Position: readNumber(key), Event: entity.Event{
					Key:  entity.Key{Tenant: e.Tenant, Kind: e.Kind, ID: e.ID},
					Type: e.Type, At: e.At, Data: e.Data,
				}})
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("bolt: reading events: %w", err)
	}
	return events, nil
}
