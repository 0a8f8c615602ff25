// Package relay carries the outbox out: it hands tickets to devices and takes in what they answer.
//
// It decides nothing that must be remembered. What is open it reads from the store at its start and
// hears from the desk's effects afterwards; which device is here it hears from hellos and wills;
// for everything else it asks the desk, and publishes a ticket only when its lease is durable
// (DESIGN.md section 5). One loop owns it all and sleeps until the earliest end.
//
//	r := relay.New(relay.Config{Store: s, Devices: fleet, Publisher: engine, Host: epoch})
//	d := desk.New(desk.Config{Store: s, Effects: r.Effects})
//	r.Attach(d)
//	go d.Run(ctx)
//	err := r.Run(ctx)
package relay

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"chit/broker/desk"
	"chit/broker/entity"
	"chit/broker/store"
	"chit/device/wire"
)

// Bounds (DESIGN.md section 5).
const (
	// WindowMax is how many deliveries one printer may have unsettled, windowNarrow how many after
	// a crash of its device's process, until one settles.
	WindowMax    = 8
	windowNarrow = 1
	// RateDefault and BurstDefault bound the dispatches of a tenant, per second and at once;
	// TotalDefault and TotalBurstDefault those of the whole broker.
	RateDefault       = 200
	BurstDefault      = 50
	TotalDefault      = 1000
	TotalBurstDefault = 200

	// retryAfter is the wait after the desk refused what the relay believed possible.
	retryAfter = 250 * time.Millisecond
	// idleMax bounds the loop's sleep, so that a clock that steps is noticed.
	idleMax = time.Minute
)

// Publisher sends one message to a topic; a nil error proves nothing about delivery. link.Engine is
// one. It must not block for longer than a write deadline.
type Publisher interface {
	Publish(ctx context.Context, topic string, payload []byte, retain bool) error
}

// Devices is what the relay needs to know of the fleet. Its methods are asked for every dispatch
// and every ack, from several goroutines: they must answer from memory.
type Devices interface {
	// Keys are the public ack keys of a device by kid, and the tenant it belongs to; ok is false
	// for an unknown or revoked device.
	Keys(device string) (keys map[string]ed25519.PublicKey, tenant string, ok bool)
	// Station resolves a station to who serves it now; ok is false for an unknown station. Device
	// is empty where the station has none.
	Station(tenant, station string) (s Station, ok bool)
	// Signer signs for a tenant.
	Signer(tenant string) (*wire.Signer, error)
}

// Station is how one station is served now. Zero durations mean the defaults of package delivery.
type Station struct {
	Device, Printer string
	// Name is what people call it, the id where empty. Backup is the station whose device and
	// printer take over, "" for none.
	Name, Backup string
	Lease        time.Duration
	StaleAfter   time.Duration
	OnStale      wire.OnStale   // print where empty
	Zone         *time.Location // of the kitchen; UTC where nil
	DayCut       time.Duration
}

// Desk is where a relay asks what must be remembered; *desk.Desk is one.
type Desk interface {
	Submit(command entity.Command, done func(desk.Answer, error)) error
}

// Config is what a relay works with.
type Config struct {
	Desk      Desk
	Store     store.Store
	Devices   Devices
	Publisher Publisher
	// Address is the network address that a device is connected from, "" where that is not known; it
	// may be nil.
	Address func(device string) string
	// Host is the broker's epoch, random and new at every start, said in each welcome.
	Host string
	// Now is the store's clock; time.Now where nil.
	Now func() time.Time
	// Rand draws from [0, 1), from several goroutines; math/rand/v2 where nil.
	Rand func() float64
	// Rate bounds the dispatches per second and tenant, Burst those at once; the defaults where 0.
	Rate  float64
	Burst int
	// Total and TotalBurst bound those of all tenants, who take turns; the defaults where 0.
	Total      float64
	TotalBurst int
	Log        *slog.Logger
}

// Relay carries deliveries out. Everything below mu belongs to Run's goroutine, which holds mu
// while it works so that snapshots can be taken; it never waits for anything meanwhile.
type Relay struct {
	conf    Config
	inbox   *desk.Inbox[*Relay]
	senders []*sender
	counts  counts
	allow   *allowance

	mu       sync.Mutex
	devices  map[string]*device
	board    *board
	line     *line
	backlogs *backlogs
	recalls  *recalls
	dirty    map[*station]bool // stations to look at now
	looks    queue[*station]   // stations to look at later
	asking   int               // questions that the desk has not answered
	started  time.Time
	// listening is since when it has heard everybody who spoke: since its start, or since a leap of
	// the clock. planned is when it had meant to turn next.
	listening, planned time.Time
	// hostSaid is when a tenant was told last, by the relay, that this broker is alive.
	hostSaid map[string]time.Time
	stopped  bool
}

// New makes a relay. Its Effects must be given to the desk as Config.Effects, so the desk may be
// named later, by Attach.
func New(conf Config) *Relay {
	if conf.Now == nil {
		conf.Now = time.Now
	}
	if conf.Rand == nil {
		conf.Rand = rand.Float64
	}
	if conf.Rate <= 0 {
		conf.Rate = RateDefault
	}
	if conf.Burst <= 0 {
		conf.Burst = BurstDefault
	}
	if conf.Total <= 0 {
		conf.Total = TotalDefault
	}
	if conf.TotalBurst <= 0 {
		conf.TotalBurst = TotalBurstDefault
	}
	if conf.Address == nil {
		conf.Address = func(string) string { return "" }
	}
	if conf.Log == nil {
		conf.Log = slog.New(slog.DiscardHandler)
	}
	r := &Relay{
		conf: conf, inbox: desk.NewInbox[*Relay](), counts: newCounts(),
		allow:   newAllowance(conf.Rate),
		devices: map[string]*device{}, backlogs: newBacklogs(),
		recalls: newRecalls(),
		dirty:   map[*station]bool{},
		looks: queue[*station]{place: func(s *station) *int { return &s.lookAt },
			compare: func(a, b *station) int { return cmp.Or(a.look.Compare(b.look), byName(a, b)) }},
		hostSaid: map[string]time.Time{},
	}
	r.board = newBoard(r.drops)
	r.started = r.now()
	r.listening, r.planned = r.started, r.started
	r.line = newLine(newBucket(conf.Total, conf.TotalBurst, r.started), conf.Rate, conf.Burst)
	for range sendersMax {
		r.senders = append(r.senders, newSender(r))
	}
	return r
}

// Attach names the desk, where Config could not. It must come before Run and Heard.
func (r *Relay) Attach(d Desk) { r.conf.Desk = d }

// Run loads what is open from the store and carries it out until ctx ends. It may be called once.
func (r *Relay) Run(ctx context.Context) error {
	var senders sync.WaitGroup
	sending, stop := context.WithCancel(ctx)
	defer senders.Wait()
	defer stop()
	for _, s := range r.senders {
		senders.Go(func() { s.run(sending) })
	}
	if err := r.load(); err != nil {
		return fmt.Errorf("relay: loading what is open: %w", err)
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		timer.Reset(r.turn())
		select {
		case <-ctx.Done():
			return nil
		case <-r.inbox.Ready():
		case <-timer.C:
		}
	}
}

// turn takes in what came, does what follows, and says how long there is nothing more to do.
func (r *Relay) turn() time.Duration {
	messages := r.inbox.Take()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, message := range messages {
		message(r)
	}
	now := r.now()
	r.listen(now)
	sleep := idleMax
	for _, at := range []time.Time{r.ends(now), r.pump(now), r.backlog(now), r.recall(now)} {
		if !at.IsZero() {
			sleep = min(sleep, max(at.Sub(now), 0))
		}
	}
	r.planned = now.Add(sleep)
	return sleep
}

func (r *Relay) now() time.Time { return r.conf.Now().UTC().Truncate(time.Millisecond) }
