package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"chit/broker/delivery"
	"chit/broker/entity"
	"chit/broker/fleet"
	"chit/broker/intake"
	"chit/broker/link"
)

// devices is the fleet as the door sees it.
type devices struct{ s *Service }

var _ intake.Fleet = devices{}

// PairHandler implements [intake.Fleet].
func (d devices) PairHandler() http.Handler { return d.s.fleet.PairHandler() }

// RenewHandler implements [intake.Fleet].
func (d devices) RenewHandler() http.Handler { return d.s.fleet.RenewHandler() }

// NewCode implements [intake.Fleet].
func (d devices) NewCode(ctx context.Context, tenant string, stations []string) (
	intake.Code, error) {
	code, err := d.s.NewCode(ctx, tenant, stations...)
	if err != nil {
		return intake.Code{}, err
	}
	return intake.Code{Code: code.Code, Pairing: code.Pairing, Expires: code.Expires}, nil
}

// Devices implements [intake.Fleet].
func (d devices) Devices(ctx context.Context, tenant string) ([]intake.Device, error) {
	list, err := d.s.fleet.Devices(ctx, tenant)
	if err != nil {
		return nil, err
	}
	online := map[string]string{}
	told := map[string][]intake.Printer{}
	for _, state := range d.s.relay.Devices() {
		if state.Present {
			online[state.Device] = state.Session
		}
		for _, p := range state.Status.Printers {
			told[state.Device] = append(told[state.Device], intake.Printer{Name: p.Name, Held: p.Held,
				PaperLow: p.PaperLow, Waiting: p.Waiting, Unit: p.Unit, Fence: p.Fence})
		}
	}
	out := make([]intake.Device, 0, len(list))
	for _, f := range list {
		session, present := online[f.ID]
		device := intake.Device{
			ID: f.ID, Printers: f.Printers, Version: f.Version, Paired: f.Paired, Revoked: f.Revoked,
			Online: present, Session: session, Stations: []string{}, States: told[f.ID],
		}
		for _, station := range f.Stations {
			device.Stations = append(device.Stations, station.Station)
		}
		if device.Copies, err = d.copies(tenant, f.ID); err != nil {
			return nil, err
		}
		out = append(out, device)
	}
	return out, nil
}

// copies is nil where nothing shows that two devices use the identity.
func (d devices) copies(tenant, device string) (*intake.Copies, error) {
	record, _, err := delivery.LoadDevice(d.s.store, tenant, device)
	if err != nil || record.Copies.Count == 0 {
		return nil, err
	}
	return &intake.Copies{Count: record.Copies.Count, LastAt: record.Copies.LastAt}, nil
}

// owned is nil where the device is the tenant's.
func (d devices) owned(ctx context.Context, tenant, device string) error {
	record, err := d.s.fleet.Device(ctx, device)
	if errors.Is(err, fleet.ErrNoRecord) || err == nil && record.Tenant != tenant {
		return fmt.Errorf("%w: no device %q", intake.ErrNotFound, device)
	}
	return err
}

// Bind implements [intake.Fleet]. From the next dispatch on the stations' tickets go to the device.
func (d devices) Bind(ctx context.Context, tenant, device string, stations []string,
	who string) error {
	if err := d.owned(ctx, tenant, device); err != nil {
		return err
	}
	bound, err := d.s.kitchens.stations(tenant, stations)
	if err != nil {
		return err
	}
	return d.s.fleet.Bind(ctx, device, bound, who)
}

// Revoke ends the record first and the connection after it: the other way round the device could
// come back in between.
func (d devices) Revoke(ctx context.Context, tenant, device, reason, who string) error {
	if err := d.owned(ctx, tenant, device); err != nil {
		return err
	}
	if err := d.s.fleet.Revoke(ctx, device, reason, who); err != nil {
		return err
	}
	d.s.relay.Revoked(tenant, device)
	d.s.alert.Revoked(tenant, device)
	if err := d.s.engine.Disconnect(device); err != nil && !errors.Is(err, link.ErrUnsupported) {
		return fmt.Errorf("disconnecting %s: %w", device, err)
	}
	return nil
}

// nothing is a command that changes nothing: its answer shows that the desk decides.
type nothing struct{}

func (nothing) Identity() entity.Identity { return entity.Identity{} }

func (nothing) Decide(entity.View, time.Time) (entity.Commit, error) { return entity.Commit{}, nil }
