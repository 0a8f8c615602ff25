package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// The layout of a bbolt file, format 2 (go.etcd.io/bbolt v1.5.0, internal/common: page.go, meta.go,
// bucket.go), in the byte order of the machine; all that we run on are little endian.
const (
	pageHeader   = 16 // id u64, flags u16, count u16, overflow u32
	metaBytes    = 64 // magic, version, pageSize, flags u32; root, sequence, freelist, pgid, txid, sum
	elementBytes = 16
	bucketHeader = 16 // root page u64, sequence u64

	flagBranch = 0x01
	flagLeaf   = 0x02
	leafBucket = 0x01

	magic       = 0xED0CDAED
	fileVersion = 2
	depthMax    = 64
)

// verifyFile checks every page of the journal that can be reached, without mapping the file: a
// truncated map ends the process by SIGBUS, and bbolt's own walk by a panic nobody can catch.
func verifyFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		err = verify(f, info.Size())
	}
	return errors.Join(err, f.Close())
}

func verify(r io.ReaderAt, size int64) error {
	m, err := newestMeta(r, size)
	if err != nil {
		return err
	}
	if need := int64(m.pages) * m.pageSize; int64(m.pages) > size/m.pageSize {
		return fmt.Errorf("%w: %d bytes, want at least %d: cut short", ErrDamaged, size, need)
	}
	w := walker{r: r, meta: m, seen: make([]bool, m.pages)}
	return w.page(m.root, 0)
}

type metaPage struct {
	pageSize   int64
	root, txid uint64
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
		return metaPage{}, fmt.Errorf("%w: no sound meta page in %d bytes: %w", ErrDamaged, size, errFirst)
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
		pages: le.Uint64(p[40:]), txid: le.Uint64(p[48:]),
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

// walker visits every reachable page once.
type walker struct {
	r    io.ReaderAt
	meta metaPage
	seen []bool
}

func damaged(id uint64, format string, args ...any) error {
	return fmt.Errorf("%w: page %d: %s", ErrDamaged, id, fmt.Sprintf(format, args...))
}

func (w *walker) page(id uint64, depth int) error {
	if id < 2 || id >= w.meta.pages {
		return damaged(id, "outside of the file's %d pages", w.meta.pages)
	}
	if depth > depthMax {
		return damaged(id, "deeper than %d", depthMax)
	}
	head := make([]byte, pageHeader)
	if _, err := w.r.ReadAt(head, int64(id)*w.meta.pageSize); err != nil {
		return fmt.Errorf("reading page %d: %w", id, err)
	}
	le := binary.LittleEndian
	more := uint64(le.Uint32(head[12:]))
	if own := le.Uint64(head); own != id {
		return damaged(id, "names itself %d", own)
	}
	if more >= w.meta.pages-id {
		return damaged(id, "overflows by %d pages, past the end", more)
	}
	for i := id; i <= id+more; i++ {
		if w.seen[i] {
			return damaged(i, "is reached twice")
		}
		w.seen[i] = true
	}
	b := make([]byte, int64(more+1)*w.meta.pageSize)
	if _, err := w.r.ReadAt(b, int64(id)*w.meta.pageSize); err != nil {
		return fmt.Errorf("reading page %d: %w", id, err)
	}
	return w.elements(id, b, depth, false)
}

// elements checks one page's entries and follows them. An inline bucket is a leaf inside a value.
func (w *walker) elements(id uint64, b []byte, depth int, inline bool) error {
	le := binary.LittleEndian
	flags, count := le.Uint16(b[8:]), int(le.Uint16(b[10:]))
	if flags != flagLeaf && (flags != flagBranch || inline) {
		return damaged(id, "flags %#x, want a branch or a leaf", flags)
	}
	if flags == flagBranch && count == 0 {
		return damaged(id, "branch without a child")
	}
	if pageHeader+count*elementBytes > len(b) {
		return damaged(id, "%d entries do not fit", count)
	}
	var last []byte
	for i := range count {
		at := pageHeader + i*elementBytes
		e := element(b, at, flags)
		if e.end > uint64(len(b)) || e.pos < uint64(elementBytes) {
			return damaged(id, "entry %d lies outside", i)
		}
		key := b[e.start : e.start+e.key]
		if i > 0 && string(key) <= string(last) {
			return damaged(id, "entry %d is out of order", i)
		}
		last = key
		if err := w.follow(id, flags, e, b[e.start+e.key:e.end], depth); err != nil {
			return err
		}
	}
	return nil
}

type entry struct {
	flags           uint32
	pos             uint64 // from the element itself
	start, key, end uint64 // in the page
	child           uint64
}

func element(b []byte, at int, page uint16) entry {
	le := binary.LittleEndian
	if page == flagBranch { // pos, ksize u32; pgid u64
		e := entry{pos: uint64(le.Uint32(b[at:])), key: uint64(le.Uint32(b[at+4:]))}
		e.child = le.Uint64(b[at+8:])
		e.start = uint64(at) + e.pos
		e.end = e.start + e.key
		return e
	}
	e := entry{flags: le.Uint32(b[at:]), pos: uint64(le.Uint32(b[at+4:]))} // flags, pos, ksize, vsize
	e.key = uint64(le.Uint32(b[at+8:]))
	e.start = uint64(at) + e.pos
	e.end = e.start + e.key + uint64(le.Uint32(b[at+12:]))
	return e
}

func (w *walker) follow(id uint64, flags uint16, e entry, value []byte, depth int) error {
	if flags == flagBranch {
		return w.page(e.child, depth+1)
	}
	if e.flags&leafBucket == 0 {
		return nil
	}
	if len(value) < bucketHeader {
		return damaged(id, "bucket of %d bytes", len(value))
	}
	if root := binary.LittleEndian.Uint64(value); root != 0 {
		return w.page(root, depth+1)
	}
	if inner := value[bucketHeader:]; len(inner) >= pageHeader {
		return w.elements(id, inner, depth+1, true)
	}
	return damaged(id, "inline bucket of %d bytes", len(value))
}
