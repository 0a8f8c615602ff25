package boltfile

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func write(t *testing.T, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.db")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestVerifyChangesNothing(t *testing.T) {
	good := sample(t, "sound.db")
	torn := bytes.Clone(good[:len(good)/2])
	for _, tt := range []struct {
		file []byte
		want error
	}{{good, nil}, {torn, ErrDamaged}, {nil, ErrDamaged}} {
		path := write(t, tt.file)
		if err := Verify(path); !errors.Is(err, tt.want) {
			t.Errorf("%d bytes: error %v, want %v", len(tt.file), err, tt.want)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, tt.file) {
			t.Errorf("%d bytes: the file was changed (%v)", len(tt.file), err)
		}
	}
}

func TestAFileThatIsNotThereIsNotMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file.db")
	_, opened := Opener(0)(path, os.O_RDWR|os.O_CREATE, 0o600)
	for _, err := range []error{Verify(path), opened} {
		if !errors.Is(err, os.ErrNotExist) || errors.Is(err, ErrDamaged) {
			t.Errorf("error %v, want ErrNotExist", err)
		}
	}
}

// TestTheLockComesBeforeTheCheck: a file that its owner is writing to looks torn, and whoever read
// that would throw a sound store away.
func TestTheLockComesBeforeTheCheck(t *testing.T) {
	path := write(t, []byte("half a commit"))
	owner, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	for _, tt := range []struct {
		held, flag int
		want       error
	}{
		{syscall.LOCK_EX, os.O_RDWR, ErrInUse}, {syscall.LOCK_EX, os.O_RDONLY, ErrInUse},
		{syscall.LOCK_SH, os.O_RDWR, ErrInUse}, {syscall.LOCK_SH, os.O_RDONLY, ErrDamaged},
		{syscall.LOCK_UN, os.O_RDWR, ErrDamaged},
	} {
		if err := syscall.Flock(int(owner.Fd()), tt.held); err != nil {
			t.Fatal(err)
		}
		if _, err := Opener(0)(path, tt.flag, 0o600); !errors.Is(err, tt.want) {
			t.Errorf("lock %d, flag %d: error %v, want %v", tt.held, tt.flag, err, tt.want)
		}
	}
}

func TestOpenerWaitsForTheLock(t *testing.T) {
	path := write(t, sample(t, "sound.db"))
	owner, err := Opener(0)(path, os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		f, err := Opener(time.Minute)(path, os.O_RDWR, 0o600)
		if err == nil {
			err = f.Close()
		}
		done <- err
	}()
	select {
	case err := <-done:
		t.Fatalf("opened beside its owner: %v", err)
	case <-time.After(2 * lockPause):
	}
	if err := owner.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
