package alarm

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"chit/broker/delivery"
	"chit/broker/entity"
	"chit/broker/kitchen"
)

// kitchenStory is a watch told step by step.
type kitchenStory struct {
	t     testing.TB
	w     *Watch
	now   time.Time
	epoch uint64
	next  time.Time
}

var grill = StationKey{"t1", "grill"}

func watch(t testing.TB, hours ...string) *kitchenStory {
	h, err := kitchen.ParseHours(hours)
	if err != nil {
		t.Fatal(err)
	}
	places := map[StationKey]Place{grill: {Kitchen: "main", Hours: h, Zone: time.UTC}}
	// It has run for a while.
	return &kitchenStory{t: t, w: NewWatch(places, noon.Add(-time.Hour)), now: noon}
}

// is says where a ticket stands.
func (k *kitchenStory) is(ticket string, release time.Time, state delivery.State,
	words ...delivery.Word) {
	k.wanted(ticket, release, time.Time{}, state, words...)
}

// wanted says where a ticket stands that a person has asked for.
func (k *kitchenStory) wanted(ticket string, release, wish time.Time, state delivery.State,
	words ...delivery.Word) {
	k.epoch++
	d := delivery.Delivery{Tenant: "t1", Ticket: ticket + "/1@grill", Station: "grill", Wanted: wish,
		Kitchen: "main", State: state, Release: release, Epoch: k.epoch, Number: ticket}
	if state == delivery.Parked {
		d.Reason = "away"
	}
	if state == delivery.Dead {
		d.Reason, d.DeadAt = "window", k.now
	}
	k.w.Changed(delivery.Changed{Delivery: d, What: words}, k.now)
}

// said is what the watch says now, as "P2 late/grill 1" and "clear late/grill".
func (k *kitchenStory) said() string {
	commands, next := k.w.Due(k.now)
	k.next = next
	return words(commands)
}

func words(commands []entity.Command) string {
	var out []string
	for _, c := range commands {
		switch c := c.(type) {
		case Raise:
			out = append(out, fmt.Sprintf("%s %s %d", c.Severity, c.Cause, c.Count))
		case Clear:
			out = append(out, "clear "+c.Cause)
		}
	}
	return strings.Join(out, ", ")
}

func (k *kitchenStory) want(words string) {
	k.t.Helper()
	if got := k.said(); got != words {
		k.t.Fatalf("at %s: said %q, want %q", k.now.Format("Mon 15:04:05"), got, words)
	}
}

// wait goes on to when the watch wants to be asked again.
func (k *kitchenStory) wait(want time.Duration) {
	k.t.Helper()
	if got := k.next.Sub(k.now); k.next.IsZero() || got != want {
		k.t.Fatalf("at %s: asks again after %s, want %s", k.now.Format("15:04:05"), got, want)
	}
	k.now = k.next
}

func TestATicketWithoutPaperIsToldOfAfterTwoMinutesAndAfterFive(t *testing.T) {
	for _, state := range []delivery.State{delivery.Waiting, delivery.Leased, delivery.Parked,
		delivery.Stale} {
		k := watch(t)
		k.is("41", noon, state)
		k.want("")
		k.wait(2 * time.Minute)
		k.want("P2 late/grill 1")
		k.wait(3 * time.Minute)
		k.want("P1 late/grill 1")
		k.is("41", noon, delivery.Settled)
		k.want("clear late/grill")
		k.want("")
	}
}

func TestAStationHasOneAlarmWithACount(t *testing.T) {
	k := watch(t)
	for i := range 50 {
		k.is(fmt.Sprint(i), noon.Add(time.Duration(i)*time.Second), delivery.Parked)
	}
	k.want("")
	k.wait(2 * time.Minute)
	k.want("P2 late/grill 1")
	k.now = k.now.Add(20 * time.Second)
	k.is("0", noon, delivery.Parked)
	k.want("") // A text that changes every second helps nobody and costs a commit.
	k.wait(10 * time.Second)
	k.want("P2 late/grill 31")
	k.now = noon.Add(5 * time.Minute)
	k.want("P1 late/grill 50")
	for i := range 49 {
		k.is(fmt.Sprint(i), noon.Add(time.Duration(i)*time.Second), delivery.Settled)
		k.want("")
	}
	k.now = k.now.Add(UpdateAfter)
	k.want("P1 late/grill 1") // The oldest is younger, the alarm is the same.
	k.is("49", noon.Add(49*time.Second), delivery.Cancelled)
	k.want("clear late/grill")
}

func TestBeforeItsReleaseATicketOwesNothing(t *testing.T) {
	k := watch(t)
	k.is("41", noon.Add(3*time.Hour), delivery.Waiting)
	k.want("")
	k.wait(3*time.Hour + LateAfter)
	k.want("P2 late/grill 1")
}

func TestAPersonsWishStartsTheClockOfLatenessAnew(t *testing.T) {
	k := watch(t)
	release := noon.Add(-20 * time.Minute)
	k.is("41", release, delivery.Dead)
	k.want("P1 dead/grill 1")
	k.wanted("41", release, k.now, delivery.Waiting) // Redriven.
	k.want("clear dead/grill")
	k.wait(LateAfter)
	k.want("P2 late/grill 1")
	k.wanted("41", release, k.now, delivery.Waiting) // It was stale, and is to be printed.
	k.want("clear late/grill")
	if s := k.w.Stations(k.now.Add(time.Second))[0]; s.Oldest != time.Second {
		t.Errorf("the oldest has waited for %s, want 1s", s.Oldest)
	}
	k.is("40", noon.Add(-time.Minute), delivery.Parked) // Released later, and owed for longer.
	k.want("P2 late/grill 1")
	k.is("40", noon.Add(-time.Minute), delivery.Settled)
	k.want("clear late/grill")
	k.wait(LateAfter)
	k.want("P2 late/grill 1")
	k.wait(VeryLate - LateAfter)
	k.want("P1 late/grill 1")
}

func TestAWishBeforeTheReleaseIsNotLateBeforeIt(t *testing.T) {
	k := watch(t)
	k.wanted("41", noon.Add(time.Hour), noon, delivery.Waiting)
	k.want("")
	k.wait(time.Hour + LateAfter)
	k.want("P2 late/grill 1")
}

func TestAClosedKitchenRaisesNothingAndItsOpeningStartsTheClock(t *testing.T) {
	k := watch(t, "daily 13:00-14:00")
	k.is("41", noon.Add(-5*time.Hour), delivery.Parked)
	k.want("")
	k.wait(time.Hour) // It opens.
	k.want("")
	k.wait(2 * time.Minute)
	k.want("P2 late/grill 1")
	k.wait(3 * time.Minute)
	k.want("P1 late/grill 1")
	// The closing prints nothing: the alarm stays, also over the next opening.
	k.now = noon.Add(3 * time.Hour)
	k.is("42", k.now, delivery.Parked)
	k.want("")
	k.now = noon.Add(25 * time.Hour)
	k.want("")
	k.is("41", noon.Add(-5*time.Hour), delivery.Settled)
	k.is("42", noon.Add(3*time.Hour), delivery.Settled)
	k.want("clear late/grill")
}

func TestAfterARestartDevicesGetTimeToComeBack(t *testing.T) {
	k := watch(t)
	k.w = NewWatch(k.w.places, noon)
	k.is("41", noon.Add(-time.Hour), delivery.Parked)
	k.want("")
	k.wait(StartGrace)
	k.want("P1 late/grill 1")
}

func TestARestartRaisesNothingTwiceAndClearsWhatHasEnded(t *testing.T) {
	k := watch(t)
	k.w.Known(Alarm{Tenant: "t1", Cause: "late/grill", Station: "grill", State: Raised, Severity: P1,
		Count: 1})
	k.w.Known(Alarm{Tenant: "t1", Cause: "dead/grill", Station: "grill", State: Taken, Severity: P1,
		Count: 1})
	k.is("41", noon.Add(-time.Hour), delivery.Parked)
	k.want("clear dead/grill")
	k.is("41", noon.Add(-time.Hour), delivery.Settled)
	k.want("clear late/grill")
}

func TestDeadLettersAreToldOfAtOnceWhateverTheHour(t *testing.T) {
	k := watch(t, "daily 13:00-14:00")
	k.is("41", noon, delivery.Dead)
	k.want("P1 dead/grill 1")
	k.is("42", noon, delivery.Dead)
	k.want("")
	k.wait(UpdateAfter)
	k.want("P1 dead/grill 2")
	k.is("41", noon, delivery.Waiting) // Redriven.
	k.is("42", noon, delivery.Cancelled)
	k.want("clear dead/grill")
}

func TestADeadLetterThatAPersonDidNotWantWakesNobody(t *testing.T) {
	k := watch(t)
	k.epoch++
	d := delivery.Delivery{Tenant: "t1", Ticket: "41/1@grill", Station: "grill", Kitchen: "main",
		State: delivery.Dead, Reason: delivery.ReasonNotWanted, Epoch: k.epoch, DeadAt: k.now}
	k.w.Changed(delivery.Changed{Delivery: d}, k.now)
	k.want("P2 dead/grill 1")
	k.is("42", noon, delivery.Dead)
	k.want("P1 dead/grill 2") // At once: it is worse.
	if s := k.w.Stations(k.now)[0]; s.Dead != 2 || s.NotWanted != 1 {
		t.Errorf("%d dead letters, %d of them not wanted; want 2 and 1", s.Dead, s.NotWanted)
	}
}

func TestOlderNewsOfATicketChangeNothing(t *testing.T) {
	k := watch(t)
	k.is("41", noon.Add(-time.Hour), delivery.Dead)
	k.want("P1 dead/grill 1")
	k.epoch -= 2
	k.is("41", noon.Add(-time.Hour), delivery.Waiting)
	k.want("")
}

func TestEverySecondPaperIsToldOf(t *testing.T) {
	k := watch(t)
	k.is("41", noon, delivery.Settled, delivery.Printed)
	k.want("")
	k.is("41", noon, delivery.Settled, delivery.Doubled)
	k.want("P2 doubled/grill 1")
	k.is("42", noon, delivery.Settled, delivery.Doubled)
	k.want("P2 doubled/grill 2")
	k.now = k.now.Add(DoubledFor)
	k.is("43", noon, delivery.Settled, delivery.Doubled)
	k.want("P2 doubled/grill 1")
}

func TestADeviceThatCannotRememberIsToldOfUntilItCan(t *testing.T) {
	k := watch(t)
	k.w.Memory("t1", "dev-1", "", k.now)
	k.want("")
	k.w.Memory("t1", "dev-1", "storage", k.now)
	k.w.Memory("t1", "dev-1", "storage", k.now)
	k.want("P1 memory/dev-1 1")
	k.w.Memory("t1", "dev-1", "", k.now)
	k.want("clear memory/dev-1")
	k.w.Copied(delivery.Greeted{Tenant: "t1", ID: "dev-1"}, k.now)
	k.want("")
	k.w.Copied(delivery.Greeted{Tenant: "t1", ID: "dev-1", Copied: true}, k.now)
	k.want("P1 copies/dev-1 1")
}

func TestTextsNameNumberStationAgeAndReason(t *testing.T) {
	k := watch(t)
	k.is("41", noon, delivery.Parked)
	k.now = noon.Add(5 * time.Minute)
	commands, _ := k.w.Due(k.now)
	want := "1 ticket without paper at grill, number 41 for 5m0s: parked, away"
	if got := commands[0].(Raise).Text; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTheSnapshotCountsWhatIsOwed(t *testing.T) {
	k := watch(t, "daily 11:50-14:00")
	k.is("40", noon.Add(-time.Hour), delivery.Leased)
	k.is("41", noon.Add(time.Hour), delivery.Waiting)
	k.is("42", noon, delivery.Dead)
	states := k.w.Stations(k.now)
	want := StationState{Tenant: "t1", Kitchen: "main", Station: "grill", Oldest: 10 * time.Minute,
		Open: 1, Dead: 1, KitchenOpen: true}
	if len(states) != 1 || states[0] != want {
		t.Errorf("%+v, want %+v", states, want)
	}
}

// TestTheWatchAgreesWithOneThatLooksEverySecond drives a watch only when it asks to be asked, and
// compares with the rule itself, read at every second.
func TestTheWatchAgreesWithOneThatLooksEverySecond(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		k := watch(t, "daily 12:03-12:20")
		open := map[string]asked{}
		alarms := map[string]Severity{}
		id := 0
		for second := range 1500 {
			k.now = noon.Add(time.Duration(second) * time.Second)
			touched := second == 0
			if rapid.IntRange(0, 60).Draw(rt, "event") == 0 {
				touched = true
				switch what := rapid.SampledFrom([]string{"prints", "is wished", "comes", "comes"}).
					Draw(rt, "what"); {
				case len(open) > 0 && what == "prints":
					ticket := longest(open)
					k.is(ticket, open[ticket].release, delivery.Settled)
					delete(open, ticket)
				case len(open) > 0 && what == "is wished":
					ticket := longest(open)
					open[ticket] = asked{open[ticket].release, k.now}
					k.wanted(ticket, open[ticket].release, k.now, delivery.Waiting)
				default:
					id++
					ticket := fmt.Sprint(id)
					release := k.now.Add(time.Duration(rapid.IntRange(-200, 200).Draw(rt, "release")) *
						time.Second)
					open[ticket] = asked{release: release}
					k.is(ticket, release, delivery.Parked)
				}
			}
			if touched || !k.next.IsZero() && !k.now.Before(k.next) {
				commands, next := k.w.Due(k.now)
				k.next = next
				for _, c := range commands {
					switch c := c.(type) {
					case Raise:
						alarms[c.Cause] = c.Severity
					case Clear:
						delete(alarms, c.Cause)
					}
				}
			}
			want := ruled(open, alarms["late/grill"], k.now)
			if got := alarms["late/grill"]; got != want {
				rt.Fatalf("at +%ds: %q, want %q; open %v", second, got, want, open)
			}
		}
	})
}

// asked is a ticket without paper: its release, and when a person last asked for it.
type asked struct{ release, wish time.Time }

// longest is the ticket released first, so that a seed tells one story.
func longest(open map[string]asked) (ticket string) {
	for t, a := range open {
		first := open[ticket].release
		if ticket == "" || a.release.Before(first) || a.release.Equal(first) && t < ticket {
			ticket = t
		}
	}
	return ticket
}

// ruled is the alarm that there should be, given the one that there is.
func ruled(open map[string]asked, is Severity, now time.Time) Severity {
	opens, closes := noon.Add(3*time.Minute), noon.Add(20*time.Minute)
	stays, severity := false, Severity("")
	for _, ticket := range open {
		since := ticket.release
		if ticket.wish.After(since) {
			since = ticket.wish
		}
		if now.Sub(since) >= 2*time.Minute {
			stays = true
		}
		if now.Before(opens) || !now.Before(closes) {
			continue
		}
		if opens.After(since) {
			since = opens
		}
		switch {
		case now.Sub(since) >= 5*time.Minute:
			severity = P1
		case now.Sub(since) >= 2*time.Minute && severity == "":
			severity = P2
		}
	}
	switch {
	case !stays:
		return ""
	case is == P1, severity == "":
		return is
	default:
		return severity
	}
}
