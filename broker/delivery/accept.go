package delivery

import (
	"time"

	"chit/broker/entity"
)

// Identity implements [entity.Command]. The delivery itself remembers id, digest and outcome until it
// expires, so no record of the command is kept beside it.
func (a Accept) Identity() entity.Identity { return entity.Identity{} }

// Decide implements [entity.Command].
func (a Accept) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	return entity.Commit{}, ErrUnknown
}

// Identity implements [entity.Command].
func (r Redrive) Identity() entity.Identity { return entity.Identity{} }

// Decide implements [entity.Command].
func (r Redrive) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	return entity.Commit{}, ErrUnknown
}

// Identity implements [entity.Command].
func (c Cancel) Identity() entity.Identity { return entity.Identity{} }

// Decide implements [entity.Command].
func (c Cancel) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	return entity.Commit{}, ErrUnknown
}
