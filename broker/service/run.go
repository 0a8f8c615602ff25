package service

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"chit/broker/fleet"
	"chit/broker/intake"
	"chit/broker/link"
)

// The doors' bounds.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 30 * time.Second
	writeTimeout  = time.Minute // from the end of the headers; who does not read loses the answer
	idleTimeout   = 2 * time.Minute
	headerMax     = 16 << 10
	shutdownMax   = 5 * time.Second
	pulseEvery    = time.Second
)

// Run serves until ctx ends and returns nil, or the error that stopped it. It may be called once.
// The order is: the desk (everybody else stores through it), the fleet, the engine, the relay, the
// doors last, so that nothing is promised before it can be kept.
func (s *Service) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, s.Close()) }()
	// The desk outlives the others: what the doors still answer must become durable.
	deskCtx, stopDesk := context.WithCancel(context.WithoutCancel(ctx))
	defer stopDesk()
	deskDone := make(chan error, 1)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		err := s.desk.Run(deskCtx)
		if err != nil {
			cancel(fmt.Errorf("the desk stopped: %w", err))
		}
		deskDone <- err
	}()
	runErr := s.serve(ctx)
	stopDesk()
	deskErr := <-deskDone
	if deskErr != nil {
		return fmt.Errorf("the desk stopped: %w", deskErr)
	}
	return runErr
}

func (s *Service) serve(ctx context.Context) error {
	if err := s.tellRestored(ctx); err != nil {
		return err
	}
	u := unserved{desk: s.desk, store: s.store, kitchens: s.kitchens, log: s.log}
	if err := u.tell(ctx, s.tenants()); err != nil {
		return err
	}
	if err := s.openFleet(ctx); err != nil {
		return err
	}
	if err := s.openEngine(); err != nil {
		return err
	}
	tokens, err := s.tokens()
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	engineCtx, stopEngine := context.WithCancel(context.WithoutCancel(ctx))
	group.Go(func() error { return s.engine.Run(engineCtx) })
	group.Go(func() error { return s.relay.Run(ctx) })
	group.Go(func() error { return s.alert.Run(ctx) })
	group.Go(func() error { s.keepMark(ctx); return nil })
	group.Go(func() error {
		// The engine stops last, after the devices were told.
		defer stopEngine()
		return s.attend(ctx, group, tokens)
	})
	if err := group.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// attend waits for the engine, opens the doors, feeds the watchdog and says good-bye.
func (s *Service) attend(ctx context.Context, group *errgroup.Group, tokens intake.TokenList,
) error {
	select {
	case <-s.engine.Ready():
	case <-ctx.Done():
		return nil
	}
	if err := s.sayHost(ctx, "alive"); err != nil {
		s.log.Warn("host message not published", "err", err)
	}
	desk := &tickets{desk: s.desk, store: s.store, kitchens: s.kitchens, now: s.clock.Now,
		ready: s.ready}
	redrives := newRedrives(s.desk, s.store, s.log)
	group.Go(func() error { return redrives.run(ctx) })
	calendar := &days{desk: s.desk, store: s.store, kitchens: s.kitchens, now: s.clock.Now,
		log: s.log}
	group.Go(func() error { return calendar.run(ctx) })
	door := intake.New(intake.Config{
		Desk: desk, BackOffice: &office{tickets: desk, redrives: redrives}, Stale: stale{desk},
		Tokens: tokens, Fleet: devices{s}, Alarms: alarms{s}, Days: calendar,
		Kitchens: kitchenDoor{s},
		Metrics:  s.metrics(), Log: s.log,
	})
	if s.http != nil {
		s.serveDoor(ctx, group, s.http, door)
	}
	if s.https != nil {
		s.serveDoor(ctx, group, tls.NewListener(s.https, s.fleet.ServerTLS(false)), door)
	}
	group.Go(func() error { return s.rhythms.run(ctx) })
	group.Go(func() error { return s.canaries.run(ctx) })
	close(s.started)
	a := s.Addresses()
	s.log.Info("broker ready", "http", a.HTTP, "https", a.HTTPS, "mqtt", a.MQTT)
	s.beat(ctx)
	draining, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownMax)
	defer cancel()
	if err := s.sayHost(draining, "draining"); err != nil {
		s.log.Warn("host message not published", "err", err)
	}
	return nil
}

// beat feeds the watchdog from the desk: a desk that no longer decides stops the pulse.
func (s *Service) beat(ctx context.Context) {
	if s.Health == nil {
		<-ctx.Done()
		return
	}
	s.Health.Ready()
	ticker := time.NewTicker(pulseEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			s.Health.Stopping()
			return
		case <-ticker.C:
			if _, err := s.desk.Do(ctx, nothing{}); err == nil {
				s.Health.Feed()
			}
		}
	}
}

func (s *Service) serveDoor(ctx context.Context, group *errgroup.Group, l net.Listener,
	door http.Handler) {
	server := &http.Server{
		Handler: door, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: headerMax,
		ConnState: newCrowd(connsMax).changed,
		// net/http tells of strangers' handshakes and broken requests here: Info, nobody must act.
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelInfo),
	}
	group.Go(func() error {
		if err := server.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serving %s: %w", l.Addr(), err)
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownMax)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			return errors.Join(server.Close()) // Somebody held a request open past the bound.
		}
		return nil
	})
}

func (s *Service) openFleet(ctx context.Context) error {
	f, err := fleet.Open(ctx, fleet.Config{
		Dir: s.conf.Data, Names: s.conf.MQTT.Names, MQTT: s.publicMQTT(),
		Records: records{s.desk, s.store}, Now: s.clock.Now, Log: s.log,
	})
	if err != nil {
		return fmt.Errorf("opening the fleet: %w", err)
	}
	s.fleet, s.kitchens.fleet = f, f
	// A signing key that does not exist yet is made now, not on the path of the first ticket.
	for _, tenant := range s.tenants() {
		if _, err := s.kitchens.Signer(tenant); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) openEngine() (err error) {
	if s.conf.Outside.Address == "" {
		s.engine, err = link.NewEmbedded(link.EmbeddedConfig{
			Listener: s.mqtt, TLS: s.fleet.ServerTLS(true), Gate: s.fleet, Log: s.log,
		}, s)
	} else {
		var conf *tls.Config
		if conf, err = s.outsideTLS(); err == nil {
			s.engine, err = link.NewOutside(link.OutsideConfig{
				Address: s.conf.Outside.Address, TLS: conf, Replica: "chit-broker", Log: s.log,
			}, s)
		}
	}
	if err != nil {
		return fmt.Errorf("MQTT engine: %w", err)
	}
	return nil
}

func (s *Service) outsideTLS() (*tls.Config, error) {
	if strings.HasPrefix(s.conf.Outside.Address, "tcp://") {
		return nil, nil // On loopback only, see Validate.
	}
	pair, err := tls.LoadX509KeyPair(s.conf.Outside.Certificate, s.conf.Outside.Key)
	if err != nil {
		return nil, fmt.Errorf("outside.certificate and outside.key: %w", err)
	}
	pem, err := os.ReadFile(s.conf.Outside.CA)
	if err != nil {
		return nil, fmt.Errorf("outside.ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("outside.ca: found no certificate in %s, expected PEM", s.conf.Outside.CA)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{pair}, RootCAs: pool, MinVersion: tls.VersionTLS12,
	}, nil
}

// tokens joins the configured tokens with those given by the caller.
func (s *Service) tokens() (intake.TokenList, error) {
	list := append(intake.TokenList{}, s.Tokens...)
	for i, t := range s.conf.Tokens {
		digest, err := t.digest()
		if err != nil {
			return nil, fmt.Errorf("tokens[%d].file: %w", i, err)
		}
		list = append(list, intake.TokenEntry{SHA256: digest, Tenant: t.Tenant, Who: t.Who})
	}
	return list, nil
}

var errNoCommit = errors.New("the store does not commit")

// ready is /readyz: the desk decides, the engine hears, and what the caller adds.
func (s *Service) ready(ctx context.Context) error {
	if _, err := s.desk.Do(ctx, nothing{}); err != nil {
		s.log.Error("not ready: the store does not commit", "err", err)
		return errNoCommit // Anybody may ask; why, with paths and all, is for the log.
	}
	if s.ReadyToo != nil {
		return s.ReadyToo(ctx)
	}
	return nil
}
