package bolt

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

// shop is a folder with a store and its mark.
type shop struct {
	*testing.T
	dir string
}

func (s *shop) path(name string) string { return filepath.Join(s.dir, name) }

func (s *shop) open(renew bool) *Store {
	s.Helper()
	return open1(s.T, s.path("broker.db"), Options{Mark: s.path("broker.mark"), Renew: renew})
}

// work opens the store, commits so often, and closes it or leaves it as a kill would.
func (s *shop) work(commits int, killed bool) Origin {
	s.Helper()
	store := s.open(false)
	state, err := store.Load(change("e", 0, nil)[0].Changes[0].Key)
	if err != nil {
		s.Fatal(err)
	}
	for i := range uint64(commits) {
		if err := store.Commit(change("e", state.Version+i, []byte("x"))); err != nil {
			s.Fatal(err)
		}
	}
	if killed {
		err = store.db.Close()
	} else {
		err = store.Close()
	}
	if err != nil {
		s.Fatal(err)
	}
	return store.Origin()
}

// over copies the content of a file over another, which stays the same file.
func (s *shop) over(from, to string) {
	s.Helper()
	content, err := os.ReadFile(s.path(from))
	if err == nil {
		err = os.WriteFile(s.path(to), content, 0o600)
	}
	if err != nil {
		s.Fatal(err)
	}
}

// anew does the same with another file.
func (s *shop) anew(from, to string) {
	s.Helper()
	s.over(from, "between")
	if err := os.Rename(s.path("between"), s.path(to)); err != nil {
		s.Fatal(err)
	}
}

func (s *shop) remove(name string) {
	s.Helper()
	if err := os.Remove(s.path(name)); err != nil {
		s.Fatal(err)
	}
}

func TestARestoredCopyIsNoticedByItself(t *testing.T) {
	for _, tt := range []struct {
		name    string
		restore func(*shop)
		why     string // "": not a restore
	}{
		{"nothing happened", func(*shop) {}, ""},
		{"it was killed", func(s *shop) { s.work(3, true) }, ""},
		{"only the mark is older", func(s *shop) {
			s.over("broker.mark", "old.mark")
			s.work(3, false)
			s.over("old.mark", "broker.mark")
		}, ""},
		{"copied over", func(s *shop) { s.over("copy", "broker.db") }, "older copy was put back"},
		{"another file", func(s *shop) { s.anew("copy", "broker.db") }, "older copy was put back"},
		{"the newest state, copied", func(s *shop) { s.anew("broker.db", "broker.db") }, "was copied"},
		{"the whole folder, copied", func(s *shop) {
			s.anew("copy", "broker.db")
			s.over("copy.mark", "broker.mark")
		}, "was copied"},
		{"the file alone in an empty folder", func(s *shop) {
			s.anew("copy", "broker.db")
			s.remove("broker.mark")
		}, "came without its mark"},
		{"the file was lost", func(s *shop) { s.remove("broker.db") }, "another file"},
		{"a copy from before there were marks", func(s *shop) {
			old := &shop{T: s.T, dir: s.TempDir()}
			if err := open1(s.T, old.path("broker.db"), Options{}).Close(); err != nil {
				s.Fatal(err)
			}
			content, err := os.ReadFile(old.path("broker.db"))
			if err == nil {
				err = os.WriteFile(s.path("broker.db"), content, 0o600)
			}
			if err != nil {
				s.Fatal(err)
			}
		}, "another file"},
		{"a store of another broker", func(s *shop) {
			other := &shop{T: s.T, dir: s.TempDir()}
			other.work(99, false)
			content, err := os.ReadFile(other.path("broker.db"))
			if err == nil {
				err = os.WriteFile(s.path("broker.db"), content, 0o600)
			}
			if err != nil {
				s.Fatal(err)
			}
		}, "another file"},
		{"a mark that cannot be read", func(s *shop) {
			if err := os.WriteFile(s.path("broker.mark"), []byte("{"), 0o600); err != nil {
				s.Fatal(err)
			}
		}, "unreadable"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &shop{T: t, dir: t.TempDir()}
			if o := s.work(3, false); o.Why != "" || o.Is != 1 {
				t.Fatalf("a new store: %+v", o)
			}
			s.over("broker.db", "copy")
			s.over("broker.mark", "copy.mark")
			s.work(3, false)
			tt.restore(s)
			o := s.work(1, false)
			if tt.why == "" {
				if o.Why != "" || o.Is != 1 {
					t.Fatalf("%+v, want no restore", o)
				}
				return
			}
			if !strings.Contains(o.Why, tt.why) || o.Is != 2 || o.Renewed.IsZero() {
				t.Fatalf("%+v, want generation 2, because %q", o, tt.why)
			}
			if o := s.work(1, false); o.Why != "" || o.Is != 2 || o.Renewed.IsZero() {
				t.Errorf("the next start: %+v, want generation 2 still", o)
			}
		})
	}
}

func TestACopyOfBeforeTheLastStartIsNoticedAfterAKill(t *testing.T) {
	s := &shop{T: t, dir: t.TempDir()}
	s.work(3, false)
	s.over("broker.db", "copy")
	store := s.open(false)
	if err := errors.Join(store.Commit(change("f", 0, nil)), store.db.Close()); err != nil {
		t.Fatal(err)
	}
	s.over("copy", "broker.db")
	if o := s.work(0, false); o.Is != 2 {
		t.Errorf("%+v, want generation 2", o)
	}
}

func TestTheSameCopyPutBackAgainIsAnotherGeneration(t *testing.T) {
	s := &shop{T: t, dir: t.TempDir()}
	s.work(3, false)
	s.over("broker.db", "copy")
	for want := range uint64(3) {
		s.over("copy", "broker.db")
		if o := s.work(int(want)*5+1, false); o.Is != want+1 {
			t.Fatalf("restore %d: %+v", want, o)
		}
	}
}

func TestWhatWasMarkedBeforeAKillIsMissedInACopy(t *testing.T) {
	s := &shop{T: t, dir: t.TempDir()}
	store := s.open(false)
	s.over("broker.db", "copy") // As a snapshot of the file system would.
	if err := store.Commit(change("e", 0, []byte("x"))); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(store.Mark(), store.db.Close()); err != nil {
		t.Fatal(err)
	}
	s.over("copy", "broker.db")
	if o := s.work(0, false); o.Is != 2 {
		t.Errorf("%+v, want generation 2", o)
	}
}

// TestAPowerCutBetweenTheTwoFilesIsNoRestore forges what each power cut of a start leaves: the mark
// is written first, then the store.
func TestAPowerCutBetweenTheTwoFilesIsNoRestore(t *testing.T) {
	s := &shop{T: t, dir: t.TempDir()}
	if err := open1(t, s.path("broker.db"), Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	if err := writeMark(s.path("broker.mark"), mark{Next: "n1"}); err != nil {
		t.Fatal(err)
	}
	if o := s.work(1, false); o.Why != "" || o.Is != 1 {
		t.Fatalf("before the first name was written: %+v", o)
	}
	m, _, err := readMark(s.path("broker.mark"))
	if err != nil || m.Instance != "n1" || m.Next != "" {
		t.Fatalf("%+v, %v", m, err)
	}
	m.Next = "n2"
	if err := writeMark(s.path("broker.mark"), m); err != nil {
		t.Fatal(err)
	}
	s.rename("n2")
	if o := s.work(1, false); o.Why != "" || o.Is != 1 {
		t.Errorf("after the name was written: %+v", o)
	}
}

func (s *shop) rename(name string) {
	s.Helper()
	store := open1(s.T, s.path("broker.db"), Options{})
	err := store.db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket(metaBucket).Put(metaInstance, []byte(name))
	})
	if err := errors.Join(err, store.Close()); err != nil {
		s.Fatal(err)
	}
}

func TestAMarkIsOneLineOfJSON(t *testing.T) {
	s := &shop{T: t, dir: t.TempDir()}
	s.work(1, false)
	f, err := os.Open(s.path("broker.mark"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var m map[string]any
	d := json.NewDecoder(f)
	if err := d.Decode(&m); err != nil || m["v"] != 1.0 || m["instance"] == "" || m["born"] == "" {
		t.Errorf("%v, %v", m, err)
	}
	if _, err := d.Token(); err != io.EOF {
		t.Errorf("more follows: %v", err)
	}
}
