package bolt

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	"chit/broker/entity"
	"chit/broker/store"
)

// format is the version of the file and of every value in it.
const format = 1

// The buckets:
//
//	meta      format, generation, when it was renewed, the file's name
//	kept      entity key → entity                       what is kept for ever
//	records   tenant, command id → record               the same for commands
//	days      day of birth → { kept, records }          what expires
//	until     day of birth → the last expiry in it, ms
//	timers    ms, entity key → nothing
//	rows      list, tenant, ms, kind, id → nothing
//	events    day → { position → event }
var (
	metaBucket    = []byte("meta")
	keptBucket    = []byte("kept")
	recordsBucket = []byte("records")
	daysBucket    = []byte("days")
	untilBucket   = []byte("until")
	timersBucket  = []byte("timers")
	rowsBucket    = []byte("rows")
	eventsBucket  = []byte("events")

	roots = [][]byte{metaBucket, keptBucket, recordsBucket, daysBucket, untilBucket, timersBucket,
		rowsBucket, eventsBucket}

	metaFormat     = []byte("format")
	metaGeneration = []byte("generation")
	metaRenewed    = []byte("renewed")
	metaInstance   = []byte("instance")
)

func number(n uint64) []byte          { return binary.BigEndian.AppendUint64(nil, n) }
func readNumber(stored []byte) uint64 { return binary.BigEndian.Uint64(stored) }

// instant is milliseconds since 1970, which sort as bytes; instants before are stored as 0 and the
// zero time is 0 too.
func instant(t time.Time) uint64 {
	if t.IsZero() || t.UnixMilli() < 0 {
		return 0
	}
	return uint64(t.UnixMilli())
}

func readInstant(ms uint64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(ms)).UTC()
}

func dayOf(t time.Time) []byte { return []byte(t.UTC().Format(time.DateOnly)) }

// keyBytes puts the kind last: what one order owns then stands side by side, and a new ticket's
// entities are written into one page and not into one for each kind.
func keyBytes(k entity.Key) []byte {
	b := make([]byte, 0, len(k.Tenant)+len(k.Kind)+len(k.ID)+2)
	b = append(append(b, k.Tenant...), 0)
	b = append(append(b, k.ID...), 0)
	return append(b, k.Kind...)
}

func readKey(stored []byte) (entity.Key, error) {
	parts := bytes.Split(stored, []byte{0})
	if len(parts) != 3 {
		return entity.Key{}, fmt.Errorf("%w: entity key %q", store.ErrCorrupt, stored)
	}
	key := entity.Key{Tenant: string(parts[0]), ID: string(parts[1]), Kind: string(parts[2])}
	return key, nil
}

// An entity is the format byte, its version, its timer in milliseconds (0: none) and its data.
const entityHead = 1 + 8 + 8

func entityBytes(version uint64, timer time.Time, data []byte) []byte {
	b := make([]byte, 0, entityHead+len(data))
	b = append(b, format)
	b = binary.BigEndian.AppendUint64(b, version)
	b = binary.BigEndian.AppendUint64(b, instant(timer))
	return append(b, data...)
}

// readEntity copies, because bbolt's slices die with their transaction.
func readEntity(stored []byte) (entity.State, error) {
	if len(stored) < entityHead {
		return entity.State{}, fmt.Errorf("%w: entity of %d bytes", store.ErrCorrupt, len(stored))
	}
	if stored[0] != format {
		return entity.State{}, fmt.Errorf("%w: entity of format %d, want %d", store.ErrFormat,
			stored[0], format)
	}
	return entity.State{
		Version: readNumber(stored[1:]),
		Timer:   readInstant(readNumber(stored[9:])),
		Data:    bytes.Clone(stored[entityHead:]),
	}, nil
}

func timerBytes(at uint64, key []byte) []byte { return append(number(at), key...) }

func rowPrefix(list, tenant string) []byte {
	b := append([]byte(list), 0)
	if tenant != "" {
		b = append(append(b, tenant...), 0)
	}
	return b
}

func rowBytes(r entity.Row) []byte {
	b := rowPrefix(r.List, r.Key.Tenant)
	b = binary.BigEndian.AppendUint64(b, instant(r.At))
	b = append(append(b, r.Key.Kind...), 0)
	return append(b, r.Key.ID...)
}

func readRow(stored []byte) (entity.Row, error) {
	bad := fmt.Errorf("%w: row %q", store.ErrCorrupt, stored)
	list, rest, ok := bytes.Cut(stored, []byte{0})
	if !ok {
		return entity.Row{}, bad
	}
	tenant, rest, ok := bytes.Cut(rest, []byte{0})
	if !ok || len(rest) < 8 {
		return entity.Row{}, bad
	}
	kind, id, ok := bytes.Cut(rest[8:], []byte{0})
	if !ok {
		return entity.Row{}, bad
	}
	return entity.Row{
		List: string(list),
		At:   readInstant(readNumber(rest)),
		Key:  entity.Key{Tenant: string(tenant), Kind: string(kind), ID: string(id)},
	}, nil
}

// storedRecord is a command's record as JSON.
type storedRecord struct {
	Format int       `json:"v"`
	Digest string    `json:"digest"`
	Answer []byte    `json:"answer"`
	Until  time.Time `json:"until,omitzero"`
}

func recordKey(tenant, id string) []byte {
	return append(append([]byte(tenant), 0), id...)
}

// storedEvent is an event as JSON.
type storedEvent struct {
	Format int       `json:"v"`
	Tenant string    `json:"tenant"`
	Kind   string    `json:"kind"`
	ID     string    `json:"id"`
	Type   string    `json:"type"`
	At     time.Time `json:"at"`
	Data   []byte    `json:"data,omitempty"`
}

func unmarshal(stored []byte, out any, formatOf func() int) error {
	if err := json.Unmarshal(stored, out); err != nil {
		return fmt.Errorf("%w: %w", store.ErrCorrupt, err)
	}
	if formatOf() != format {
		return fmt.Errorf("%w: found %d, want %d", store.ErrFormat, formatOf(), format)
	}
	return nil
}
