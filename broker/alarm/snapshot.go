package alarm

import (
	"slices"
	"time"

	"chit/broker/delivery"
)

// StationState is how one station stands, for metrics.
type StationState struct {
	Tenant, Kitchen, Station string
	// Oldest is for how long the oldest ticket has had no paper, counted as the alarms count it:
	// from its release, a person's wish or the kitchen's opening, the latest. 0 where there is none.
	Oldest time.Duration
	Open   int // tickets without paper whose release has come
	Dead   int // dead letters
	// NotWanted are those of them of which a person has said that they are not to be printed.
	NotWanted int
	// KitchenOpen is whether the kitchen is open now; always true without opening hours.
	KitchenOpen bool
}

// Stations is a snapshot of every configured station and every other one that has tickets, by
// tenant and station.
func (w *Watch) Stations(now time.Time) []StationState {
	var out []StationState
	for key, s := range w.stations {
		place, configured := w.places[key]
		if !configured && s.oldestDue(now) == nil && len(s.dead) == 0 {
			continue
		}
		state := StationState{Tenant: key.Tenant, Kitchen: place.Kitchen, Station: key.Station,
			Open: s.open.before(now), Dead: len(s.dead),
			KitchenOpen: place.Hours.Open(now, place.Zone)}
		for _, t := range s.dead {
			if t.reason == delivery.ReasonNotWanted {
				state.NotWanted++
			}
		}
		if oldest := s.oldestDue(now); oldest != nil {
			since, _, _ := w.since(key, oldest, now)
			state.Oldest = max(0, now.Sub(since))
		}
		out = append(out, state)
	}
	slices.SortFunc(out, func(a, b StationState) int {
		return byName(StationKey{a.Tenant, a.Station}, StationKey{b.Tenant, b.Station})
	})
	return out
}

// oldestDue is the oldest ticket whose release has come.
func (s *station) oldestDue(now time.Time) *ticket {
	oldest := s.open.oldest()
	if oldest == nil || oldest.owed.After(now) {
		return nil
	}
	return oldest
}
