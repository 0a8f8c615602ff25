package delivery

import (
	"fmt"
	"time"

	"chit/broker/entity"
)

// Advance asks the machine about one delivery: [Elapse] when its timer came, [Leave] when its
// device went away, [Unsend] when its message did not leave, [Birth] when the device came back,
// [Move] when another should have it, [Drop] when it is stale and its device away. A delivery that
// is not there, or an answer of "nothing", is an empty Commit.
type Advance struct {
	Tenant, Ticket string
	Action         Action
}

// Identity implements [entity.Command]: asked twice, the second time finds nothing to do.
func (a Advance) Identity() entity.Identity { return entity.Identity{} }

// Name implements desk.Named.
func (a Advance) Name() string { return "advance" }

// Decide implements [entity.Command].
func (a Advance) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	switch a.Action.(type) {
	case Elapse, Leave, Unsend, Birth, Move, Drop:
	default:
		return entity.Commit{}, fmt.Errorf("delivery: %T is no action of time or presence", a.Action)
	}
	d, version, err := Load(view, a.Tenant, a.Ticket)
	if err != nil || version == 0 {
		return entity.Commit{}, err
	}
	_, _, commit, err := step(d, version, a.Action, now)
	return commit, err
}
