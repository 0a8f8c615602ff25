package entity_test

import (
	"errors"
	"testing"
	"time"

	"chit/broker/entity"
)

func TestKeysThatCouldBeMistakenAreRefused(t *testing.T) {
	for _, test := range []struct {
		name string
		key  entity.Key
		want error
	}{
		{"good", entity.Key{Tenant: "t", Kind: "k", ID: "a/1@grill"}, nil},
		{"no tenant", entity.Key{Kind: "k", ID: "i"}, entity.ErrKey},
		{"no kind", entity.Key{Tenant: "t", ID: "i"}, entity.ErrKey},
		{"no id", entity.Key{Tenant: "t", Kind: "k"}, entity.ErrKey},
		{"separator", entity.Key{Tenant: "t", Kind: "k\x00i", ID: "i"}, entity.ErrKey},
	} {
		if err := test.key.Check(); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
	}
}

func TestACommitThatOnlyAnswersIsEmpty(t *testing.T) {
	c := entity.Commit{At: time.Now(), Answer: []byte("x"), Effects: []entity.Effect{1}}
	if !c.Empty() {
		t.Error("not empty")
	}
	key := entity.Key{Tenant: "t", Kind: "k", ID: "i"}
	for name, c := range map[string]entity.Commit{
		"change": {Changes: []entity.Change{{Key: key}}}, "event": {Events: []entity.Event{{Key: key}}},
		"owed": {Owed: []entity.Row{{Key: key}}}, "paid": {Paid: []entity.Row{{Key: key}}},
		"record": {Command: &entity.Record{}},
	} {
		if c.Empty() {
			t.Errorf("a commit with a %s is empty", name)
		}
	}
}

// count is a machine that refuses to go below zero.
type count struct{}

var errBelow = errors.New("below zero")

func (count) Decide(state, command int, _ time.Time) ([]string, error) {
	if state+command < 0 {
		return nil, errBelow
	}
	events := []string{}
	for range max(command, -command) {
		if command > 0 {
			events = append(events, "up")
		} else {
			events = append(events, "down")
		}
	}
	return events, nil
}

func (count) Evolve(state int, event string) int {
	if event == "up" {
		return state + 1
	}
	return state - 1
}

func TestStepFoldsTheDecidedEvents(t *testing.T) {
	state, events, err := entity.Step(count{}, 1, 2, time.Time{})
	if state != 3 || len(events) != 2 || err != nil {
		t.Errorf("got %d, %v, %v", state, events, err)
	}
	state, events, err = entity.Step(count{}, 1, -2, time.Time{})
	if state != 1 || events != nil || !errors.Is(err, errBelow) {
		t.Errorf("a refused command gave %d, %v, %v", state, events, err)
	}
}
