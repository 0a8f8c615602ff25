package alarm

import (
	"maps"
	"slices"
	"time"
)

// clone gives a its own copies of what Evolve changes in place.
func (a Alarm) clone() Alarm {
	a.Notes, a.Tries = slices.Clone(a.Notes), slices.Clone(a.Tries)
	a.Timeline = slices.Clone(a.Timeline)
	return a
}

// note is the index of a note, -1 where it is no longer kept.
func (a Alarm) note(n uint64) int {
	return slices.IndexFunc(a.Notes, func(note Note) bool { return note.N == n })
}

// began starts a new episode: of the one before only the story stays.
func (a *Alarm) began(e Event) {
	a.Format, a.Tenant, a.Cause = Format, e.Raise.Tenant, e.Raise.Cause
	a.Episode++
	a.Raised, a.Cleared, a.Before, a.Acknowledged = e.At, time.Time{}, "", nil
	a.Severity, a.Notes = "", nil
	a.take(e)
	a.ladder(e, 1)
}

// take takes over what is said of the cause; the severity only rises.
func (a *Alarm) take(e Event) {
	r := e.Raise
	a.Kitchen, a.Station, a.Device = r.Kitchen, r.Station, r.Device
	a.Count, a.Text = r.Count, r.Text
	if a.Severity == "" || r.Severity.worse(a.Severity) {
		a.Severity = r.Severity
	}
	a.Ends = time.Time{}
	if r.For > 0 {
		a.Ends = e.At.Add(r.For)
	}
}

// ladder reaches a level and says so.
func (a *Alarm) ladder(e Event, level int) {
	a.Level, a.Next = level, time.Time{}
	if a.Severity == P1 && level < LevelMax {
		a.Next = e.At.Add(LevelAfter)
	}
	a.say(e)
}

// say makes a message of how the alarm stands.
func (a *Alarm) say(e Event) {
	a.LastNote++
	a.Notes = append(a.Notes, Note{N: a.LastNote, What: e.What, Level: a.Level,
		Severity: a.Severity, Count: a.Count, Text: a.Text, At: e.At})
	for extra := len(a.Notes) - NotesMax; extra > 0; extra-- {
		// The oldest that is done; where none is, the oldest: newer ones say more.
		i := max(0, slices.IndexFunc(a.Notes, func(n Note) bool { return n.Done }))
		a.Notes = slices.Delete(a.Notes, i, i+1)
		a.Dropped++
	}
}

// moot ends the messages that were not sent yet: they no longer say anything that helps.
func (a *Alarm) moot() {
	for i := range a.Notes {
		a.Notes[i].Done = true
	}
}

// ended says that it is over to those who were told, if anybody was.
func (a *Alarm) ended(e Event) {
	a.Next, a.Ends, a.Before = time.Time{}, time.Time{}, ""
	a.moot()
	if len(a.reached()) > 0 {
		a.say(e)
	}
}

// reached are the destinations that were told of this episode.
func (a Alarm) reached() map[string]bool {
	out := map[string]bool{}
	for _, note := range a.Notes {
		for destination, told := range note.Told {
			if told.Sent {
				out[destination] = true
			}
		}
	}
	return out
}

func (a *Alarm) tried(e Event) {
	note := &a.Notes[a.note(e.Try.Note)]
	note.Told = maps.Clone(note.Told)
	if note.Told == nil {
		note.Told = map[string]Told{}
	}
	told := note.Told[e.Try.Destination]
	if e.Try.Outcome != Deferred {
		told.Tries++
	}
	told.Sent = told.Sent || e.Try.Outcome == Sent
	told.Gone = told.Gone || e.Try.Outcome == Refused
	told.Next = e.At.Add(e.Pause)
	if told.Sent || told.Gone {
		told.Next = time.Time{}
	}
	note.Told[e.Try.Destination] = told
	a.Tries = bound(append(a.Tries, e.Try), TriesMax, &a.Dropped)
}

// owe keeps since when something is to be sent.
func (a *Alarm) owe(at time.Time) {
	owes := slices.ContainsFunc(a.Notes, func(n Note) bool { return !n.Done })
	switch {
	case !owes:
		a.Owed = time.Time{}
	case a.Owed.IsZero():
		a.Owed = at
	}
}

func (a *Alarm) tell(e Event) {
	a.Timeline = bound(append(a.Timeline, Moment{At: e.At, What: e.What, State: a.State,
		Severity: a.Severity, Level: a.Level, Count: a.Count, Who: e.Who, Reason: e.Reason}),
		TimelineMax, &a.Dropped)
}

// bound keeps the newest entries.
func bound[T any](list []T, most int, dropped *int) []T {
	if extra := len(list) - most; extra > 0 {
		*dropped += extra
		return slices.Delete(list, 0, extra)
	}
	return list
}
