package service

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"

	"chit/broker/fleet"
	"chit/broker/intake"
	"chit/broker/relay"
	"chit/device/wire"
)

// kitchens answers, from memory, who serves which station now. It joins the configuration (kitchens,
// zones, leases) with the fleet (which device has which printer); the fleet's part is read again
// after every change of a device.
type kitchens struct {
	fleet *fleet.Fleet

	byStation map[string]placed // tenant/station
	byKitchen map[string]bool   // tenant/kitchen

	mu      sync.RWMutex
	serving map[string]serving // tenant/station
	signers map[string]*wire.Signer
}

// placed is a station's configuration.
type placed struct {
	kitchen Kitchen
	station Station
	zone    *time.Location
}

type serving struct{ device, printer string }

func newKitchens(list []Kitchen) (*kitchens, error) {
	k := &kitchens{byStation: map[string]placed{}, byKitchen: map[string]bool{},
		serving: map[string]serving{}, signers: map[string]*wire.Signer{}}
	for _, kitchen := range list {
		zone, err := time.LoadLocation(kitchen.Zone)
		if err != nil {
			return nil, fmt.Errorf("kitchen %s: %w", kitchen.ID, err)
		}
		k.byKitchen[kitchen.Tenant+"/"+kitchen.ID] = true
		for _, station := range kitchen.Stations {
			k.byStation[kitchen.Tenant+"/"+station.ID] = placed{kitchen, station, zone}
		}
	}
	return k, nil
}

// refresh reads the fleet again. A station belongs to the newest unrevoked device that has it.
func (k *kitchens) refresh(ctx context.Context) error {
	devices, err := k.fleet.Devices(ctx, "")
	if err != nil {
		return fmt.Errorf("listing devices: %w", err)
	}
	sort.Slice(devices, func(i, j int) bool { return devices[i].Paired.Before(devices[j].Paired) })
	fresh := map[string]serving{}
	for _, d := range devices {
		if d.Revoked != "" {
			continue
		}
		for _, s := range d.Stations {
			fresh[d.Tenant+"/"+s.Station] = serving{d.ID, s.Printer}
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.serving = fresh
	return nil
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
	k.mu.RLock()
	by := k.serving[tenant+"/"+station]
	k.mu.RUnlock()
	return relay.Station{
		Device: by.device, Printer: by.printer, Lease: place.kitchen.Lease,
		StaleAfter: place.kitchen.Stale, Zone: place.zone, DayCut: place.kitchen.DayCut,
	}, true
}

// Signer implements [relay.Devices].
func (k *kitchens) Signer(tenant string) (*wire.Signer, error) {
	k.mu.RLock()
	signer := k.signers[tenant]
	k.mu.RUnlock()
	if signer != nil {
		return signer, nil
	}
	key, err := k.fleet.Signer(context.Background(), tenant)
	if err != nil {
		return nil, fmt.Errorf("signing key of tenant %s: %w", tenant, err)
	}
	if signer, err = wire.NewSigner(key.Key); err != nil {
		return nil, fmt.Errorf("signing key of tenant %s: %w", tenant, err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.signers[tenant] = signer
	return signer, nil
}

// check refuses names that the tenant does not have, listing those it has.
func (k *kitchens) check(tenant string, c wire.Content) error {
	if !k.byKitchen[tenant+"/"+c.Kitchen] {
		var known []string
		for name := range k.byKitchen {
			if id, ok := strings.CutPrefix(name, tenant+"/"); ok {
				known = append(known, id)
			}
		}
		return fmt.Errorf("%w %q, known are: %s", intake.ErrKitchen, c.Kitchen, listed(known))
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
	return fmt.Errorf("%w %q in kitchen %s, known are: %s", intake.ErrStation, c.Station, c.Kitchen,
		listed(known))
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	sort.Strings(names)
	return strings.Join(names, ", ")
}

// stations are the bindings of a pairing code: the named ones, or all of the tenant.
func (k *kitchens) stations(tenant string, names []string) ([]fleet.Station, error) {
	wanted := map[string]bool{}
	for _, n := range names {
		if _, ok := k.byStation[tenant+"/"+n]; !ok {
			return nil, fmt.Errorf("%w %q", intake.ErrStation, n)
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
