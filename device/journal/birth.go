package journal

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"chit/device/core"
)

// create brings a journal into being under a temporary name: a file torn while bbolt initialises it
// has no older state to fall back to (etcd#16596), and here a torn one never has the real name.
func create(path string, options Options) (err error) {
	young := path + ".new"
	if err := os.Remove(young); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err // It never was the journal, so nothing is lost with it.
	}
	db, err := bolt.Open(young, 0o600, &bolt.Options{
		Timeout: options.Timeout, NoFreelistSync: true, FreelistType: bolt.FreelistMapType,
	})
	if err != nil {
		return err
	}
	id := identity{journal: randomID(), serial: options.Serial}
	err = db.Update(func(tx *bolt.Tx) error {
		for _, name := range [][]byte{bucketMeta, bucketOpen, bucketIntent, bucketSettings} {
			if _, err := tx.CreateBucket(name); err != nil {
				return fmt.Errorf("bucket %s: %w", name, err)
			}
		}
		if err := tx.Bucket(bucketMeta).Put(keyCounters, encodeMeta(core.Meta{})); err != nil {
			return err
		}
		return tx.Bucket(bucketMeta).Put(keyIdentity, encodeIdentity(id))
	})
	if err = errors.Join(err, db.Sync(), db.Close()); err != nil {
		return err
	}
	if err := os.Rename(young, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// randomID is 128 random bits in 22 characters.
func randomID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // It never fails: crypto/rand ends the program first.
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// wake reads who the file is. On other hardware it becomes another journal: the broker must not
// take a copied card for the device's own memory (DESIGN section 4).
func (j *Journal) wake() error {
	err := j.db.View(func(tx *bolt.Tx) (err error) {
		meta := tx.Bucket(bucketMeta)
		if meta == nil {
			return fmt.Errorf("%w: no bucket %s", ErrDamaged, bucketMeta)
		}
		if j.identity, err = decodeIdentity(meta.Get(keyIdentity)); err != nil {
			return err
		}
		for _, name := range [][]byte{bucketOpen, bucketIntent, bucketSettings} {
			if tx.Bucket(name) == nil {
				return fmt.Errorf("%w: no bucket %s", ErrDamaged, name)
			}
		}
		j.days, err = readDays(tx)
		return err
	})
	if err != nil || j.options.Serial == "" || j.identity.serial == j.options.Serial {
		return err
	}
	moved := identity{journal: j.identity.journal, serial: j.options.Serial}
	if j.identity.serial != "" {
		moved.journal = randomID()
	}
	err = j.db.Update(func(tx *bolt.Tx) error {
		return tx.Bucket(bucketMeta).Put(keyIdentity, encodeIdentity(moved))
	})
	if err != nil {
		return fmt.Errorf("taking a new id: %w: %w", ErrUnknownOutcome, err)
	}
	j.identity = moved
	return nil
}
