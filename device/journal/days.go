package journal

import (
	"hash/maphash"
	"maps"
	"slices"

	bolt "go.etcd.io/bbolt"

	"chit/device/core"
)

// days are the buckets of ids and a sieve before them: for a short hash of every id, the newest
// day that has it. A look-up reads nothing for a new id and one bucket for a known one. Reading all
// of a month's buckets is thirty walks through pages that no cache holds: among 10^6 ids that took
// six times as long as among 10^3.
//
// The sieve costs some 20 bytes an id. It never lacks an id that is there; one that it holds
// wrongly costs reads, for one new id in 4000 among 10^6.
type days struct {
	names [][]byte // newest first
	sieve map[uint32]uint32
}

// seed is this process's own: nobody outside can choose ids whose hashes meet.
var seed = maphash.MakeSeed()

func hashOf(id []byte) uint32 { return uint32(maphash.Bytes(seed, id)) }

// add notes that day has id.
func (d *days) add(day uint32, id []byte) {
	h := hashOf(id)
	if newest, found := d.sieve[h]; !found || newest < day {
		d.sieve[h] = day
	}
}

// of are the buckets that may hold id, newest first.
func (d *days) of(id []byte) [][]byte {
	newest, found := d.sieve[hashOf(id)]
	if !found {
		return nil
	}
	at, _ := slices.BinarySearchFunc(d.names, dayBucket(prefixSeen, newest), newestFirst)
	return d.names[at:]
}

// follow notes what a commit made of the ids.
func (d *days) follow(changes []core.Change) {
	for _, c := range changes {
		switch c := c.(type) {
		case core.PutSeen:
			name := dayBucket(prefixSeen, c.Day)
			if at, found := slices.BinarySearchFunc(d.names, name, newestFirst); !found {
				d.names = slices.Insert(d.names, at, name)
			}
			d.add(c.Day, []byte(c.ID))
		case core.DropSeen:
			d.drop(c.Day)
		}
	}
}

// drop forgets a day. Its hashes may stand for ids of older days, too; so only the oldest day,
// which is the one that is dropped in fact, takes them along.
func (d *days) drop(day uint32) {
	at, found := slices.BinarySearchFunc(d.names, dayBucket(prefixSeen, day), newestFirst)
	if !found {
		return
	}
	d.names = slices.Delete(d.names, at, at+1)
	if at == len(d.names) {
		maps.DeleteFunc(d.sieve, func(_, newest uint32) bool { return newest == day })
	}
}

func newestFirst(a, b []byte) int { return -slices.Compare(a, b) }

// readDays finds the buckets of ids and fills the sieve.
func readDays(tx *bolt.Tx) (days, error) {
	d := days{sieve: map[uint32]uint32{}}
	c := tx.Cursor()
	for name, _ := c.Seek([]byte(prefixSeen)); len(name) > len(prefixSeen) &&
		string(name[:len(prefixSeen)]) == prefixSeen; name, _ = c.Next() {
		day, err := dayOf(prefixSeen, name)
		if err != nil {
			return d, err
		}
		d.names = append(d.names, slices.Clone(name))
		b := tx.Bucket(name)
		if b == nil {
			continue // A value of that name: Check tells it.
		}
		ids := b.Cursor()
		for id, _ := ids.First(); id != nil; id, _ = ids.Next() {
			d.add(day, id)
		}
	}
	slices.Reverse(d.names)
	return d, nil
}
