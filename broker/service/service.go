// Package service is the cloud broker as one value: the store, the desk that decides, the relay
// that carries tickets out, the alarms, the MQTT engine, the fleet and the HTTP doors.
//
//	s, err := service.New(conf, log)
//	err = s.Run(ctx) // blocks; nil after ctx ended
//
// Run ends with an error when a commit fails: its outcome is unknown, so the program stops, starts
// again, checks and goes on (DESIGN.md section 7).
package service

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"time"

	"chit/broker/alert"
	"chit/broker/desk"
	"chit/broker/fleet"
	"chit/broker/intake"
	"chit/broker/link"
	"chit/broker/relay"
	"chit/broker/store"
	"chit/broker/store/bolt"
	"chit/device/wire"
)

// Health is told how the service fares; device/health is one. Every method may be called often.
type Health interface {
	Ready()    // the service works
	Feed()     // the work loops have moved
	Stopping() // the service ends on purpose
}

// Service is the broker.
type Service struct {
	conf Config
	log  *slog.Logger
	// Health may be set before Run.
	Health Health
	// ReadyToo may be set before Run: one more thing that /readyz waits for.
	ReadyToo func(context.Context) error
	// Tokens may be set before Run and are added to the configured ones.
	Tokens intake.TokenList

	clock    *clock
	host     string // epoch, new at every start
	file     *bolt.Store
	store    store.Store // the same
	desk     *desk.Desk
	relay    *relay.Relay
	fleet    *fleet.Fleet
	engine   link.Engine
	kitchens *kitchens
	alert    *alert.Alert
	rhythms  *rhythms
	canaries *canaries
	// destinations are where alarms go.
	destinations []alert.Destination

	mqtt, http, https net.Listener
	started           chan struct{}
}

// New checks the configuration, opens the store and the listeners, and starts nothing. Close or Run
// must follow.
func New(conf Config, log *slog.Logger) (*Service, error) {
	if err := conf.Validate(); err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Service{conf: conf, log: log, clock: newClock(log), started: make(chan struct{})}
	epoch := make([]byte, 12)
	if _, err := rand.Read(epoch); err != nil {
		return nil, fmt.Errorf("making the broker's epoch: %w", err)
	}
	s.host = hex.EncodeToString(epoch)
	var err error
	if s.kitchens, err = newKitchens(conf.Kitchens); err != nil {
		return nil, err
	}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// open makes what must stand before the first goroutine.
func (s *Service) open() error {
	if err := os.MkdirAll(s.conf.Data, 0o700); err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	var err error
	if s.file, err = openStore(s.conf.Data, false); err != nil {
		return err
	}
	s.store = s.file
	for _, l := range []struct {
		name, address string
		into          *net.Listener
	}{
		{"mqtt", s.mqttAddress(), &s.mqtt}, {"http", s.conf.HTTP.Listen, &s.http},
		{"https", s.conf.HTTPS.Listen, &s.https},
	} {
		if l.address == "" {
			continue
		}
		if *l.into, err = net.Listen("tcp", l.address); err != nil {
			return fmt.Errorf("%s.listen: %w (is another program using the port?)", l.name, err)
		}
	}
	s.relay = relay.New(relay.Config{
		Store: s.store, Devices: s.kitchens, Publisher: publisher{s}, Host: s.host,
		Address: s.address,
		Now:     s.clock.Now, Rate: s.conf.Rate, Total: s.conf.Total,
		Log: s.log,
	})
	if err := s.openAlert(); err != nil {
		return err
	}
	if s.rhythms, err = newRhythms(s.store, s.kitchens, s.clock.Now, s.log); err != nil {
		return fmt.Errorf("reading the kitchens' rhythms: %w", err)
	}
	s.canaries = newCanaries(s.store, s.kitchens, s.clock.Now, s.log)
	s.desk = desk.New(desk.Config{
		Store: s.store, Now: s.clock.Now, Effects: s.effects, Log: s.log,
	})
	s.relay.Attach(s.desk)
	s.alert.Attach(s.desk)
	s.rhythms.desk, s.canaries.desk = s.desk, s.desk
	return nil
}

func (s *Service) mqttAddress() string {
	if s.conf.Outside.Address != "" {
		return ""
	}
	return s.conf.MQTT.Listen
}

// Close gives back what New opened; Run does it by itself.
func (s *Service) Close() error {
	var errs []error
	for _, l := range []net.Listener{s.mqtt, s.http, s.https} {
		if l == nil {
			continue
		}
		if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	if s.store != nil {
		if err := s.store.Close(); err != nil && !errors.Is(err, store.ErrClosed) {
			errs = append(errs, fmt.Errorf("closing the store: %w", err))
		}
	}
	return errors.Join(errs...)
}

// Addresses are where the service can be reached, as they really are.
type Addresses struct {
	HTTP  string `json:"http,omitempty"`
	HTTPS string `json:"https,omitempty"`
	MQTT  string `json:"mqtt,omitempty"`
}

// Addresses may be asked as soon as New has returned.
func (s *Service) Addresses() Addresses {
	var a Addresses
	if s.http != nil {
		a.HTTP = "http://" + s.http.Addr().String()
	}
	if s.https != nil {
		a.HTTPS = "https://" + s.named(s.https)
	}
	a.MQTT = s.publicMQTT()
	return a
}

// publicMQTT is what devices are told to connect to.
func (s *Service) publicMQTT() string {
	switch {
	case s.conf.Outside.Address != "":
		return s.conf.Outside.Address
	case s.conf.MQTT.Public != "":
		return s.conf.MQTT.Public
	default:
		return "tls://" + s.named(s.mqtt)
	}
}

// named is a listener's address as others should spell it: a wildcard becomes the first name of the
// certificate.
func (s *Service) named(l net.Listener) string {
	address, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return l.Addr().String()
	}
	host := address.IP.String()
	if address.IP.IsUnspecified() {
		host = s.conf.MQTT.Names[0]
	}
	return net.JoinHostPort(host, fmt.Sprint(address.Port))
}

// Started is closed once devices and doors are served.
func (s *Service) Started() <-chan struct{} { return s.started }

// NewCode makes a pairing code for stations of a tenant, all of them where none is named.
func (s *Service) NewCode(ctx context.Context, tenant string, stations ...string) (
	fleet.Code, error) {
	bound, err := s.kitchens.stations(tenant, stations)
	if err != nil {
		return fleet.Code{}, err
	}
	return s.fleet.NewCode(ctx, fleet.CodeRequest{Tenant: tenant, Stations: bound})
}

// Online reports whether some device of the tenant has an open session.
func (s *Service) Online(tenant string) bool {
	for _, d := range s.relay.Devices() {
		if d.Tenant == tenant && d.Present {
			return true
		}
	}
	return false
}

// Devices lists a tenant's devices as the door shows them; it may be asked once Started.
func (s *Service) Devices(ctx context.Context, tenant string) ([]intake.Device, error) {
	return devices{s}.Devices(ctx, tenant)
}

// Bind gives a device all stations of a tenant as they are configured now; it may be called once
// Started. A record that says so already is left alone.
func (s *Service) Bind(ctx context.Context, tenant, device string) error {
	stations, err := s.kitchens.stations(tenant, nil)
	if err != nil {
		return err
	}
	record, err := s.fleet.Device(ctx, device)
	if err != nil || slices.Equal(record.Stations, stations) {
		return err
	}
	return s.fleet.Bind(ctx, device, stations, "")
}

// publisher is the engine as the relay sees it: it exists only once the fleet does.
type publisher struct{ s *Service }

func (p publisher) Publish(ctx context.Context, topic string, payload []byte, retain bool) error {
	if p.s.engine == nil {
		return link.ErrNotRunning
	}
	return p.s.engine.Publish(ctx, topic, payload, retain)
}

// address is where a device is connected from; an engine outside does not tell.
func (s *Service) address(device string) string {
	if e, ok := s.engine.(interface{ Address(device string) string }); ok {
		return e.Address(device)
	}
	return ""
}

// Handle takes messages of devices from the engine to the relay.
func (s *Service) Handle(m link.Message) {
	s.relay.Heard(m.Tenant, m.Device, string(m.Leaf), m.Payload, m.Retained)
}

// sayHost publishes the broker's retained sign of life to every tenant's devices.
func (s *Service) sayHost(ctx context.Context, state string) error {
	var errs []error
	for _, tenant := range s.tenants() {
		signer, err := s.kitchens.Signer(tenant)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		message, err := signer.SignHost(wire.Host{State: state, Epoch: s.host})
		if err != nil {
			errs = append(errs, fmt.Errorf("host message: %w", err))
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		err = s.engine.Publish(ctx, "chit/1/"+tenant+"/host", message, true)
		cancel()
		if err != nil {
			errs = append(errs, fmt.Errorf("host message of %s: %w", tenant, err))
		}
	}
	return errors.Join(errs...)
}

func (s *Service) tenants() []string {
	seen := map[string]bool{}
	var out []string
	for _, k := range s.conf.Kitchens {
		if !seen[k.Tenant] {
			seen[k.Tenant] = true
			out = append(out, k.Tenant)
		}
	}
	return out
}
