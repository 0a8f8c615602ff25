package bolt

import (
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"chit/broker/store"
)

// faultsMax bounds what Check reports.
const faultsMax = 100

// Check implements [store.Store]: bbolt's own pages, then that every value can be read, every
// entity's timer stands in the list of timers and the other way round, and every row has its
// entity.
func (s *Store) Check() error {
	err := s.view(func(tx *bbolt.Tx) error {
		var faults []error
		// The checker's goroutine ends only when its channel is read to the end.
		for err := range tx.Check() {
			if len(faults) < faultsMax {
				faults = append(faults, fmt.Errorf("%w: %w", store.ErrCorrupt, err))
			}
		}
		if len(faults) > 0 {
			return errors.Join(faults...)
		}
		return checkData(tx)
	})
	if err != nil {
		return fmt.Errorf("bolt: checking: %w", err)
	}
	return nil
}

func checkData(tx *bbolt.Tx) error {
	timers := 0
	if err := checkEntities(tx.Bucket(keptBucket), tx, &timers); err != nil {
		return err
	}
	days := tx.Bucket(daysBucket)
	err := days.ForEachBucket(func(day []byte) error {
		if until := tx.Bucket(untilBucket).Get(day); len(until) != 8 {
			return fmt.Errorf("%w: day %s has no end", store.ErrCorrupt, day)
		}
		if bucket := days.Bucket(day).Bucket(keptBucket); bucket != nil {
			if err := checkEntities(bucket, tx, &timers); err != nil {
				return err
			}
		}
		if bucket := days.Bucket(day).Bucket(recordsBucket); bucket != nil {
			return checkRecords(bucket)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := checkRecords(tx.Bucket(recordsBucket)); err != nil {
		return err
	}
	if listed := tx.Bucket(timersBucket).Stats().KeyN; listed != timers {
		return fmt.Errorf("%w: %d timers are listed, entities have %d", store.ErrCorrupt, listed,
			timers)
	}
	return tx.Bucket(rowsBucket).ForEach(func(stored, _ []byte) error {
		row, err := readRow(stored)
		if err == nil && !present(tx, row.Key) {
			err = fmt.Errorf("%w: list %s has a row for %s, which is not there", store.ErrCorrupt,
				row.List, row.Key)
		}
		return err
	})
}

func checkEntities(bucket *bbolt.Bucket, tx *bbolt.Tx, timers *int) error {
	return bucket.ForEach(func(key, value []byte) error {
		if _, err := readKey(key); err != nil {
			return err
		}
		state, err := readEntity(value)
		if err != nil {
			return err
		}
		if state.Version == 0 {
			return fmt.Errorf("%w: %q has version 0", store.ErrCorrupt, key)
		}
		if state.Timer.IsZero() {
			return nil
		}
		*timers++
		if tx.Bucket(timersBucket).Get(timerBytes(instant(state.Timer), key)) == nil {
			return fmt.Errorf("%w: the timer of %q is not listed", store.ErrCorrupt, key)
		}
		return nil
	})
}

func checkRecords(bucket *bbolt.Bucket) error {
	return bucket.ForEach(func(key, value []byte) error {
		var stored storedRecord
		if err := unmarshal(value, &stored, func() int { return stored.Format }); err != nil {
			return fmt.Errorf("command %q: %w", key, err)
		}
		return nil
	})
}
