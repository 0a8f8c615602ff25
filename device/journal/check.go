package journal

import (
	"errors"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"chit/boltfile"
	"chit/device/core"
)

// Report is what chit check shows of a journal.
type Report struct {
	Journal, Serial string
	Boot            uint64
	Lived           time.Duration
	Bytes           int64
	Ids             int // remembered
	Contents        int
	Unfinished      int // tickets that still need paper or a person
	Unanswered      int // finished, and the broker does not know yet
	Intents         int // documents whose outcome is open
	// Problems break a promise; empty is sound.
	Problems []string
}

// Check reads the whole journal at path without changing it. The error is for a file that cannot be
// read at all; it wraps [ErrDamaged], [ErrFormat] or [ErrInUse] (chitd is running on it).
func Check(path string) (Report, error) {
	db, err := bolt.Open(path, 0o600, &bolt.Options{
		ReadOnly: true, Timeout: time.Second, PreLoadFreelist: false, NoStatistics: true,
		OpenFile: boltfile.Opener(time.Second),
	})
	if err != nil {
		return Report{}, fmt.Errorf("journal: opening %s: %w", path, refusal(err))
	}
	j := &Journal{path: path, db: db}
	report, err := j.Check()
	return report, errors.Join(err, j.Close())
}

// Check reads everything and compares what must fit together.
func (j *Journal) Check() (report Report, err error) {
	if err := j.ready(); err != nil {
		return report, err
	}
	err = guard(func() error {
		return j.db.View(func(tx *bolt.Tx) error {
			for err := range tx.Check() {
				report.problem("bbolt: %v", err)
			}
			report.Bytes = tx.Size()
			state, err := loadFrom(tx)
			if err != nil {
				return err
			}
			report.count(state)
			if err := report.readDays(tx, state.Meta); err != nil {
				return err
			}
			report.openAgree(tx, state)
			report.intentsAgree(state)
			return nil
		})
	})
	if err != nil {
		return report, fmt.Errorf("journal: checking %s: %w", j.path, err)
	}
	return report, nil
}

func (r *Report) problem(format string, args ...any) {
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}

func (r *Report) count(state core.State) {
	r.Journal, r.Serial = state.Meta.Journal, state.Meta.Serial
	r.Boot, r.Lived, r.Intents = state.Meta.Boot, state.Meta.Lived, len(state.Intents)
	for _, o := range state.Open {
		if o.Open.State == core.Received || o.Open.State == core.Stale {
			r.Unfinished++
		} else {
			r.Unanswered++
		}
	}
}

// readDays decodes every record and content.
func (r *Report) readDays(tx *bolt.Tx, meta core.Meta) error {
	return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
		if day, err := dayOf(prefixSeen, name); err == nil {
			if _, kept := meta.Days[day]; !kept {
				r.problem("ids of day %d have no end", day)
			}
			return b.ForEach(func(id, value []byte) error {
				r.Ids++
				if _, err := decodeRecord(value); err != nil {
					r.problem("record of %s: %v", id, err)
				}
				return nil
			})
		}
		if _, err := dayOf(prefixContent, name); err == nil {
			return b.ForEach(func(key, value []byte) error {
				r.Contents++
				if _, err := decodeTicket(value); err != nil {
					r.problem("content %x: %v", key, err)
				}
				return nil
			})
		}
		return nil
	})
}

// openAgree compares the open tickets with the records of their ids and with the counters.
func (r *Report) openAgree(tx *bolt.Tx, state core.State) {
	ids := map[string]uint64{}
	for _, stored := range state.Open {
		o := stored.Open
		if o.Arrival > state.Meta.Arrivals {
			r.problem("%s: arrival %d is above the %d given", o.ID, o.Arrival, state.Meta.Arrivals)
		}
		if o.N > state.Meta.NReserved {
			r.problem("%s: n %d is above the %d reserved", o.ID, o.N, state.Meta.NReserved)
		}
		if other, twice := ids[o.ID]; twice {
			r.problem("%s is open twice, as %d and %d", o.ID, other, o.Arrival)
		}
		ids[o.ID] = o.Arrival
		found := false
		if b := tx.Bucket(dayBucket(prefixSeen, o.Day)); b != nil {
			found = b.Get([]byte(o.ID)) != nil
		}
		if !found {
			r.problem("%s is open and its id has no record on day %d", o.ID, o.Day)
		}
	}
}

// intentsAgree wants every intent to speak of a ticket that is not finished.
func (r *Report) intentsAgree(state core.State) {
	for printer, in := range state.Intents {
		if in.Slip != core.SlipNone && in.Arrival == 0 {
			continue
		}
		found := false
		for _, o := range state.Open {
			found = found || o.Open.Arrival == in.Arrival && o.Open.State == core.Received
		}
		if !found {
			r.problem("intent of %s: arrival %d is not open", printer, in.Arrival)
		}
	}
}
