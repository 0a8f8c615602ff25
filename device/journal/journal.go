// Package journal is the device's memory: a bbolt file with one writer, the core loop.
//
// It stores what the core decides, one transaction for a batch of decisions, and answers two
// questions: what is open ([Journal.Load], at a start) and what is known of an id
// ([Journal.Lookup]). It decides nothing. It never replaces a file that it cannot read, and after
// a commit that returned an error it takes no other: the outcome of that commit is unknown until
// the file is reopened.
//
//	j, err := journal.Open(path, journal.Options{Serial: serial})
//	state, err := j.Load()
//	err = j.Apply(decision.Write) // durable when nil
//
// Buckets (DESIGN section 5), all at the root so that a commit touches few pages:
//
//	meta             "identity": format, journal id, serial; "counters": the rest of core.Meta
//	seen/<day>       ticket id -> core.Record; days are eight digits of lived days
//	content/<day>    arrival number, big endian -> the ticket
//	open             arrival number -> core.Open
//	intent           printer -> core.Intent
//	settings         key -> value
//
// Every value starts with its format version, one byte; a program reads its own version and the one
// before. Facts about bbolt: research/queue-ledger.md section 5.
package journal

import (
	"errors"
	"fmt"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"chit/boltfile"
	"chit/device/core"
)

// Errors of this package.
var (
	// ErrUnknownOutcome says that a commit returned an error: it may be on disk or not. The journal
	// takes nothing more; close it, open it again, and ask it what it knows.
	ErrUnknownOutcome = errors.New("journal: outcome of the commit is unknown")
	// ErrFull says that the disk or the journal's own limit has no room. It always comes together
	// with ErrUnknownOutcome.
	ErrFull = errors.New("journal: no room")
	// ErrDamaged says that the file is not a sound journal. It is left as it is.
	ErrDamaged = errors.New("journal: file is damaged")
	// ErrFormat says that the file was written by a newer program, or by one too old.
	ErrFormat = errors.New("journal: format not understood")
	// ErrInUse says that another process holds the file.
	ErrInUse = errors.New("journal: file is in use by another process")
	// ErrClosed says that the journal is closed.
	ErrClosed = errors.New("journal: closed")
)

// Options of [Open]; zero values take the defaults named.
type Options struct {
	// Serial is the machine's serial number. A journal that wakes on other hardware takes a new id.
	Serial string
	// Timeout is how long to wait for the file's lock: 1 s.
	Timeout time.Duration
	// MaxSize bounds the file, in bytes: 256 MiB.
	MaxSize int
	// Reserve is the size in bytes of the file beside the journal that keeps room for deletes on a
	// full disk: 1 MiB. Negative means none.
	Reserve int
	// NoSync leaves commits to the operating system. Only tests and benchmarks of other things
	// use it.
	NoSync bool
}

func (o Options) withDefaults() Options {
	if o.Timeout <= 0 {
		o.Timeout = time.Second
	}
	if o.MaxSize <= 0 {
		o.MaxSize = 256 << 20
	}
	if o.Reserve == 0 {
		o.Reserve = 1 << 20
	}
	return o
}

// The buckets' names.
var (
	bucketMeta     = []byte("meta")
	bucketOpen     = []byte("open")
	bucketIntent   = []byte("intent")
	bucketSettings = []byte("settings")

	keyIdentity = []byte("identity")
	keyCounters = []byte("counters")
)

const (
	prefixSeen    = "seen/"
	prefixContent = "content/"
)

func dayBucket(prefix string, day uint32) []byte { return fmt.Appendf(nil, "%s%08d", prefix, day) }

// Journal is an open file. Its methods belong to one goroutine; Lookup may also be called from
// others while no Apply runs.
type Journal struct {
	path     string
	options  Options
	db       *bolt.DB
	file     *os.File // bbolt's own, for tests that break it
	identity identity
	days     days
	poisoned error
}

// Open opens the journal at path, or brings it into being. Errors wrap [ErrDamaged], [ErrFormat],
// [ErrInUse] or the operating system's own.
func Open(path string, options Options) (*Journal, error) {
	options = options.withDefaults()
	switch _, err := os.Stat(path); {
	case errors.Is(err, os.ErrNotExist):
		if err := create(path, options); err != nil {
			return nil, fmt.Errorf("journal: creating %s: %w", path, err)
		}
	case err != nil:
		return nil, fmt.Errorf("journal: opening: %w", err)
	}
	db, file, err := openSound(path, options)
	if err != nil {
		return nil, err
	}
	j := &Journal{path: path, options: options, db: db, file: file}
	if err := guard(j.wake); err != nil {
		return nil, errors.Join(fmt.Errorf("journal: reading %s: %w", path, err), db.Close())
	}
	j.keepReserve()
	return j, nil
}

// openSound opens a file whose pages are all checked before: bbolt walks them in a goroutine of its
// own when it opens, and a broken page there ends the whole process.
func openSound(path string, options Options) (db *bolt.DB, file *os.File, err error) {
	err = guard(func() (err error) {
		db, err = bolt.Open(path, 0o600, &bolt.Options{
			Timeout: options.Timeout, MaxSize: options.MaxSize, NoSync: options.NoSync,
			NoFreelistSync: true, FreelistType: bolt.FreelistMapType, NoStatistics: true,
			OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
				f, err := boltfile.Opener(options.Timeout)(name, flag, mode)
				file = f
				return f, err
			},
		})
		return err
	})
	switch {
	case err == nil:
		db.AllocSize = allocSize
		return db, file, nil
	case errors.Is(err, ErrDamaged) && file != nil:
		err = errors.Join(err, file.Close()) // bbolt panicked and holds the lock.
	}
	return nil, nil, fmt.Errorf("journal: opening %s: %w", path, refusal(err))
}

// refusal says in this package's words why a file was not opened.
func refusal(err error) error {
	switch {
	case errors.Is(err, boltfile.ErrInUse), errors.Is(err, bolterrors.ErrTimeout):
		return ErrInUse
	case errors.Is(err, boltfile.ErrDamaged), errors.Is(err, bolterrors.ErrInvalid),
		errors.Is(err, bolterrors.ErrChecksum), errors.Is(err, bolterrors.ErrVersionMismatch):
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// allocSize is the step in which the file grows: a Pi's card is small, and each step is one more
// flush.
const allocSize = 1 << 20

// guard turns a panic of bbolt over a broken page into an error.
func guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, r)
		}
	}()
	return f()
}

// Path is the file's name.
func (j *Journal) Path() string { return j.path }

// ID is the journal's random id.
func (j *Journal) ID() string { return j.identity.journal }

// Close releases the file. It may be called twice.
func (j *Journal) Close() error {
	if j.db == nil {
		return nil
	}
	db := j.db
	j.db = nil
	if err := db.Close(); err != nil {
		return fmt.Errorf("journal: closing: %w", err)
	}
	return nil
}

func (j *Journal) ready() error {
	switch {
	case j.db == nil:
		return ErrClosed
	case j.poisoned != nil:
		return fmt.Errorf("journal: reopen it first: %w", j.poisoned)
	}
	return nil
}

// Lookup finds what is known of a ticket id, in the newest day that holds it. For a new id it reads
// nothing of the file.
func (j *Journal) Lookup(id string) (known core.Known, err error) {
	if err := j.ready(); err != nil {
		return core.Known{}, err
	}
	if id == "" {
		return core.Known{}, nil
	}
	err = guard(func() error {
		return j.db.View(func(tx *bolt.Tx) error {
			for _, name := range j.days.of([]byte(id)) {
				b := tx.Bucket(name)
				if b == nil {
					continue
				}
				value := b.Get([]byte(id))
				if value == nil {
					continue
				}
				day, err := dayOf(prefixSeen, name)
				if err != nil {
					return err
				}
				known.Found, known.Day = true, day
				known.Record, err = decodeRecord(value)
				return err
			}
			return nil
		})
	})
	if err != nil {
		return core.Known{}, fmt.Errorf("journal: looking %s up: %w", id, err)
	}
	return known, nil
}

// Apply makes changes one transaction, durable when it returns nil. After an error the journal is
// poisoned: see [ErrUnknownOutcome].
func (j *Journal) Apply(changes []core.Change) error {
	if err := j.ready(); err != nil {
		return err
	}
	if len(changes) == 0 {
		return nil
	}
	err := guard(func() error {
		return j.db.Update(func(tx *bolt.Tx) error {
			for _, c := range changes {
				if err := j.put(tx, c); err != nil {
					return fmt.Errorf("%T: %w", c, err)
				}
			}
			return nil
		})
	})
	if err == nil {
		j.days.follow(changes)
		return nil
	}
	if isFull(err) {
		err = fmt.Errorf("%w: %w", ErrFull, err)
		j.releaseReserve()
	}
	j.poisoned = fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
	return j.poisoned
}
