package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"

	"chit/broker/desk"
	"chit/broker/entity"
	"chit/broker/fleet"
	"chit/broker/store"
)

// installation is the tenant under which the fleet's records stand: they belong to the broker
// itself. Tenant ids are lower-case, so no tenant can have this name.
const installation = "INSTALLATION"

// kindFleet is the kind of the fleet's records; their id is the fleet's own key.
const kindFleet = "fleet"

// records keeps the fleet's records as plain entities of the one store, written by the one desk.
type records struct {
	desk  *desk.Desk
	store store.Store
}

var _ fleet.Records = records{}

func recordKey(key string) entity.Key {
	return entity.Key{Tenant: installation, Kind: kindFleet, ID: key}
}

func (r records) Get(_ context.Context, key string) (fleet.Record, error) {
	state, err := r.store.Load(recordKey(key))
	if err != nil {
		return fleet.Record{}, fmt.Errorf("fleet record %s: %w", key, err)
	}
	if state.Version == 0 {
		return fleet.Record{}, fleet.ErrNoRecord
	}
	return fleet.Record{Key: key, Value: state.Data, Version: state.Version}, nil
}

func (r records) Put(ctx context.Context, key string, value []byte, version uint64,
	did ...fleet.Deed) error {
	put := desk.Put{Key: recordKey(key), Was: version, Data: value}
	for _, d := range did {
		said, err := json.Marshal(map[string]string{"who": d.Who, "why": d.Why})
		if err != nil {
			return fmt.Errorf("fleet record %s: %w", key, err)
		}
		put.Events = append(put.Events, entity.Event{Type: "device." + d.What, Data: said,
			Key: entity.Key{Tenant: d.Tenant, Kind: "device", ID: d.Device}})
	}
	_, err := r.desk.Do(ctx, put)
	if errors.Is(err, entity.ErrMoved) {
		return fleet.ErrConflict
	}
	if err != nil {
		return fmt.Errorf("fleet record %s: %w", key, err)
	}
	return nil
}

func (r records) List(_ context.Context, prefix string) ([]fleet.Record, error) {
	const page = 256
	var out []fleet.Record
	var after entity.Key
	for {
		found, err := r.store.Scan(installation, kindFleet, after, page)
		if err != nil {
			return nil, fmt.Errorf("fleet records %s: %w", prefix, err)
		}
		for _, s := range found {
			after = s.Key
			if strings.HasPrefix(s.Key.ID, prefix) {
				out = append(out, fleet.Record{Key: s.Key.ID, Value: s.Data, Version: s.Version})
			}
		}
		if len(found) < page {
			sort.Slice(out, func(i, j int) bool { return out[i].Key < out[j].Key })
			return out, nil
		}
	}
}
