package delivery

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"chit/broker/entity"
	"chit/device/wire"
)

func TestATicketIsAcceptedOnce(t *testing.T) {
	s := newShelf(t)
	c := content("o1/1", wire.KindNew, wire.Item{Quantity: 2, Name: "margherita"})
	want := Result{Ticket: id("o1", 1), State: Waiting, Changed: true}
	if got := s.accept(c); got != want {
		t.Errorf("got %+v", got)
	}
	s.want(id("o1", 1), Waiting)

	again := s.must(Accept{Tenant: "t1", Content: c, Data: data(t, c)})
	want.Changed = false
	if !again.Repeat || !again.Empty() || s.result(again) != want {
		t.Errorf("repeat: %+v", again)
	}
	other := c
	other.Note = "no onions"
	_, err := s.do(Accept{Tenant: "t1", Content: other, Data: data(t, other)})
	if !errors.Is(err, ErrConflict) || !errors.Is(err, entity.ErrConflict) {
		t.Errorf("other content: %v", err)
	}
	if _, err := s.do(Accept{Tenant: "t2", Content: other, Data: data(t, other)}); err != nil {
		t.Errorf("another tenant: %v", err)
	}
	stored, ok, err := LoadContent(s, "t1", id("o1", 1))
	if err != nil || !ok || !bytes.Equal(stored.Data, data(t, c)) {
		t.Errorf("content %q, %v", stored.Data, err)
	}
}

func TestARepeatTellsWhereTheTicketStandsNow(t *testing.T) {
	s := newShelf(t)
	c := content("o1/1", wire.KindNew)
	s.accept(c)
	s.hello("d1", "s1")
	s.mustDispatch(id("o1", 1), "d1", "s1")
	s.ack(id("o1", 1), "d1", wire.OutcomePrinted)
	if got := s.accept(c); got.State != Settled || got.Changed {
		t.Errorf("got %+v", got)
	}
}

func TestBadIDsAreRefusedAtTheDoor(t *testing.T) {
	s := newShelf(t)
	for _, bad := range []wire.Content{
		content("o1", wire.KindNew), content("o1/0", wire.KindNew), content("/1", wire.KindNew),
		{ID: "o1/1", Kind: wire.KindNew}, {ID: "o1/1", Station: "GRILL"},
		{ID: "o1/1", Station: "grill", ReleaseAt: "tomorrow"},
	} {
		if _, err := s.do(Accept{Tenant: "t1", Content: bad, Data: data(t, bad)}); err == nil {
			t.Errorf("accepted %+v", bad)
		}
	}
}

func TestAnOrderHasABoundedNumberOfTickets(t *testing.T) {
	s := newShelf(t)
	for seq := range MutationsMax {
		s.accept(content(fmt.Sprintf("o1/%d", seq+1), wire.KindNotice))
	}
	c := content(fmt.Sprintf("o1/%d", MutationsMax+1), wire.KindNotice)
	if _, err := s.do(Accept{Tenant: "t1", Content: c, Data: data(t, c)}); !errors.Is(err, ErrTooMany) {
		t.Errorf("got %v", err)
	}
	s.accept(content("o1/1", wire.KindNotice)) // A repeat still finds its answer.
	ids, err := Tickets(s, "t1", "o1", 7)
	if err != nil || !reflect.DeepEqual(ids, []string{id("o1", 7)}) {
		t.Errorf("tickets %v, %v", ids, err)
	}
}

func TestALaterReleaseMovesTheWindow(t *testing.T) {
	s := newShelf(t)
	c := content("o1/1", wire.KindNew)
	c.ReleaseAt = "2026-03-14T19:30:00+01:00"
	s.accept(c)
	d := s.delivery(id("o1", 1))
	release := time.Date(2026, 3, 14, 18, 30, 0, 0, time.UTC)
	if !d.Release.Equal(release) || !d.Due.Equal(release) || !d.WindowEnd.Equal(release.Add(Window)) {
		t.Errorf("%+v", d)
	}
	s.hello("d1", "s1")
	if _, err := s.dispatch(d.Ticket, "d1", "s1"); !errors.Is(err, ErrNotDue) {
		t.Errorf("dispatched early: %v", err)
	}
	c = content("o2/1", wire.KindNew)
	c.ReleaseAt = "2020-01-01T00:00:00Z"
	s.accept(c)
	if d := s.delivery(id("o2", 1)); !d.Release.Equal(day) {
		t.Errorf("a release in the past: %v", d.Release)
	}
}

func TestTheDispatchedMessageSaysEverything(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	first := content("o1/1", wire.KindNew, wire.Item{Quantity: 1, Name: "soup"})
	second := content("o1/4", wire.KindChange, wire.Item{Quantity: 2, Name: "soup"})
	s.accept(first)
	s.accept(second)
	s.mustDispatch(id("o1", 1), "d1", "s1")
	s.ack(id("o1", 1), "d1", wire.OutcomePrinted)
	s.now = s.now.Add(10*time.Second + 500*time.Millisecond)
	got := s.mustDispatch(id("o1", 4), "d1", "s1")
	want := wire.Ticket{
		ID: id("o1", 4), Source: "chit/t1", Device: "d1", Time: "2026-03-14T09:00:00Z",
		Data: data(t, second), Attempt: 1, Lease: 30000, Stale: 1789500,
		Expires: 30*24*3600 - 10, Printer: "p1", Station: "grill", Number: "2", Previous: "1",
		Pred: id("o1", 1),
		Changes: &wire.Changes{Since: 1, Altered: []wire.Item{{Quantity: 2, Name: "soup"}},
			Was: []wire.Item{{Quantity: 1, Name: "soup"}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestOnlyOpenLowerMutationsOfTheStationBlock(t *testing.T) {
	for _, test := range []struct {
		name    string
		lower   func(s *shelf)
		blocked bool
		pred    string
	}{
		{"waiting", func(s *shelf) {}, true, ""},
		{"leased", func(s *shelf) { s.mustDispatch(id("o1", 1), "d1", "s1") }, true, ""},
		{"parked", func(s *shelf) {
			s.must(Advance{"t1", id("o1", 1), Leave{Epoch: s.delivery(id("o1", 1)).Epoch, Reason: "away"}})
		}, true, ""},
		{"settled", func(s *shelf) {
			s.mustDispatch(id("o1", 1), "d1", "s1")
			s.ack(id("o1", 1), "d1", wire.OutcomePrinted)
		}, false, id("o1", 1)},
		{"dead", func(s *shelf) {
			s.mustDispatch(id("o1", 1), "d1", "s1")
			s.ack(id("o1", 1), "d1", wire.OutcomeRefused, refuse("poison", true))
		}, false, id("o1", 1)},
		{"cancelled", func(s *shelf) { s.must(Cancel{Tenant: "t1", Ticket: id("o1", 1)}) }, false, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newShelf(t)
			s.hello("d1", "s1")
			s.accept(content("o1/1", wire.KindNew))
			s.accept(content("o1/3", wire.KindVoid))
			elsewhere := content("o1/2", wire.KindNew)
			elsewhere.Station = "bar"
			s.accept(elsewhere)
			test.lower(s)
			m, err := s.dispatch(id("o1", 3), "d1", "s1")
			if errors.Is(err, ErrBlocked) != test.blocked || !test.blocked && err != nil {
				t.Fatalf("got %v", err)
			}
			if m.Pred != test.pred {
				t.Errorf("pred %q, want %q", m.Pred, test.pred)
			}
		})
	}
}

func TestNumbersRunPerStationAndBusinessDay(t *testing.T) {
	s := newShelf(t)
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	s.hello("d1", "s1")
	for i, step := range []struct {
		at               string
		number, previous string
	}{
		{"2026-03-14T22:00:00Z", "1", ""},
		{"2026-03-15T02:59:59Z", "2", "1"}, // 03:59:59 in Berlin still belongs to the 14th.
		{"2026-03-15T03:00:00Z", "1", ""},
		{"2026-03-15T02:00:00Z", "2", "1"}, // A clock that steps back does not begin yesterday again.
	} {
		if s.now, err = time.Parse(time.RFC3339, step.at); err != nil {
			t.Fatal(err)
		}
		order := fmt.Sprint("o", i)
		s.accept(content(order+"/1", wire.KindNew))
		s.must(Dispatch{Tenant: "t1", Ticket: id(order, 1), Device: "d1", Printer: "p1", Session: "s1",
			Zone: berlin})
		d := s.delivery(id(order, 1))
		if d.Number != step.number || d.Previous != step.previous {
			t.Errorf("%s: %s after %q", step.at, d.Number, d.Previous)
		}
	}
}

func TestANumberStaysOnEveryAttempt(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	s.accept(content("o1/1", wire.KindNew))
	s.accept(content("o2/1", wire.KindNew))
	first := s.mustDispatch(id("o1", 1), "d1", "s1")
	s.mustDispatch(id("o2", 1), "d1", "s1")
	s.now = s.now.Add(LeaseFor)
	s.must(Advance{"t1", id("o1", 1), Elapse{0}})
	again := s.mustDispatch(id("o1", 1), "d1", "s1")
	if again.Number != first.Number || again.Previous != first.Previous || again.Attempt != 2 {
		t.Errorf("first %+v\nagain %+v", first, again)
	}
}

func TestTheNextNumberTellsOfACancelledOne(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	for i := range 3 {
		s.accept(content(fmt.Sprintf("o%d/1", i), wire.KindNew))
	}
	s.mustDispatch(id("o0", 1), "d1", "s1")
	s.must(Cancel{Tenant: "t1", Ticket: id("o0", 1), Who: "ana", Reason: "refund"})
	s.want(id("o0", 1), Cancelled)
	if m := s.mustDispatch(id("o1", 1), "d1", "s1"); m.Gaps != "1:cancelled" || m.Previous != "1" {
		t.Errorf("gaps %q, previous %q", m.Gaps, m.Previous)
	}
	if m := s.mustDispatch(id("o2", 1), "d1", "s1"); m.Gaps != "" {
		t.Errorf("told twice: %q", m.Gaps)
	}
}

func TestMarksSayWhatThePaperMayBe(t *testing.T) {
	elapsed := func(s *shelf) {
		s.now = s.now.Add(LeaseFor)
		s.must(Advance{"t1", id("o1", 1), Elapse{0}})
	}
	for _, test := range []struct {
		name   string
		before func(s *shelf)
		device string
		want   []wire.Mark
	}{
		{"at first", func(*shelf) {}, "d1", nil},
		{"again to one that remembers", func(s *shelf) {
			s.mustDispatch(id("o1", 1), "d1", "s1")
			elapsed(s)
		}, "d1", nil},
		{"again in a new session", func(s *shelf) {
			s.mustDispatch(id("o1", 1), "d1", "s1")
			elapsed(s)
			s.hello("d1", "s2", func(h *wire.Hello) { h.Boot = 2 })
		}, "d1", nil},
		{"again to a new journal", func(s *shelf) {
			s.mustDispatch(id("o1", 1), "d1", "s1")
			elapsed(s)
			s.hello("d1", "s2", func(h *wire.Hello) { h.Journal = "j-new" })
		}, "d1", []wire.Mark{wire.MarkPossibleDuplicate}},
		{"again to a journal that fell back", func(s *shelf) {
			s.mustDispatch(id("o1", 1), "d1", "s1")
			s.ack(id("o1", 1), "d1", wire.OutcomeStored)
			elapsed(s)
			s.hello("d1", "s2", func(h *wire.Hello) { h.N = 0 })
		}, "d1", []wire.Mark{wire.MarkPossibleDuplicate}},
		{"at first to a new journal", func(s *shelf) {
			s.hello("d1", "s2", func(h *wire.Hello) { h.Journal = "j-new" })
		}, "d1", nil},
		{"to another device", func(s *shelf) {
			s.mustDispatch(id("o1", 1), "d1", "s1")
			elapsed(s)
			s.hello("d2", "s2")
		}, "d2", []wire.Mark{wire.MarkMoved, wire.MarkPossibleDuplicate}},
		{"late", func(s *shelf) { s.now = s.now.Add(StaleAfter) }, "d1", []wire.Mark{wire.MarkLate}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newShelf(t)
			s.hello("d1", "s1")
			s.accept(content("o1/1", wire.KindNew))
			test.before(s)
			device, _, err := LoadDevice(s, "t1", test.device)
			if err != nil {
				t.Fatal(err)
			}
			m := s.mustDispatch(id("o1", 1), test.device, device.Session)
			if !slices.Equal(m.Marks, test.want) {
				t.Errorf("marks %v, want %v", m.Marks, test.want)
			}
			if late := slices.Contains(test.want, wire.MarkLate); late != (m.Stale == 0) {
				t.Errorf("stale in %d ms", m.Stale)
			}
		})
	}
}

func TestADispatchNeedsTheDevicesSession(t *testing.T) {
	s := newShelf(t)
	s.accept(content("o1/1", wire.KindNew))
	if _, err := s.dispatch(id("o1", 1), "d1", "s1"); !errors.Is(err, ErrSession) {
		t.Errorf("never said hello: %v", err)
	}
	s.hello("d1", "s1")
	s.hello("d1", "s2")
	if _, err := s.dispatch(id("o1", 1), "d1", "s1"); !errors.Is(err, ErrSession) {
		t.Errorf("an older session: %v", err)
	}
	s.want(id("o1", 1), Waiting)
}

func TestAHelloRaisesTheEpochOnce(t *testing.T) {
	s := newShelf(t)
	one := s.hello("d1", "s1")
	again := s.hello("d1", "s1")
	two := s.hello("d1", "s2")
	if one.Device.Epoch != 1 || again.Device.Epoch != 1 || two.Device.Epoch != 2 {
		t.Errorf("epochs %d, %d, %d", one.Device.Epoch, again.Device.Epoch, two.Device.Epoch)
	}
	if one.Restarted || one.Forgot || two.Restarted || two.Forgot {
		t.Errorf("%+v, %+v", one, two)
	}
	boot := s.hello("d1", "s3", func(h *wire.Hello) { h.Boot = 2 })
	if !boot.Restarted || boot.Forgot {
		t.Errorf("%+v", boot)
	}
	lost := s.hello("d1", "s4", func(h *wire.Hello) { h.Journal = "other" })
	if !lost.Restarted || !lost.Forgot || lost.Device.Memory != 1 || lost.Device.N != 0 {
		t.Errorf("%+v", lost)
	}
}

func TestNSeenIsTheHighestThatCounted(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	s.accept(content("o1/1", wire.KindNew))
	s.mustDispatch(id("o1", 1), "d1", "s1")
	wantN := func(want uint64) {
		t.Helper()
		if d, _, err := LoadDevice(s, "t1", "d1"); err != nil || d.N != want {
			t.Errorf("n_seen %d, %v, want %d", d.N, err, want)
		}
	}
	s.n = 9
	s.ack(id("o1", 1), "d1", wire.OutcomeStored)
	wantN(10)
	s.ack(id("o1", 1), "d1", wire.OutcomePrinted, func(a *wire.Ack) { a.Digest = wire.Digest(nil) })
	wantN(10)
	s.ack(id("o1", 1), "d1", wire.OutcomePrinted, func(a *wire.Ack) { a.N = 5 })
	wantN(10)
	if got := s.ack(id("o1", 1), "d1", wire.OutcomeStored); got != "settled" {
		t.Errorf("got %q", got)
	}
	wantN(13)
	s.ack(id("o1", 1), "d1", wire.OutcomePrinted, func(a *wire.Ack) { a.Journal, a.N = "old", 90 })
	wantN(13)
}

func TestARequestedRedriveIsRememberedByItsIdentity(t *testing.T) {
	one := Redrive{Tenant: "t1", Ticket: id("o1", 1), Request: "r1"}.Identity()
	if one.ID == "" || one.For != RequestFor || one.Digest != id("o1", 1) {
		t.Errorf("%+v", one)
	}
	if (Redrive{Tenant: "t1", Ticket: "x"}).Identity() != (entity.Identity{}) {
		t.Error("without a request it must not be remembered")
	}
}

func TestARedrivenTicketIsOwedAgain(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	s.accept(content("o1/1", wire.KindNew))
	s.mustDispatch(id("o1", 1), "d1", "s1")
	s.ack(id("o1", 1), "d1", wire.OutcomeRefused, refuse("poison", true))
	s.want(id("o1", 1), Dead)
	redrive := Redrive{Tenant: "t1", Ticket: id("o1", 1), Who: "ana", Why: "fixed"}
	if r := s.result(s.must(redrive)); !r.Changed || r.State != Waiting {
		t.Errorf("%+v", r)
	}
	s.want(id("o1", 1), Waiting)
	if r := s.result(s.must(redrive)); r.Changed || r.State != Waiting {
		t.Errorf("%+v", r)
	}
	s.mustDispatch(id("o1", 1), "d1", "s1")
	s.ack(id("o1", 1), "d1", wire.OutcomePrinted)
	s.want(id("o1", 1), Settled)
	if r := s.result(s.must(redrive)); r.Changed || r.State != Settled {
		t.Errorf("%+v", r)
	}
	if _, err := s.do(Redrive{Tenant: "t1", Ticket: id("o9", 1)}); !errors.Is(err, ErrUnknown) {
		t.Errorf("unknown: %v", err)
	}
}

func made(t *testing.T, ticket string, c wire.Content) Report {
	raw := data(t, c)
	return Report{Tenant: "t1", Device: "d1", Content: c, Made: wire.Made{Device: "d1", Ticket: ticket,
		Data: raw, Digest: wire.Digest(raw), Number: "L3", Station: "grill", Printer: "p1",
		Journal: "j-d1", Boot: 1, N: 50}}
}

func TestATicketMadeOnTheDeviceIsADeliveryHandedToIt(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	ticket := "o1/1/d1@grill"
	report := made(t, ticket, content("o1/1", wire.KindNew))
	s.must(report)
	s.want(ticket, Leased)
	if d := s.delivery(ticket); d.Number != "L3" || d.Attempt != 1 {
		t.Errorf("%+v", d)
	}
	if again := s.must(report); !again.Repeat {
		t.Error("a repeated report is no repeat")
	}
	other := made(t, ticket, content("o1/1", wire.KindVoid))
	if _, err := s.do(other); !errors.Is(err, ErrConflict) {
		t.Errorf("other content: %v", err)
	}
	other.Made.Digest = report.Made.Digest
	if _, err := s.do(other); !errors.Is(err, ErrDigest) {
		t.Errorf("wrong digest: %v", err)
	}
	s.ack(ticket, "d1", wire.OutcomePrinted)
	s.want(ticket, Settled)
}

func TestAcksBeforeTheReportAreKeptForADay(t *testing.T) {
	for _, test := range []struct {
		name  string
		after time.Duration
		from  string
		want  State
	}{
		{"in time", StrayFor - time.Millisecond, "d1", Settled},
		{"too late", StrayFor, "d1", Leased},
		{"of another device", time.Second, "d2", Leased},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newShelf(t)
			s.hello("d1", "s1")
			ticket := "o1/1/d1@grill"
			report := made(t, ticket, content("o1/1", wire.KindNew))
			digest := func(a *wire.Ack) { a.Digest, a.N = report.Made.Digest, 51 }
			if got := s.ack(ticket, test.from, wire.OutcomePrinted, digest); got != "kept" {
				t.Fatalf("got %q", got)
			}
			if got := s.ack(ticket, test.from, wire.OutcomePrinted, digest); got != "replayed" {
				t.Errorf("again: %q", got)
			}
			s.now = s.now.Add(test.after)
			s.must(report)
			s.want(ticket, test.want)
		})
	}
}

func TestStraysAreBounded(t *testing.T) {
	s := newShelf(t)
	for i := range 2 * StrayMax {
		want := "kept"
		if i >= StrayMax {
			want = "unknown-ticket"
		}
		if got := s.ack(id("o1", 1), "d1", wire.OutcomePrinted); got != want {
			t.Fatalf("%d: got %q, want %q", i, got, want)
		}
	}
	if got := s.ack("nonsense", "d1", wire.OutcomePrinted); got != "unknown-ticket" {
		t.Errorf("got %q", got)
	}
}

func TestAnotherFormatIsRefused(t *testing.T) {
	s := newShelf(t)
	s.states[Key("t1", id("o1", 1))] = entity.State{Version: 1, Data: []byte(`{"v":2}`)}
	if _, _, err := Load(s, "t1", id("o1", 1)); !errors.Is(err, ErrFormat) {
		t.Errorf("got %v", err)
	}
	s.states[Key("t1", id("o1", 1))] = entity.State{Version: 1, Data: []byte(`not json`)}
	if _, _, err := Load(s, "t1", id("o1", 1)); err == nil {
		t.Error("read nonsense")
	}
	for _, stored := range []string{"", "{}\nx", `{"v":2}` + "\nx", "x\nx"} {
		if _, err := decodeContent([]byte(stored)); err == nil {
			t.Errorf("read content %q", stored)
		}
	}
}

// TestOrderOfOneOrder lets several orders' mutations come in any order and be answered in any way, and
// checks I6 at every dispatch: no lower mutation at the station is waiting, leased or parked.
func TestOrderOfOneOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newShelf(t)
		s.hello("d1", "s1")
		seqs := rapid.SliceOfNDistinct(rapid.IntRange(1, 9), 1, 6, rapid.ID[int]).Draw(rt, "seqs")
		var accepted []int
		for range 40 {
			s.now = s.now.Add(time.Second)
			if len(seqs) > len(accepted) && rapid.Bool().Draw(rt, "accept") {
				seq := seqs[len(accepted)]
				s.accept(content(fmt.Sprintf("o1/%d", seq), wire.KindNotice))
				accepted = append(accepted, seq)
				continue
			}
			if len(accepted) == 0 {
				continue
			}
			seq := rapid.SampledFrom(accepted).Draw(rt, "seq")
			if s.delivery(id("o1", seq)).State == Leased {
				s.ack(id("o1", seq), "d1", rapid.SampledFrom([]wire.Outcome{wire.OutcomePrinted,
					wire.OutcomeStored, wire.OutcomeRefused}).Draw(rt, "outcome"), refuse("busy", false))
				continue
			}
			m, err := s.dispatch(id("o1", seq), "d1", "s1")
			lower := ""
			for _, other := range accepted {
				if other < seq && s.delivery(id("o1", other)).State.Blocks() {
					lower = id("o1", other)
				}
			}
			if (err == nil && m.ID != "") && lower != "" {
				rt.Fatalf("%d was dispatched before %s", seq, lower)
			}
			if errors.Is(err, ErrBlocked) && lower == "" {
				rt.Fatalf("%d is blocked by nothing", seq)
			}
		}
	})
}

// TestDiffGivesTheNewItems applies a diff to the old items and must get the new ones, in any order.
func TestDiffGivesTheNewItems(t *testing.T) {
	item := rapid.Custom(func(t *rapid.T) wire.Item {
		return wire.Item{
			Quantity: rapid.IntRange(1, 3).Draw(t, "quantity"),
			Name:     rapid.SampledFrom([]string{"soup", "steak"}).Draw(t, "name"),
			Note:     rapid.SampledFrom([]string{"", "rare"}).Draw(t, "note"),
			Seat:     rapid.SampledFrom([]string{"", "2"}).Draw(t, "seat"),
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		was := rapid.SliceOfN(item, 0, 6).Draw(rt, "was")
		now := rapid.SliceOfN(item, 0, 6).Draw(rt, "now")
		c := Diff(3, was, now)
		if c.Since != 3 || len(c.Was) != len(c.Altered) {
			rt.Fatalf("%+v", c)
		}
		count := map[string]int{}
		for sign, items := range map[int][]wire.Item{1: slices.Concat(was, c.Added, c.Altered),
			-1: slices.Concat(c.Removed, c.Was, now)} {
			for _, item := range items {
				count[fmt.Sprintf("%+v", item)] += sign
			}
		}
		for item, left := range count {
			if left != 0 {
				rt.Fatalf("%s is off by %d in %+v", item, left, c)
			}
		}
		for i := range c.Was {
			if equal(c.Was[i], c.Altered[i]) || !related(c.Was[i], c.Altered[i]) {
				rt.Fatalf("altered %+v to %+v", c.Was[i], c.Altered[i])
			}
		}
		if same := Diff(3, was, was); len(same.Added)+len(same.Removed)+len(same.Altered) != 0 {
			rt.Fatalf("nothing changed, and yet %+v", same)
		}
	})
}

func TestAChangeIsToldAgainstTheLastAcceptedItems(t *testing.T) {
	soup, steak := wire.Item{Quantity: 1, Name: "soup"}, wire.Item{Quantity: 1, Name: "steak"}
	s := newShelf(t)
	s.accept(content("o1/1", wire.KindNew, soup))
	s.accept(content("o1/2", wire.KindChange, soup, steak))
	s.accept(content("o1/3", wire.KindNotice))
	s.accept(content("o1/5", wire.KindChange, steak))
	bar := content("o1/6", wire.KindChange, soup)
	bar.Station = "bar"
	s.accept(bar)
	for ticket, want := range map[string]*wire.Changes{
		id("o1", 1):  nil,
		id("o1", 2):  {Since: 1, Added: []wire.Item{steak}},
		id("o1", 3):  nil,
		id("o1", 5):  {Since: 2, Removed: []wire.Item{soup}},
		"o1/6@bar":   nil,
		id("o1", 99): nil,
	} {
		c, _, err := LoadContent(s, "t1", ticket)
		if err != nil || !reflect.DeepEqual(c.Changes, want) {
			t.Errorf("%s: %+v, %v, want %+v", ticket, c.Changes, err, want)
		}
	}
}
