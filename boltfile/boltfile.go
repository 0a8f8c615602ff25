// Package boltfile opens a bbolt file only after every page of it was checked.
//
// bbolt trusts its file: it maps it and walks it when it opens, in a goroutine of its own. A torn
// or damaged page there ends the whole process by a panic nobody can recover. The check reads, it
// maps nothing and repairs nothing, and it needs no bbolt.
package boltfile

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

var (
	// ErrDamaged says that the file's pages do not fit together.
	ErrDamaged = errors.New("boltfile: damaged")
	// ErrInUse says that another process holds the file's lock.
	ErrInUse = errors.New("boltfile: in use by another process")
)

// fault is one damage. It reads as what is wrong; whoever owns the file says what that means.
type fault string

func (f fault) Error() string        { return string(f) }
func (f fault) Is(target error) bool { return target == ErrDamaged }

func faultf(format string, args ...any) error { return fault(fmt.Sprintf(format, args...)) }

// Verify checks every page that can be reached and changes nothing. Errors are [ErrDamaged] or the
// operating system's own. It takes no lock: of a file that somebody writes to, it may say anything.
func Verify(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(verifyOpen(f), f.Close())
}

func verifyOpen(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return verify(f, info.Size())
}

// Opener is the OpenFile of bbolt's options: it opens a file that exists, takes the lock that bbolt
// takes (and takes again, on the same file, at once) and verifies the pages under it. Errors are
// [ErrInUse], after wait, [ErrDamaged], or the operating system's own; a file that vanished is not
// made anew.
func Opener(wait time.Duration) func(string, int, os.FileMode) (*os.File, error) {
	return func(name string, flag int, mode os.FileMode) (*os.File, error) {
		f, err := os.OpenFile(name, flag&^os.O_CREATE, mode)
		if err != nil {
			return nil, err
		}
		how := syscall.LOCK_EX
		if flag&(os.O_RDWR|os.O_WRONLY) == 0 {
			how = syscall.LOCK_SH
		}
		if err = lock(f, how, wait); err == nil {
			err = verifyOpen(f)
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return f, nil
	}
}

// lockPause is how long the lock is left alone between two tries.
const lockPause = 20 * time.Millisecond

// lock takes the lock as bbolt does, so that both are the same one.
func lock(f *os.File, how int, wait time.Duration) error {
	for start := time.Now(); ; time.Sleep(lockPause) {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			return fmt.Errorf("locking: %w", err)
		case time.Since(start)+lockPause > wait:
			return ErrInUse
		}
	}
}
