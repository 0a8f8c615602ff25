package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"chit/device/wire"
	"chit/printer/profile"
	"chit/printer/virtual"
	"chit/rig"
)

// kitchen is an installation under measurement: a broker, a chitd, and printers that take no time.
type kitchen struct {
	*rig.Rig
	Daemon *rig.Process
	// Printer is the cable of the first station's printer.
	Printer  *rig.Cable
	State    string // the daemon's folder
	Stations []string

	stop context.CancelFunc
}

// setting says what a measurement needs.
type setting struct {
	programs string // folder of chitd and chit-broker
	dir      string // of everything that must not be measured apart
	state    string // the daemon's own folder, so that its disk can be chosen; empty: under dir
	stations int
	mute     bool // printers that never answer
	offline  bool // a device is paired and does not run
}

// instant is a printer without a mechanism: its answers and its paper take no time.
func instant(mute bool) virtual.Config {
	c := rig.Model(profile.Safe80())
	c.LinesPerSecond = 0
	if mute {
		c.Faults = append(c.Faults, virtual.Fault{Name: virtual.Mute})
	}
	return c
}

// openKitchen sets everything up and waits for the device unless it is to stay away.
func openKitchen(ctx context.Context, s setting) (_ *kitchen, err error) {
	k := &kitchen{State: s.state}
	if k.State == "" {
		k.State = filepath.Join(s.dir, "device")
	}
	for i := range s.stations {
		k.Stations = append(k.Stations, fmt.Sprintf("s%d", i))
	}
	// The printers live as long as their context does, which is longer than one measurement's bound.
	living, stop := context.WithCancel(context.WithoutCancel(ctx))
	k.stop = stop
	k.Rig, err = rig.Start(living, rig.Config{
		Dir: s.dir, Broker: []string{filepath.Join(s.programs, "chit-broker")}, Stations: k.Stations,
		Printer: instant(s.mute), Log: slog.New(slog.DiscardHandler),
		// The limit is there for neighbours of a tenant; here it would be what is measured.
		BrokerEnv: []string{"CHIT_BROKER_DISPATCH_RATE=1000000"},
	})
	if err != nil {
		stop()
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, k.Close())
		}
	}()
	config := filepath.Join(s.dir, "device.toml")
	if k.Printer, err = rig.LayCable(k.Printers[k.Stations[0]].Addr()); err != nil {
		return nil, err
	}
	if err = k.configure(config, filepath.Join(s.dir, "device")); err != nil {
		return nil, err
	}
	daemon := filepath.Join(s.programs, "chitd")
	if err = k.pair(ctx, daemon, config); err != nil {
		return nil, err
	}
	k.Daemon = &rig.Process{Name: "device", Log: filepath.Join(s.dir, "device.log"),
		Args: []string{daemon, "--config", config}}
	if s.offline {
		return k, nil
	}
	if err = k.Daemon.Start(); err != nil {
		return nil, err
	}
	return k, k.Connected(ctx)
}

// configure puts the cable before the first printer, and the state where it was asked for.
func (k *kitchen) configure(file, folder string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text := strings.NewReplacer(
		"tcp://"+k.Printers[k.Stations[0]].Addr(), "tcp://"+k.Printer.Addr(),
		fmt.Sprintf("state = %q", folder), fmt.Sprintf("state = %q", k.State),
	).Replace(string(raw))
	return os.WriteFile(file, []byte(text), 0o600)
}

func (k *kitchen) pair(ctx context.Context, daemon, config string) error {
	door, pairing, err := k.Pairing(ctx)
	if err != nil {
		return err
	}
	pair := exec.CommandContext(ctx, daemon, "pair", "--config", config, "--url", door, pairing)
	if out, err := pair.CombinedOutput(); err != nil {
		return fmt.Errorf("pairing: %w: %s", err, out)
	}
	return nil
}

// Close ends everything.
func (k *kitchen) Close() error {
	var errs []error
	if k.Daemon != nil {
		errs = append(errs, k.Daemon.Kill())
	}
	if k.Printer != nil {
		errs = append(errs, k.Printer.Close())
	}
	errs = append(errs, k.Rig.Close())
	k.stop()
	return errors.Join(errs...)
}

// order is a lifelike ticket for a station: three items with what guests wish.
func order(n int, station string) wire.Content {
	return wire.Content{
		// Ids of real doors do not ascend; a multiplied counter does not either.
		ID: fmt.Sprintf("shop-%08x/1", uint32(n)*2654435761), Kitchen: "main", Station: station,
		Kind: wire.KindNew, Order: fmt.Sprint(n%1000 + 1), Type: "take-away",
		PlacedAt: "2026-12-01T12:00:00Z",
		Items: []wire.Item{
			{Quantity: 2, Name: "Pizza Margherita", Modifiers: []string{"extra cheese", "no basil"}},
			{Quantity: 1, Name: "Käsespätzle", Note: "well done", Allergens: []string{"gluten", "milk"}},
			{Quantity: 3, Name: "Coca-Cola 0,33 l"},
		},
		Note: "Rings at the back door",
	}
}

// one posts a ticket and waits until it is settled.
func (k *kitchen) one(ctx context.Context, n int) error {
	o := order(n, k.Stations[n%len(k.Stations)])
	if err := k.post(ctx, o); err != nil {
		return err
	}
	t, err := k.Over(ctx, o.ID, o.Station)
	if err == nil && t.State != "settled" {
		err = fmt.Errorf("ticket %s is %s, expected settled", o.ID, t.State)
	}
	return err
}

func (k *kitchen) post(ctx context.Context, o wire.Content) error {
	status, err := k.Post(ctx, o)
	if err == nil && status != http.StatusAccepted {
		err = fmt.Errorf("ticket %s: the door answered %d, expected 202", o.ID, status)
	}
	return err
}

var errPaper = errors.New("the printers' paper does not fit what was accepted")

// counted compares the paper with the number of tickets: speed without paper is no figure.
func (k *kitchen) counted(tickets int) error {
	if sheets := len(k.Sheets()); sheets != tickets {
		return fmt.Errorf("%w: %d sheets, %d tickets", errPaper, sheets, tickets)
	}
	return nil
}
