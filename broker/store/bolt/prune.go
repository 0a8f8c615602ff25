package bolt

import (
	"bytes"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"chit/broker/entity"
	"chit/broker/store"
)

// eventsKept is how long the log is kept, in whole days.
const eventsKept = 31 * 24 * time.Hour

// Prune implements [store.Store]. A day in which an entity still has a timer is not dropped,
// however old: after a long time switched off its end must be judged first, or it would end
// silently (DESIGN.md I5). Rows of dropped entities go with them.
func (s *Store) Prune(now time.Time) error {
	days, err := s.expired(now)
	if err != nil {
		return fmt.Errorf("bolt: pruning: %w", err)
	}
	if len(days) == 0 && !s.eventsExpired(now) {
		return nil // A transaction that changes nothing would cost two flushes.
	}
	err = s.update(func(tx *bbolt.Tx) error {
		for _, day := range days {
			if err := tx.Bucket(daysBucket).DeleteBucket(day); err != nil {
				return fmt.Errorf("dropping day %s: %w", day, err)
			}
			if err := tx.Bucket(untilBucket).Delete(day); err != nil {
				return fmt.Errorf("dropping day %s: %w", day, err)
			}
		}
		if err := dropEvents(tx, now); err != nil {
			return err
		}
		return dropRows(tx)
	})
	if err != nil {
		return fmt.Errorf("bolt: pruning: %w", err)
	}
	return nil
}

// expired lists the days that may be dropped.
func (s *Store) expired(now time.Time) (days [][]byte, err error) {
	err = s.view(func(tx *bbolt.Tx) error {
		held := map[string]bool{}
		timers := tx.Bucket(timersBucket).Cursor()
		for stored, _ := timers.First(); stored != nil; stored, _ = timers.Next() {
			if len(stored) < 8 {
				return fmt.Errorf("%w: timer %q", store.ErrCorrupt, stored)
			}
			_, day, _ := find(tx.Bucket(keptBucket), tx.Bucket(daysBucket), keptBucket, stored[8:])
			held[string(day)] = true
		}
		return tx.Bucket(untilBucket).ForEach(func(day, until []byte) error {
			if len(until) != 8 {
				return fmt.Errorf("%w: day %s until %v", store.ErrCorrupt, day, until)
			}
			if !now.Before(readInstant(readNumber(until))) && !held[string(day)] {
				days = append(days, bytes.Clone(day))
			}
			return nil
		})
	})
	return days, err
}

func (s *Store) eventsExpired(now time.Time) bool {
	expired := false
	err := s.view(func(tx *bbolt.Tx) error {
		oldest, _ := tx.Bucket(eventsBucket).Cursor().First()
		expired = oldest != nil && bytes.Compare(oldest, dayOf(now.Add(-eventsKept))) < 0
		return nil
	})
	return err == nil && expired
}

func dropEvents(tx *bbolt.Tx, now time.Time) error {
	events := tx.Bucket(eventsBucket)
	first := dayOf(now.Add(-eventsKept))
	var old [][]byte
	cursor := events.Cursor()
	for day, _ := cursor.First(); day != nil && bytes.Compare(day, first) < 0; day, _ = cursor.Next() {
		old = append(old, bytes.Clone(day))
	}
	for _, day := range old {
		if err := events.DeleteBucket(day); err != nil {
			return fmt.Errorf("dropping events of %s: %w", day, err)
		}
	}
	return nil
}

// dropRows removes the rows whose entity is gone: dead letters that nobody took up.
func dropRows(tx *bbolt.Tx) error {
	rows := tx.Bucket(rowsBucket)
	var gone [][]byte
	cursor := rows.Cursor()
	for stored, _ := cursor.First(); stored != nil; stored, _ = cursor.Next() {
		row, err := readRow(stored)
		if err != nil {
			return err
		}
		if !present(tx, row.Key) {
			gone = append(gone, bytes.Clone(stored))
		}
	}
	for _, row := range gone {
		if err := rows.Delete(row); err != nil {
			return fmt.Errorf("dropping a row: %w", err)
		}
	}
	return nil
}

func present(tx *bbolt.Tx, key entity.Key) bool {
	_, _, stored := find(tx.Bucket(keptBucket), tx.Bucket(daysBucket), keptBucket, keyBytes(key))
	return stored != nil
}
