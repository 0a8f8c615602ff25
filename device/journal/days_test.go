package journal

import (
	"fmt"
	"path/filepath"
	"testing"

	"chit/device/core"
	"chit/device/wire"
)

func seenOn(day uint32, id string, outcome wire.Outcome) core.Change {
	return core.PutSeen{Day: day, ID: id, Record: core.Record{
		Digest: wire.Digest([]byte(id)), Outcome: outcome,
	}}
}

func wantOutcome(t *testing.T, j *Journal, id string, want wire.Outcome) {
	t.Helper()
	known, err := j.Lookup(id)
	if err != nil {
		t.Fatal(err)
	}
	if known.Record.Outcome != want || known.Found != (want != "") {
		t.Errorf("%s is known as %+v, want outcome %q", id, known, want)
	}
}

func TestEveryIDIsFoundBehindItsDaysSieve(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := open(t, path, Options{NoSync: true})
	const days, each = 5, 400 // Enough for several pages a day.
	id := func(day uint32, i int) string { return fmt.Sprintf("order-%x/%d@grill", i*7919, day+1) }
	var changes []core.Change
	for day := range uint32(days) {
		for i := range each {
			changes = append(changes, seenOn(day, id(day, i), wire.OutcomePrinted))
		}
	}
	apply(t, j, changes...)
	apply(t, j, ends(1, 2, 3, 4), core.DropSeen{Day: 0})
	check := func() {
		t.Helper()
		for day := range uint32(days) {
			want := wire.OutcomePrinted
			if day == 0 {
				want = ""
			}
			for i := range each {
				wantOutcome(t, j, id(day, i), want)
			}
		}
	}
	check()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = open(t, path, Options{NoSync: true})
	check()
}

// ends says of days when they may go, as every journal does.
func ends(days ...uint32) core.Change {
	meta := core.Meta{Days: map[uint32]uint32{}}
	for _, day := range days {
		meta.Days[day] = 60
	}
	return core.PutMeta{Meta: meta}
}

func TestTheNewestDayOfAnIDCounts(t *testing.T) {
	j := fresh(t, Options{NoSync: true})
	apply(t, j, ends(3), seenOn(7, "1/1@grill", wire.OutcomePrinted),
		seenOn(3, "1/1@grill", wire.OutcomeRecalled))
	wantOutcome(t, j, "1/1@grill", wire.OutcomePrinted)
	apply(t, j, core.DropSeen{Day: 7})
	wantOutcome(t, j, "1/1@grill", wire.OutcomeRecalled)
}

func TestAHashThatTwoIDsShareOnlyCostsARead(t *testing.T) {
	j := fresh(t, Options{NoSync: true})
	apply(t, j, ends(1, 2), seenOn(1, "1/1@grill", wire.OutcomePrinted),
		seenOn(2, "2/1@grill", wire.OutcomePrinted))
	// As if the newer day held ids of the same hashes.
	j.days.add(2, []byte("3/1@grill"))
	j.days.add(2, []byte("1/1@grill"))
	wantOutcome(t, j, "3/1@grill", "")
	wantOutcome(t, j, "1/1@grill", wire.OutcomePrinted)
}

func TestTheSieveLosesTheIDsOfADroppedDay(t *testing.T) {
	j := fresh(t, Options{NoSync: true})
	apply(t, j, ends(2), seenOn(1, "1/1@grill", wire.OutcomePrinted),
		seenOn(2, "2/1@grill", wire.OutcomePrinted))
	apply(t, j, core.DropSeen{Day: 1})
	if n := len(j.days.sieve); n != 1 {
		t.Errorf("the sieve holds %d hashes, want the one of day 2", n)
	}
}
