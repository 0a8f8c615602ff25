package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"chit/boltfile"
	"chit/broker/entity"
	"chit/broker/store"
	"chit/broker/store/storetest"
)

const pageSize = 4096

// filled is the file of a store with branches, day buckets and pages that were freed again.
func filled(t testing.TB, entities int) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "filled.db")
	fill(t, path, entities)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// fill puts entities of 500 bytes with timers into a store, half of them in day buckets.
func fill(t testing.TB, path string, entities int) {
	t.Helper()
	s, err := Open(path, Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	data := bytes.Repeat([]byte("d"), 500)
	var batch []entity.Commit
	for i := range entities {
		at := storetest.Day.Add(time.Duration(i%3) * 24 * time.Hour)
		change := entity.Change{Data: data, Timer: at.Add(time.Hour),
			Key: entity.Key{Tenant: "t", Kind: "thing", ID: fmt.Sprintf("%08x", uint32(i)*2654435761)}}
		if i%2 == 0 {
			change.Expires = at.Add(time.Hour)
		}
		batch = append(batch, entity.Commit{At: at, Changes: []entity.Change{change}})
		if len(batch) == 2000 || i == entities-1 {
			if err := s.Commit(batch); err != nil {
				t.Fatal(err)
			}
			batch = batch[:0]
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// reopen opens a file with those bytes, and where it opens, checks it. A panic ends the test's
// process: that is what must never happen.
func reopen(path string, b []byte) (opened bool, err error) {
	if err := os.WriteFile(path, b, 0o600); err != nil {
		return false, err
	}
	s, err := Open(path, Options{NoSync: true})
	if err != nil {
		return false, err
	}
	_ = s.Check() // What it finds in sound pages is not the pages' damage.
	return true, s.Close()
}

func refusedInOrder(err error) bool {
	return errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrFormat)
}

func TestATornFileIsRefusedByNameAndLeftAsItIs(t *testing.T) {
	good := filled(t, 300)
	zeroed := bytes.Clone(good)
	clear(zeroed[2*pageSize:])
	for name, b := range map[string][]byte{
		"empty": {}, "one page": good[:pageSize], "cut inside a page": good[:3*pageSize+17],
		"cut": good[:len(good)/4], "zeroed": zeroed,
		"text": bytes.Repeat([]byte("not a store\n"), 4000),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "broker.db")
			_, err := reopen(path, b)
			if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), path) ||
				!strings.Contains(err.Error(), "left as it is") {
				t.Errorf("error %v, want ErrDamaged, the file's name and that it is left", err)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, b) {
				t.Errorf("the file was changed (%v)", err)
			}
		})
	}
}

func TestAnyZeroedPageIsRefusedOrWasNotInUse(t *testing.T) {
	good := filled(t, 300)
	path, refused := filepath.Join(t.TempDir(), "broker.db"), 0
	for at := 0; at+pageSize <= len(good); at += pageSize {
		b := bytes.Clone(good)
		clear(b[at : at+pageSize])
		opened, err := reopen(path, b)
		if !opened && !refusedInOrder(err) {
			t.Errorf("page %d: error %v, want ErrDamaged", at/pageSize, err)
		}
		if !opened {
			refused++
		}
	}
	if refused < 20 {
		t.Errorf("%d pages were refused, want those in use", refused)
	}
}

func TestAFlippedPageHeaderIsRefusedOrHarmless(t *testing.T) {
	good := filled(t, 100)
	path, refused := filepath.Join(t.TempDir(), "broker.db"), 0
	for at := 0; at+pageSize <= len(good); at += pageSize {
		for _, i := range []int{0, 8, 9, 10, 11, 12, 15, 16, 20, 24, 28} {
			b := bytes.Clone(good)
			b[at+i] ^= 0xff
			opened, err := reopen(path, b)
			if !opened && !refusedInOrder(err) {
				t.Errorf("page %d, byte %d: error %v, want ErrDamaged", at/pageSize, i, err)
			}
			if !opened {
				refused++
			}
		}
	}
	if refused < 50 {
		t.Errorf("%d flips were refused, want those in pages in use", refused)
	}
}

func TestRandomDamageNeverEndsTheProcess(t *testing.T) {
	good := filled(t, 100)
	path := filepath.Join(t.TempDir(), "broker.db")
	rapid.Check(t, func(t *rapid.T) {
		b := bytes.Clone(good)
		for range rapid.IntRange(1, 3).Draw(t, "patches") {
			at := rapid.IntRange(0, len(b)-1).Draw(t, "at")
			copy(b[at:], rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "patch"))
		}
		b = b[:len(b)-rapid.OneOf(rapid.Just(0), rapid.IntRange(0, len(b))).Draw(t, "cut")]
		if opened, err := reopen(path, b); !opened && !refusedInOrder(err) {
			t.Fatalf("error %v, want ErrDamaged", err)
		}
	})
}

// FuzzOpen overwrites a piece of a sound file: it is refused as damaged, or it opens.
func FuzzOpen(f *testing.F) {
	good := filled(f, 100)
	f.Add(uint32(0), []byte("torn"), uint32(0))
	f.Add(uint32(3*pageSize+20), []byte("0"), uint32(70))
	f.Add(uint32(5*pageSize+8), []byte{1, 0, 0xff, 0xff, 1}, uint32(0))
	f.Add(uint32(0), []byte{}, uint32(20_000))
	f.Fuzz(func(t *testing.T, at uint32, patch []byte, cut uint32) {
		b := bytes.Clone(good)
		copy(b[int(at)%len(b):], patch)
		path := filepath.Join(t.TempDir(), "broker.db")
		if opened, err := reopen(path, b[:len(b)-int(cut)%len(b)]); !opened && !refusedInOrder(err) {
			t.Fatalf("error %v, want ErrDamaged", err)
		}
	})
}

// BenchmarkOpen opens a store of 100 MB that lies in the page cache; Verify is the part of it that
// checks the pages.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "broker.db")
	fill(b, path, 120_000)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	for _, part := range []struct {
		name string
		run  func() error
	}{
		{"verify", func() error { return boltfile.Verify(path) }},
		{"whole", func() error {
			s, err := Open(path, Options{})
			return errors.Join(err, s.Close())
		}},
	} {
		b.Run(part.name, func(b *testing.B) {
			b.SetBytes(info.Size())
			b.ReportAllocs()
			for b.Loop() {
				if err := part.run(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(info.Size())/1e6, "MB")
		})
	}
}
