package journal

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	bolterrors "go.etcd.io/bbolt/errors"
)

// The reserve is a file of real bytes beside the journal. When a commit finds no room it is
// deleted, so that the commits after the reopening, deletes above all, find pages: a delete needs
// room too, because bbolt copies before it frees. It is made again when the disk has room for
// several of it.

func (j *Journal) reservePath() string { return j.path + ".reserve" }

// reserveSpare is how many times its size must be free before a reserve is made.
const reserveSpare = 4

// keepReserve makes the reserve if it is missing. That it cannot is no error: the disk is full
// then, and the next commit will say so if it matters.
func (j *Journal) keepReserve() {
	if j.options.Reserve < 0 {
		return
	}
	info, err := os.Stat(j.reservePath())
	if err == nil && info.Size() >= int64(j.options.Reserve) {
		return
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(j.path), &fs); err != nil {
		return
	}
	free := fs.Bavail * uint64(fs.Bsize)
	if free < uint64(j.options.Reserve)*reserveSpare {
		return
	}
	if err := writeReserve(j.reservePath(), j.options.Reserve); err != nil {
		_ = os.Remove(j.reservePath())
	}
}

// writeReserve writes noise-free but real blocks: a sparse file would reserve nothing.
func writeReserve(path string, size int) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	block := make([]byte, 64<<10)
	for i := range block {
		block[i] = 0xA5
	}
	for written := 0; written < size && err == nil; written += len(block) {
		_, err = f.Write(block)
	}
	return errors.Join(err, f.Close())
}

func (j *Journal) releaseReserve() { _ = os.Remove(j.reservePath()) }

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) ||
		errors.Is(err, bolterrors.ErrMaxSizeReached)
}
