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
	d, version, err := known(view, r.Tenant, r.Ticket)
	if err != nil {
		return entity.Commit{}, err
	}
	commit, after, err := redrive(view, d, version, r.Who, r.Why, now)
	if err != nil {
		return entity.Commit{}, err
	}
	err = answer(&commit, after, len(commit.Changes) > 0)
	return commit, err
}

// redrive goes on with a dead letter. It asks the order first: what was voided meanwhile becomes
// cancelled.
func redrive(view entity.View, d Delivery, version uint64, who, why string, now time.Time) (
	entity.Commit, Delivery, error) {
	if d.State != Dead {
		return entity.Commit{}, d, nil
	}
	void, err := voided(view, d)
	if err != nil {
		return entity.Commit{}, d, err
	}
	if void != "" {
		return cancel(view, d, version, End{Who: who, Reason: ReasonVoided, Why: void}, now)
	}
	after, _, commit, err := step(d, version, Again{Who: who, Why: why}, now)
	return commit, after, err
}

// Identity implements [entity.Command]: cancelling twice changes nothing.
func (c Cancel) Identity() entity.Identity { return entity.Identity{} }

// Name implements desk.Named.
func (c Cancel) Name() string { return "cancel" }

// Decide implements [entity.Command]. The number of a cancelled ticket is told of by the station's
// next one.
func (c Cancel) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	d, version, err := known(view, c.Tenant, c.Ticket)
	if err != nil {
		return entity.Commit{}, err
	}
	e := End{Epoch: c.Epoch, Who: c.Who, Reason: c.Reason}
	commit, after, err := cancel(view, d, version, e, now)
	if err != nil {
		return entity.Commit{}, err
	}
	err = answer(&commit, after, len(commit.Changes) > 0)
	return commit, err
}

// known reads a delivery that must be there.
func known(view entity.View, tenant, ticket string) (Delivery, uint64, error) {
	d, version, err := Load(view, tenant, ticket)
	if err == nil && version == 0 {
		err = fmt.Errorf("%w: %s", ErrUnknown, ticket)
	}
	return d, version, err
}

// cancel ends d; its number, where it had one, is a gap that the station's next ticket tells of.
func cancel(view entity.View, d Delivery, version uint64, e End, now time.Time) (
	entity.Commit, Delivery, error) {
	after, events, commit, err := step(d, version, e, now)
	if err != nil || len(events) == 0 || d.Number == "" {
		return commit, after, err
	}
	station, stationVersion, err := loadStation(view, d.Tenant, d.Station)
	if err != nil || stationVersion == 0 || d.Day != station.Day || len(station.Gaps) >= gapsMax {
		return commit, after, err
	}
	station.Gaps = append(station.Gaps, wire.Gap{Number: d.Number, What: "cancelled"})
	err = change(&commit, stationKey(d.Tenant, d.Station), stationVersion, station, time.Time{})
	return commit, after, err
}
