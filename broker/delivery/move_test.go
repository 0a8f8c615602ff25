package delivery

import (
	"testing"
	"time"

	"chit/device/wire"
)

func TestWhereATicketGoes(t *testing.T) {
	ago := func(d time.Duration) time.Time { return day.Add(-d) }
	well := Seat{Device: "d2", Present: true}
	home := Seat{Device: "d1", Present: true}
	at := func(d time.Duration) map[string]time.Time { return map[string]time.Time{"d1": ago(d)} }
	for _, test := range []struct {
		name         string
		watch        Watch
		home, backup Seat
		reason       string
		next         time.Duration // from now, 0 for never
	}{
		{"all is well", Watch{}, home, well, "", 0},
		{"silent", Watch{Silent: at(15 * time.Second)}, home, well, "silent", 0},
		{"silent for a while", Watch{Silent: at(14 * time.Second)}, home, well, "", time.Second},
		{"held", Watch{Held: at(time.Minute)}, home, well, "held", 0},
		{"held for a while", Watch{Held: at(20 * time.Second)}, home, well, "", 40 * time.Second},
		{"its printer is held", Watch{}, Seat{Device: "d1", Present: true, Held: ago(time.Minute)},
			well, "held", 0},
		{"away", Watch{}, Seat{Device: "d1", Away: ago(5 * time.Second)}, well, "away", 0},
		{"away for a moment", Watch{}, Seat{Device: "d1", Away: ago(time.Second)}, well, "",
			4 * time.Second},
		{"degraded", Watch{}, Seat{Device: "d1", Present: true, Degraded: true}, well, "degraded", 0},
		{"nobody is paired", Watch{}, Seat{}, well, "no-device", 0},
		{"backup away", Watch{Silent: at(time.Hour)}, home, Seat{Device: "d2"}, "", 0},
		{"backup degraded", Watch{Silent: at(time.Hour)}, home,
			Seat{Device: "d2", Present: true, Degraded: true}, "", 0},
		{"backup held", Watch{Silent: at(time.Hour)}, home,
			Seat{Device: "d2", Present: true, Held: ago(time.Second)}, "", 0},
		{"no backup", Watch{Silent: at(time.Hour)}, home, Seat{}, "", 0},
		{"not released", Watch{Release: day.Add(time.Hour)}, Seat{}, well, "", time.Hour},
		{"moved, and home is well again", Watch{Moved: true}, home, well, "", 0},
		{"moved, and the backup fails", Watch{Moved: true}, home,
			Seat{Device: "d2", Away: ago(5 * time.Second)}, "away", 0},
		{"moved, and both fail", Watch{Moved: true}, Seat{Device: "d1"}, Seat{Device: "d2"}, "", 0},
		{"one silent device has both", Watch{Silent: at(time.Hour)}, home,
			Seat{Device: "d1", Present: true}, "", 0},
		{"one device has both, one printer is held", Watch{Held: at(time.Hour)}, home,
			Seat{Device: "d1", Present: true}, "held", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			move, reason, next := test.watch.Where(test.home, test.backup, day)
			if move != (test.reason != "") || reason != test.reason {
				t.Errorf("moves %v (%s), want %q", move, reason, test.reason)
			}
			if want := day.Add(test.next); !next.IsZero() != (test.next != 0) ||
				test.next != 0 && !next.Equal(want) {
				t.Errorf("asks again at %v, want %v later", next, test.next)
			}
		})
	}
}

func TestAHeldTicketIsHeldAlsoBetweenItsLeases(t *testing.T) {
	s := tell(t)
	s.hand("d1")
	s.say("d1", wire.OutcomeHeld, refuse("paper_out", false))
	held := s.now
	for range 2 {
		s.advance(LeaseFor)
		_ = s.do(Elapse{0})
		s.want(Waiting, 0)
		if got := s.d.Watch().Held["d1"]; !got.Equal(held) {
			t.Fatalf("held since %v, want %v", got, held)
		}
		s.hand("d1")
		s.say("d1", wire.OutcomeHeld, refuse("paper_out", false))
	}
	s.say("d1", wire.OutcomeStored)
	if w := s.d.Watch(); w.Held != nil || w.Silent != nil {
		t.Errorf("a better word, and still %+v", w)
	}
	s.say("d1", wire.OutcomeHeld, refuse("stale", false))
	if w := s.d.Watch(); w.Held != nil {
		t.Error("a ticket that waits for a person is taken for a held printer")
	}
}

func TestALostLinkIsNotSilence(t *testing.T) {
	s := tell(t)
	s.hand("d1")
	if w := s.d.Watch(); !w.Silent["d1"].Equal(s.now) {
		t.Fatalf("%+v", w)
	}
	_ = s.do(Leave{Epoch: s.d.Epoch, Reason: "session", Judge: true})
	s.advance(time.Minute)
	_ = s.do(Birth{Device: "d1", Journal: "j-d1", Boot: 1})
	s.hand("d1")
	if w := s.d.Watch(); !w.Silent["d1"].Equal(s.now) {
		t.Errorf("silent since %v, handed over at %v", w.Silent["d1"], s.now)
	}
}

// TestTwoSilentKitchensDoNotThrowATicketToAndFro: only the first move is at once.
func TestTwoSilentKitchensDoNotThrowATicketToAndFro(t *testing.T) {
	s := tell(t)
	home := func(m *Move) { m.To, m.Device, m.Home = Place{Station: "grill"}, "d1", true }
	s.hand("d1")
	var waits time.Duration
	for i := 0; s.d.State != Dead; i++ {
		s.advance(SilentMax)
		began := s.now
		if i%2 == 0 {
			s.take("silent")
		} else {
			s.take("silent", home)
		}
		if s.d.State == Dead {
			break
		}
		if wait := s.d.Due.Sub(began); i == 0 && wait != RecallWait {
			t.Errorf("the first move waits %v", wait)
		} else {
			waits += wait
		}
		s.hand([]string{"d2", "d1"}[i%2])
	}
	s.want(Dead, AttemptsMax)
	if waits < 8*time.Minute {
		t.Errorf("spent ten attempts in %v", waits)
	}
}

func TestTheStationsNextPaperTellsWhereANumberWent(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	s.hello("d2", "s2")
	soup := wire.Item{Quantity: 1, Name: "soup"}
	for _, order := range []string{"1", "2", "3", "4"} {
		s.accept(content(order+"/1", wire.KindNew, soup))
	}
	bar := Place{Station: "bar", Name: "the bar"}
	to := func(ticket, device, session string, place Place) wire.Ticket {
		s.must(Dispatch{Tenant: "t1", Ticket: ticket, Epoch: s.delivery(ticket).Epoch,
			Device: device, Printer: "p1", Session: session, Place: place})
		for _, effect := range s.effects {
			if send, ok := effect.(Send); ok {
				return send.Message
			}
		}
		t.Fatal("nothing sent")
		return wire.Ticket{}
	}
	move := func(ticket string, m Move) {
		m.Epoch = s.delivery(ticket).Epoch
		s.must(Advance{Tenant: "t1", Ticket: ticket, Action: m})
	}
	s.mustDispatch(id("1", 1), "d1", "s1")
	move(id("1", 1), Move{To: bar, Device: "d2", Reason: "silent"})
	move(id("2", 1), Move{To: bar, Device: "d2", Reason: "silent"})
	if _, err := s.dispatch(id("1", 1), "d1", "s1"); err == nil {
		t.Error("handed to the device that it was taken from")
	}
	first := to(id("1", 1), "d2", "s2", bar)
	if first.Number != "1" || first.From != "grill" || first.Gaps != "" ||
		len(first.Marks) != 2 {
		t.Errorf("%+v", first)
	}
	second := to(id("2", 1), "d2", "s2", bar)
	if second.Number != "2" || second.Previous != "1" || second.From != "" || second.Gaps != "" ||
		second.Marks != nil {
		t.Errorf("%+v", second)
	}
	third := s.mustDispatch(id("3", 1), "d1", "s1")
	if third.Number != "3" || third.Gaps != "1:moved:bar,2:moved:bar" {
		t.Errorf("%+v", third)
	}
	move(id("1", 1), Move{To: Place{Station: "grill", Name: "Grill"}, Device: "d1", Home: true,
		Reason: "held"})
	back := to(id("1", 1), "d1", "s1", Place{Station: "grill", Name: "Grill"})
	if back.Number != "1" || back.From != "the bar" || back.Station != "grill" {
		t.Errorf("%+v", back)
	}
	if fourth := s.mustDispatch(id("4", 1), "d1", "s1"); fourth.Gaps != "" {
		t.Errorf("told twice: %s", fourth.Gaps)
	}
}
