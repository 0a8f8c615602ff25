// Package service is the kitchen daemon as one value.
//
//	s, err := service.New(conf, log)
//	err = s.Run(ctx) // until ctx ends
//
// One goroutine, the core loop, owns the machine and the journal: it drains everything that waits
// into one batch, decides, commits once and only then performs the effects. Each printer has a
// session and a worker of its own, the link has its goroutines, and the outbox sends in order.
// All of them talk to the loop by messages.
//
// A device without an enrolment waits for one (chitd pair writes it) and then goes on by itself.
package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"chit/device/health"
	"chit/device/identity"
	"chit/device/link"
	"chit/device/panel"
	"chit/device/wire"
)

// telemetryEvery is the pause between two telemetry hints (DESIGN section 4).
const telemetryEvery = 60 * time.Second

// renewEvery is how often the certificate's age is looked at.
const renewEvery = time.Hour

// enrolmentEvery is how often a device without an enrolment looks for one.
const enrolmentEvery = 500 * time.Millisecond

// Service is one daemon. Run may be called once.
type Service struct {
	conf     Config
	log      *slog.Logger
	location *time.Location
	counters *counters
	link     atomic.Pointer[link.Link]
	handler  atomic.Pointer[handler]
	panel    atomic.Pointer[panel.Panel]
	fed      atomic.Int64 // when the core loop was alive last, Unix nanoseconds
	systemd  bool
	started  time.Duration
}

// New checks the configuration. It opens nothing.
func New(conf Config, log *slog.Logger) (*Service, error) {
	if err := conf.Validate(); err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if conf.Version == "" {
		conf.Version = Version()
	}
	location := (*time.Location)(nil)
	if conf.Zone != "" {
		var err error
		if location, err = time.LoadLocation(conf.Zone); err != nil {
			return nil, fmt.Errorf("service: zone: %w", err)
		}
	}
	return &Service{
		conf: conf, log: log, location: location, counters: newCounters(),
		systemd: !conf.InProcess, started: health.Up(),
	}, nil
}

// Version is what the build knows of itself.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "unknown"
	}
	return info.Main.Version
}

// Run works until ctx ends; it returns nil then, and otherwise what made it impossible to go on.
func (s *Service) Run(ctx context.Context) error {
	if err := os.MkdirAll(s.conf.State, 0o700); err != nil {
		return fmt.Errorf("service: state folder: %w", err)
	}
	id, err := s.enrolled(ctx)
	if err != nil || id == nil {
		return err
	}
	d, err := s.assemble(ctx, id)
	if err != nil {
		return err
	}
	return d.run(ctx)
}

// notifier is silent inside of another program.
func (s *Service) notify(f func(health.Systemd)) {
	if s.systemd {
		f(health.Systemd{})
	}
}

func (s *Service) feed() {
	s.fed.Store(time.Now().UnixNano())
	s.notify(health.Systemd.Feed)
}

func (s *Service) handlerStatus() wire.Status {
	if h := s.handler.Load(); h != nil {
		return h.now.Load().status
	}
	return wire.Status{Degraded: "not enrolled"}
}

// enrolled opens the identity, or waits until somebody pairs the device. It returns nil, nil where
// ctx ends first.
func (s *Service) enrolled(ctx context.Context) (*identity.Identity, error) {
	ticker := time.NewTicker(enrolmentEvery)
	defer ticker.Stop()
	for first := true; ; first = false {
		id, err := identity.Open(s.conf.IdentityDir())
		if !errors.Is(err, identity.ErrNotEnrolled) {
			return id, err
		}
		if first {
			fingerprint, err := identity.Fingerprint(s.conf.IdentityDir())
			if err != nil {
				return nil, err
			}
			s.log.Warn("device is not paired: run chitd pair", "fingerprint", fingerprint)
			s.notify(health.Systemd.Ready)
			s.notify(func(d health.Systemd) { d.Status("waiting for pairing") })
		}
		s.feed()
		select {
		case <-ctx.Done():
			return nil, nil
		case <-ticker.C:
		}
	}
}

// telemetry says every minute how the machine is.
func (d *daemon) telemetry(ctx context.Context) {
	ticker := time.NewTicker(telemetryEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		hint := health.Telemetry(d.conf.State, d.started, d.counters.flat())
		if payload, err := wire.EncodeTelemetry(hint); err == nil {
			d.outbox.put(outgoing{leaf: wire.LeafTelemetry, payload: payload})
		}
	}
}

// renew keeps the certificate young, where the clock can be trusted to tell its age.
func (d *daemon) renew(ctx context.Context, id *identity.Identity) {
	ticker := time.NewTicker(renewEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if !health.ClockSynced() || !id.Due(time.Now()) {
			continue
		}
		if err := id.Renew(ctx, health.ClockSynced); err != nil {
			d.log.Warn("certificate was not renewed", "err", err)
		} else {
			d.log.Info("certificate renewed", "ends", id.Ends())
		}
	}
}
