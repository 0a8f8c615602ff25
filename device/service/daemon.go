package service

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
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

// daemon is an assembled service.
type daemon struct {
	*Service
	who      who
	loop     *loop
	voice    voice
	outbox   *outbox
	sessions []*session.Session
	every    time.Duration
	first    func() // starts the loop on the journal that assemble opened, or without one
	stop     context.CancelFunc
	below    context.Context               // ends with the core loop
	tasks    []func(context.Context) error // the link and whatever else ends last
}

// who is the device, as its identity or a test says.
type who struct {
	tenant   string
	device   string
	stations []identity.Station
	signer   *wire.Signer
	keys     func() wire.Keys
}

// assemble makes all parts of an enrolled device; nothing runs yet.
func (s *Service) assemble(ctx context.Context, id *identity.Identity) (*daemon, error) {
	d, h := s.daemon(ctx, who{
		tenant: id.Tenant(), device: id.Device(), stations: id.Stations(), signer: id.Signer(),
		keys: id.BrokerKeys,
	})
	l, err := link.New(link.Config{
		Address: id.MQTT(), TLS: id.TLS(health.ClockSynced), Tenant: id.Tenant(), Device: id.Device(),
		WaitFirst: s.conf.RetryFirst, WaitMax: s.conf.RetryMax, AckQoS: byte(s.conf.AckQoS), Log: s.log,
	}, h)
	if err != nil {
		return nil, err
	}
	s.link.Store(l)
	d.tasks = append(d.tasks, l.Run, func(ctx context.Context) error { d.renew(ctx, id); return nil })
	return d, d.speak(l, h)
}

// daemon makes what does not need a broker.
func (s *Service) daemon(ctx context.Context, w who) (*daemon, *handler) {
	d := &daemon{Service: s, who: w, every: health.Systemd{}.Every(feedAtMost)}
	d.below, d.stop = context.WithCancel(context.WithoutCancel(ctx))
	h := &handler{
		ctx: d.below, in: make(chan item, inMax), who: w, keys: w.keys, signer: w.signer,
		count: s.counters.count, log: s.log,
	}
	h.now.Store(&snapshot{})
	s.handler.Store(h)
	return d, h
}

// speak gives the daemon its voice and makes the rest.
func (d *daemon) speak(v voice, h *handler) error {
	d.voice = v
	d.outbox = &outbox{
		voice: v, queue: make(chan outgoing, outMax), log: d.log, count: d.counters.count,
	}
	p := d.openPanel(h.in)
	d.panel.Store(p)
	d.tasks = append(d.tasks, p.Run)
	return d.assembleLoop(h)
}

func (s *Service) openPanel(in chan item) *panel.Panel {
	var hardware panel.Hardware
	if s.conf.Hardware != nil {
		hardware = *s.conf.Hardware
	} else {
		var err error
		if hardware, err = panel.Open(s.conf.Panel.Pins); err != nil {
			s.log.Warn("panel is not complete", "err", err)
		}
	}
	var p *panel.Panel
	p = panel.New(panel.Config{Hardware: hardware, Log: s.log, Pressed: func(long bool) {
		p.Silence()
		select {
		case in <- item{event: core.Button{Long: long}}:
		default: // The loop is far behind; the press silenced what plays.
			s.counters.count("presses", "lost")
		}
	}})
	return p
}

// attended is true where somebody can say that a ticket is seen and is asked to: by a button, or by
// patterns that go on until the press.
func (s *Service) attended() bool {
	button := s.conf.Panel.Button != "" || s.conf.Hardware != nil && s.conf.Hardware.Button != nil
	return button || s.conf.Panel.Insist > 0
}

func (d *daemon) assembleLoop(h *handler) error {
	stations := map[string]string{}
	for _, st := range d.who.stations {
		stations[st.Station] = st.Name
	}
	designs, err := d.conf.designs()
	if err != nil {
		return err
	}
	p := paper{
		conf: d.conf, designs: designs, location: d.location,
		profiles: map[string]profile.Profile{}, auto: map[string]int{}, stations: stations,
		device: d.who.device, drawer: NewDrawer(),
	}
	l := &loop{
		conf: d.conf, in: h.in, apply: (*journal.Journal).Apply,
		states: newStates(), workers: map[string]*worker{}, log: d.log,
		count: d.counters.count, feed: d.feed, greet: d.voice.Greet, boot: health.KernelBoot(),
		handles: map[core.Handle]func(){}, presses: map[core.Handle]func(core.Pressed){},
		beat:    time.NewTicker(d.every),
		tenant:  d.who.tenant,
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
	j, state, err := l.remember()
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
		if err := p.know(conf); err != nil {
			return err
		}
	}
	f := &effects{
		signer: d.who.signer, out: d.outbox, panel: d.panel.Load(), count: d.counters.count, log: d.log,
	}
	l.perform = f.perform
	c := p.config()
	c.Device, c.Version, c.Printers = d.who.device, d.conf.Version, names
	c.VolatileBoot, c.Insist, c.Attended = volatileBoot(), d.conf.Panel.Insist, d.attended()
	l.machine = core.New(c)
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
	say := conf.sayProfile(d.log)
	s := session.New(session.Config{
		Dialer: m, Known: known, Log: d.log, Timing: d.conf.Timing,
		Changed: func(state session.State) {
			say(state)
			l.states.put(conf.Name, state)
		},
	})
	d.sessions = append(d.sessions, s)
	return &worker{
		name: conf.Name, session: s, orders: make(chan core.Effect, ordersMax), in: l.in, marker: m,
		clears: make(chan core.ClearPrinter, ordersMax), log: d.log,
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
	errs := make(chan error, len(d.tasks))
	for _, s := range d.sessions {
		printers.Go(func() { _ = s.Run(printing) }) // It returns only ctx's error.
	}
	for _, w := range d.loop.workers {
		printers.Go(func() { w.run(printing) })
	}
	sending, sent := context.WithCancel(context.WithoutCancel(ctx))
	var out sync.WaitGroup
	out.Go(func() { d.outbox.run(sending) })
	upper.Go(func() { d.telemetry(ctx) })
	upper.Go(func() {
		if err := d.serve(ctx); err != nil {
			d.log.Error("metrics are not served", "err", err) // The kitchen prints without them.
		}
	})

	err := d.loop.run(ctx, d.first, func() {
		// Not before the journal has begun: a hello of a machine that does not know its journal yet
		// would tell the broker of another one, and that memory was lost.
		for _, task := range d.tasks {
			lower.Go(func() { errs <- task(linked) })
		}
		d.notify(health.Systemd.Ready)
	})
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
