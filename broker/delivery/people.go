package delivery

import (
	"fmt"
	"time"

	"chit/broker/entity"
	"chit/device/wire"
)

// RequestFor is how long a request for a redrive is remembered by its id.
const RequestFor = 24 * time.Hour

// Identity implements [entity.Command].
func (r Redrive) Identity() entity.Identity {
	if r.Request == "" {
		return entity.Identity{}
	}
	return entity.Identity{Tenant: r.Tenant, ID: "redrive:" + r.Request, Digest: r.Ticket,
		For: RequestFor}
}

// Name implements desk.Named.
func (r Redrive) Name() string { return "redrive" }

// Decide implements [entity.Command].
func (r Redrive) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	return person(view, r.Tenant, r.Ticket, Again{Who: r.Who, Why: r.Why}, now)
}

// Identity implements [entity.Command]: cancelling twice changes nothing.
func (c Cancel) Identity() entity.Identity { return entity.Identity{} }

// Name implements desk.Named.
func (c Cancel) Name() string { return "cancel" }

// Decide implements [entity.Command]. The number of a cancelled ticket is told of by the station's
// next one.
func (c Cancel) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	commit, err := person(view, c.Tenant, c.Ticket,
		End{Epoch: c.Epoch, Who: c.Who, Reason: c.Reason}, now)
	if err != nil || len(commit.Changes) == 0 {
		return commit, err
	}
	d := commit.Effects[0].(Changed).Delivery
	station, version, err := loadStation(view, c.Tenant, d.Station)
	if err != nil {
		return entity.Commit{}, err
	}
	if d.Number == "" || version == 0 || d.Day != station.Day || len(station.Gaps) >= gapsMax {
		return commit, nil
	}
	station.Gaps = append(station.Gaps, wire.Gap{Number: d.Number, What: "cancelled"})
	return commit, change(&commit, stationKey(c.Tenant, d.Station), version, station, time.Time{})
}

// person takes an action that a person asked for and answers with a [Result].
func person(view entity.View, tenant, ticket string, a Action, now time.Time) (
	entity.Commit, error) {
	d, version, err := Load(view, tenant, ticket)
	if err != nil {
		return entity.Commit{}, err
	}
	if version == 0 {
		return entity.Commit{}, fmt.Errorf("%w: %s", ErrUnknown, ticket)
	}
	after, events, commit, err := step(d, version, a, now)
	if err != nil {
		return entity.Commit{}, err
	}
	return commit, answer(&commit, after, len(events) > 0)
}
