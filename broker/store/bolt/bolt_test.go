package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"chit/broker/entity"
	"chit/broker/store"
	"chit/broker/store/storetest"
)

func TestStoreExam(t *testing.T) {
	dirs := map[string]string{}
	storetest.Exercise(t, func(t *testing.T) store.Store {
		if dirs[t.Name()] == "" {
			dirs[t.Name()] = t.TempDir()
		}
		return open1(t, filepath.Join(dirs[t.Name()], "broker.db"), Options{})
	})
}

func TestRandomHistoriesMatchTheModel(t *testing.T) {
	count := 0
	storetest.Histories(t, func(rt *rapid.T) (store.Store, func() store.Store) {
		count++
		path := filepath.Join(t.TempDir(), fmt.Sprint("broker", count, ".db"))
		again := func() store.Store { return open1(t, path, Options{}) }
		return again(), again
	})
}

func open1(t *testing.T, path string, options Options) *Store {
	t.Helper()
	s, err := Open(path, options)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func change(id string, was uint64, data []byte) []entity.Commit {
	return []entity.Commit{{At: storetest.Day, Changes: []entity.Change{
		{Key: entity.Key{Tenant: "t1", Kind: "thing", ID: id}, Was: was, Data: data},
	}}}
}

func TestAFailedCommitPoisonsTheStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broker.db")
	s := open1(t, path, Options{SizeMax: 256 << 10})
	if err := s.Commit(change("a", 0, []byte("kept"))); err != nil {
		t.Fatal(err)
	}
	err := s.Commit(change("b", 0, bytes.Repeat([]byte("x"), 512<<10)))
	if !errors.Is(err, store.ErrPoisoned) {
		t.Fatalf("a commit past the size: %v", err)
	}
	if err := s.Commit(change("c", 0, nil)); !errors.Is(err, store.ErrPoisoned) {
		t.Errorf("the next commit: %v", err)
	}
	if _, err := s.Load(entity.Key{Tenant: "t1", Kind: "thing", ID: "a"}); !errors.Is(err,
		store.ErrPoisoned) {
		t.Errorf("the next read: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s = open1(t, path, Options{})
	defer s.Close()
	if err := s.Check(); err != nil {
		t.Error(err)
	}
	state, err := s.Load(entity.Key{Tenant: "t1", Kind: "thing", ID: "a"})
	if err != nil || string(state.Data) != "kept" {
		t.Errorf("after reopening: %q, %v", state.Data, err)
	}
}

func TestAHalfMadeFileIsMadeAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broker.db")
	if err := os.WriteFile(path+".new", []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open1(t, path, Options{})
	defer s.Close()
	if err := s.Check(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path + ".new"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the temporary file is still there: %v", err)
	}
}

func TestAnUnreadableFileIsRefusedAndLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broker.db")
	want := bytes.Repeat([]byte("not bolt "), 4096)
	if err := os.WriteFile(path, want, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, Options{}); err == nil {
		t.Fatal("opened")
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the file was changed (%v)", err)
	}
}

func TestANewerFormatIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broker.db")
	s := open1(t, path, Options{})
	tx, err := s.db.Begin(true)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(tx.Bucket(metaBucket).Put(metaFormat, []byte{format + 1}), tx.Commit(),
		s.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, Options{}); !errors.Is(err, store.ErrFormat) {
		t.Errorf("got %v, want %v", err, store.ErrFormat)
	}
}

func TestARestoreRenewsTheGeneration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broker.db")
	for want := range uint64(3) {
		s := open1(t, path, Options{Renew: want > 0})
		if s.Generation() != want+1 {
			t.Errorf("generation %d, want %d", s.Generation(), want+1)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheFileHasOneOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broker.db")
	s := open1(t, path, Options{})
	defer s.Close()
	if _, err := Open(path, Options{}); err == nil {
		t.Fatal("opened twice")
	}
}

func TestCheckFindsContradictions(t *testing.T) {
	timer := entity.Commit{At: storetest.Day, Changes: []entity.Change{{
		Key:   entity.Key{Tenant: "t1", Kind: "thing", ID: "a"},
		Timer: storetest.Day.Add(time.Hour), Expires: storetest.Day.Add(time.Hour),
	}}}
	for name, spoil := range map[string]func(w *writer) error{
		"unlisted timer": func(w *writer) error {
			key, _ := w.timers.Cursor().First()
			return w.timers.Delete(bytes.Clone(key))
		},
		"timer of nothing": func(w *writer) error {
			return w.timers.Put(timerBytes(5, []byte("t1\x00b\x00thing")), []byte{format})
		},
		"row of nothing": func(w *writer) error {
			return w.rows.Put(rowBytes(entity.Row{List: "l", Key: entity.Key{Tenant: "t", Kind: "k",
				ID: "i"}}), []byte{format})
		},
		"torn entity":     func(w *writer) error { return w.kept.Put([]byte("t\x00k\x00i"), []byte{1}) },
		"day without end": func(w *writer) error { return w.until.Delete(dayOf(storetest.Day)) },
		"torn record":     func(w *writer) error { return w.records.Put([]byte("t\x00i"), []byte("{")) },
	} {
		t.Run(name, func(t *testing.T) {
			s := open1(t, filepath.Join(t.TempDir(), "broker.db"), Options{})
			defer s.Close()
			if err := s.Commit([]entity.Commit{timer}); err != nil {
				t.Fatal(err)
			}
			if err := s.Check(); err != nil {
				t.Fatalf("before: %v", err)
			}
			tx, err := s.db.Begin(true)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(spoil(newWriter(tx)), tx.Commit()); err != nil {
				t.Fatal(err)
			}
			if err := s.Check(); !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("got %v, want %v", err, store.ErrCorrupt)
			}
		})
	}
}
