package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"chit/broker/intake"
	"chit/broker/program"
	broker "chit/broker/service"
	"chit/broker/store"
	"chit/config"
	"chit/device/health"
	"chit/device/identity"
	device "chit/device/service"
)

func newUp() *cobra.Command {
	u := &up{}
	c := &cobra.Command{
		Use:   "up",
		Short: "Run a small restaurant on one machine",
		Long: `Broker and kitchen daemon in one process, on one machine beside one printer.
Everything that it must remember is in the folder; it may be killed at any moment and started
again on it.

The owner's API token is in DIR/token, the addresses are in DIR/addresses.json. GET /readyz
answers 200 once a ticket could be printed or held; then POST /v1/tickets makes paper come out. A
printer that is not there is waited for: its tickets are kept and printed when it comes.

Printers:
  tcp://host[:9100]   on the network; with ?mac=00:26:ab:12:34:56 that one, wherever it is
  usb:04b8:0e15       on USB, by vendor, product and, behind a colon, serial number
  usb:port=1-1.2      on USB, whatever is plugged in there
  serial:///dev/…     on a serial port; ?baud=9600&flow=rtscts, xonxoff or none
  file:///path        a file or a device node, such as /dev/usb/lp0
  virtual:            paper as pictures in DIR/paper; virtual:safe-58?fault=paper-out:after=20

At a terminal Enter stands for the button of a kitchen's panel: the tickets printed since the last
press are seen.

An --http address that is not loopback is served with TLS by the installation's own CA,
DIR/broker/ca.pem. More stations and printers, and the paper's language, are said by --config:

  [device]
  language = "de"
  [[printers]]
  name = "bar"
  url = "tcp://192.168.1.51"
  [[kitchens]]
  [[kitchens.stations]]
  id = "bar"
  printer = "bar"`,
		Example: `  # try it without hardware
  chit up --data /tmp/shop --printer virtual:

  # a real printer
  chit up --data /var/lib/chit --printer tcp://192.168.1.50:9100`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			u.log, u.out = program.NewLogger(c.ErrOrStderr(), u.debug), c.OutOrStdout()
			u.in, u.keys = c.InOrStdin(), atTerminal(c.InOrStdin())
			return u.run(c.Context())
		},
	}
	f := c.Flags()
	f.StringVar(&u.dir, "data", os.Getenv("CHIT_DATA"), "folder of all that must survive a restart")
	f.StringVar(&u.printer, "printer", "", "printer URL")
	f.StringVar(&u.profile, "profile", "safe-80", "the printer's model; safe-58 for narrow paper")
	f.StringVar(&u.http, "http", "127.0.0.1:8080", "address of the HTTP door")
	f.StringVar(&u.zone, "zone", "Local", "the kitchen's IANA time zone, on paper too")
	f.StringVar(&u.file, "config", "", "TOML file with more kitchens, stations and printers")
	f.BoolVar(&u.debug, "debug", false, "log more")
	return c
}

// up is the small restaurant's mode.
type up struct {
	dir, printer, profile, http, zone, file string

	debug   bool
	log     *slog.Logger
	out     io.Writer
	in      io.Reader
	keys    bool // a person can press Enter
	conf    upConfig
	ports   ports
	token   string
	virtual *virtualPrinters
}

// A broker that stopped is started again after brokerPause, then ever later up to brokerPauseMax.
const (
	brokerPause    = time.Second
	brokerPauseMax = 10 * time.Second
)

func (u *up) run(ctx context.Context) (err error) {
	if err := u.checkFlags(); err != nil {
		return err
	}
	if u.dir, err = filepath.Abs(u.dir); err != nil {
		return err
	}
	u.virtual = &virtualPrinters{dir: filepath.Join(u.dir, "paper")}
	defer func() { err = errors.Join(err, u.virtual.Close()) }()
	unlock, err := u.takeFolder()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := u.configure(); err != nil {
		return err
	}
	if u.token, err = ownerToken(filepath.Join(u.dir, "token")); err != nil {
		return err
	}
	u.ports, err = keptPorts(filepath.Join(u.dir, "ports.json"), u.conf.Device.IdentityDir())
	if err != nil {
		return err
	}
	b, err := u.newBroker()
	if err != nil {
		return u.explained(err)
	}
	return u.serve(ctx, b)
}

// serve runs both halves. The broker outlives the daemon, so that its last answers are heard.
func (u *up) serve(ctx context.Context, b *broker.Service) error {
	group, ctx := errgroup.WithContext(ctx)
	brokerCtx, stopBroker := context.WithCancel(context.WithoutCancel(ctx))
	defer stopBroker()
	group.Go(func() error { return u.runBroker(brokerCtx, b) })
	group.Go(func() error {
		defer stopBroker()
		return u.runDevice(ctx, b)
	})
	group.Go(func() error { return u.announce(ctx, b) })
	return group.Wait()
}

// runBroker runs the broker, and after a failure, such as a full disk, another one on the same
// store. The daemon goes on meanwhile: it prints what it has and says what is wrong on its own.
func (u *up) runBroker(ctx context.Context, b *broker.Service) error {
	worked := false
	for pause := brokerPause; ; pause = min(2*pause, brokerPauseMax) {
		err := b.Run(ctx)
		select {
		case <-b.Started():
			worked, pause = true, brokerPause
		default:
		}
		if err == nil || ctx.Err() != nil || !worked {
			return err // One that never worked is for a person to look at.
		}
		u.log.Error("broker stopped, starting it again", "err", err, "in", pause.String())
		if b, err = u.nextBroker(ctx, pause); err != nil || b == nil {
			return err
		}
	}
}

// nextBroker waits and opens, until a broker could be opened or ctx ends; then it is nil.
func (u *up) nextBroker(ctx context.Context, pause time.Duration) (*broker.Service, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, nil
		case <-time.After(pause):
		}
		b, err := u.newBroker()
		if err == nil {
			return b, nil
		}
		u.log.Error("broker not opened", "err", err)
	}
}

// takeFolder makes the data folder and locks it.
func (u *up) takeFolder() (unlock func() error, err error) {
	if err := os.MkdirAll(u.dir, 0o700); err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	return lockFolder(u.dir)
}

// explained adds to an error of the start what a person can do.
func (u *up) explained(err error) error {
	if errors.Is(err, store.ErrDamaged) {
		return hinted{err, restoreStore}
	}
	var op *net.OpError
	if !errors.Is(err, syscall.EADDRINUSE) || !errors.As(err, &op) || op.Addr == nil {
		return err
	}
	if portOf(op.Addr.String()) == portOf(u.http) {
		return hinted{err, "choose another --http, such as 127.0.0.1:8081"}
	}
	return hinted{err, "stop the program that listens there: the address is this folder's own, see " +
		filepath.Join(u.dir, "ports.json")}
}

func (u *up) newBroker() (*broker.Service, error) {
	var c broker.Config
	if err := config.Load("", &c, "CHIT_UP_BROKER"); err != nil {
		return nil, err
	}
	c.Data, c.Kitchens = filepath.Join(u.dir, "broker"), u.conf.Kitchens
	c.Alarms = u.conf.Alarms
	c.MQTT = broker.MQTT{Listen: u.ports.MQTT, Names: []string{"127.0.0.1", "localhost"}}
	c.HTTPS.Listen = u.ports.HTTPS
	c.HTTP.Listen = u.http
	if !isLoopback(u.http) {
		c.HTTP.Listen, c.HTTPS.Listen = "", u.http
		c.MQTT.Names = append(c.MQTT.Names, ownNames(u.http)...)
		c.MQTT.Public = "tls://" + u.ports.MQTT
	}
	b, err := broker.New(c, u.log)
	if err != nil {
		return nil, err
	}
	b.Tokens = intake.TokenList{{
		SHA256: intake.TokenDigest(u.token), Tenant: upTenant, Who: "owner",
	}}
	b.ReadyToo = func(context.Context) error {
		if !b.Online(upTenant) {
			return errors.New("the kitchen daemon has not reached its broker yet")
		}
		return nil
	}
	b.Health = health.Systemd{}
	return b, nil
}

// runDevice tells the addresses, pairs on the first start, gives the device the stations that the
// configuration has now, and runs the daemon.
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
	id, err := identity.Open(u.conf.Device.IdentityDir())
	if errors.Is(err, identity.ErrNotEnrolled) {
		id, err = u.pair(ctx, b, at.HTTPS)
	}
	if err != nil {
		return fmt.Errorf("the device's keys: %w", err)
	}
	if err := b.Bind(ctx, upTenant, id.Device()); err != nil {
		return fmt.Errorf("giving the device its stations: %w", err)
	}
	d, err := device.New(u.conf.Device, u.log)
	if err != nil {
		return err
	}
	if u.keys {
		go pressByEnter(ctx, u.in, u.out, d)
	}
	return d.Run(ctx)
}

// pair takes the same road as a device on another machine: a code, keys made on the device, TLS
// pinned to the installation's CA.
func (u *up) pair(ctx context.Context, b *broker.Service, url string) (*identity.Identity, error) {
	code, err := b.NewCode(ctx, upTenant)
	if err != nil {
		return nil, fmt.Errorf("making a pairing code: %w", err)
	}
	request := identity.Request{
		Dir: u.conf.Device.IdentityDir(), URL: url, Pairing: code.Pairing,
		Version: u.conf.Device.Version,
	}
	for _, p := range u.conf.Printers {
		request.Printers = append(request.Printers, p.Name)
	}
	id, err := identity.Enrol(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("pairing with the broker: %w", err)
	}
	return id, nil
}
