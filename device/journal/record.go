package journal

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"chit/device/core"
	"chit/device/wire"
	"chit/printer/session"
)

// identity is who the file is, written at birth and when it wakes on other hardware.
type identity struct {
	journal, serial string
}

func encodeIdentity(i identity) []byte {
	w := newWriter()
	w.string(i.journal)
	w.string(i.serial)
	return w.b
}

func decodeIdentity(b []byte) (identity, error) {
	r := newReader("identity", b)
	i := identity{journal: r.string(), serial: r.string()}
	return i, r.end()
}

func encodeMeta(m core.Meta) []byte {
	w := newWriter()
	w.uint(m.Boot)
	w.uint(m.NReserved)
	w.uint(m.Arrivals)
	w.uint(m.Tokens)
	w.duration(m.Lived)
	w.duration(m.Up)
	w.string(m.KernelBoot)
	w.uint(m.Machine)
	w.bool(m.Clean)
	w.uint(uint64(m.Contents))
	w.uint(uint64(len(m.Days)))
	for _, day := range slices.Sorted(maps.Keys(m.Days)) {
		w.uint(uint64(day))
		w.uint(uint64(m.Days[day]))
	}
	return w.b
}

func decodeMeta(b []byte) (core.Meta, error) {
	r := newReader("counters", b)
	m := core.Meta{
		Boot: r.uint(), NReserved: r.uint(), Arrivals: r.uint(), Tokens: r.uint(),
		Lived: r.duration(), Up: r.duration(), KernelBoot: r.string(), Machine: r.uint(),
		Clean: r.bool(), Contents: r.day(), Days: map[uint32]uint32{},
	}
	for n := r.uint(); n > 0 && r.err == nil; n-- {
		day := r.day()
		m.Days[day] = r.day()
	}
	return m, r.end()
}

func (r *reader) day() uint32 {
	n := r.uint()
	if n > math.MaxUint32 {
		r.fail("day out of range")
	}
	return uint32(n)
}

// digestPrefix is how digests are spelt on the wire; the journal keeps the 32 bytes behind it.
const digestPrefix = "sha256:"

func (w *writer) digest(s string) {
	raw, err := hex.DecodeString(strings.TrimPrefix(s, digestPrefix))
	if err != nil || !strings.HasPrefix(s, digestPrefix) || digestPrefix+hex.EncodeToString(raw) != s {
		w.bool(false) // As it stands: a recall of an unknown ticket has none.
		w.string(s)
		return
	}
	w.bool(true)
	w.string(string(raw))
}

func (r *reader) digest() string {
	raw := r.bool()
	s := r.string()
	if raw && r.err == nil {
		return digestPrefix + hex.EncodeToString([]byte(s))
	}
	return s
}

func encodeRecord(rec core.Record) []byte {
	w := newWriter()
	w.digest(rec.Digest)
	w.string(string(rec.Outcome))
	w.string(string(rec.Evidence))
	w.bool(rec.Marked)
	w.string(rec.Reason)
	w.uint(uint64(max(rec.Attempt, 0)))
	w.duration(rec.Expires)
	w.uint(rec.Arrival)
	return w.b
}

func decodeRecord(b []byte) (core.Record, error) {
	r := newReader("record", b)
	rec := core.Record{
		Digest: r.digest(), Outcome: wire.Outcome(r.string()), Evidence: wire.Evidence(r.string()),
		Marked: r.bool(), Reason: r.string(), Attempt: r.count(), Expires: r.duration(),
		Arrival: r.uint(),
	}
	return rec, r.end()
}

// count is a small number: an attempt, a line, a start.
func (r *reader) count() int {
	n := r.uint()
	if n > math.MaxInt32 {
		r.fail("count out of range")
		return 0
	}
	return int(n)
}

func encodeOpen(o core.Open) []byte {
	w := newWriter()
	w.uint(o.Arrival)
	w.uint(uint64(o.Day))
	w.string(o.ID)
	w.digest(o.Digest)
	w.string(o.Printer)
	w.string(string(o.Kind))
	w.uint(uint64(o.State))
	w.uint(uint64(max(o.Attempt, 0)))
	w.uint(uint64(max(o.Starts, 0)))
	w.bool(o.Marked)
	w.bool(o.Torn)
	w.string(o.Recall)
	w.string(o.Missing)
	w.uint(uint64(max(o.OlderThan, 0)))
	w.duration(o.Stored)
	w.duration(o.Expires)
	w.duration(o.Stale)
	w.uint(o.Machine)
	w.int(o.Host)
	w.string(string(o.Outcome))
	w.string(string(o.Evidence))
	w.string(o.Reason)
	w.uint(o.N)
	return w.b
}

func decodeOpen(b []byte) (core.Open, error) {
	r := newReader("open ticket", b)
	o := core.Open{
		Arrival: r.uint(), Day: r.day(), ID: r.string(), Digest: r.digest(), Printer: r.string(),
		Kind: wire.Kind(r.string()), State: core.OpenState(min(r.uint(), math.MaxUint8)),
		Attempt: r.count(), Starts: r.count(), Marked: r.bool(), Torn: r.bool(),
		Recall: r.string(), Missing: r.string(), OlderThan: r.count(),
		Stored: r.duration(), Expires: r.duration(), Stale: r.duration(),
		Machine: r.uint(), Host: r.int(),
		Outcome: wire.Outcome(r.string()), Evidence: wire.Evidence(r.string()),
		Reason: r.string(), N: r.uint(),
	}
	if o.State < core.Received || o.State > core.Ended {
		r.fail(fmt.Sprintf("state %d, want %d to %d", o.State, core.Received, core.Ended))
	}
	return o, r.end()
}

func encodeIntent(in core.Intent) []byte {
	w := newWriter()
	w.uint(in.Arrival)
	w.string(string(in.Slip))
	w.string(string(in.Token[:]))
	w.uint(in.Boot)
	w.string(in.Fingerprint)
	w.bool(in.Before.Known)
	w.uint(in.Before.LineFeeds)
	w.uint(in.Before.Cuts)
	w.uint(uint64(max(in.LineFeeds, 0)))
	w.uint(uint64(max(in.Cuts, 0)))
	w.bool(in.Raster)
	w.bool(in.Trusted)
	w.bool(in.Marked)
	return w.b
}

func decodeIntent(b []byte) (core.Intent, error) {
	r := newReader("intent", b)
	in := core.Intent{Arrival: r.uint(), Slip: core.Slip(r.string())}
	if token := r.string(); len(token) == len(in.Token) {
		copy(in.Token[:], token)
	} else {
		r.fail(fmt.Sprintf("token of %d bytes, want %d", len(token), len(in.Token)))
	}
	in.Boot, in.Fingerprint = r.uint(), r.string()
	in.Before = session.Counters{Known: r.bool(), LineFeeds: r.uint(), Cuts: r.uint()}
	in.LineFeeds, in.Cuts = r.count(), r.count()
	in.Raster, in.Trusted, in.Marked = r.bool(), r.bool(), r.bool()
	return in, r.end()
}

// encodeTicket keeps the data as the exact bytes; the rest of the envelope is JSON, because the
// wire adds attributes more often than the journal changes its format.
func encodeTicket(t wire.Ticket) ([]byte, error) {
	w := newWriter()
	w.string(string(t.Data))
	t.Data = nil
	head, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("envelope of %s: %w", t.ID, err)
	}
	w.string(string(head))
	return w.b, nil
}

func decodeTicket(b []byte) (wire.Ticket, error) {
	r := newReader("content", b)
	data, head := r.string(), r.string()
	if err := r.end(); err != nil {
		return wire.Ticket{}, err
	}
	var t wire.Ticket
	if err := json.Unmarshal([]byte(head), &t); err != nil {
		return wire.Ticket{}, fmt.Errorf("%w: envelope: %w", ErrDamaged, err)
	}
	t.Data = []byte(data)
	return t, nil
}
