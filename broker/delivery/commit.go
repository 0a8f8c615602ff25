package delivery

import (
	"encoding/json"
	"fmt"
	"time"

	"chit/broker/entity"
)

// logged are the events that others may subscribe to. What happens between waiting and leased is in
// the delivery's own timeline.
var logged = map[Word]bool{
	Accepted: true, Printed: true, Doubled: true, Buried: true, Redriven: true, CancelDone: true,
	ParkedNow: true, Staled: true, Approved: true, Allowed: true, Moved: true,
}

// eventData is what a logged event says: ids and words, never what the guest wrote.
type eventData struct {
	Format   int    `json:"v"`
	State    State  `json:"state"`
	Attempt  int    `json:"attempt,omitempty"`
	Device   string `json:"device,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Evidence string `json:"evidence,omitempty"`
	Number   string `json:"number,omitempty"`
	// Who asked for it and why, where a person did.
	Who string `json:"who,omitempty"`
	Why string `json:"why,omitempty"`
}

func marshal(what string, value any) ([]byte, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("delivery: encoding %s: %w", what, err)
	}
	return data, nil
}

// step asks the machine and makes the Commit of its events.
func step(d Delivery, version uint64, a Action, now time.Time) (Delivery, []Event, entity.Commit,
	error) {
	after, events, err := entity.Step[Delivery, Action, Event](Machine{}, d, a, now)
	if err != nil || len(events) == 0 {
		return d, nil, entity.Commit{}, err
	}
	commit, err := record(d, version, after, events)
	return after, events, commit, err
}

// record is the Commit of a delivery that went from before to after: its new state, the row in the
// list that it now belongs to, its timer, its events, and word to the relay.
func record(before Delivery, version uint64, after Delivery, events []Event) (
	entity.Commit, error) {
	key := Key(after.Tenant, after.Ticket)
	data, err := marshal(key.String(), after)
	if err != nil {
		return entity.Commit{}, err
	}
	c := entity.Commit{Changes: []entity.Change{{Key: key, Was: version, Data: data,
		Timer: after.Ends(), Expires: after.Expires}}}
	was, is := version > 0 && before.State.Open(), after.State.Open()
	open := entity.Row{List: ListOpen, At: after.Accepted, Key: key}
	switch {
	case is && !was:
		c.Owed = append(c.Owed, open)
	case was && !is:
		c.Paid = append(c.Paid, open)
	}
	if !before.DeadAt.Equal(after.DeadAt) {
		if !before.DeadAt.IsZero() {
			c.Paid = append(c.Paid, entity.Row{List: ListDead, At: before.DeadAt, Key: key})
		}
		if !after.DeadAt.IsZero() {
			c.Owed = append(c.Owed, entity.Row{List: ListDead, At: after.DeadAt, Key: key})
		}
	}
	if before.Day == "" && after.Day != "" {
		c.Owed = append(c.Owed, entity.Row{List: ListNumbers, At: events[0].At, Key: key})
	}
	recall := entity.Row{List: ListRecall, At: after.Accepted, Key: key}
	switch was, is := len(before.Recalls) > 0, len(after.Recalls) > 0; {
	case is && !was:
		c.Owed = append(c.Owed, recall)
	case was && !is:
		c.Paid = append(c.Paid, recall)
	}
	changed := Changed{Key: key, Delivery: after}
	for _, e := range events {
		changed.What = append(changed.What, e.What)
		if !logged[e.What] {
			continue
		}
		event := eventData{Format: Format, State: after.State, Attempt: e.Attempt, Device: e.Device,
			Reason: e.Reason, Evidence: string(after.Evidence), Number: after.Number, Who: e.Who,
			Why: e.Why}
		data, err := marshal("event", event)
		if err != nil {
			return entity.Commit{}, err
		}
		c.Events = append(c.Events, entity.Event{Key: key, Type: "delivery." + string(e.What),
			At: e.At, Data: data})
	}
	c.Effects = append(c.Effects, changed)
	return c, nil
}

// change adds an entity of this package to a Commit as JSON.
func change(c *entity.Commit, key entity.Key, was uint64, value any, expires time.Time) error {
	data, err := marshal(key.String(), value)
	if err != nil {
		return err
	}
	c.Changes = append(c.Changes, entity.Change{Key: key, Was: was, Data: data, Expires: expires})
	return nil
}

// answer is a Result as a Commit's answer.
func answer(c *entity.Commit, d Delivery, changed bool) error {
	data, err := marshal("answer", Result{Ticket: d.Ticket, State: d.State, Changed: changed})
	c.Answer = data
	return err
}
