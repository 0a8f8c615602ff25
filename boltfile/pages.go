package boltfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"slices"
)

// The layout of a bbolt file, format 2 (go.etcd.io/bbolt v1.5.0, internal/common: page.go, meta.go,
// bucket.go), in the byte order of the machine; all that we run on are little endian.
const (
	pageHeader   = 16 // id u64, flags u16, count u16, overflow u32
	metaBytes    = 64 // magic, version, pageSize, flags u32; root, sequence, freelist, pgid, txid, sum
	elementBytes = 16
	bucketHeader = 16 // root page u64, sequence u64

	flagBranch   = 0x01
	flagLeaf     = 0x02
	flagFreelist = 0x10
	leafBucket   = 0x01

	noFreelist  = 1<<64 - 1 // The list of free pages is not written.
	countInside = 0xFFFF    // The list's count does not fit the header: it is the first element.

	magic       = 0xED0CDAED
	fileVersion = 2
	depthMax    = 64
)

// verify checks every page that can be reached, with plain reads: a truncated map ends the process
// by SIGBUS, and bbolt's own walk by a panic nobody can catch.
func verify(r io.ReaderAt, size int64) error {
	m, err := newestMeta(r, size)
	if err != nil {
		return err
	}
	if need := int64(m.pages) * m.pageSize; int64(m.pages) > size/m.pageSize {
		return faultf("%d bytes, want at least %d: cut short", size, need)
	}
	w := walker{r: r, meta: m, seen: make([]bool, m.pages)}
	if _, err := w.page(m.root, 0, span{}); err != nil {
		return err
	}
	return w.freelist()
}

type metaPage struct {
	pageSize   int64
	root, txid uint64
	free       uint64 // page of the list of free pages, or noFreelist
	pages      uint64 // high water mark
}

// newestMeta reads both meta pages and takes the newer of those that are sound.
func newestMeta(r io.ReaderAt, size int64) (metaPage, error) {
	first, errFirst := readMeta(r, 0)
	pageSize := first.pageSize
	if errFirst != nil {
		pageSize = int64(os.Getpagesize())
	}
	second, errSecond := readMeta(r, pageSize)
	switch {
	case errFirst != nil && errSecond != nil:
		return metaPage{}, faultf("no sound meta page in %d bytes: %v", size, errFirst)
	case errFirst != nil || errSecond == nil && second.txid > first.txid:
		return second, nil
	}
	return first, nil
}

func readMeta(r io.ReaderAt, at int64) (metaPage, error) {
	var b [pageHeader + metaBytes]byte
	if _, err := r.ReadAt(b[:], at); err != nil {
		return metaPage{}, fmt.Errorf("meta page: %w", err)
	}
	le := binary.LittleEndian
	p := b[pageHeader:]
	sum := fnv.New64a()
	_, _ = sum.Write(p[:56])
	m := metaPage{
		pageSize: int64(le.Uint32(p[8:])), root: le.Uint64(p[16:]),
		free: le.Uint64(p[32:]), pages: le.Uint64(p[40:]), txid: le.Uint64(p[48:]),
	}
	switch {
	case le.Uint32(p) != magic:
		return m, errors.New("meta page: not a bbolt file")
	case le.Uint32(p[4:]) != fileVersion:
		return m, fmt.Errorf("meta page: bbolt format %d, want %d", le.Uint32(p[4:]), fileVersion)
	case le.Uint64(p[56:]) != sum.Sum64():
		return m, errors.New("meta page: checksum does not fit")
	case m.pageSize < 1024 || m.pageSize > 1<<16 || m.pages > 1<<32:
		return m, fmt.Errorf("meta page: page size %d, %d pages", m.pageSize, m.pages)
	}
	return m, nil
}

// walker visits every reachable page once. It must be at least as strict as bbolt's own check: at
// the first error of that one, bbolt panics here and a goroutine of it goes on over a file being
// closed.
type walker struct {
	r     io.ReaderAt
	meta  metaPage
	seen  []bool
	stack [depthMax + 1]buffers
}

// buffers are those of one depth. Nothing of a page is looked at any more when the next page of the
// same depth is read.
type buffers struct {
	page    []byte
	entries []entry
}

// span bounds the keys of a page: from min on, below max; nil is no bound.
type span struct{ min, max []byte }

func damaged(id uint64, format string, args ...any) error {
	return faultf("page %d: %s", id, fmt.Sprintf(format, args...))
}

// page checks a page and all below it, and returns the highest key there.
func (w *walker) page(id uint64, depth int, keys span) (highest []byte, err error) {
	if depth > depthMax {
		return nil, damaged(id, "deeper than %d", depthMax)
	}
	b, err := w.read(id, &w.stack[depth].page)
	if err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint16(b[8:]) == flagBranch {
		return w.branch(id, b, depth, keys)
	}
	return w.leaf(id, b, depth, keys)
}

// read reads a page and those it overflows into, into a buffer that grows with it.
func (w *walker) read(id uint64, buffer *[]byte) ([]byte, error) {
	if id < 2 || id >= w.meta.pages {
		return nil, damaged(id, "outside of the file's %d pages", w.meta.pages)
	}
	size, at := w.meta.pageSize, int64(id)*w.meta.pageSize
	b := slices.Grow((*buffer)[:0], int(size))[:size]
	*buffer = b
	if _, err := w.r.ReadAt(b, at); err != nil {
		return nil, fmt.Errorf("reading page %d: %w", id, err)
	}
	le := binary.LittleEndian
	more := uint64(le.Uint32(b[12:]))
	if own := le.Uint64(b); own != id {
		return nil, damaged(id, "names itself %d", own)
	}
	if more >= w.meta.pages-id {
		return nil, damaged(id, "overflows by %d pages, past the end", more)
	}
	for i := id; i <= id+more; i++ {
		if w.seen[i] {
			return nil, damaged(i, "is reached twice")
		}
		w.seen[i] = true
	}
	if more == 0 {
		return b, nil
	}
	b = slices.Grow(b, int(more)*int(size))[:int(more+1)*int(size)]
	*buffer = b
	if _, err := w.r.ReadAt(b[size:], at+size); err != nil {
		return nil, fmt.Errorf("reading page %d: %w", id, err)
	}
	return b, nil
}

// freelist checks the list of free pages. Our programs do not write it, but a copy that other
// people's tools compacted has one, and bbolt believes it.
func (w *walker) freelist() error {
	id := w.meta.free
	if id == noFreelist {
		return nil
	}
	b, err := w.read(id, &w.stack[0].page)
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	if flags := le.Uint16(b[8:]); flags != flagFreelist {
		return damaged(id, "flags %#x, want %#x", flags, flagFreelist)
	}
	count, list := uint64(le.Uint16(b[10:])), b[pageHeader:]
	if count == countInside {
		count, list = le.Uint64(list), list[8:]
	}
	if count > uint64(len(list)/8) {
		return damaged(id, "%d free pages do not fit", count)
	}
	for i := range count {
		free := le.Uint64(list[8*i:])
		if free < 2 || free >= w.meta.pages || w.seen[free] {
			return damaged(id, "page %d cannot be free", free)
		}
		w.seen[free] = true
	}
	return nil
}

// branch follows the children; each holds the keys from its own to the next one's.
func (w *walker) branch(id uint64, b []byte, depth int, keys span) (highest []byte, err error) {
	all, err := w.entries(id, b, flagBranch, depth)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, damaged(id, "branch without a child")
	}
	for i, e := range all {
		if i > 0 && bytes.Compare(e.key, highest) <= 0 || !keys.holds(e.key) {
			return nil, damaged(id, "entry %d is out of order", i)
		}
		child := span{min: e.key, max: keys.max}
		if i+1 < len(all) {
			child.max = all[i+1].key
		}
		if highest, err = w.page(e.child, depth+1, child); err != nil {
			return nil, err
		}
	}
	return highest, nil
}

func (s span) holds(key []byte) bool {
	return (s.min == nil || bytes.Compare(key, s.min) >= 0) &&
		(s.max == nil || bytes.Compare(key, s.max) < 0)
}

// leaf checks the order of keys and follows buckets. An inline bucket is a leaf inside a value.
func (w *walker) leaf(id uint64, b []byte, depth int, keys span) (highest []byte, err error) {
	all, err := w.entries(id, b, flagLeaf, depth)
	if err != nil {
		return nil, err
	}
	for i, e := range all {
		if i > 0 && bytes.Compare(e.key, highest) <= 0 || !keys.holds(e.key) {
			return nil, damaged(id, "entry %d is out of order", i)
		}
		highest = e.key
		if e.flags&leafBucket == 0 {
			continue
		}
		if err := w.bucket(id, e.value, depth); err != nil {
			return nil, err
		}
	}
	return highest, nil
}

func (w *walker) bucket(id uint64, value []byte, depth int) error {
	if len(value) < bucketHeader {
		return damaged(id, "bucket of %d bytes", len(value))
	}
	if root := binary.LittleEndian.Uint64(value); root != 0 {
		_, err := w.page(root, depth+1, span{})
		return err
	}
	inner := value[bucketHeader:]
	if len(inner) < pageHeader {
		return damaged(id, "inline bucket of %d bytes", len(value))
	}
	if depth == depthMax {
		return damaged(id, "deeper than %d", depthMax)
	}
	_, err := w.leaf(id, inner, depth+1, span{})
	return err
}

type entry struct {
	flags      uint32
	key, value []byte
	child      uint64
}

// entries cuts a page into its entries; every one must lie inside of it.
func (w *walker) entries(id uint64, b []byte, want uint16, depth int) ([]entry, error) {
	le := binary.LittleEndian
	flags, count := le.Uint16(b[8:]), int(le.Uint16(b[10:]))
	if flags != want {
		return nil, damaged(id, "flags %#x, want %#x", flags, want)
	}
	if pageHeader+count*elementBytes > len(b) {
		return nil, damaged(id, "%d entries do not fit", count)
	}
	all := slices.Grow(w.stack[depth].entries[:0], count)[:count]
	clear(all)
	w.stack[depth].entries = all
	for i := range all {
		at := pageHeader + i*elementBytes
		var pos, key, value uint64
		if want == flagBranch { // pos, ksize u32; pgid u64
			pos, key = uint64(le.Uint32(b[at:])), uint64(le.Uint32(b[at+4:]))
			all[i].child = le.Uint64(b[at+8:])
		} else { // flags, pos, ksize, vsize u32
			all[i].flags = le.Uint32(b[at:])
			pos, key = uint64(le.Uint32(b[at+4:])), uint64(le.Uint32(b[at+8:]))
			value = uint64(le.Uint32(b[at+12:]))
		}
		start := uint64(at) + pos
		if pos < elementBytes || start+key+value > uint64(len(b)) {
			return nil, damaged(id, "entry %d lies outside", i)
		}
		all[i].key = b[start : start+key]
		all[i].value = b[start+key : start+key+value]
	}
	return all, nil
}
