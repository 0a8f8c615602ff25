package bolt

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
)

// Origin says where an opened file comes from.
type Origin struct {
	// Why is why the generation was raised, for people; "" where it was not.
	Why string
	// Was and Is are the generation before and now, 1 for a store that was never restored.
	Was, Is uint64
	// Renewed is when the generation was raised last, zero where it never was.
	Renewed time.Time
}

// mark is the small file beside the store by which a copy of it is known. The store bears the name
// Instance, and a copy bears it too; but a copy that was put back has fewer commits than Commits,
// and a copied file was born at another time than Born. What nothing here can tell is a disk that
// was set back as a whole, mark and all (a snapshot): that is for Options.Renew.
type mark struct {
	Format     int    `json:"v"`
	Instance   string `json:"instance"`
	Generation uint64 `json:"generation"`
	// Commits is how many commits the store had at the least.
	Commits uint64 `json:"commits"`
	// Born names the file: its time of birth, or its inode where the file system knows no birth.
	Born string `json:"born"`
	// Next is the name that the store is being given, "" otherwise: a power cut in the middle must
	// not look like a restore.
	Next string `json:"next,omitempty"`
}

const markFormat = 1

// errMark says that a mark cannot be read. Nothing can be told from it, so the store is renewed.
var errMark = errors.New("unreadable")

// readMark reads the mark; ok is false where there is none.
func readMark(path string) (m mark, ok bool, err error) {
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return mark{}, false, nil
	case err != nil:
		return mark{}, false, err
	}
	if err := json.Unmarshal(data, &m); err != nil || m.Format != markFormat {
		return mark{}, true, errMark
	}
	return m, true, nil
}

// writeMark replaces the mark as a whole, durably.
func writeMark(path string, m mark) error {
	m.Format = markFormat
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	fresh := path + ".new"
	f, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(fresh, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// why says why the file is a restored copy, "" where it is the one that the mark was made for.
func (m mark) why(marked bool, file mark) string {
	switch {
	case !marked && file.Instance == "":
		return "" // New, or written by a program that knew no marks.
	case !marked:
		return "the file came without its mark: it was copied from another place"
	case m.Next != "" && file.Instance == m.Next:
		return "" // A power cut came between the two files.
	case m.Instance == "" && file.Instance == "":
		return "" // The same, earlier.
	case m.Instance != file.Instance:
		return "another file stands in the place of the one that was here"
	case file.Commits < m.Commits:
		return fmt.Sprintf("an older copy was put back: it has %d commits, %d were made", file.Commits,
			m.Commits)
	case m.Born != file.Born:
		return "the file was copied: it is not the one that was written here last"
	}
	return ""
}

// adopt compares the file with its mark, raises the generation where it is a restored copy, and
// writes the mark. The name is changed with the generation, so that the same copy put back once
// more is known again.
func (s *Store) adopt(path string, options Options) error {
	file, err := s.self(path)
	if err != nil {
		return err
	}
	s.origin = Origin{Was: s.generation, Is: s.generation}
	var m mark
	marked, unreadable := false, error(nil)
	if options.Mark != "" {
		if m, marked, err = readMark(options.Mark); err != nil && !errors.Is(err, errMark) {
			return fmt.Errorf("reading the mark: %w", err)
		}
		unreadable = err
	}
	switch {
	case options.Renew:
		s.origin.Why = "it was asked for"
	case unreadable != nil:
		s.origin.Why = "the mark " + options.Mark + " is unreadable"
	case options.Mark != "":
		s.origin.Why = m.why(marked, file)
	}
	if s.origin.Why != "" {
		s.origin.Is = max(s.generation, m.Generation) + 1
	}
	name := file.Instance
	if options.Mark != "" && name == "" || s.origin.Why != "" {
		name = m.Next // Of an adoption that a power cut ended.
		if name == "" || s.origin.Why != "" {
			name = newName()
		}
		m.Next = name
		if options.Mark != "" && unreadable == nil {
			if err := writeMark(options.Mark, m); err != nil {
				return fmt.Errorf("writing the mark: %w", err)
			}
		}
	}
	if err := s.rename(name, file.Instance, options.Mark != ""); err != nil {
		return err
	}
	s.path, s.markPath = path, options.Mark
	return s.Mark()
}

func newName() string {
	name := make([]byte, 12)
	_, _ = rand.Read(name) // It never fails (package crypto/rand).
	return hex.EncodeToString(name)
}

// rename writes the file's name and generation, and learns when the generation was raised. Where
// there is a mark it commits at every start: any copy made before is then older than the mark.
func (s *Store) rename(name, was string, marked bool) error {
	if marked || name != was || s.origin.Is != s.origin.Was {
		err := s.db.Update(func(tx *bbolt.Tx) error {
			meta := tx.Bucket(metaBucket)
			err := meta.Put(metaInstance, []byte(name))
			if s.origin.Is != s.origin.Was {
				err = errors.Join(err, meta.Put(metaGeneration, number(s.origin.Is)),
					meta.Put(metaRenewed, number(instant(time.Now()))))
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	s.generation = s.origin.Is
	return s.db.View(func(tx *bbolt.Tx) error {
		if at := tx.Bucket(metaBucket).Get(metaRenewed); len(at) == 8 {
			s.origin.Renewed = readInstant(readNumber(at))
		}
		return nil
	})
}

// self is the mark that the file would have now.
func (s *Store) self(path string) (mark, error) {
	m := mark{Generation: s.generation}
	err := s.db.View(func(tx *bbolt.Tx) error {
		m.Instance = string(tx.Bucket(metaBucket).Get(metaInstance))
		m.Commits = uint64(tx.ID())
		return nil
	})
	if err != nil {
		return mark{}, err
	}
	m.Born, err = born(path)
	return m, err
}

// Mark notes beside the file how far it has come, where anything was committed since. Whoever opens
// it with Options.Mark calls it now and then. A copy made before the last call or the last start is
// noticed for certain; a later one only where its file is another.
func (s *Store) Mark() error {
	if s.markPath == "" {
		return nil
	}
	s.marking.Lock()
	defer s.marking.Unlock()
	if err := s.state(); err != nil {
		return err
	}
	m, err := s.self(s.path)
	if err != nil || m == s.marked {
		return err
	}
	if err := writeMark(s.markPath, m); err != nil {
		return fmt.Errorf("bolt: writing the mark: %w", err)
	}
	s.marked = m
	return nil
}

// Origin says whether the file was found to be a restored copy.
func (s *Store) Origin() Origin { return s.origin }
