package rig

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"chit/broker/intake"
)

// Unit is one of several devices of an installation, with a cable of its own.
type Unit struct {
	*Process
	Cable  *Cable
	Device string // its id at the broker
	r      *Rig
}

// UnitConfig says what a further device is.
type UnitConfig struct {
	Name     string   // of its files and its log
	Program  []string // and its first arguments
	Stations []string // that it is paired for; their printers are its own
	Env      []string
}

// enrolled is where a device keeps what the broker told it when it was paired.
const enrolled = "identity/enrolment.json"

// Unit pairs a device, lays a cable for it and starts it; it returns when it is connected. The rig
// must have been started without a device.
func (r *Rig) Unit(ctx context.Context, conf UnitConfig) (_ *Unit, err error) {
	cable, err := LayCable(r.Cable.target)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, cable.Close())
		}
	}()
	var text strings.Builder
	state, file := r.path(conf.Name), r.path(conf.Name+".toml")
	fmt.Fprintf(&text, "state = %q\nretry_first = \"300ms\"\nretry_max = \"2s\"\n", state)
	for _, station := range conf.Stations {
		fmt.Fprintf(&text, "[[printers]]\nname = %q\nurl = \"tcp://%s\"\n", station,
			r.Printers[station].Addr())
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		return nil, err
	}
	if err := r.pairWith(ctx, conf.Program, file, conf.Stations...); err != nil {
		return nil, err
	}
	// The broker tells every device the same address: this one's leads through its own cable.
	path := filepath.Join(state, enrolled)
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	own := bytes.Replace(raw, []byte(r.Cable.Addr()), []byte(cable.Addr()), 1)
	if bytes.Equal(own, raw) {
		return nil, fmt.Errorf("%s: found no %s, expected the broker's MQTT address", path,
			r.Cable.Addr())
	}
	if err := os.WriteFile(path, own, 0o600); err != nil {
		return nil, err
	}
	u := &Unit{Cable: cable, r: r, Process: &Process{Name: conf.Name, Env: conf.Env,
		Log: r.path(conf.Name + ".log"), Args: append(slices.Clone(conf.Program), "--config", file)}}
	if u.Device, err = r.paired(ctx, conf.Stations[0]); err != nil {
		return nil, err
	}
	if err := u.Start(); err != nil {
		return nil, err
	}
	r.units = append(r.units, u)
	return u, u.Connected(ctx)
}

// paired is the id of the device that serves a station.
func (r *Rig) paired(ctx context.Context, station string) (string, error) {
	list, err := r.devices(ctx)
	for _, d := range list {
		if slices.Contains(d.Stations, station) {
			return d.ID, nil
		}
	}
	return "", errors.Join(err, fmt.Errorf("no device is paired for %s", station))
}

func (r *Rig) devices(ctx context.Context) ([]intake.Device, error) {
	_, raw, err := r.call(ctx, "GET", "/v1/devices", nil)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Devices []intake.Device `json:"devices"`
	}
	err = json.Unmarshal(raw, &answer)
	return answer.Devices, err
}

// Online asks the broker whether this device has a session.
func (u *Unit) Online(ctx context.Context) (bool, error) {
	list, err := u.r.devices(ctx)
	return slices.ContainsFunc(list, func(d intake.Device) bool {
		return d.ID == u.Device && d.Online
	}), err
}

// Connected waits until this device has a session.
func (u *Unit) Connected(ctx context.Context) error {
	return u.r.Until(ctx, u.Name+" to connect", func(ctx context.Context) bool {
		online, err := u.Online(ctx)
		return err == nil && online
	})
}
