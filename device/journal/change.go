package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"chit/device/core"
)

// put writes one change. Fill percents say where keys grow with time: full pages cost fewer writes.
func (j *Journal) put(tx *bolt.Tx, change core.Change) error {
	switch c := change.(type) {
	case core.PutMeta:
		return tx.Bucket(bucketMeta).Put(keyCounters, encodeMeta(c.Meta))
	case core.PutSeen:
		b, err := tx.CreateBucketIfNotExists(dayBucket(prefixSeen, c.Day))
		if err != nil {
			return err
		}
		return b.Put([]byte(c.ID), encodeRecord(c.Record))
	case core.PutContent:
		b, err := tx.CreateBucketIfNotExists(dayBucket(prefixContent, c.Day))
		if err != nil {
			return err
		}
		value, err := encodeTicket(c.Ticket)
		if err != nil {
			return err
		}
		b.FillPercent = 0.95
		return b.Put(number(c.Arrival), value)
	case core.PutOpen:
		b := tx.Bucket(bucketOpen)
		b.FillPercent = 0.95
		return b.Put(number(c.Open.Arrival), encodeOpen(c.Open))
	case core.DropOpen:
		return tx.Bucket(bucketOpen).Delete(number(c.Arrival))
	case core.PutIntent:
		return tx.Bucket(bucketIntent).Put([]byte(c.Printer), encodeIntent(c.Intent))
	case core.ClearIntent:
		return tx.Bucket(bucketIntent).Delete([]byte(c.Printer))
	case core.PutSetting:
		return tx.Bucket(bucketSettings).Put([]byte(c.Key), append([]byte{version}, c.Value...))
	case core.DropSeen:
		return dropBucket(tx, dayBucket(prefixSeen, c.Day))
	case core.DropContent:
		return dropBucket(tx, dayBucket(prefixContent, c.Day))
	}
	return fmt.Errorf("unknown change %T", change)
}

func dropBucket(tx *bolt.Tx, name []byte) error {
	if err := tx.DeleteBucket(name); err != nil && !errors.Is(err, bolterrors.ErrBucketNotFound) {
		return err
	}
	return nil
}

func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func dayOf(prefix string, name []byte) (uint32, error) {
	digits, ok := strings.CutPrefix(string(name), prefix)
	day, err := strconv.ParseUint(digits, 10, 32)
	if !ok || err != nil || string(dayBucket(prefix, uint32(day))) != string(name) {
		return 0, fmt.Errorf("%w: bucket %.40q, want %s and eight digits", ErrDamaged, name, prefix)
	}
	return uint32(day), nil
}
