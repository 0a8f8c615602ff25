package boltfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"testing"

	"pgregory.net/rapid"
)

const pageSize = 4096

// sample is a file that bbolt wrote: branches, a page that overflows, a bucket inside a bucket and
// one inside a value; freelist.db has its list of free pages, sound.db goes without, as ours do.
func sample(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func check(b []byte) error { return verify(bytes.NewReader(b), int64(len(b))) }

// used are the pages that the sound file reaches, without those that another overflows into.
func used(t testing.TB, b []byte) (pages []int) {
	t.Helper()
	m, err := newestMeta(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	w := walker{r: bytes.NewReader(b), meta: m, seen: make([]bool, m.pages)}
	if _, err := w.page(m.root, 0, span{}); err != nil {
		t.Fatal(err)
	}
	for id := 0; id < len(w.seen); id++ {
		if w.seen[id] {
			pages = append(pages, id)
			id += int(binary.LittleEndian.Uint32(b[id*pageSize+12:]))
		}
	}
	if len(pages) < 10 {
		t.Fatalf("%d pages are too few to show anything", len(pages))
	}
	return pages
}

func TestASoundFileIsSound(t *testing.T) {
	for _, name := range []string{"sound.db", "freelist.db"} {
		if err := check(sample(t, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestACutFileIsDamaged(t *testing.T) {
	b := sample(t, "sound.db")
	m, err := newestMeta(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for size := 0; size < int(m.pages)*pageSize; size += 509 {
		if err := check(b[:size]); !errors.Is(err, ErrDamaged) {
			t.Errorf("%d bytes: error %v, want ErrDamaged", size, err)
		}
	}
}

func TestAZeroedPageIsDamage(t *testing.T) {
	good := sample(t, "sound.db")
	for _, id := range used(t, good) {
		b := bytes.Clone(good)
		clear(b[id*pageSize:][:pageSize])
		if err := check(b); !errors.Is(err, ErrDamaged) {
			t.Errorf("page %d: error %v, want ErrDamaged", id, err)
		}
	}
}

func TestAPageOfAnotherPlaceIsDamage(t *testing.T) {
	good := sample(t, "sound.db")
	pages := used(t, good)
	for i, id := range pages {
		b := bytes.Clone(good)
		copy(b[id*pageSize:][:pageSize], good[pages[(i+1)%len(pages)]*pageSize:])
		if err := check(b); !errors.Is(err, ErrDamaged) {
			t.Errorf("page %d: error %v, want ErrDamaged", id, err)
		}
	}
}

// TestAFlippedHeaderIsDamage turns the bits of a page's id and flags and the high bits of its
// counts. Less entries or fewer pages than there were may still be a sound tree.
func TestAFlippedHeaderIsDamage(t *testing.T) {
	good := sample(t, "sound.db")
	for _, id := range used(t, good) {
		for _, at := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 14, 15} {
			b := bytes.Clone(good)
			b[id*pageSize+at] ^= 0xff
			if err := check(b); !errors.Is(err, ErrDamaged) {
				t.Errorf("page %d, byte %d: error %v, want ErrDamaged", id, at, err)
			}
		}
	}
}

func TestOneBrokenMetaPageFallsBackToTheOther(t *testing.T) {
	good := sample(t, "freelist.db")
	for meta := range 2 {
		b := bytes.Clone(good)
		b[meta*pageSize+pageHeader+20] ^= 1
		m, err := newestMeta(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatalf("meta page %d broken: %v", meta, err)
		}
		if other, _ := readMeta(bytes.NewReader(good), int64(1-meta)*pageSize); m != other {
			t.Errorf("meta page %d broken: took %+v, want %+v", meta, m, other)
		}
	}
}

func TestABrokenListOfFreePagesIsDamage(t *testing.T) {
	good := sample(t, "freelist.db")
	m, err := newestMeta(bytes.NewReader(good), int64(len(good)))
	if err != nil {
		t.Fatal(err)
	}
	list := int(m.free) * pageSize
	if n := binary.LittleEndian.Uint16(good[list+10:]); n < 2 {
		t.Fatalf("%d free pages, want some", n)
	}
	le := binary.LittleEndian
	for name, spoil := range map[string]func(page []byte){
		"flags":      func(p []byte) { le.PutUint16(p[8:], flagLeaf) },
		"count":      func(p []byte) { le.PutUint16(p[10:], 5000) },
		"long count": func(p []byte) { le.PutUint16(p[10:], countInside); le.PutUint64(p[16:], 1<<63) },
		"meta page":  func(p []byte) { le.PutUint64(p[16:], 1) },
		"past end":   func(p []byte) { le.PutUint64(p[16:], m.pages) },
		"twice":      func(p []byte) { copy(p[16:24], p[24:32]) },
		"used page":  func(p []byte) { le.PutUint64(p[16:], m.root) },
	} {
		b := bytes.Clone(good)
		spoil(b[list:])
		if err := check(b); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: error %v, want ErrDamaged", name, err)
		}
	}
}

func TestRandomDamageIsFoundOrHarmless(t *testing.T) {
	for _, name := range []string{"sound.db", "freelist.db"} {
		good := sample(t, name)
		rapid.Check(t, func(t *rapid.T) {
			b := bytes.Clone(good)
			for range rapid.IntRange(1, 4).Draw(t, "patches") {
				at := rapid.IntRange(0, len(b)-1).Draw(t, "at")
				copy(b[at:], rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "patch"))
			}
			b = b[:len(b)-rapid.OneOf(rapid.Just(0), rapid.IntRange(0, len(b))).Draw(t, "cut")]
			if err := check(b); err != nil && !errors.Is(err, ErrDamaged) {
				t.Fatalf("error %v, want ErrDamaged", err)
			}
		})
	}
}

// faulty is a disk that cannot read one page.
type faulty struct {
	io.ReaderAt
	page int64
}

var errDisk = errors.New("input/output error")

func (f faulty) ReadAt(b []byte, at int64) (int, error) {
	if at/pageSize == f.page {
		return 0, errDisk
	}
	return f.ReaderAt.ReadAt(b, at)
}

func TestADiskThatCannotReadIsNotCalledDamage(t *testing.T) {
	b := sample(t, "sound.db")
	for _, id := range used(t, b) {
		err := verify(faulty{bytes.NewReader(b), int64(id)}, int64(len(b)))
		if !errors.Is(err, errDisk) || errors.Is(err, ErrDamaged) {
			t.Errorf("page %d: error %v, want the disk's own", id, err)
		}
	}
}

// FuzzVerify overwrites a piece of a file, or reads what was never one.
func FuzzVerify(f *testing.F) {
	good := sample(f, "freelist.db")
	for _, id := range used(f, good) {
		f.Add(uint32(id*pageSize+8), []byte{1, 0, 0xff, 0xff, 1}, uint32(0))
	}
	f.Add(uint32(0), []byte("torn"), uint32(pageSize))
	f.Fuzz(func(t *testing.T, at uint32, patch []byte, cut uint32) {
		b := bytes.Clone(good)
		copy(b[int(at)%len(b):], patch)
		for _, b := range [][]byte{b[:len(b)-int(cut)%len(b)], patch} {
			if err := check(b); err != nil && !errors.Is(err, ErrDamaged) {
				t.Fatalf("error %v, want ErrDamaged", err)
			}
		}
	})
}
