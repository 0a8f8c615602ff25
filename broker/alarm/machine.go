package alarm

import (
	"fmt"
	"time"
)

// Action is something asked of one alarm: a [Raise], [Clear], [Acknowledge], [Elapse], [Record] or
// [Settle].
type Action interface {
	decide(a Alarm, now time.Time) []Event
}

// Event is what happened to an alarm.
type Event struct {
	What   Word
	At     time.Time
	Raise  Raise // of Began, Updated, Worse and Again
	Who    string
	Reason string
	Try    Try // of Tried and Settled
	Pause  time.Duration
}

// Machine is the state machine of one alarm; see [State] for the drawing.
type Machine struct{}

// Decide implements entity.Machine. It never refuses: what does not fit the state does nothing.
func (Machine) Decide(a Alarm, action Action, now time.Time) ([]Event, error) {
	return action.decide(a, now), nil
}

func (r Raise) decide(a Alarm, now time.Time) []Event {
	e := Event{What: Updated, At: now, Raise: r}
	var events []Event
	state := a.State
	switch state {
	case Raised, Taken:
	case Clearing:
		back := Event{What: Returned, At: now}
		if state = a.Before; state == Taken {
			back.What = Resumed
		}
		events = append(events, back)
	default:
		e.What = Began
		return []Event{e}
	}
	grown := r.News && r.Count > a.Count
	if state == Taken {
		grown = r.News && r.Count > a.Acknowledged.Count
	}
	switch {
	case r.Severity.worse(a.Severity):
		e.What = Worse
	case grown && (state == Taken || a.toldAll(now)):
		e.What = Again
	case r.Count == a.Count && r.Text == a.Text && !r.prolongs(a, now):
		return events
	}
	return append(events, e)
}

// toldAll reports whether the ladder has ended without an answer, and not just now.
func (a Alarm) toldAll(now time.Time) bool {
	return a.Severity == P1 && a.Level == LevelMax && len(a.Notes) > 0 &&
		!now.Before(a.Notes[len(a.Notes)-1].At.Add(AgainAfter))
}

// prolongs reports whether the end moves by enough to be worth a Commit.
func (r Raise) prolongs(a Alarm, now time.Time) bool {
	return r.For > 0 && now.Add(r.For).Sub(a.Ends) >= r.For/8
}

func (c Clear) decide(a Alarm, now time.Time) []Event {
	if a.State != Raised && a.State != Taken {
		return nil
	}
	return []Event{{What: Lifted, At: now}}
}

func (k Acknowledge) decide(a Alarm, now time.Time) []Event {
	if a.State != Raised && (a.State != Clearing || a.Before != Raised) {
		return nil
	}
	return []Event{{What: Noticed, At: now, Who: k.Who, Reason: k.Reason}}
}

// decide judges what has come by now; a timer that fires early finds nothing.
func (Elapse) decide(a Alarm, now time.Time) []Event {
	passed := func(t time.Time) bool { return !t.IsZero() && !now.Before(t) }
	switch {
	case a.State == Clearing && passed(a.Cleared.Add(ClearFor)):
		return []Event{{What: Ended, At: now}}
	case (a.State == Raised || a.State == Taken) && passed(a.Ends):
		return []Event{{What: Lifted, At: now}}
	case a.State == Raised && passed(a.Next):
		return []Event{{What: Climbed, At: now}}
	}
	return nil
}

func (r Record) decide(a Alarm, now time.Time) []Event {
	i := a.note(r.Note)
	if i < 0 {
		return nil // Pruned; nothing can be said of it any more.
	}
	try := Try{At: now, Note: r.Note, Level: a.Notes[i].Level, Destination: r.Destination,
		Outcome: r.Outcome, Error: r.Error}
	return []Event{{What: Tried, At: now, Try: try, Pause: r.Pause}}
}

func (s Settle) decide(a Alarm, now time.Time) []Event {
	if i := a.note(s.Note); i < 0 || a.Notes[i].Done {
		return nil
	}
	return []Event{{What: Settled, At: now, Try: Try{Note: s.Note}}}
}

// Evolve is a after e. An event that cannot happen in a's state panics: Decide does not make such.
func (Machine) Evolve(a Alarm, e Event) Alarm {
	to, ok := leads(a.State, e.What)
	if !ok {
		panic(fmt.Sprintf("alarm: %s of %s/%s, which is %q", e.What, a.Tenant, a.Cause, a.State))
	}
	a = a.clone()
	from := a.State
	a.State = to
	switch e.What {
	case Began:
		a.began(e)
	case Updated:
		a.take(e)
	case Worse, Again:
		a.take(e)
		a.Acknowledged = nil
		a.moot() // What was to be told at level 1 is in the new message.
		a.ladder(e, 1)
	case Climbed:
		a.ladder(e, a.Level+1)
	case Noticed:
		a.Acknowledged = &Acknowledged{At: e.At, Who: e.Who, Reason: e.Reason, Count: a.Count}
		a.Next, a.Before = time.Time{}, ""
		if to == Clearing {
			a.Before = Taken
		}
		a.moot()
	case Lifted:
		a.Cleared, a.Before, a.Ends = e.At, from, time.Time{}
	case Returned, Resumed:
		a.Cleared, a.Before = time.Time{}, ""
	case Ended:
		a.ended(e)
	case Tried:
		a.tried(e)
	case Settled:
		a.Notes[a.note(e.Try.Note)].Done = true
	}
	a.owe(e.At)
	if e.What != Tried && e.What != Settled && e.What != Updated {
		a.tell(e)
	}
	return a
}
