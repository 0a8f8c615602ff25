package delivery

import (
	"errors"
	"testing"
	"time"

	"chit/device/wire"
)

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
