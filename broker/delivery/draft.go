package delivery

import (
	"time"

	"chit/broker/entity"
)

// draft is one Commit over several entities in the making. It is a view as well: what is decided
// next sees what was decided before.
type draft struct {
	view   entity.View
	states map[entity.Key]entity.State
	commit entity.Commit
}

func newDraft(view entity.View) *draft {
	return &draft{view: view, states: map[entity.Key]entity.State{}}
}

// Load implements [entity.View].
func (f *draft) Load(key entity.Key) (entity.State, error) {
	if state, ok := f.states[key]; ok {
		return state, nil
	}
	return f.view.Load(key)
}

// add takes a decision in. Its answer, if it has one, is the draft's from now on.
func (f *draft) add(c entity.Commit) {
	for _, change := range c.Changes {
		f.states[change.Key] = entity.State{Version: change.Was + 1, Data: change.Data,
			Timer: change.Timer}
	}
	f.commit.Changes = append(f.commit.Changes, c.Changes...)
	f.commit.Events = append(f.commit.Events, c.Events...)
	f.commit.Owed = append(f.commit.Owed, c.Owed...)
	f.commit.Paid = append(f.commit.Paid, c.Paid...)
	f.commit.Effects = append(f.commit.Effects, c.Effects...)
	if c.Answer != nil {
		f.commit.Answer, f.commit.Repeat = c.Answer, c.Repeat
	}
}

// end cancels a delivery, and tells of its number as a gap where it had one.
func (f *draft) end(d Delivery, version uint64, e End, now time.Time) (Delivery, error) {
	c, after, err := cancel(f, d, version, e, now)
	if err == nil {
		f.add(c)
	}
	return after, err
}
