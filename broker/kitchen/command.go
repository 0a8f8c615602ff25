package kitchen

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"chit/broker/entity"
)

// Kind is the kind of a stored [Rhythm]; its id is the kitchen.
const Kind = "rhythm"

// ErrFormat is returned for stored rhythms of another format.
var ErrFormat = errors.New("kitchen: unknown format")

// Load reads a kitchen's rhythm and its version; version 0 means that nothing was learned.
func Load(view entity.View, tenant, kitchen string) (Rhythm, uint64, error) {
	key := entity.Key{Tenant: tenant, Kind: Kind, ID: kitchen}
	state, err := view.Load(key)
	if err != nil || state.Version == 0 {
		return Rhythm{}, 0, err
	}
	var r Rhythm
	if err := json.Unmarshal(state.Data, &r); err != nil {
		return Rhythm{}, 0, fmt.Errorf("kitchen: reading %s: %w", key, err)
	}
	if r.Format != Format || len(r.Cells) != 0 && len(r.Cells) != HoursOfWeek {
		return Rhythm{}, 0, fmt.Errorf("%w: %s has format %d with %d hours, want %d with %d",
			ErrFormat, key, r.Format, len(r.Cells), Format, HoursOfWeek)
	}
	return r, state.Version, nil
}

// Learn stores what was learned. Its sender is the only one, so the newest is the best.
type Learn struct {
	Tenant, Kitchen string
	Rhythm          Rhythm
}

// Identity implements [entity.Command]. Repeated, it stores the same again.
func (l Learn) Identity() entity.Identity { return entity.Identity{} }

// Name implements desk.Named.
func (l Learn) Name() string { return "rhythm" }

// Decide implements [entity.Command].
func (l Learn) Decide(view entity.View, _ time.Time) (entity.Commit, error) {
	_, version, err := Load(view, l.Tenant, l.Kitchen)
	if err != nil {
		return entity.Commit{}, err
	}
	key := entity.Key{Tenant: l.Tenant, Kind: Kind, ID: l.Kitchen}
	l.Rhythm.Format = Format
	data, err := json.Marshal(l.Rhythm)
	if err != nil {
		return entity.Commit{}, fmt.Errorf("kitchen: encoding %s: %w", key, err)
	}
	return entity.Commit{Changes: []entity.Change{{Key: key, Was: version, Data: data}}}, nil
}
