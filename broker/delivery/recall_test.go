package delivery

import (
	"slices"
	"strings"
	"testing"
	"time"

	"chit/broker/entity"
	"chit/device/wire"
)

// take is a move to the backup's device d2.
func (s *story) take(reason string, set ...func(*Move)) {
	s.t.Helper()
	m := Move{Epoch: s.d.Epoch, To: Place{Station: "bar", Name: "the bar"}, Device: "d2",
		Reason: reason, Here: true, Chance: 0.5}
	for _, f := range set {
		f(&m)
	}
	if err := s.do(m); err != nil {
		s.t.Fatal(err)
	}
}

func (s *story) wantRecalls(devices ...string) {
	s.t.Helper()
	var open []string
	for _, r := range s.d.Recalls {
		open = append(open, r.Device+" "+r.Reason)
	}
	if !slices.Equal(open, devices) {
		s.t.Fatalf("recalls %v, want %v\n%+v", open, devices, s.d.Timeline)
	}
}

// marks are those that a device which remembers everything would get now.
func (s *story) marks(device string) string {
	var words []string
	for _, m := range (Dispatch{Device: device}).marks(s.d, Device{}, Generation{}, s.now) {
		words = append(words, string(m))
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

func recallID(id string) func(*wire.Ack) { return func(a *wire.Ack) { a.Reason = id } }

func TestATicketThatWasNotHandedOverMovesClean(t *testing.T) {
	s := tell(t)
	s.take("away")
	s.want(Waiting, 0)
	s.wantRecalls()
	if s.d.MovedTo != "bar" || !s.d.Due.Equal(s.now) || s.marks("d2") != "" {
		t.Errorf("at %q, due %v, marks %q", s.d.MovedTo, s.d.Due, s.marks("d2"))
	}
}

func TestAnAnsweredRecallLeavesOnlyTheMarkMoved(t *testing.T) {
	s := tell(t)
	s.hand("d1")
	s.say("d1", wire.OutcomeHeld, refuse("paper_out", false))
	s.advance(HeldMax)
	s.take("held")
	s.want(Waiting, 0)
	s.wantRecalls("d1 moved")
	r := s.d.Recalls[0]
	if !s.d.Due.Equal(s.now.Add(RecallWait)) || r.MovedTo != "the bar" || r.Attempt != 1 {
		t.Errorf("due %v, %+v", s.d.Due, r)
	}
	if got := s.marks("d2"); got != "moved possible-duplicate" {
		t.Errorf("before the answer: %q", got)
	}
	s.advance(100 * time.Millisecond)
	if got := s.say("d1", wire.OutcomeRecalled, recallID("2-d1")); got != "unasked" {
		t.Errorf("another recall's answer: %q", got)
	}
	s.wantRecalls("d1 moved")
	s.say("d1", wire.OutcomeRecalled, recallID(r.ID))
	s.wantRecalls()
	if got := s.marks("d2"); got != "moved" || !s.d.Due.Equal(s.now) {
		t.Errorf("after the answer: %q, due %v", got, s.d.Due)
	}
	s.hand("d2")
	s.say("d2", wire.OutcomePrinted)
	s.want(Settled, 0)
	s.wantRecalls()
}

func TestARecallEndsByWhatTheDeviceSays(t *testing.T) {
	for _, test := range []struct {
		name    string
		outcome wire.Outcome
		set     func(*wire.Ack)
		state   State
		open    int
		marks   string
	}{
		{"recalled", wire.OutcomeRecalled, recallID("1-d1"), Waiting, 0, "moved"},
		{"doubtful", wire.OutcomeRefused, refuse("doubtful", true), Waiting, 0,
			"moved possible-duplicate"},
		{"expired", wire.OutcomeExpired, nil, Waiting, 0, "moved possible-duplicate"},
		{"printed", wire.OutcomePrinted, nil, Settled, 0, "moved possible-duplicate"},
		{"stored", wire.OutcomeStored, nil, Waiting, 1, "moved possible-duplicate"},
		{"held", wire.OutcomeHeld, refuse("cover_open", false), Waiting, 1,
			"moved possible-duplicate"},
		{"refused for now", wire.OutcomeRefused, refuse("storage", false), Waiting, 1,
			"moved possible-duplicate"},
		{"another memory", wire.OutcomeRecalled, func(a *wire.Ack) {
			a.Reason, a.Journal = "1-d1", "j-new"
		}, Waiting, 0, "moved possible-duplicate"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := tell(t)
			s.hand("d1")
			s.advance(SilentMax)
			s.take("silent")
			s.want(Waiting, 1)
			var set []func(*wire.Ack)
			if test.set != nil {
				set = append(set, test.set)
			}
			s.say("d1", test.outcome, set...)
			if s.d.State != test.state || len(s.d.Recalls) != test.open ||
				s.marks("d2") != test.marks {
				t.Errorf("%s, %d recalls, marks %q", s.d.State, len(s.d.Recalls), s.marks("d2"))
			}
		})
	}
}

func TestWhoeverWasHandedADeadOrCancelledTicketIsRecalled(t *testing.T) {
	for _, test := range []struct {
		name string
		end  func(*story)
		want State
		word string
	}{
		{"dead", func(s *story) { s.say("d2", wire.OutcomeRefused, refuse("poison", true)) }, Dead,
			"dead"},
		{"window", func(s *story) { s.now = s.d.WindowEnd; _ = s.do(Elapse{}) }, Dead, "dead"},
		{"cancelled", func(s *story) { _ = s.do(End{Reason: "refund"}) }, Cancelled, "cancelled"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := tell(t)
			s.hand("d1")
			s.take("degraded")
			s.say("d1", wire.OutcomeRecalled, recallID("1-d1"))
			s.hand("d2")
			test.end(s)
			if s.d.State == Leased {
				s.now = s.d.WindowEnd
				_ = s.do(Elapse{})
			}
			if s.d.State != test.want {
				t.Fatalf("%s", s.d.State)
			}
			s.wantRecalls("d2 " + test.word) // d1 has proven that it has no paper.
			if !s.d.Ends().Equal(s.d.Expires) {
				t.Errorf("ends %v", s.d.Ends())
			}
			s.now = s.d.Expires
			_ = s.do(Elapse{})
			s.wantRecalls()
			if s.d.State != test.want || !s.d.Ends().IsZero() {
				t.Errorf("%s ends %v", s.d.State, s.d.Ends())
			}
		})
	}
}

func TestAnOldRecallNeverStopsTheNewAttempt(t *testing.T) {
	s := tell(t)
	s.hand("d1")
	s.take("held")
	old := s.d.Recalls[0].ID
	s.hand("d2")
	s.take("held", func(m *Move) { m.To, m.Device, m.Home = Place{Station: "grill"}, "d1", true })
	s.wantRecalls("d1 moved", "d2 moved")
	s.hand("d1")
	s.wantRecalls("d2 moved")
	late := s.ack("d1", wire.OutcomeRecalled)
	late.Attempt, late.Reason = 1, old
	if got := s.sayAck("d1", late); got != "unasked" {
		t.Errorf("got %q", got)
	}
	s.want(Leased, 0)
	s.say("d1", wire.OutcomePrinted)
	s.want(Settled, 0)
	s.wantRecalls("d2 moved") // It may still print one.
}

func TestPaperElsewhereRecallsTheOther(t *testing.T) {
	s := tell(t)
	s.hand("d1")
	first := s.ack("d1", wire.OutcomePrinted)
	s.advance(SilentMax)
	s.take("silent")
	s.hand("d2")
	s.sayAck("d1", first)
	s.want(Settled, 1)
	s.wantRecalls("d2 moved")
	s.say("d2", wire.OutcomePrinted, func(a *wire.Ack) { a.Attempt = 2 })
	s.wantRecalls()
	if len(s.d.Doubled) != 1 {
		t.Errorf("%+v", s.d.Doubled)
	}
}

func TestARecalledDeliveryHasARowUntilTheLastAnswer(t *testing.T) {
	s := newShelf(t)
	s.hello("d1", "s1")
	s.accept(content("7/1", wire.KindNew, wire.Item{Quantity: 1, Name: "soup"}))
	s.mustDispatch(id("7", 1), "d1", "s1")
	s.must(Cancel{Tenant: "t1", Ticket: id("7", 1), Who: "ana", Reason: "refund"})
	d := s.delivery(id("7", 1))
	row := entity.Row{List: ListRecall, At: d.Accepted, Key: Key("t1", d.Ticket)}
	if !s.rows[row] || len(d.Recalls) != 1 {
		t.Fatalf("rows %v, %+v", s.rows, d.Recalls)
	}
	s.want(d.Ticket, Cancelled)
	s.ack(d.Ticket, "d1", wire.OutcomeRecalled, recallID(d.Recalls[0].ID))
	if s.rows[row] {
		t.Error("the row outlives the recall")
	}
	s.want(d.Ticket, Cancelled)
}

// recalledWhileStale is a ticket that became too old while it waited for the answer to its recall.
func recalledWhileStale(t *testing.T, taken map[string]bool) {
	for outcome, set := range map[wire.Outcome]func(*wire.Ack){
		wire.OutcomeRecalled: recallID("1-d1"), wire.OutcomeRefused: refuse("doubtful", true),
	} {
		s := tell(t)
		s.hand("d1")
		s.take("held")
		s.advance(RecallWait)
		_ = s.do(Outdate{Epoch: s.d.Epoch, Policy: wire.OnStaleAsk})
		s.want(Stale, 0)
		s.say("d1", outcome, set)
		s.want(Stale, 0)
		s.wantRecalls()
		taken["stale --"+s.d.Timeline[len(s.d.Timeline)-1].What+"--> stale"] = true
	}
}
