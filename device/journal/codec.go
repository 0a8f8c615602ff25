package journal

import (
	"encoding/binary"
	"fmt"
	"time"
)

// version is the format that this program writes, the first byte of every value. It reads version-1
// too, as soon as there is one.
const version = 1

// writer appends fields to a value.
type writer struct{ b []byte }

func newWriter() *writer { return &writer{b: []byte{version}} }

func (w *writer) uint(n uint64)            { w.b = binary.AppendUvarint(w.b, n) }
func (w *writer) int(n int64)              { w.b = binary.AppendVarint(w.b, n) }
func (w *writer) duration(d time.Duration) { w.int(int64(d)) }

func (w *writer) bool(b bool) {
	if b {
		w.b = append(w.b, 1)
	} else {
		w.b = append(w.b, 0)
	}
}

func (w *writer) string(s string) {
	w.uint(uint64(len(s)))
	w.b = append(w.b, s...)
}

// reader takes fields off a value. The first fault sticks, and every later field is zero.
type reader struct {
	b    []byte
	err  error
	what string
}

// newReader checks the version of a value called what.
func newReader(what string, b []byte) *reader {
	r := &reader{b: b, what: what}
	switch {
	case len(b) == 0:
		r.fail("empty value")
	case b[0] != version:
		r.err = fmt.Errorf("%w: %s of version %d, want %d", ErrFormat, what, b[0], version)
	default:
		r.b = b[1:]
	}
	return r
}

func (r *reader) fail(why string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s: %s", ErrDamaged, r.what, why)
	}
	r.b = nil
}

func (r *reader) uint() uint64 {
	n, size := binary.Uvarint(r.b)
	if r.err != nil || size <= 0 {
		r.fail("number cut short")
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *reader) int() int64 {
	n, size := binary.Varint(r.b)
	if r.err != nil || size <= 0 {
		r.fail("number cut short")
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *reader) duration() time.Duration { return time.Duration(r.int()) }

func (r *reader) bool() bool {
	if r.err != nil || len(r.b) == 0 || r.b[0] > 1 {
		r.fail("flag is neither 0 nor 1")
		return false
	}
	b := r.b[0] == 1
	r.b = r.b[1:]
	return b
}

func (r *reader) string() string {
	n := r.uint()
	if r.err != nil || n > uint64(len(r.b)) {
		r.fail("text cut short")
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

// end is the error of the whole value; bytes left over are one.
func (r *reader) end() error {
	if r.err == nil && len(r.b) != 0 {
		r.fail(fmt.Sprintf("%d bytes left over", len(r.b)))
	}
	return r.err
}
