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
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"chit/device/core"
	"chit/device/health"
	"chit/device/identity"
	"chit/device/journal"
	"chit/device/link"
	"chit/device/panel"
	"chit/device/wire"
	"chit/printer/profile"
	"chit/printer/session"
	"chit/printer/transport/open"
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

// daemon is an assembled service.
type daemon struct {
	*Service
	id       *identity.Identity
	loop     *loop
	link     *link.Link
	outbox   *outbox
	panel    *panel.Panel
	sessions []*session.Session
	every    time.Duration
	first    func()             // starts the loop on the journal that assemble opened, or without one
	stop     context.CancelFunc // ends what must outlive ctx: printers and outbox
	below    context.Context
}

// assemble makes all parts; nothing runs yet.
func (s *Service) assemble(ctx context.Context, id *identity.Identity) (*daemon, error) {
	d := &daemon{Service: s, id: id, every: health.Systemd{}.Every(feedAtMost)}
	d.below, d.stop = context.WithCancel(context.WithoutCancel(ctx))
	in := make(chan item, inMax)
	h := &handler{
		ctx: d.below, in: in, keys: id.BrokerKeys, signer: id.Signer(), count: s.counters.count,
		log: s.log,
	}
	h.now.Store(&snapshot{})
	s.handler.Store(h)
	var err error
	d.link, err = link.New(link.Config{
		Address: id.MQTT(), TLS: id.TLS(health.ClockSynced), Tenant: id.Tenant(), Device: id.Device(),
		WaitFirst: s.conf.RetryFirst, WaitMax: s.conf.RetryMax, AckQoS: byte(s.conf.AckQoS), Log: s.log,
	}, h)
	if err != nil {
		return nil, err
	}
	s.link.Store(d.link)
	d.outbox = &outbox{
		link: d.link, queue: make(chan outgoing, outMax), log: s.log, count: s.counters.count,
	}
	d.panel = s.openPanel(in)
	return d, d.assembleLoop(in, h)
}

func (s *Service) openPanel(in chan<- item) *panel.Panel {
	var hardware panel.Hardware
	if s.conf.Hardware != nil {
		hardware = *s.conf.Hardware
	} else {
		var err error
		if hardware, err = panel.Open(s.conf.Panel); err != nil {
			s.log.Warn("panel is not complete", "err", err)
		}
	}
	var p *panel.Panel
	p = panel.New(panel.Config{Hardware: hardware, Log: s.log, Pressed: func() {
		p.Silence()
		select {
		case in <- item{event: core.Button{}}:
		default: // The loop is far behind; the press silenced what plays.
		}
	}})
	return p
}

func (d *daemon) assembleLoop(in chan item, h *handler) error {
	stations := map[string]string{}
	for _, st := range d.id.Stations() {
		stations[st.Station] = st.Name
	}
	p := paper{
		conf: d.conf, location: d.location, profiles: map[string]profile.Profile{}, stations: stations,
		device: d.id.Device(),
	}
	l := &loop{
		conf: d.conf, in: in, states: newStates(), workers: map[string]*worker{}, log: d.log,
		count: d.counters.count, feed: d.feed, greet: d.link.Greet, boot: health.KernelBoot(),
		handles: map[core.Handle]func(){}, beat: time.NewTicker(d.every),
		options: journal.Options{Serial: health.Serial()},
	}
	p.unit = func(name string) (unit, fence string) {
		for _, st := range l.machine.Status().Printers {
			if st.Name == name {
				return st.Unit, st.Fence
			}
		}
		return "", ""
	}
	j, state, err := remember(d.conf.JournalPath(), l.options)
	d.first = func() {
		if err != nil {
			l.lose(err, nil)
			return
		}
		l.begin(j, state)
	}
	known := d.remembered(state)
	var names []string
	for _, conf := range d.conf.Printers {
		w, err := d.printer(conf, known[conf.Name], l)
		if err != nil {
			return err
		}
		l.workers[conf.Name] = w
		names = append(names, conf.Name)
		if p.profiles[conf.Name], err = profile.ByName(conf.Profile); err != nil {
			return err
		}
	}
	f := &effects{
		signer: d.id.Signer(), out: d.outbox, panel: d.panel, count: d.counters.count, log: d.log,
	}
	l.perform = f.perform
	l.machine = core.New(core.Config{
		Device: d.id.Device(), Version: d.conf.Version, Printers: names, Lay: p.lay, Plain: p.plain,
		LaySlip: p.slip, Encode: p.encode, VolatileBoot: volatileBoot(),
	})
	l.publish = func(m *core.Machine) {
		h.now.Store(&snapshot{hello: m.Hello(""), status: m.Status()})
	}
	l.publish(l.machine)
	d.loop = l
	return nil
}

func (d *daemon) printer(conf Printer, known session.Unit, l *loop) (*worker, error) {
	dialer, err := open.Parse(conf.URL, d.conf.Virtual)
	if err != nil {
		return nil, fmt.Errorf("service: printer %s: %w", conf.Name, err)
	}
	m := &marker{Dialer: dialer}
	s := session.New(session.Config{
		Dialer: m, Known: known, Log: d.log, Timing: d.conf.Timing,
		Changed: func(state session.State) { l.states.put(conf.Name, state) },
	})
	d.sessions = append(d.sessions, s)
	return &worker{
		name: conf.Name, session: s, orders: make(chan core.Effect, ordersMax), in: l.in, marker: m,
		log: d.log,
	}, nil
}

// remembered are the units that the journal knows.
func (d *daemon) remembered(state core.State) map[string]session.Unit {
	units := map[string]session.Unit{}
	for _, p := range d.conf.Printers {
		var u session.Unit
		if json.Unmarshal(state.Settings[core.UnitKey(p.Name)], &u) == nil {
			units[p.Name] = u
		}
	}
	return units
}

// volatileBoot is above every boot a journal counts.
func volatileBoot() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return binary.BigEndian.Uint64(b[:])>>12 | 1<<51
}

// run starts everything and ends it in the order that loses least: the loop stops starting work and
// waits for the printers, then answers leave, then the link says goodbye.
func (d *daemon) run(ctx context.Context) error {
	defer d.stop()
	defer d.loop.beat.Stop()
	var upper, printers, lower sync.WaitGroup
	linked, unlink := context.WithCancel(context.WithoutCancel(ctx))
	defer unlink()
	printing, unplug := context.WithCancel(context.WithoutCancel(ctx))
	defer unplug()
	errs := make(chan error, 2)
	for _, s := range d.sessions {
		printers.Go(func() { _ = s.Run(printing) }) // It returns only ctx's error.
	}
	for _, w := range d.loop.workers {
		printers.Go(func() { w.run(printing) })
	}
	lower.Go(func() { errs <- d.link.Run(linked) })
	lower.Go(func() { errs <- d.panel.Run(linked) })
	sending, sent := context.WithCancel(context.WithoutCancel(ctx))
	var out sync.WaitGroup
	out.Go(func() { d.outbox.run(sending) })
	upper.Go(func() { d.telemetry(ctx) })
	upper.Go(func() { d.renew(ctx) })
	upper.Go(func() {
		if err := d.serve(ctx); err != nil {
			d.log.Error("metrics are not served", "err", err) // The kitchen prints without them.
		}
	})

	err := d.loop.run(ctx, d.first, func() { d.notify(health.Systemd.Ready) })
	d.notify(health.Systemd.Stopping)
	d.stop() // The handler and the workers wait for nobody any more.
	unplug()
	upper.Wait()
	printers.Wait()
	sent()
	out.Wait()
	unlink()
	lower.Wait()
	close(errs)
	for e := range errs {
		err = errors.Join(err, e)
	}
	return err
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
func (d *daemon) renew(ctx context.Context) {
	ticker := time.NewTicker(renewEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if !health.ClockSynced() || !d.id.Due(time.Now()) {
			continue
		}
		if err := d.id.Renew(ctx, health.ClockSynced); err != nil {
			d.log.Warn("certificate was not renewed", "err", err)
		} else {
			d.log.Info("certificate renewed", "ends", d.id.Ends())
		}
	}
}
