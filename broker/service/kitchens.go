package service

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"chit/broker/delivery"
	"chit/broker/fleet"
	"chit/broker/intake"
	open "chit/broker/kitchen"
	"chit/broker/relay"
	"chit/device/wire"
)

// kitchens answers, from memory, who serves which station now. It joins the configuration
// (kitchens, zones, leases) with the fleet (which device has which printer).
type kitchens struct {
	fleet *fleet.Fleet

	byStation map[string]placed // tenant/station
	byKitchen map[string]bool   // tenant/kitchen
	all       []walled          // as configured
}

// walled is a kitchen's configuration with its hours and its clock.
type walled struct {
	kitchen Kitchen
	hours   open.Hours
	zone    *time.Location
}

// placed is a station's configuration.
type placed struct {
	kitchen Kitchen
	station Station
	zone    *time.Location
}

func newKitchens(list []Kitchen) (*kitchens, error) {
	k := &kitchens{byStation: map[string]placed{}, byKitchen: map[string]bool{}}
	for _, kitchen := range list {
		zone, err := time.LoadLocation(kitchen.Zone)
		if err != nil {
			return nil, fmt.Errorf("kitchen %s: %w", kitchen.ID, err)
		}
		hours, err := open.ParseHours(kitchen.Open)
		if err != nil {
			return nil, fmt.Errorf("kitchen %s: %w", kitchen.ID, err)
		}
		k.all = append(k.all, walled{kitchen, hours, zone})
		k.byKitchen[kitchen.Tenant+"/"+kitchen.ID] = true
		for _, station := range kitchen.Stations {
			k.byStation[kitchen.Tenant+"/"+station.ID] = placed{kitchen, station, zone}
		}
	}
	return k, nil
}

// Keys implements [relay.Devices].
func (k *kitchens) Keys(device string) (map[string]ed25519.PublicKey, string, bool) {
	record, err := k.fleet.Device(context.Background(), device)
	if err != nil || record.Revoked != "" {
		return nil, "", false
	}
	keys, err := k.fleet.Keys(device)
	return keys, record.Tenant, err == nil
}

// Station implements [relay.Devices].
func (k *kitchens) Station(tenant, station string) (relay.Station, bool) {
	place, ok := k.byStation[tenant+"/"+station]
	if !ok {
		return relay.Station{}, false
	}
	// Who has the station is the fleet's to say, which of its printers the configuration's: a record
	// keeps the one of the day it was paired.
	device, _, _ := k.fleet.Serving(tenant, station)
	served := relay.Station{
		Device: device, Printer: place.station.Printer, Lease: place.kitchen.Lease,
		Name: place.station.Name, Backup: place.station.Backup,
		StaleAfter: place.kitchen.Stale, OnStale: stalePolicies[cmp.Or(place.kitchen.OnStale, "ask")],
		Zone: place.zone, DayCut: place.kitchen.DayCut,
	}
	// Zero means the default to whoever decides about deliveries; in a configuration it means zero.
	if served.StaleAfter == 0 {
		served.StaleAfter = staleMax // A ticket can no longer be sent soon after (DESIGN I3).
	}
	if served.DayCut == 0 {
		served.DayCut = time.Nanosecond
	}
	return served, true
}

// Signer implements [relay.Devices].
func (k *kitchens) Signer(tenant string) (*wire.Signer, error) {
	key, err := k.fleet.Signer(context.Background(), tenant)
	if err != nil {
		return nil, fmt.Errorf("signing key of tenant %s: %w", tenant, err)
	}
	signer, err := wire.NewSigner(key.Key)
	if err != nil {
		return nil, fmt.Errorf("signing key of tenant %s: %w", tenant, err)
	}
	return signer, nil
}

// check refuses names that the tenant does not have, listing those it has.
func (k *kitchens) check(tenant string, c wire.Content) error {
	if err := k.checkKitchen(tenant, "kitchen", c.Kitchen); err != nil {
		return err
	}
	place, ok := k.byStation[tenant+"/"+c.Station]
	if ok && place.kitchen.ID == c.Kitchen {
		return nil
	}
	var known []string
	for name, p := range k.byStation {
		if id, mine := strings.CutPrefix(name, tenant+"/"); mine && p.kitchen.ID == c.Kitchen {
			known = append(known, id)
		}
	}
	slices.Sort(known)
	return &intake.UnknownError{Kind: intake.ErrStation, Field: "station", Found: c.Station,
		Known: known}
}

// checkKitchen refuses a kitchen that the tenant does not have; field is what the request calls it.
func (k *kitchens) checkKitchen(tenant, field, id string) error {
	if k.byKitchen[tenant+"/"+id] {
		return nil
	}
	return &intake.UnknownError{Kind: intake.ErrKitchen, Field: field, Found: id,
		Known: idsOf(k.byKitchen, tenant)}
}

// checkStation refuses a station that the tenant does not have; field is what the request calls it.
func (k *kitchens) checkStation(tenant, field, id string) error {
	if _, ok := k.byStation[tenant+"/"+id]; ok {
		return nil
	}
	return &intake.UnknownError{Kind: intake.ErrStation, Field: field, Found: id,
		Known: idsOf(k.byStation, tenant)}
}

// idsOf are the tenant's names in a map by tenant/name, in order.
func idsOf[T any](all map[string]T, tenant string) (ids []string) {
	for name := range all {
		if id, ok := strings.CutPrefix(name, tenant+"/"); ok {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// also are the stations that get a copy of what a station gets.
func (k *kitchens) also(tenant, station string) []delivery.Copy {
	var also []delivery.Copy
	for _, id := range k.byStation[tenant+"/"+station].station.Also {
		to := k.byStation[tenant+"/"+id]
		also = append(also, delivery.Copy{Station: id, Kitchen: to.kitchen.ID})
	}
	return also
}

// stations are the bindings of a pairing code: the named ones, or all of the tenant.
func (k *kitchens) stations(tenant string, names []string) ([]fleet.Station, error) {
	wanted := map[string]bool{}
	for _, n := range names {
		if err := k.checkStation(tenant, "stations", n); err != nil {
			return nil, err
		}
		wanted[n] = true
	}
	var out []fleet.Station
	for name, p := range k.byStation {
		id, mine := strings.CutPrefix(name, tenant+"/")
		if !mine || len(wanted) > 0 && !wanted[id] {
			continue
		}
		label := p.station.Name
		if label == "" {
			label = id
		}
		out = append(out, fleet.Station{Station: id, Name: label, Printer: p.station.Printer})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Station < out[j].Station })
	return out, nil
}
