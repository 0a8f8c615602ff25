package alarm

import (
	"encoding/json"
	"fmt"
	"time"

	"chit/broker/delivery"
	"chit/broker/entity"
)

// Raise says that something is wrong. Repeated, it changes nothing: a cause has one alarm.
type Raise struct {
	Tenant, Cause            string
	Kitchen, Station, Device string
	Severity                 Severity
	// Count is of what is wrong, Text says it to people. Neither raises anything again by itself.
	Count int
	Text  string
	// News is true where more of it must be told to somebody even after an acknowledgement.
	News bool
	// For is after how long without another Raise the alarm clears by itself; 0: only by Clear.
	For time.Duration
}

// Clear says that nothing is wrong any more.
type Clear struct{ Tenant, Cause string }

// Acknowledge says that somebody has it: nobody else is told. Its answer is a [Result].
type Acknowledge struct{ Tenant, Cause, Who, Reason string }

// Elapse lets time act on the alarm.
type Elapse struct{ Tenant, Cause string }

// Record keeps what a try to send a note came to.
type Record struct {
	Tenant, Cause string
	Note          uint64
	Destination   string
	Outcome       Outcome
	Error         string
	// Pause is the wait before the next try.
	Pause time.Duration
}

// Settle says that nothing of a note is owed any more.
type Settle struct {
	Tenant, Cause string
	Note          uint64
}

// Result is what Acknowledge answers, as JSON.
type Result struct {
	Cause string `json:"cause"`
	State State  `json:"state"`
	// Changed is false where there was nothing to acknowledge.
	Changed bool `json:"changed"`
}

// Changed is the effect that tells where an alarm stands now.
type Changed struct {
	Alarm Alarm
	What  []Word
}

// The commands are not remembered by an id: repeating one finds nothing to do.

// Identity implements [entity.Command].
func (r Raise) Identity() entity.Identity { return entity.Identity{} }

// Identity implements [entity.Command].
func (c Clear) Identity() entity.Identity { return entity.Identity{} }

// Identity implements [entity.Command].
func (k Acknowledge) Identity() entity.Identity { return entity.Identity{} }

// Identity implements [entity.Command].
func (e Elapse) Identity() entity.Identity { return entity.Identity{} }

// Identity implements [entity.Command].
func (r Record) Identity() entity.Identity { return entity.Identity{} }

// Identity implements [entity.Command].
func (s Settle) Identity() entity.Identity { return entity.Identity{} }

// Name implements desk.Named.
func (r Raise) Name() string { return "alarm-raise" }

// Name implements desk.Named.
func (c Clear) Name() string { return "alarm-clear" }

// Name implements desk.Named.
func (k Acknowledge) Name() string { return "alarm-acknowledge" }

// Name implements desk.Named.
func (e Elapse) Name() string { return "alarm-elapse" }

// Name implements desk.Named.
func (r Record) Name() string { return "alarm-record" }

// Name implements desk.Named.
func (s Settle) Name() string { return "alarm-settle" }

// Decide implements [entity.Command].
func (r Raise) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	if r.Severity != P1 && r.Severity != P2 {
		return entity.Commit{}, fmt.Errorf("alarm: severity is %q, expected P1 or P2", r.Severity)
	}
	return act(view, r.Tenant, r.Cause, r, now)
}

// Decide implements [entity.Command].
func (c Clear) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	return act(view, c.Tenant, c.Cause, c, now)
}

// Decide implements [entity.Command]. What is over or acknowledged already is answered as it is.
func (k Acknowledge) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	commit, err := act(view, k.Tenant, k.Cause, k, now)
	if err != nil {
		return entity.Commit{}, err
	}
	a, version, err := Load(view, k.Tenant, k.Cause)
	if err != nil {
		return entity.Commit{}, err
	}
	if version == 0 {
		return entity.Commit{}, fmt.Errorf("%w: %s", ErrUnknown, k.Cause)
	}
	result := Result{Cause: k.Cause, State: a.State, Changed: len(commit.Changes) > 0}
	if result.Changed {
		result.State = commit.Effects[0].(Changed).Alarm.State
	}
	commit.Answer, err = json.Marshal(result)
	return commit, err
}

// Decide implements [entity.Command].
func (e Elapse) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	return act(view, e.Tenant, e.Cause, e, now)
}

// Decide implements [entity.Command].
func (r Record) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	return act(view, r.Tenant, r.Cause, r, now)
}

// Decide implements [entity.Command].
func (s Settle) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	return act(view, s.Tenant, s.Cause, s, now)
}

// logged are the events that others may subscribe to: what a person would be told.
var logged = map[Word]bool{
	Began: true, Worse: true, Again: true, Climbed: true, Noticed: true, Ended: true,
}

// eventData is what a logged event says.
type eventData struct {
	Format   int      `json:"v"`
	State    State    `json:"state"`
	Severity Severity `json:"severity"`
	Level    int      `json:"level"`
	Count    int      `json:"count"`
	Text     string   `json:"text"`
	Who      string   `json:"who,omitempty"`
	Reason   string   `json:"reason,omitempty"`
}

// act asks the machine and makes the Commit: the new state, its timer, its rows, its events, and
// word to whoever sends.
func act(view entity.View, tenant, cause string, action Action, now time.Time) (
	entity.Commit, error) {
	was, version, err := Load(view, tenant, cause)
	if err != nil {
		return entity.Commit{}, err
	}
	is, events, err := entity.Step[Alarm, Action, Event](Machine{}, was, action, now)
	if err != nil || len(events) == 0 {
		return entity.Commit{}, err
	}
	key := Key(tenant, cause)
	generation, err := delivery.LoadGeneration(view, tenant)
	if err != nil {
		return entity.Commit{}, err
	}
	is.Generation = generation.Number
	data, err := json.Marshal(is)
	if err != nil {
		return entity.Commit{}, fmt.Errorf("alarm: encoding %s: %w", key, err)
	}
	c := entity.Commit{Changes: []entity.Change{{Key: key, Was: version, Data: data,
		Timer: is.Due()}}}
	var wasAt, isAt time.Time
	if was.State.Open() {
		wasAt = was.Raised
	}
	if is.State.Open() {
		isAt = is.Raised
	}
	rows(&c, ListOpen, key, wasAt, isAt)
	rows(&c, ListNotes, key, was.Owed, is.Owed)
	changed := Changed{Alarm: is}
	for _, e := range events {
		changed.What = append(changed.What, e.What)
		if !logged[e.What] {
			continue
		}
		data, err := json.Marshal(eventData{Format: Format, State: is.State, Severity: is.Severity,
			Level: is.Level, Count: is.Count, Text: is.Text, Who: e.Who, Reason: e.Reason})
		if err != nil {
			return entity.Commit{}, fmt.Errorf("alarm: encoding an event of %s: %w", key, err)
		}
		c.Events = append(c.Events, entity.Event{Key: key, Type: "alarm." + string(e.What), At: e.At,
			Data: data})
	}
	c.Effects = []entity.Effect{changed}
	return c, nil
}

// rows moves an alarm's row in a list; the zero instant stands for none.
func rows(c *entity.Commit, list string, key entity.Key, was, is time.Time) {
	if was.Equal(is) {
		return
	}
	if !was.IsZero() {
		c.Paid = append(c.Paid, entity.Row{List: list, At: was, Key: key})
	}
	if !is.IsZero() {
		c.Owed = append(c.Owed, entity.Row{List: list, At: is, Key: key})
	}
}
