package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	bolt "go.etcd.io/bbolt"

	"chit/device/core"
	"chit/device/wire"
)

func TestFailedCommitPoisonsTheJournalUntilItIsReopened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	apply(t, j, everything()...)
	if err := j.file.Close(); err != nil { // Every later write and flush fails.
		t.Fatal(err)
	}
	if err := j.Apply(everything()); !errors.Is(err, ErrUnknownOutcome) {
		t.Fatalf("error %v, want ErrUnknownOutcome", err)
	}
	if err := j.Apply(everything()); !errors.Is(err, ErrUnknownOutcome) {
		t.Errorf("a second commit: %v, want ErrUnknownOutcome", err)
	}
	if _, err := j.Lookup("7/2@grill"); !errors.Is(err, ErrUnknownOutcome) {
		t.Errorf("a look-up: %v, want ErrUnknownOutcome", err)
	}
	_ = j.Close() // The file is closed already; what counts is that the journal lets go of it.
	j = open(t, path, Options{Serial: "pi-serial"})
	checkEverything(t, j)
}

func TestFullJournalSaysSoAndGoesOnAfterDeletes(t *testing.T) {
	fill(t, filepath.Join(t.TempDir(), "journal.db"), Options{MaxSize: 2 << 20, Reserve: 64 << 10})
}

func TestFullDiskSaysSoAndGoesOnAfterDeletes(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"); err != nil {
		if os.Getuid() == 0 && !errors.Is(err, syscall.EPERM) {
			t.Fatal(err)
		}
		t.Logf("cannot mount a small file system (%v); the journal's own limit stands in", err)
		fill(t, filepath.Join(dir, "journal.db"), Options{MaxSize: 2 << 20})
		return
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	fill(t, filepath.Join(dir, "journal.db"), Options{Reserve: 512 << 10})
}

// fill writes contents until there is no room, reopens, drops a day and writes again.
func fill(t *testing.T, path string, options Options) {
	t.Helper()
	j, err := Open(path, options)
	if err != nil {
		t.Fatal(err)
	}
	data := bytes.Repeat([]byte("d"), 30<<10)
	n, last := uint64(0), uint64(0)
	for err == nil {
		n++
		last = n - 1
		err = j.Apply([]core.Change{core.PutContent{
			Day: uint32(n / 20), Arrival: n, Ticket: wire.Ticket{ID: "x", Data: data},
		}})
		if n > 1000 {
			t.Fatal("30 MB fit")
		}
	}
	if !errors.Is(err, ErrFull) || !errors.Is(err, ErrUnknownOutcome) {
		t.Fatalf("error %v, want ErrFull and ErrUnknownOutcome", err)
	}
	t.Logf("full after %d contents: %v", last, err)
	if _, err := os.Stat(j.reservePath()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the reserve was not released: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = open(t, path, options)
	if err := j.db.View(func(tx *bolt.Tx) error {
		if tx.Bucket(dayBucket(prefixContent, uint32(last/20))).Get(number(last)) == nil {
			t.Errorf("content %d was acknowledged and is gone", last)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	apply(t, j, core.DropContent{Day: 0}, core.DropContent{Day: 1})
	for i := range uint64(10) {
		apply(t, j, core.PutContent{
			Day: 99, Arrival: n + i, Ticket: wire.Ticket{ID: "x", Data: data},
		})
	}
	if report, err := j.Check(); err != nil || len(report.Problems) != 0 {
		t.Errorf("check: %v %q", err, report.Problems)
	}
}
