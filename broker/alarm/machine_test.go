package alarm

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"chit/broker/entity"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// story is one alarm's life, told step by step.
type story struct {
	t   testing.TB
	a   Alarm
	now time.Time
}

func tell(t testing.TB) *story { return &story{t: t, now: noon} }

// do takes an action and says which events it made, with commas.
func (s *story) do(action Action) string {
	s.t.Helper()
	after, events, err := entity.Step[Alarm, Action, Event](Machine{}, s.a, action, s.now)
	if err != nil {
		s.t.Fatal(err)
	}
	s.a = after
	var words []string
	for _, e := range events {
		words = append(words, string(e.What))
	}
	return strings.Join(words, ",")
}

func (s *story) want(action Action, words string) {
	s.t.Helper()
	if got := s.do(action); got != words {
		s.t.Fatalf("%s, %T at +%s: %q, want %q", s.a.State, action, s.now.Sub(noon), got, words)
	}
}

func (s *story) advance(d time.Duration) { s.now = s.now.Add(d) }

// notes are the words and levels of all messages of the episode.
func (s *story) notes() string {
	var out []string
	for _, n := range s.a.Notes {
		out = append(out, fmt.Sprintf("%s %d %s", n.What, n.Level, n.Severity))
	}
	return strings.Join(out, ", ")
}

func (s *story) wantNotes(want string) {
	s.t.Helper()
	if got := s.notes(); got != want {
		s.t.Fatalf("messages %q, want %q", got, want)
	}
}

func raise(severity Severity, count int) Raise {
	return Raise{Tenant: "t1", Cause: "late/grill", Station: "grill", Severity: severity,
		Count: count, Text: fmt.Sprint(count, " tickets")}
}

func TestLevelOneIsToldAtOnceAndTheOthersFiveMinutesApart(t *testing.T) {
	s := tell(t)
	s.want(raise(P1, 1), "began")
	s.wantNotes("began 1 P1")
	s.advance(LevelAfter - time.Millisecond)
	s.want(Elapse{}, "")
	s.advance(time.Millisecond)
	s.want(Elapse{}, "climbed")
	s.want(Elapse{}, "")
	s.advance(LevelAfter - time.Millisecond)
	s.want(Elapse{}, "")
	s.advance(time.Millisecond)
	s.want(Elapse{}, "climbed")
	s.advance(24 * time.Hour)
	s.want(Elapse{}, "")
	s.wantNotes("began 1 P1, climbed 2 P1, climbed 3 P1")
	if !s.a.Due().IsZero() {
		t.Errorf("it waits for %s, want for somebody", s.a.Due())
	}
}

func TestAnybodysAcknowledgementEndsTheLadder(t *testing.T) {
	for climbs := range 3 {
		s := tell(t)
		s.want(raise(P1, 1), "began")
		for range climbs {
			s.advance(LevelAfter)
			s.want(Elapse{}, "climbed")
		}
		s.want(Acknowledge{Who: "ana", Reason: "on my way"}, "acknowledged")
		if k := s.a.Acknowledged; k == nil || k.Who != "ana" || k.Reason != "on my way" {
			t.Errorf("acknowledged by %+v", k)
		}
		said := s.notes()
		s.advance(24 * time.Hour)
		s.want(Elapse{}, "")
		s.want(Acknowledge{Who: "ben"}, "")
		s.want(raise(P1, 7), "updated")
		s.wantNotes(said)
		if s.a.Acknowledged.Who != "ana" {
			t.Errorf("the second acknowledgement counted: %+v", s.a.Acknowledged)
		}
	}
}

func TestMoreOfTheSameClimbsNoLadderAgain(t *testing.T) {
	s := tell(t)
	s.want(raise(P1, 1), "began")
	s.want(raise(P1, 1), "")
	for n := 2; n < 100; n++ {
		s.want(raise(P1, n), "updated")
	}
	s.wantNotes("began 1 P1")
	if s.a.Count != 99 || s.a.Next != noon.Add(LevelAfter) {
		t.Errorf("count %d, climbs at %s", s.a.Count, s.a.Next)
	}
}

func TestAP2StaysAtLevelOneAndAP1ThatWasOneClimbs(t *testing.T) {
	s := tell(t)
	s.want(raise(P2, 1), "began")
	s.advance(time.Hour)
	s.want(Elapse{}, "")
	s.want(raise(P1, 1), "worse")
	s.want(raise(P2, 1), "")
	s.advance(LevelAfter)
	s.want(Elapse{}, "climbed")
	s.wantNotes("began 1 P2, worse 1 P1, climbed 2 P1")
}

func TestWhoAcknowledgedTheP2IsToldOfTheP1(t *testing.T) {
	s := tell(t)
	s.want(raise(P2, 1), "began")
	s.want(Acknowledge{Who: "ana"}, "acknowledged")
	s.want(raise(P1, 1), "worse")
	if s.a.State != Raised || s.a.Acknowledged != nil {
		t.Errorf("%s, acknowledged %+v", s.a.State, s.a.Acknowledged)
	}
}

func TestACauseThatComesBackWithinAMinuteIsTheSameAlarm(t *testing.T) {
	s := tell(t)
	s.want(raise(P1, 1), "began")
	for range 20 { // It flaps.
		s.advance(3 * time.Second)
		s.want(Clear{}, "cleared")
		s.advance(ClearFor - time.Millisecond)
		s.want(Elapse{}, "")
		s.want(raise(P1, 1), "returned")
		if words := s.do(Elapse{}); words != "" && words != "climbed" {
			t.Fatal(words)
		}
	}
	if s.wantNotes("began 1 P1, climbed 2 P1, climbed 3 P1"); s.a.Episode != 1 {
		t.Errorf("episode %d", s.a.Episode)
	}
	// Acknowledged, it comes back acknowledged.
	s.want(Acknowledge{Who: "ana"}, "acknowledged")
	s.want(Clear{}, "cleared")
	s.want(raise(P1, 1), "resumed")
	if s.a.State != Taken {
		t.Error(s.a.State)
	}
	s.want(Clear{}, "cleared")
	s.advance(ClearFor)
	s.want(Elapse{}, "ended")
	s.want(raise(P2, 1), "began")
	if s.a.Episode != 2 || s.a.Acknowledged != nil || s.a.Level != 1 || s.a.Severity != P2 {
		t.Errorf("the next time: %+v", s.a)
	}
}

func TestAnAlarmAcknowledgedWhileItClearsStaysSo(t *testing.T) {
	s := tell(t)
	s.want(raise(P1, 1), "began")
	s.want(Clear{}, "cleared")
	s.want(Acknowledge{Who: "ana"}, "acknowledged")
	s.want(Acknowledge{Who: "ben"}, "")
	s.want(raise(P1, 1), "resumed")
	if s.a.State != Taken || s.a.Acknowledged.Who != "ana" {
		t.Errorf("%s by %+v", s.a.State, s.a.Acknowledged)
	}
}

func TestAnotherDeadLetterIsNewsAfterAnAcknowledgement(t *testing.T) {
	s := tell(t)
	dead := raise(P1, 2)
	dead.News = true
	s.want(dead, "began")
	dead.Count = 3
	s.want(dead, "updated") // Whoever looks now sees three.
	s.want(Acknowledge{Who: "ana"}, "acknowledged")
	dead.Count = 2
	s.want(dead, "updated") // One of them was sent again.
	dead.Count = 3
	s.want(dead, "updated") // Three were acknowledged.
	dead.Count = 4
	s.want(dead, "again")
	s.wantNotes("began 1 P1, again 1 P1")
	// Nobody answers, all were told: the next one is told again, but not at once.
	for range 2 {
		s.advance(LevelAfter)
		s.want(Elapse{}, "climbed")
	}
	dead.Count = 5
	s.want(dead, "updated")
	s.advance(AgainAfter)
	dead.Count = 6
	s.want(dead, "again")
}

func TestAnAlarmThatIsNotRaisedAgainClearsByItself(t *testing.T) {
	s := tell(t)
	copied := raise(P1, 1)
	copied.For = time.Hour
	s.want(copied, "began")
	s.advance(time.Minute)
	s.want(copied, "") // Not worth a Commit.
	s.advance(29 * time.Minute)
	s.want(copied, "updated")
	s.want(Acknowledge{Who: "ana"}, "acknowledged")
	s.advance(time.Hour - time.Millisecond)
	s.want(Elapse{}, "")
	s.advance(time.Millisecond)
	s.want(Elapse{}, "cleared")
	s.advance(ClearFor)
	s.want(Elapse{}, "ended")
}

var three = []Destination{{"phone", 1}, {"mail", 1}, {"boss", 2}, {"owner", 3}}

// owed are the sends as "note>destination".
func (s *story) owed() string {
	sends, settled := s.a.Sends(three, s.now)
	for _, n := range settled {
		s.want(Settle{Note: n}, "settled")
	}
	var out []string
	for _, send := range sends {
		if !s.now.Before(send.At) {
			out = append(out, fmt.Sprint(send.Note.What, ">", send.Destination))
		}
	}
	return strings.Join(out, " ")
}

func (s *story) wantOwed(want string) {
	s.t.Helper()
	if got := s.owed(); got != want {
		s.t.Fatalf("owed at +%s: %q, want %q", s.now.Sub(noon), got, want)
	}
}

func (s *story) tried(to string, outcome Outcome, pause time.Duration) {
	s.t.Helper()
	for _, n := range s.a.Notes {
		if !n.Done && (n.What == Ended || slicesHas(three, Destination{to, n.Level})) {
			s.want(Record{Note: n.N, Destination: to, Outcome: outcome, Pause: pause}, "tried")
			return
		}
	}
	s.t.Fatalf("nothing is owed to %s", to)
}

func slicesHas(list []Destination, d Destination) bool {
	for _, one := range list {
		if one == d {
			return true
		}
	}
	return false
}

func TestEveryDestinationOfTheLevelIsToldOnceAndAFailureIsTriedAgain(t *testing.T) {
	s := tell(t)
	s.want(raise(P1, 1), "began")
	s.wantOwed("began>phone began>mail")
	s.tried("phone", Failed, 2*time.Second)
	s.tried("mail", Sent, 0)
	s.wantOwed("")
	s.advance(2 * time.Second)
	s.wantOwed("began>phone")
	s.tried("phone", Deferred, 10*time.Second)
	s.wantOwed("")
	s.advance(10 * time.Second)
	s.tried("phone", Sent, 0)
	s.wantOwed("")
	if !s.a.Owed.IsZero() || !s.a.Notes[0].Done {
		t.Errorf("owed since %s, %+v", s.a.Owed, s.a.Notes[0])
	}
	if told := s.a.Notes[0].Told["phone"]; told.Tries != 2 || !told.Sent {
		t.Errorf("phone: %+v, want two tries: a deferral is none", told)
	}
	if len(s.a.Tries) != 4 {
		t.Errorf("%d tries are kept, want 4", len(s.a.Tries))
	}
	s.advance(LevelAfter)
	s.want(Elapse{}, "climbed")
	s.wantOwed("climbed>boss")
	s.tried("boss", Refused, time.Second)
	s.wantOwed("")
}

func TestThoseWhoWereToldHearThatItIsOver(t *testing.T) {
	s := tell(t)
	s.want(raise(P1, 1), "began")
	s.tried("phone", Sent, 0)
	s.tried("mail", Failed, time.Second)
	s.want(Clear{}, "cleared")
	s.advance(time.Second)
	s.wantOwed("") // It may come back.
	s.advance(ClearFor)
	s.want(Elapse{}, "ended")
	s.wantOwed("ended>phone")
	if s.a.Owed.IsZero() {
		t.Error("a message is owed, and the alarm is in no list")
	}
	s.tried("phone", Sent, 0)
	s.wantOwed("")

	s = tell(t)
	s.want(raise(P1, 1), "began")
	s.want(Clear{}, "cleared")
	s.advance(ClearFor)
	s.want(Elapse{}, "ended")
	s.wantOwed("") // Nobody was told of anything.
	if !s.a.Owed.IsZero() {
		t.Error("owed since", s.a.Owed)
	}
}

func TestAMessageIsNotTriedForEver(t *testing.T) {
	s := tell(t)
	s.want(raise(P2, 1), "began")
	s.advance(NoteFor - time.Millisecond)
	s.wantOwed("began>phone began>mail")
	s.advance(time.Millisecond)
	s.wantOwed("")
	if !s.a.Notes[0].Done {
		t.Error("not settled")
	}
}

func TestAMessageHasOneIDAndNoOtherHasIt(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range []Alarm{{Tenant: "t1", Cause: "late/a"}, {Tenant: "t1", Cause: "late/b"},
		{Tenant: "t2", Cause: "late/a"}} {
		for n := range uint64(50) {
			id := a.NoteID(n)
			if seen[id] || id != a.NoteID(n) || strings.Contains(id, ".") {
				t.Fatalf("id %s", id)
			}
			seen[id] = true
		}
	}
}

func TestPausesDoubleToTheirMaximum(t *testing.T) {
	for n := 1; n < 100; n++ {
		low, high := Pause(n, 0), Pause(n, 0.999999)
		if low < PauseFirst/2 || high > PauseMax || high < low {
			t.Fatalf("try %d: %s to %s", n, low, high)
		}
		if n > 5 && high < PauseMax-time.Second {
			t.Fatalf("try %d: %s at most", n, high)
		}
	}
}

func TestWhatWasNotSentBeforeAnAcknowledgementOrSomethingWorseIsNotSentAfterIt(t *testing.T) {
	s := tell(t)
	s.want(raise(P2, 1), "began")
	s.tried("phone", Failed, time.Second)
	s.want(raise(P1, 1), "worse")
	s.advance(time.Minute)
	s.wantOwed("worse>phone worse>mail")
	s.tried("phone", Failed, time.Second)
	s.want(Acknowledge{Who: "ana"}, "acknowledged")
	s.advance(time.Minute)
	s.wantOwed("")
	if !s.a.Owed.IsZero() {
		t.Error("still in the list of what is owed")
	}
}
