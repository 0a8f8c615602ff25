package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"chit/broker/intake"
	"chit/broker/program"
	broker "chit/broker/service"
	"chit/config"
	"chit/device/health"
	"chit/device/identity"
	device "chit/device/service"
)

// upTenant is the only tenant of a small restaurant.
const upTenant = "main"

// upConfig is the optional file of chit up: more stations, more printers.
type upConfig struct {
	Kitchens []broker.Kitchen `toml:"kitchens" comment:"Kitchens and their stations; one kitchen main with one station kitchen where empty."`
	Printers []device.Printer `toml:"printers" comment:"Printers; the one of --printer, named main, where empty."`
	Device   device.Config    `toml:"device" comment:"What else chitd's configuration knows, such as the panel's pins."`
}

func newUp() *cobra.Command {
	u := &up{}
	c := &cobra.Command{
		Use:   "up",
		Short: "Run a small restaurant on one machine",
		Long: `Broker and kitchen daemon in one process, on one machine beside one printer. Everything it must remember
is in the folder; it may be killed at any moment and started again on it.

The owner's API token is in DIR/token, the addresses are in DIR/addresses.json. GET /readyz answers 200 once
a ticket could be printed or held; then POST /v1/tickets makes paper come out.

Printers: tcp://host[:9100], file:///path, virtual: (paper as pictures in DIR/paper).
An --http address that is not loopback is served with TLS by the installation's own CA, DIR/broker/ca.pem.`,
		Example: "  chit up --data /var/lib/chit --printer tcp://192.168.1.50:9100\n" +
			"  chit up --data /tmp/shop --printer virtual:",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if u.dir == "" {
				return hinted{fmt.Errorf("%w: --data is missing", errUsage), "such as --data /var/lib/chit"}
			}
			if u.printer == "" && u.file == "" {
				return hinted{fmt.Errorf("%w: --printer is missing", errUsage),
					"such as --printer tcp://192.168.1.50:9100, or --printer virtual: to try it"}
			}
			u.log = program.NewLogger(c.ErrOrStderr(), u.debug)
			return u.run(c.Context())
		},
	}
	f := c.Flags()
	f.StringVar(&u.dir, "data", "", "folder of all that must survive a restart")
	f.StringVar(&u.printer, "printer", "", "printer URL")
	f.StringVar(&u.profile, "profile", "safe-80", "the printer's model; safe-58 for narrow paper")
	f.StringVar(&u.http, "http", "127.0.0.1:8080", "address of the HTTP door")
	f.StringVar(&u.zone, "zone", "Local", "the kitchen's IANA time zone")
	f.StringVar(&u.file, "config", "", "TOML file with more kitchens, stations and printers")
	f.BoolVar(&u.debug, "debug", false, "log more")
	return c
}

// up is the small restaurant's mode.
type up struct {
	dir, printer, profile, http, zone, file string

	debug   bool
	log     *slog.Logger
	conf    upConfig
	ports   ports
	virtual *virtualPrinters
}

func (u *up) run(ctx context.Context) (err error) {
	if u.dir, err = filepath.Abs(u.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(u.dir, 0o700); err != nil {
		return fmt.Errorf("--data: %w", err)
	}
	unlock, err := lockFolder(u.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	u.virtual = &virtualPrinters{dir: filepath.Join(u.dir, "paper"), log: u.log}
	defer func() { err = errors.Join(err, u.virtual.Close()) }()
	if err := u.configure(); err != nil {
		return err
	}
	token, err := ownerToken(filepath.Join(u.dir, "token"))
	if err != nil {
		return err
	}
	b, err := u.newBroker()
	if err != nil {
		return err
	}
	b.Tokens = intake.TokenList{{SHA256: intake.TokenDigest(token), Tenant: upTenant, Who: "owner"}}
	b.ReadyToo = func(context.Context) error {
		if !b.Online(upTenant) {
			return errors.New("the kitchen daemon has not reached its broker yet")
		}
		return nil
	}
	b.Health = health.Systemd{}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return b.Run(ctx) })
	group.Go(func() error { return u.runDevice(ctx, b) })
	return group.Wait()
}

// configure reads the file, fills in the small restaurant's defaults and checks both halves, so that
// a mistake is told before anything runs.
func (u *up) configure() error {
	if err := config.Load(u.file, &u.conf, "CHIT_UP"); err != nil {
		return err
	}
	if len(u.conf.Printers) == 0 {
		u.conf.Printers = []device.Printer{{Name: "main", URL: u.printer, Profile: u.profile}}
	}
	if len(u.conf.Kitchens) == 0 {
		var kitchen broker.Kitchen
		if err := config.Load("", &kitchen, "CHIT_UP_KITCHEN"); err != nil {
			return err
		}
		kitchen.Stations = []broker.Station{{ID: "kitchen", Printer: u.conf.Printers[0].Name}}
		kitchen.Zone = localZone(u.zone)
		u.conf.Kitchens = []broker.Kitchen{kitchen}
	}
	d := &u.conf.Device
	d.State, d.Printers, d.Virtual = filepath.Join(u.dir, "device"), u.conf.Printers, u.virtual.Dialer
	d.InProcess, d.Version = true, version
	// Both halves are on one machine: there is no crowd to spread.
	d.RetryFirst, d.RetryMax = 250*time.Millisecond, 5*time.Second
	if err := d.Validate(); err != nil {
		return hinted{err, "chit up --help lists printer URLs; chit printer --help lists profiles"}
	}
	var err error
	u.ports, err = keptPorts(filepath.Join(u.dir, "ports.json"))
	return err
}

func (u *up) newBroker() (*broker.Service, error) {
	var c broker.Config
	if err := config.Load("", &c, "CHIT_UP_BROKER"); err != nil {
		return nil, err
	}
	c.Data, c.Kitchens = filepath.Join(u.dir, "broker"), u.conf.Kitchens
	c.MQTT = broker.MQTT{Listen: u.ports.MQTT, Names: []string{"127.0.0.1", "localhost"}}
	c.HTTPS.Listen = u.ports.HTTPS
	c.HTTP.Listen = u.http
	if !isLoopback(u.http) {
		c.HTTP.Listen, c.HTTPS.Listen = "", u.http
		c.MQTT.Names = append(c.MQTT.Names, ownNames(u.http)...)
		c.MQTT.Public = "tls://" + u.ports.MQTT
	}
	return broker.New(c, u.log)
}

// runDevice tells the addresses, pairs on the first start and runs the daemon.
func (u *up) runDevice(ctx context.Context, b *broker.Service) error {
	select {
	case <-b.Started():
	case <-ctx.Done():
		return nil
	}
	at := b.Addresses()
	if at.HTTP == "" {
		at.HTTP = at.HTTPS
	}
	if err := writeAddresses(filepath.Join(u.dir, "addresses.json"), at); err != nil {
		return err
	}
	if _, err := identity.Open(u.conf.Device.IdentityDir()); err != nil {
		if !errors.Is(err, identity.ErrNotEnrolled) {
			return fmt.Errorf("the device's keys: %w", err)
		}
		if err := u.pair(ctx, b, at.HTTPS); err != nil {
			return fmt.Errorf("pairing the device with its broker: %w", err)
		}
	}
	d, err := device.New(u.conf.Device, u.log)
	if err != nil {
		return err
	}
	return d.Run(ctx)
}

// pair takes the same road as a device on another machine: a code, keys made on the device, TLS
// pinned to the installation's CA.
func (u *up) pair(ctx context.Context, b *broker.Service, url string) error {
	code, err := b.NewCode(ctx, upTenant)
	if err != nil {
		return err
	}
	request := identity.Request{
		Dir: u.conf.Device.IdentityDir(), URL: url, Pairing: code.Pairing, Version: version,
	}
	for _, p := range u.conf.Printers {
		request.Printers = append(request.Printers, p.Name)
	}
	_, err = identity.Enrol(ctx, request)
	return err
}
