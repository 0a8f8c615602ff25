package journal

import (
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"chit/device/core"
	"chit/device/wire"
)

// Load reads all that a start needs: counters, open tickets, intents, settings. Contents are read
// only for tickets that may still have to be printed.
func (j *Journal) Load() (state core.State, err error) {
	if err := j.ready(); err != nil {
		return core.State{}, err
	}
	err = guard(func() error {
		return j.db.View(func(tx *bolt.Tx) (err error) {
			state, err = loadFrom(tx)
			return err
		})
	})
	if err != nil {
		return core.State{}, fmt.Errorf("journal: loading %s: %w", j.path, err)
	}
	return state, nil
}

func loadFrom(tx *bolt.Tx) (core.State, error) {
	state := core.State{Intents: map[string]core.Intent{}, Settings: map[string][]byte{}}
	id, err := decodeIdentity(tx.Bucket(bucketMeta).Get(keyIdentity))
	if err != nil {
		return state, err
	}
	if state.Meta, err = decodeMeta(tx.Bucket(bucketMeta).Get(keyCounters)); err != nil {
		return state, err
	}
	state.Meta.Journal, state.Meta.Serial = id.journal, id.serial
	err = tx.Bucket(bucketOpen).ForEach(func(key, value []byte) error {
		o, err := decodeOpen(value)
		if err != nil {
			return err
		}
		if string(number(o.Arrival)) != string(key) {
			return fmt.Errorf("%w: open ticket %d stands under key %x", ErrDamaged, o.Arrival, key)
		}
		stored := core.Stored{Open: o}
		if o.State == core.Received || o.State == core.Stale {
			stored.Ticket, err = contentOf(tx, o)
		}
		state.Open = append(state.Open, stored)
		return err
	})
	if err != nil {
		return state, err
	}
	err = tx.Bucket(bucketIntent).ForEach(func(key, value []byte) (err error) {
		state.Intents[string(key)], err = decodeIntent(value)
		return err
	})
	if err != nil {
		return state, err
	}
	return state, tx.Bucket(bucketSettings).ForEach(func(key, value []byte) error {
		r := newReader("setting", value)
		state.Settings[string(key)] = append([]byte(nil), r.b...)
		return r.err
	})
}

var errNoContent = errors.New("content is missing")

func contentOf(tx *bolt.Tx, o core.Open) (t wire.Ticket, err error) {
	b := tx.Bucket(dayBucket(prefixContent, o.Day))
	if b == nil {
		return t, fmt.Errorf("%w: ticket %s, day %d: %w", ErrDamaged, o.ID, o.Day, errNoContent)
	}
	value := b.Get(number(o.Arrival))
	if value == nil {
		return t, fmt.Errorf("%w: ticket %s, arrival %d: %w", ErrDamaged, o.ID, o.Arrival, errNoContent)
	}
	if t, err = decodeTicket(value); err != nil {
		return t, fmt.Errorf("ticket %s: %w", o.ID, err)
	}
	return t, nil
}
