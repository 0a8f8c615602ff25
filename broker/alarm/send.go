package alarm

import (
	"time"
)

// Destination is one place that messages of a level go to.
type Destination struct {
	Name  string // unique in the tenant
	Level int    // 1 to LevelMax
}

// Send is one message that is owed to one destination, not before At.
type Send struct {
	Note        Note
	Destination string
	At          time.Time
}

// Sends are what the alarm owes to its tenant's destinations, and the notes of which nothing is
// owed any more, to be settled. While it is clearing it owes nothing: a minute will tell.
func (a Alarm) Sends(all []Destination, now time.Time) (sends []Send, settled []uint64) {
	if a.State == Clearing {
		return nil, nil
	}
	for _, note := range a.Notes {
		if note.Done {
			continue
		}
		owed := 0
		for _, d := range all {
			told := note.Told[d.Name]
			if !a.concerns(note, d) || told.Sent || told.Gone || !now.Before(note.At.Add(NoteFor)) {
				continue
			}
			owed++
			sends = append(sends, Send{Note: note, Destination: d.Name, At: told.Next})
		}
		if owed == 0 {
			settled = append(settled, note.N)
		}
	}
	return sends, settled
}

// concerns: a level's message goes to that level's destinations, the end to those who were told.
func (a Alarm) concerns(note Note, d Destination) bool {
	if note.What == Ended {
		return a.reached()[d.Name]
	}
	return note.Level == d.Level
}

// Pause is the wait after the n-th try that failed: full jitter below a limit that doubles, but at
// least half of PauseFirst. chance is from [0, 1).
func Pause(n int, chance float64) time.Duration {
	limit := PauseMax
	if n < 16 {
		limit = min(limit, PauseFirst<<max(0, n-1))
	}
	return PauseFirst/2 + time.Duration(chance*float64(limit-PauseFirst/2))
}
