// Package alert tells people: it runs the watch over the tickets without paper, lets the alarms
// climb their ladder, and sends what they owe by webhook, e-mail and push.
//
// It decides nothing that must be remembered: package alarm does, and the desk makes it durable.
// What is open it reads from the store at its start and hears from the desk's effects afterwards. A
// message is recorded after it was sent, so a crash in between sends it again, under the same id.
//
//	a := alert.New(alert.Config{Desk: d, Store: s, Places: places, Destinations: list})
//	d := desk.New(desk.Config{Effects: func(e []entity.Effect) { relay.Effects(e); a.Effects(e) }})
//	err := a.Run(ctx)
package alert

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"chit/broker/alarm"
	"chit/broker/delivery"
	"chit/broker/desk"
	"chit/broker/entity"
	"chit/broker/store"
)

// Bounds.
const (
	// sendMax is how long one try may take, lanesMax how many go to one destination at once.
	sendMax  = 20 * time.Second
	lanesMax = 4
	// busyAfter is the wait after the desk's queue was full.
	busyAfter = 250 * time.Millisecond
	// devicesEvery is how often the devices are asked whether they can remember.
	devicesEvery = 5 * time.Second
	// idleMax bounds the loop's sleep, so that a clock that steps is noticed.
	idleMax = time.Minute
)

// Desk is where an alert asks what must be remembered; *desk.Desk is one.
type Desk interface {
	Submit(command entity.Command, done func(desk.Answer, error)) error
}

// Destination is where a tenant's messages of one level go.
type Destination struct {
	Tenant, Name string // Name is unique in the tenant and says nothing secret
	Level        int
	// Link is put before an alarm's cause to make the address that a message names.
	Link   string
	Sender Sender
}

// Memory is whether a connected device can remember; Degraded is "" where it can.
type Memory struct{ Tenant, Device, Degraded string }

// Config is what an alert works with.
type Config struct {
	Desk         Desk
	Store        store.Store
	Places       map[alarm.StationKey]alarm.Place
	Destinations []Destination
	// Devices lists the devices with a session; it is asked from Run's goroutine, and may be nil.
	Devices func() []Memory
	// Now is the store's clock; time.Now where nil.
	Now func() time.Time
	// Rand draws from [0, 1); math/rand/v2 where nil.
	Rand func() float64
	Log  *slog.Logger
}

// Alert runs watch and ladder. Everything below mu belongs to Run's goroutine, which holds mu while
// it works so that snapshots can be taken.
type Alert struct {
	conf  Config
	inbox *desk.Inbox[*Alert]
	sends sync.WaitGroup

	mu     sync.Mutex
	watch  *alarm.Watch
	alarms map[entity.Key]alarm.Alarm // not over, or with messages that are owed
	dirty  map[entity.Key]bool        // to look at now
	later  map[entity.Key]time.Time   // to look at then
	asked  map[string]bool            // what the desk is being asked, or is being sent
	// clearing counts the Clears that the desk has not answered.
	clearing map[entity.Key]int
	lanes    map[[2]string]*lane // by tenant and name
	levels   map[string][]alarm.Destination
	queue    []question
	retry    time.Time // when the queue may be asked again, after the desk was busy
	devices  time.Time // when the devices were asked last
	stopped  bool
	counts   Counters
}

// question is a command on its way to the desk: in order, so that a cause's Clear cannot overtake
// its Raise.
type question struct {
	command entity.Command
	done    func(*Alert)
}

// lane is one destination: its breaker and what is under way.
type lane struct {
	Destination
	breaker alarm.Breaker
	busy    int
	waiting map[entity.Key]bool // alarms that found no room
	failing bool                // the log has been told
}

// New makes an alert; the desk may be named later, by Attach.
func New(conf Config) *Alert {
	if conf.Now == nil {
		conf.Now = time.Now
	}
	if conf.Rand == nil {
		conf.Rand = rand.Float64
	}
	if conf.Log == nil {
		conf.Log = slog.New(slog.DiscardHandler)
	}
	a := &Alert{conf: conf, inbox: desk.NewInbox[*Alert](),
		alarms: map[entity.Key]alarm.Alarm{}, dirty: map[entity.Key]bool{},
		later: map[entity.Key]time.Time{}, clearing: map[entity.Key]int{},
		asked: map[string]bool{}, lanes: map[[2]string]*lane{},
		levels: map[string][]alarm.Destination{}}
	a.watch = alarm.NewWatch(conf.Places, a.now())
	for _, d := range conf.Destinations {
		a.lanes[[2]string{d.Tenant, d.Name}] = &lane{Destination: d, waiting: map[entity.Key]bool{}}
		a.levels[d.Tenant] = append(a.levels[d.Tenant],
			alarm.Destination{Name: d.Name, Level: d.Level})
	}
	return a
}

// Attach names the desk, where Config could not. It must come before Run.
func (a *Alert) Attach(d Desk) { a.conf.Desk = d }

func (a *Alert) now() time.Time { return a.conf.Now().UTC().Truncate(time.Millisecond) }

// Effects takes the effects of durable Commits from the desk. It never blocks.
func (a *Alert) Effects(effects []entity.Effect) {
	for _, effect := range effects {
		switch e := effect.(type) {
		case delivery.Changed:
			a.inbox.Post(func(a *Alert) { a.watch.Changed(e, a.now()) })
		case delivery.Greeted:
			if e.Copied {
				a.inbox.Post(func(a *Alert) { a.watch.Copied(e, a.now()) })
			}
		case alarm.Changed:
			a.inbox.Post(func(a *Alert) { a.changed(e) })
		}
	}
}

// LateNow is what [alarm.Watch.LateNow] says of a station.
func (a *Alert) LateNow(tenant, station string) (count int, text string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.watch.LateNow(alarm.StationKey{Tenant: tenant, Station: station}, a.now())
}

// Run loads what is open from the store, watches and sends until ctx ends, and waits for what is
// being sent. It may be called once.
func (a *Alert) Run(ctx context.Context) error {
	defer a.sends.Wait()
	if err := a.load(); err != nil {
		return fmt.Errorf("alert: loading what is open: %w", err)
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		timer.Reset(a.turn(ctx))
		select {
		case <-ctx.Done():
			return nil
		case <-a.inbox.Ready():
		case <-timer.C:
		}
	}
}

// turn takes in what came, does what follows, and says how long there is nothing more to do.
func (a *Alert) turn(ctx context.Context) time.Duration {
	messages := a.inbox.Take()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, message := range messages {
		message(a)
	}
	now := a.now()
	a.memories(now)
	commands, next := a.watch.Due(now)
	for _, c := range commands {
		if c, ok := c.(alarm.Clear); ok {
			// What has ended is not sent any more, also before the desk has said so.
			key := alarm.Key(c.Tenant, c.Cause)
			a.clearing[key]++
			a.ask(c, func(a *Alert) {
				if a.clearing[key]--; a.clearing[key] == 0 {
					delete(a.clearing, key)
				}
				a.dirty[key] = true
			})
			continue
		}
		a.ask(c, nil)
	}
	for key, at := range a.later {
		if !now.Before(at) {
			a.dirty[key] = true
		}
	}
	for key := range a.dirty {
		delete(a.dirty, key)
		delete(a.later, key)
		if at := a.look(ctx, key, now); !at.IsZero() {
			a.later[key] = at
		}
	}
	a.pump(now)
	sleep := idleMax
	if a.conf.Devices != nil {
		sleep = devicesEvery
	}
	for _, at := range a.later {
		sleep = min(sleep, max(at.Sub(now), 0))
	}
	for _, at := range []time.Time{next, a.retry} {
		if !at.IsZero() {
			sleep = min(sleep, max(at.Sub(now), 0))
		}
	}
	return sleep
}

// memories asks the devices whether they can remember.
func (a *Alert) memories(now time.Time) {
	if a.conf.Devices == nil || now.Sub(a.devices) < devicesEvery {
		return
	}
	a.devices = now
	for _, d := range a.conf.Devices() {
		a.watch.Memory(d.Tenant, d.Device, d.Degraded, now)
	}
}

// ask queues a command.
func (a *Alert) ask(c entity.Command, done func(*Alert)) {
	a.queue = append(a.queue, question{c, done})
}

// pump gives the queue to the desk, in order.
func (a *Alert) pump(now time.Time) {
	if a.stopped {
		a.queue = nil
	}
	if now.Before(a.retry) {
		return
	}
	a.retry = time.Time{}
	for len(a.queue) > 0 {
		q := a.queue[0]
		err := a.conf.Desk.Submit(q.command, func(_ desk.Answer, err error) {
			a.inbox.Post(func(a *Alert) { a.answered(q, err) })
		})
		if err != nil {
			a.retry = now.Add(busyAfter)
			a.stopped = desk.Stopped(err)
			return
		}
		a.queue = a.queue[1:]
	}
}

// answered ends a question. What the desk refuses is a fault in the stored alarm: it is told to the
// log, and the watch says it again when it changes.
func (a *Alert) answered(q question, err error) {
	if q.done != nil {
		q.done(a)
	}
	switch {
	case err == nil:
	case desk.Stopped(err):
		a.stopped = true // The program ends.
	default:
		a.conf.Log.Error("alarm not stored", "error", err)
	}
}
