package journal

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"chit/device/core"
	"chit/device/core/coretest"
	"chit/device/wire"
	"chit/printer/escpos"
)

var update = flag.Bool("update", false, "write the data file of the present format anew")

// TestReopenedJournalEqualsTheModel reopens after every prefix of a random history and compares
// with the journal in memory.
func TestReopenedJournalEqualsTheModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		path := filepath.Join(dir, "journal.db")
		options := Options{NoSync: true, Reserve: -1}
		j, err := Open(path, options)
		if err != nil {
			rt.Fatal(err)
		}
		model := coretest.NewMemory(j.ID())
		for range rapid.IntRange(1, 12).Draw(rt, "commits") {
			changes := drawChanges(rt, model)
			if err := errors.Join(j.Apply(changes), j.Close()); err != nil {
				rt.Fatal(err)
			}
			model.Apply(changes)
			if j, err = Open(path, options); err != nil {
				rt.Fatal(err)
			}
			compare(rt, j, model)
		}
		if err := errors.Join(j.Close(), os.RemoveAll(dir)); err != nil {
			rt.Fatal(err)
		}
	})
}

// drawChanges draws a batch that a machine could have decided: what is open has content.
func drawChanges(rt *rapid.T, model *coretest.Memory) []core.Change {
	changes := []core.Change{core.PutMeta{Meta: core.Meta{
		Boot: rapid.Uint64().Draw(rt, "boot"), Lived: time.Duration(rapid.Int64().Draw(rt, "lived")),
		Days:       rapid.MapOf(rapid.Uint32(), rapid.Uint32()).Draw(rt, "days"),
		KernelBoot: rapid.String().Draw(rt, "kernel"), Clean: rapid.Bool().Draw(rt, "clean"),
	}}}
	for range rapid.IntRange(1, 6).Draw(rt, "changes") {
		day := rapid.Uint32Range(0, 3).Draw(rt, "day")
		arrival := rapid.Uint64Range(1, 20).Draw(rt, "arrival")
		id := fmt.Sprintf("%d/1@grill", arrival)
		printer := rapid.SampledFrom([]string{"hot", "bar"}).Draw(rt, "printer")
		switch rapid.IntRange(0, 7).Draw(rt, "kind") {
		case 0, 1, 2:
			changes = append(changes, core.PutSeen{Day: day, ID: id, Record: core.Record{
				Digest: rapid.SampledFrom([]string{"", "odd", wire.Digest([]byte(id))}).Draw(rt, "digest"),
				Reason: rapid.String().Draw(rt, "reason"), Attempt: rapid.IntRange(0, 99).Draw(rt, "attempt"),
				Outcome: wire.OutcomeStored, Expires: time.Hour, Marked: rapid.Bool().Draw(rt, "marked"),
			}}, core.PutContent{Day: day, Arrival: arrival, Ticket: wire.Ticket{
				ID: id, Data: rapid.SliceOfN(rapid.Byte(), 1, 6000).Draw(rt, "data"),
			}}, core.PutOpen{Open: core.Open{
				Arrival: arrival, Day: day, ID: id, State: core.Received, Printer: printer,
			}})
		case 3:
			changes = append(changes, core.DropOpen{Arrival: arrival})
		case 4:
			changes = append(changes, core.PutIntent{Printer: printer, Intent: core.Intent{
				Arrival: arrival, Token: escpos.TokenOf(arrival), Fingerprint: rapid.String().Draw(rt, "unit"),
			}})
		case 5:
			changes = append(changes, core.ClearIntent{Printer: printer})
		case 6:
			changes = append(changes, core.PutSetting{
				Key: printer, Value: rapid.SliceOf(rapid.Byte()).Draw(rt, "value"),
			})
		case 7:
			changes = append(changes, core.DropSeen{Day: day})
			if needed := func() bool {
				for _, o := range model.Open {
					if o.Day == day {
						return true
					}
				}
				return len(changes) > 2 // Something of this batch may stand there.
			}; !needed() {
				changes = append(changes, core.DropContent{Day: day})
			}
		}
	}
	return changes
}

func compare(rt *rapid.T, j *Journal, model *coretest.Memory) {
	got, err := j.Load()
	if err != nil {
		rt.Fatal(err)
	}
	want := model.Load()
	for key, value := range want.Settings {
		want.Settings[key] = append([]byte(nil), value...)
	}
	if !reflect.DeepEqual(got, want) {
		rt.Fatalf("loaded\n got %+v\nwant %+v", got, want)
	}
	for i := range 21 {
		id := fmt.Sprintf("%d/1@grill", i)
		known, err := j.Lookup(id)
		if err != nil || known != model.Lookup(id) {
			rt.Fatalf("%s: %+v, %v; want %+v", id, known, err, model.Lookup(id))
		}
	}
}

// TestFormatOfEveryReleaseIsRead opens the data files in testdata, written by the programs that had
// that format. A file is written once, with -update, and never changed.
func TestFormatOfEveryReleaseIsRead(t *testing.T) {
	current := filepath.Join("testdata", fmt.Sprintf("format-%d.db", version))
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		j := open(t, current, Options{Serial: "pi-serial", Reserve: -1})
		apply(t, j, everything()...)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(current)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "journal.db")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	j := open(t, path, Options{Serial: "pi-serial"})
	checkEverything(t, j)
}

// FuzzRecords feeds foreign values to every decoder: an error or a value that survives a round
// trip.
func FuzzRecords(f *testing.F) {
	for _, c := range everything() {
		switch c := c.(type) {
		case core.PutMeta:
			f.Add(encodeMeta(c.Meta))
		case core.PutSeen:
			f.Add(encodeRecord(c.Record))
		case core.PutOpen:
			f.Add(encodeOpen(c.Open))
		case core.PutIntent:
			f.Add(encodeIntent(c.Intent))
		case core.PutContent:
			b, err := encodeTicket(c.Ticket)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := decodeMeta(b); err == nil {
			again, err := decodeMeta(encodeMeta(m))
			same(t, m, again, err)
		}
		if r, err := decodeRecord(b); err == nil {
			again, err := decodeRecord(encodeRecord(r))
			same(t, r, again, err)
		}
		if o, err := decodeOpen(b); err == nil {
			again, err := decodeOpen(encodeOpen(o))
			same(t, o, again, err)
		}
		if in, err := decodeIntent(b); err == nil {
			again, err := decodeIntent(encodeIntent(in))
			same(t, in, again, err)
		}
		_, _ = decodeTicket(b)
		_, _ = decodeIdentity(b)
	})
}

func same[T any](t *testing.T, a, b T, err error) {
	t.Helper()
	if err != nil || !reflect.DeepEqual(a, b) {
		t.Fatalf("%+v became %+v, %v", a, b, err)
	}
}

// FuzzFile overwrites a piece of a sound file: it is refused with an error of this package, or it
// opens; it never ends the process.
func FuzzFile(f *testing.F) {
	good := sample(f)
	f.Add(uint32(0), []byte("torn"), uint32(0))
	f.Add(uint32(4096), []byte{0xff, 0xff, 0xff, 0xff}, uint32(0))
	f.Add(uint32(3*4096), []byte{9, 0, 0, 0, 0, 0, 0, 0, 2, 0, 200}, uint32(0))
	f.Add(uint32(5*4096+16), []byte{0xff, 0, 0xff, 0xff}, uint32(1))
	f.Add(uint32(0), []byte{}, uint32(20_000))
	f.Add(uint32(3*4096+20), []byte("0"), uint32(70))  // A key that overlaps the one before: bbolt
	f.Add(uint32(3*4096+20), []byte(","), uint32(169)) // panicked where nobody could catch it.
	f.Fuzz(func(t *testing.T, at uint32, patch []byte, cut uint32) {
		b := append([]byte(nil), good...)
		copy(b[int(at)%len(b):], patch)
		b = b[:len(b)-int(cut)%len(b)]
		path := filepath.Join(t.TempDir(), "journal.db")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := Open(path, Options{Reserve: -1, NoSync: true, Timeout: 50 * time.Millisecond})
		if err == nil {
			_, loaded := j.Load()
			_, looked := j.Lookup("7/2@grill")
			err = errors.Join(loaded, looked)
			if err == nil {
				err = j.Apply(everything())
			}
			err = errors.Join(err, j.Close())
		}
		if err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrFormat) {
			t.Fatalf("error %v, want ErrDamaged or ErrFormat", err)
		}
	})
}
