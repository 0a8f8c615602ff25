package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"chit/device/core"
	"chit/device/wire"
	"chit/printer/document"
	"chit/printer/escpos"
	"chit/printer/session"
)

func open(t testing.TB, path string, options Options) *Journal {
	t.Helper()
	j, err := Open(path, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

// fresh is a journal that is checked at the end of its test.
func fresh(t testing.TB, options Options) *Journal {
	t.Helper()
	j := open(t, filepath.Join(t.TempDir(), "journal.db"), options)
	t.Cleanup(func() {
		report, err := j.Check()
		if err != nil || len(report.Problems) > 0 {
			t.Errorf("check: %v, problems %q", err, report.Problems)
		}
	})
	return j
}

func apply(t testing.TB, j *Journal, changes ...core.Change) {
	t.Helper()
	if err := j.Apply(changes); err != nil {
		t.Fatal(err)
	}
}

// kitchen drives a real machine on a real journal.
type kitchen struct {
	t    testing.TB
	j    *Journal
	m    *core.Machine
	up   time.Duration
	last core.Print
}

func newKitchen(t testing.TB, j *Journal) *kitchen {
	k := &kitchen{t: t, j: j, up: time.Minute, m: core.New(core.Config{
		Device: "pi-1", Printers: []string{"kitchen"},
		Lay: func(core.Sheet) (document.Document, error) { return document.Document{}, nil },
		Encode: func(string, document.Document) (escpos.Paper, error) {
			return escpos.Paper{Body: []byte("x"), LineFeeds: 10, Cuts: 1}, nil
		},
	})}
	state, err := j.Load()
	if err != nil {
		t.Fatal(err)
	}
	k.do(core.Started{State: state, KernelBoot: "b"})
	k.do(core.PrinterState{Printer: "kitchen"})
	k.do(core.Connected{Session: "s"})
	k.do(core.Welcomed{Welcome: wire.Welcome{Session: "s", Now: 1_700_000_000_000}})
	return k
}

func (k *kitchen) do(e core.Event) {
	k.up += time.Second
	d := k.m.Step(core.Now{Up: k.up}, e)
	if err := k.j.Apply(d.Write); err != nil {
		k.t.Fatal(err)
	}
	k.m.Committed()
	for _, effect := range d.Then {
		if p, ok := effect.(core.Print); ok {
			k.last = p
		}
	}
}

func (k *kitchen) arrives(id string, size int) {
	known, err := k.j.Lookup(id)
	if err != nil {
		k.t.Fatal(err)
	}
	data := []byte(`{"id":"` + id + `","note":"` + strings.Repeat("n", size) + `"}`)
	k.do(core.TicketArrived{
		Kind: wire.KindNew, Digest: wire.Digest(data), Known: known,
		Ticket: wire.Ticket{
			ID: id, Source: "chit/t", Time: "2026-12-01T10:00:00Z", Data: data, Attempt: 1,
			Lease: 30_000, Stale: 1_800_000, Expires: 30 * 86400, Station: "grill", Number: "41",
			Printer: "kitchen",
		},
	})
}

func (k *kitchen) printed() {
	k.do(core.PrintDone{
		Printer: "kitchen", Token: k.last.Job.Token,
		Result: session.Result{Started: true, Evidence: session.Confirmed},
	})
}

func commits(t testing.TB, j *Journal) (n int) {
	if err := j.db.View(func(tx *bolt.Tx) error { n = tx.ID(); return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}

// written is how many bytes this process handed to write calls so far.
func written(t testing.TB) int {
	b, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "wchar: ")
	digits, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.Atoi(digits)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTicketCostsTwoCommitsAndFewBytes(t *testing.T) {
	k := newKitchen(t, fresh(t, Options{NoSync: true}))
	day := func(from, to int) {
		for i := from; i < to; i++ {
			k.arrives(fmt.Sprintf("order-%016x/1@grill", i*7919), 900)
			k.printed()
		}
	}
	day(0, 300)
	before, bytesBefore := commits(t, k.j), written(t)
	const tickets = 300
	day(300, 300+tickets)
	if got := commits(t, k.j) - before; got != 2*tickets {
		t.Errorf("%d commits for %d tickets, want two each", got, tickets)
	}
	each := (written(t) - bytesBefore) / tickets
	t.Logf("%d bytes written per ticket", each)
	if each > 64<<10 {
		t.Errorf("%d bytes written per ticket, want at most 64 KiB", each)
	}
}

func TestWhatIsAppliedIsLoadedAndFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := open(t, path, Options{Serial: "pi-serial"})
	apply(t, j, everything()...)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	checkEverything(t, open(t, path, Options{Serial: "pi-serial"}))
}

// everything is one change of each kind that leaves something behind, with every field set.
func everything() []core.Change {
	digest := wire.Digest([]byte("x"))
	t1 := wire.Ticket{
		ID: "7/2@grill", Source: "chit/t", Time: "2026-12-01T10:00:00Z", Data: []byte(`{"id":"7/2"}`),
		Changes: &wire.Changes{Since: 1}, Attempt: 3, Lease: 30_000, Stale: 1, Expires: 2,
		Printer: "kitchen", Station: "grill", Number: "41", Previous: "40", Pred: "7/1@grill",
		Gaps: "39:cancelled", As: wire.KindNew, Marks: []wire.Mark{wire.MarkMoved},
	}
	open := core.Open{
		Arrival: 9, Day: 3, ID: "7/2@grill", Digest: digest, Printer: "kitchen",
		Kind: wire.KindChange, State: core.Received, Attempt: 3, Starts: 2, Marked: true, Torn: true,
		Recall: "rc", Missing: "7/1@grill", OlderThan: 4, Stored: time.Hour, Expires: 2 * time.Hour,
		Stale: time.Minute, Machine: 5, Host: 1_700_000_000_000, Outcome: wire.OutcomeHeld,
		Evidence: wire.EvidenceStored, Reason: "r", N: 11,
	}
	done := open
	done.Arrival, done.ID, done.State, done.Digest = 8, "6/1@grill", core.Printed, ""
	return []core.Change{
		core.PutMeta{Meta: core.Meta{
			Boot: 4, NReserved: 4096, Arrivals: 9, Tokens: 70, Lived: 80 * time.Hour, Up: time.Hour,
			KernelBoot: "kb", Machine: 5, Clean: true, Days: map[uint32]uint32{3: 33}, Contents: 2,
		}},
		core.PutSeen{Day: 3, ID: open.ID, Record: core.Record{
			Digest: digest, Outcome: wire.OutcomeStored, Attempt: 3, Expires: 2 * time.Hour, Arrival: 9,
		}},
		core.PutSeen{Day: 3, ID: done.ID, Record: core.Record{
			Outcome: wire.OutcomePrinted, Evidence: wire.EvidenceCounted, Marked: true, Reason: "why",
			Attempt: 1, Expires: time.Hour, Arrival: 8,
		}},
		core.PutContent{Day: 3, Arrival: 9, Ticket: t1},
		core.PutOpen{Open: open}, core.PutOpen{Open: done},
		core.PutIntent{Printer: "kitchen", Intent: core.Intent{
			Arrival: 9, Slip: core.SlipTorn, Token: escpos.TokenOf(70), Boot: 4, Fingerprint: "unit",
			Before:    session.Counters{Known: true, LineFeeds: 1234, Cuts: 56},
			LineFeeds: 30, Cuts: 1, Raster: true, Trusted: true, Marked: true,
		}},
		core.PutSetting{Key: "unit/kitchen", Value: []byte("{}")},
	}
}

func checkEverything(t *testing.T, j *Journal) {
	t.Helper()
	state, err := j.Load()
	if err != nil {
		t.Fatal(err)
	}
	want := everything()
	meta := want[0].(core.PutMeta).Meta
	meta.Journal, meta.Serial = j.ID(), "pi-serial"
	if !reflect.DeepEqual(state.Meta, meta) {
		t.Errorf("meta\n got %+v\nwant %+v", state.Meta, meta)
	}
	wantOpen := []core.Stored{
		{Open: want[5].(core.PutOpen).Open},
		{Open: want[4].(core.PutOpen).Open, Ticket: want[3].(core.PutContent).Ticket},
	}
	if !reflect.DeepEqual(state.Open, wantOpen) {
		t.Errorf("open\n got %+v\nwant %+v", state.Open, wantOpen)
	}
	if in := state.Intents["kitchen"]; in != want[6].(core.PutIntent).Intent {
		t.Errorf("intent %+v", in)
	}
	if string(state.Settings["unit/kitchen"]) != "{}" {
		t.Errorf("settings %q", state.Settings)
	}
	for _, c := range want[1:3] {
		seen := c.(core.PutSeen)
		known, err := j.Lookup(seen.ID)
		if err != nil || known != (core.Known{Found: true, Day: 3, Record: seen.Record}) {
			t.Errorf("known %+v, %v; want %+v", known, err, seen.Record)
		}
	}
	if known, err := j.Lookup("nobody/1@grill"); err != nil || known.Found {
		t.Errorf("an unknown id is known: %+v, %v", known, err)
	}
}

func TestNewestDayWinsAndDroppedDaysAreForgotten(t *testing.T) {
	j := fresh(t, Options{})
	rec := func(n int) core.Record { return core.Record{Outcome: wire.OutcomeRecalled, Attempt: n} }
	apply(t, j, core.PutMeta{Meta: core.Meta{Days: map[uint32]uint32{8: 40, 9: 41, 10: 41}}},
		core.PutSeen{Day: 9, ID: "a", Record: rec(2)}, core.PutSeen{Day: 10, ID: "a", Record: rec(3)},
		core.PutSeen{Day: 8, ID: "a", Record: rec(1)}, core.PutSeen{Day: 8, ID: "b", Record: rec(1)})
	find := func(id string, want int) {
		t.Helper()
		known, err := j.Lookup(id)
		if err != nil || known.Found != (want > 0) || known.Record.Attempt != want {
			t.Fatalf("%s: %+v, %v; want attempt %d", id, known, err, want)
		}
	}
	find("a", 3)
	find("b", 1)
	apply(t, j, core.DropSeen{Day: 10}, core.DropSeen{Day: 8}, core.DropSeen{Day: 7},
		core.DropContent{Day: 7})
	find("a", 2)
	find("b", 0)
}

func TestJournalOnOtherHardwareTakesANewId(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	id := func(serial string) string {
		j, err := Open(path, Options{Serial: serial})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = j.Close() }()
		return j.ID()
	}
	born := id("")
	if first := id("pi-1"); first != born {
		t.Error("learning the serial changed the id")
	}
	if again := id("pi-1"); again != born {
		t.Error("the same hardware changed the id")
	}
	if moved := id("pi-2"); moved == born {
		t.Error("other hardware kept the id")
	}
}

func TestSecondProcessIsToldThatTheFileIsInUse(t *testing.T) {
	j := fresh(t, Options{})
	if _, err := Open(j.Path(), Options{Timeout: 50 * time.Millisecond}); !errors.Is(err, ErrInUse) {
		t.Fatalf("error %v, want ErrInUse", err)
	}
}

func TestTornBirthLeavesNoJournalBehind(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	if err := os.WriteFile(path+".new", []byte("torn while being born"), 0o600); err != nil {
		t.Fatal(err)
	}
	j := open(t, path, Options{})
	if _, err := os.Stat(path + ".new"); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the temporary file is left: %v", err)
	}
	if _, err := j.Load(); err != nil {
		t.Fatal(err)
	}
}

func TestUnreadableFileIsRefusedAndLeftAsItIs(t *testing.T) {
	good := sample(t)
	newer := bytes.Clone(good)
	for _, tt := range []struct {
		name string
		file []byte
		want error
	}{
		{"empty", nil, ErrDamaged},
		{"text", []byte(strings.Repeat("not a journal\n", 1000)), ErrDamaged},
		{"one page", good[:4096], ErrDamaged},
		{"cut in half", good[:len(good)/2], ErrDamaged},
		{"cut inside a page", good[:4096*3+17], ErrDamaged},
		{"a newer format", newFormat(t, newer), ErrFormat},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal.db")
			if err := os.WriteFile(path, tt.file, 0o600); err != nil {
				t.Fatal(err)
			}
			j, err := Open(path, Options{Timeout: 50 * time.Millisecond})
			if err == nil {
				_, err = j.Load()
				err = errors.Join(err, j.Close())
			}
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v, want %v and the file's name", err, tt.want)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, tt.file) {
				t.Errorf("the file was changed (%v)", err)
			}
			if _, err := Check(path); !errors.Is(err, tt.want) {
				t.Errorf("check: %v, want %v", err, tt.want)
			}
		})
	}
}

// sample is the file of a journal with something in it.
func sample(t testing.TB) []byte {
	path := filepath.Join(t.TempDir(), "sample.db")
	j, err := Open(path, Options{Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	apply(t, j, everything()...)
	for i := range 40 {
		apply(t, j, core.PutSeen{Day: 3, ID: fmt.Sprint("filler-", i), Record: core.Record{
			Outcome: wire.OutcomePrinted, Reason: strings.Repeat("r", 200),
		}})
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func newFormat(t *testing.T, file []byte) []byte {
	path := filepath.Join(t.TempDir(), "newer.db")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	j := open(t, path, Options{Reserve: -1})
	err := j.db.Update(func(tx *bolt.Tx) error {
		return tx.Bucket(bucketMeta).Put(keyCounters, []byte{version + 1, 1, 2, 3})
	})
	if err = errors.Join(err, j.Close()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestClosedJournalSaysSo(t *testing.T) {
	j := open(t, filepath.Join(t.TempDir(), "journal.db"), Options{})
	for range 2 {
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := j.Load(); !errors.Is(err, ErrClosed) {
		t.Errorf("load: %v", err)
	}
	if err := j.Apply(everything()); !errors.Is(err, ErrClosed) {
		t.Errorf("apply: %v", err)
	}
}
