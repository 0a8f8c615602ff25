// Package bolt keeps the broker's entities in one bbolt file.
//
// What expires lies in buckets per day of birth and is dropped by the day, because foreign ids are
// random and random keys in one big tree cost 16 times the writes (research/queue-ledger.md 5.3): a
// look-up asks the newest day first. Timers, outbox rows and events have keys that grow with time.
// The freelist is not written (5.2), so opening reads the whole tree, about 1 ms per MB.
package bolt

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"chit/boltfile"
	"chit/broker/entity"
	"chit/broker/store"
)

// SizeMax is the largest file where Options says nothing, in bytes.
const SizeMax = 16 << 30

// ErrInUse says that another process has the file open.
var ErrInUse = errors.New("file is in use by another process")

// lockWait is how long Open waits for another process to let go of the file.
const lockWait = time.Second

// Options are how a file is opened.
type Options struct {
	// SizeMax bounds the file in bytes, 0 means [SizeMax]. A commit past it fails, and with it the
	// store.
	SizeMax int64
	// Mark names the small file beside the store by which a restored copy is noticed; "" where
	// nobody looks.
	Mark string
	// Renew raises the generation: the file was restored from a copy (DESIGN.md section 7), as
	// somebody knows who asks for it. What Mark shows is noticed without.
	Renew bool
	// NoSync leaves commits to the operating system, and with them every promise. Only the crash
	// tests use it, to show that they would see it.
	NoSync bool
}

// Store is an open file.
type Store struct {
	db         *bbolt.DB
	generation uint64
	origin     Origin

	path, markPath string
	marking        sync.Mutex
	marked         mark // as it was written last

	mu       sync.Mutex
	poisoned error
	closed   bool
}

var _ store.Store = (*Store)(nil)

// Open opens path, or makes it: under a temporary name, flushed and renamed, so that a power cut
// leaves no half-made file (research/queue-ledger.md 5.1). Errors are [store.ErrDamaged],
// [store.ErrFormat], [ErrInUse] or the operating system's own.
func Open(path string, options Options) (*Store, error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		if err := create(path); err != nil {
			return nil, fmt.Errorf("bolt: making %s: %w", path, err)
		}
	} else if err != nil {
		return nil, fmt.Errorf("bolt: %w", err)
	}
	db, err := openSound(path, options)
	if err != nil {
		return nil, fmt.Errorf("bolt: opening %s: %w", path, err)
	}
	s := &Store{db: db}
	err = guard(func() error {
		if err := s.begin(); err != nil {
			return err
		}
		return s.adopt(path, options)
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("bolt: opening %s: %w", path, err), db.Close())
	}
	return s, nil
}

// openSound opens a file whose pages are all checked before: bbolt walks them in a goroutine of its
// own when it opens, and a broken page there ends the whole process.
func openSound(path string, options Options) (db *bbolt.DB, err error) {
	var file *os.File
	opener := boltfile.Opener(lockWait)
	err = guard(func() error {
		db, err = open(path, options, func(name string, flag int, mode os.FileMode) (*os.File, error) {
			f, err := opener(name, flag, mode)
			file = f
			return f, err
		})
		return err
	})
	switch {
	case errors.Is(err, store.ErrDamaged) && file != nil:
		return nil, errors.Join(err, file.Close()) // bbolt panicked and holds the lock.
	case errors.Is(err, boltfile.ErrInUse), errors.Is(err, bbolterrors.ErrTimeout):
		return nil, ErrInUse
	case errors.Is(err, boltfile.ErrDamaged), errors.Is(err, bbolterrors.ErrInvalid),
		errors.Is(err, bbolterrors.ErrChecksum), errors.Is(err, bbolterrors.ErrVersionMismatch):
		return nil, fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	return db, err
}

// guard turns a panic of bbolt over a broken page into an error.
func guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", store.ErrDamaged, r)
		}
	}()
	return f()
}

func open(path string, options Options,
	openFile func(string, int, os.FileMode) (*os.File, error)) (*bbolt.DB, error) {
	sizeMax := options.SizeMax
	if sizeMax == 0 {
		sizeMax = SizeMax
	}
	return bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout:        lockWait,
		NoFreelistSync: true,
		FreelistType:   bbolt.FreelistMapType,
		MaxSize:        int(min(sizeMax, int64(^uint(0)>>1))),
		NoSync:         options.NoSync,
		OpenFile:       openFile,
	})
}

// create makes an empty store beside path and moves it there.
func create(path string) error {
	fresh := path + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	db, err := open(fresh, Options{}, os.OpenFile)
	if err != nil {
		return err
	}
	if err := errors.Join(db.Update(initialise), db.Sync(), db.Close()); err != nil {
		return err
	}
	if err := os.Rename(fresh, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func initialise(tx *bbolt.Tx) error {
	for _, name := range roots {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	meta := tx.Bucket(metaBucket)
	return errors.Join(meta.Put(metaFormat, []byte{format}), meta.Put(metaGeneration, number(1)))
}

// begin checks the format and reads the generation.
func (s *Store) begin() error {
	return s.db.View(func(tx *bbolt.Tx) error {
		for _, name := range roots {
			if tx.Bucket(name) == nil {
				return fmt.Errorf("%w: bucket %s is missing", store.ErrFormat, name)
			}
		}
		meta := tx.Bucket(metaBucket)
		if found := meta.Get(metaFormat); len(found) != 1 || found[0] != format {
			return fmt.Errorf("%w: found %v, want %d", store.ErrFormat, found, format)
		}
		found := meta.Get(metaGeneration)
		if len(found) != 8 {
			return fmt.Errorf("%w: generation %v, want 8 bytes", store.ErrFormat, found)
		}
		s.generation = readNumber(found)
		return nil
	})
}

// Generation implements [store.Store].
func (s *Store) Generation() uint64 { return s.generation }

// Size is the file's size in bytes as of the last commit.
func (s *Store) Size() (int64, error) {
	var size int64
	err := s.view(func(tx *bbolt.Tx) error {
		size = tx.Size()
		return nil
	})
	return size, err
}

// Close implements [store.Store]. It waits for reads that are under way; a second call does
// nothing.
func (s *Store) Close() error {
	if s == nil {
		return nil // Of an Open that failed.
	}
	// A mark that is older only notices less; a poisoned store leaves it as it is.
	err := s.Mark()
	if errors.Is(err, store.ErrClosed) || errors.Is(err, store.ErrPoisoned) {
		err = nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	if failed := s.db.Close(); failed != nil {
		err = errors.Join(err, fmt.Errorf("bolt: closing: %w", failed))
	}
	return err
}

func (s *Store) state() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return store.ErrClosed
	case s.poisoned != nil:
		return s.poisoned
	}
	return nil
}

func (s *Store) poison(err error) error {
	err = fmt.Errorf("%w: %w", store.ErrPoisoned, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.poisoned = err
	return err
}

// view reads in one snapshot. A poisoned store is not read any more: what it shows may not be on
// disk.
func (s *Store) view(read func(*bbolt.Tx) error) error {
	if err := s.state(); err != nil {
		return err
	}
	return s.db.View(read)
}

// update writes in one transaction. The error of a commit, unlike that of a refusal, poisons.
func (s *Store) update(write func(*bbolt.Tx) error) error {
	if err := s.state(); err != nil {
		return err
	}
	tx, err := s.db.Begin(true)
	if err != nil {
		return s.poison(fmt.Errorf("beginning: %w", err))
	}
	if err := write(tx); err != nil {
		rollback := tx.Rollback()
		if rollback == nil && (errors.Is(err, entity.ErrMoved) || errors.Is(err, entity.ErrKey)) {
			return err
		}
		return s.poison(errors.Join(err, rollback))
	}
	if err := tx.Commit(); err != nil {
		return s.poison(fmt.Errorf("committing: %w", err))
	}
	return nil
}
