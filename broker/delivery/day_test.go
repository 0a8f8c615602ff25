package delivery

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"chit/broker/entity"
	"chit/device/wire"
)

// given is a delivery that got a number.
func given(n int, ticket string, set ...func(*Delivery)) Delivery {
	d := Delivery{Ticket: ticket, Kind: wire.KindNew, State: Settled, Number: strconv.Itoa(n),
		Station: "grill", Day: "2026-12-01"}
	for _, f := range set {
		f(&d)
	}
	return d
}

func standing1(s State, reason string) func(*Delivery) {
	return func(d *Delivery) { d.State, d.Reason = s, reason }
}

func TestTheDaySaysWhatBecameOfEachNumber(t *testing.T) {
	day := Summarize("grill", "2026-12-01", []Delivery{
		given(7, "e/1@grill", standing1(Leased, "")),
		given(1, "a/1@grill"),
		given(2, "b/1@grill", func(d *Delivery) { d.MovedTo = "bar" }),
		given(3, "c/1@grill", standing1(Cancelled, "guest left")),
		given(4, "d/1@grill", standing1(Dead, "expired")),
		given(5, "a/2@grill", func(d *Delivery) { d.Kind = wire.KindVoid }),
		given(6, "f/1@grill", func(d *Delivery) { d.Marked, d.Doubled = true, []Paper{{}} }),
		given(1008, "g/1@grill"),
	})
	want := Day{Format: Format, Station: "grill", Day: "2026-12-01", First: 1, Last: 1008, Count: 8,
		Missing: []Missing{{"2", "moved", "bar"}, {"3", "cancelled", "guest left"},
			{"4", "dead", "expired"}, {"7", "open", "leased"}},
		Voided: []string{"1"}, Voids: []string{"5"},
		PossibleDuplicates: []string{"6"}, Doubled: []string{"6"},
		Jumps: []Jump{{8, 1007}}}
	if !reflect.DeepEqual(day, want) {
		t.Errorf("got  %+v\nwant %+v", day, want)
	}
	slip := "Day 2026-12-01, grill: first 1, last 1008, 8 tickets. Missing: 2 moved to bar, " +
		"3 cancelled guest left, 4 dead expired, 7 open leased. Voided: 1. Void tickets: 5. Possible " +
		"duplicates: 6. Printed twice: 6. Not known here (restored): 8 to 1007."
	if got := day.Slip(); got != slip {
		t.Errorf("slip\n got %q\nwant %q", got, slip)
	}
}

func TestTheDayTellsWhatTheBrokersOwnVoidsTookBack(t *testing.T) {
	void := func(set ...func(*Delivery)) func(*Delivery) {
		return func(d *Delivery) {
			d.Kind = wire.KindVoid
			for _, f := range set {
				f(d)
			}
		}
	}
	pinned := func(d *Delivery) { d.Pinned = &Pin{Device: "d2"} }
	for _, test := range []struct {
		name   string
		void   Delivery
		voided []string
	}{
		{"cancelled: it and what it builds on", given(4, "a/2/r1@grill", void()), []string{"1", "2"}},
		{"cancelled: what it builds on only", given(4, "a/1/r1@grill", void()), []string{"1"}},
		{"posted", given(4, "a/2@grill", void()), []string{"1"}},
		{"for a late paper", given(4, "a/2/r1@grill", void(pinned)), []string{"2"}},
		{"for one more printer", given(4, "a/2/r2@grill", void(pinned, func(d *Delivery) {
			d.Source = "a/2/r1@grill"
		})), []string{"1", "2"}},
		{"of copies", given(4, "a/2/r1@grill", void(func(d *Delivery) { d.CopyOf = "bar" })), nil},
		{"not on paper", given(4, "a/2/r1@grill", void(standing1(Leased, ""))), nil},
		{"of another order", given(4, "b/9/r1@grill", void()), nil},
	} {
		day := Summarize("grill", "2026-12-01", []Delivery{given(1, "a/1@grill"),
			given(2, "a/2@grill"), given(3, "a/3@grill"), test.void})
		if !reflect.DeepEqual(day.Voided, test.voided) ||
			!reflect.DeepEqual(day.Voids, []string{"4"}) {
			t.Errorf("%s: voided %q, voids %q; want %q, 4", test.name, day.Voided, day.Voids,
				test.voided)
		}
	}
}

func TestTheSlipSaysInOneWordWhatBecameOfACancelledNumber(t *testing.T) {
	for reason, want := range map[string]string{ReasonVoided: "17 voided",
		ReasonReplaced: "17 replaced", ReasonDiscarded: "17 discarded",
		ReasonCancelled: "17 cancelled", ReasonNoPaper: "17 void not needed",
		"guest left": "17 cancelled guest left"} {
		day := Summarize("grill", "2026-12-01", []Delivery{given(17, "a/1@grill",
			standing1(Cancelled, reason))})
		if slip := day.Slip(); !strings.Contains(slip, " Missing: "+want+". ") {
			t.Errorf("%s: %q, want %q", reason, slip, want)
		}
	}
}

// TestEveryNumberOfARandomDayIsAccountedForOnce draws days and counts: each number from 1 to the
// last is on paper, missing, or in a jump, and in one of them only.
func TestEveryNumberOfARandomDayIsAccountedForOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var list []Delivery
		paper, jumped := map[int]bool{}, 0
		n := 0
		for i := range rapid.IntRange(0, 60).Draw(rt, "tickets") {
			n++
			if rapid.IntRange(0, 20).Draw(rt, "restored") == 0 {
				n, jumped = n+1000, jumped+1000
			}
			d := given(n, fmt.Sprintf("o%d/1@grill", i), standing1(rapid.SampledFrom([]State{Settled,
				Settled, Settled, Waiting, Leased, Parked, Dead, Cancelled}).Draw(rt, "state"), "x"))
			if rapid.IntRange(0, 5).Draw(rt, "moved") == 0 {
				d.MovedTo = "bar"
			}
			d.Marked = rapid.IntRange(0, 5).Draw(rt, "marked") == 0
			paper[n] = d.paperAtHome()
			list = append(list, d)
		}
		list = rapid.Permutation(list).Draw(rt, "order")
		day := Summarize("grill", "2026-12-01", list)
		missing, skipped := 0, 0
		for _, m := range day.Missing {
			number, err := strconv.Atoi(m.Number)
			if on, known := paper[number]; err != nil || !known || on {
				rt.Fatalf("%s is missing, and it is on paper or was never given", m.Number)
			}
			missing++
		}
		for _, j := range day.Jumps {
			skipped += j.To - j.From + 1
			for number := j.From; number <= j.To; number++ {
				if _, known := paper[number]; known {
					rt.Fatalf("%d is in a jump, and it was given", number)
				}
			}
		}
		printed := 0
		for _, on := range paper {
			if on {
				printed++
			}
		}
		if printed+missing != len(list) || day.Count != len(list) || skipped != jumped ||
			day.Last != n && len(list) > 0 {
			rt.Fatalf("%d printed, %d missing, %d of %d; last %d of %d; skipped %d of %d", printed,
				missing, day.Count, len(list), day.Last, n, skipped, jumped)
		}
		if slip := day.Slip(); len(slip) > 1000 || strings.ContainsAny(slip, "\n\t") {
			rt.Fatalf("slip of %d bytes: %q", len(slip), slip)
		}
	})
}

func TestADayIsClosedOnceAndMayBeClosedAgain(t *testing.T) {
	s := newShelf(t)
	row := entity.Row{List: ListNumbers, At: s.now, Key: Key("t1", "a/1@grill")}
	s.rows[row] = true
	closed := Summarize("grill", "2026-12-01", []Delivery{given(1, "a/1@grill"),
		given(2, "b/1@grill", standing1(Dead, "expired"))})
	s.must(CloseDay{Tenant: "t1", Day: closed, Rows: []entity.Row{row}})
	stored, ok, err := LoadDay(s, "t1", "grill", "2026-12-01")
	if err != nil || !ok || !stored.Closed.Equal(s.now) || stored.Count != 2 ||
		len(stored.Missing) != 1 || s.rows[row] {
		t.Errorf("stored %+v, %v, %v; rows %v", stored, ok, err, s.rows)
	}
	s.now = s.now.Add(time.Hour)
	s.must(CloseDay{Tenant: "t1", Day: closed})
	if again, _, _ := LoadDay(s, "t1", "grill", "2026-12-01"); !reflect.DeepEqual(again, stored) {
		t.Errorf("closed again %+v, want %+v", again, stored)
	}
	t.Log("# a number that was given after the close is added")
	late := Summarize("grill", "2026-12-01", []Delivery{given(3, "c/1@grill")})
	s.must(CloseDay{Tenant: "t1", Day: late})
	if more, _, _ := LoadDay(s, "t1", "grill", "2026-12-01"); more.Count != 3 || more.Last != 3 ||
		!more.Closed.Equal(stored.Closed) || len(more.Jumps) != 0 {
		t.Errorf("with a late one %+v", more)
	}
}
