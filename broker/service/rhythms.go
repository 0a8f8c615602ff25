package service

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"chit/broker/alarm"
	"chit/broker/delivery"
	"chit/broker/desk"
	"chit/broker/entity"
	"chit/broker/intake"
	"chit/broker/kitchen"
	"chit/broker/store"
	"chit/device/wire"
)

const (
	// roundEvery is how often the kitchens are looked after.
	roundEvery = 30 * time.Second
	// learnEvery is the shortest pause between two writings of a kitchen's rhythm.
	learnEvery = time.Hour
	// lastWord bounds the writing at the end.
	lastWord = 5 * time.Second
)

// asker is the desk.
type asker interface {
	Do(context.Context, entity.Command) (desk.Answer, error)
}

// rhythms listens to the orders of the kitchens that want the silence alarm, from when the doors
// are served until run ends: what nobody could send is no silence.
type rhythms struct {
	desk  asker
	store store.Store
	now   func() time.Time
	log   *slog.Logger
	wake  chan struct{}

	mu       sync.Mutex
	kitchens map[[2]string]*listened // by tenant and kitchen
	serving  bool
}

// listened is one kitchen. Everything but silence and warning is run's alone.
type listened struct {
	tenant, id string
	zone       *time.Location
	severity   alarm.Severity
	silence    *kitchen.Silence
	warning    kitchen.Warning
	told       bool // the store has its alarm
	saved      time.Time
}

func newRhythms(s store.Store, list *kitchens, now func() time.Time, log *slog.Logger) (
	*rhythms, error) {
	r := &rhythms{store: s, now: now, log: log, wake: make(chan struct{}, 1),
		kitchens: map[[2]string]*listened{}}
	for _, k := range list.all {
		if !k.kitchen.SilenceAlarm {
			continue
		}
		learned, _, err := kitchen.Load(s, k.kitchen.Tenant, k.kitchen.ID)
		if err != nil {
			return nil, err
		}
		l := &listened{tenant: k.kitchen.Tenant, id: k.kitchen.ID, zone: k.zone,
			severity: alarm.Severity(k.kitchen.SilenceSeverity), saved: now()}
		if l.severity == "" {
			l.severity = alarm.P2
		}
		known, version, err := alarm.Load(s, l.tenant, l.cause())
		if err != nil {
			return nil, err
		}
		l.told = version > 0 && (known.State == alarm.Raised || known.State == alarm.Taken)
		wall := kitchen.Wall{Hours: k.hours, Zone: k.zone, DayCut: k.kitchen.DayCut}
		l.silence = kitchen.NewSilence(wall, learned, l.told)
		r.kitchens[[2]string{l.tenant, l.id}] = l
	}
	return r, nil
}

func (l *listened) cause() string { return alarm.CauseSilence + "/" + l.id }

// effects takes in what was accepted. It never blocks for long.
func (r *rhythms) effects(effects []entity.Effect) {
	for _, effect := range effects {
		e, ok := effect.(delivery.Changed)
		if !ok || e.Delivery.Canary || !slices.Contains(e.What, delivery.Accepted) {
			continue
		}
		id, err := wire.ParseTicketID(e.Delivery.Ticket)
		if err != nil || id.Made != "" { // The broker's own words are no sign of the shop.
			continue
		}
		r.heard(e.Delivery, id.Order)
	}
}

func (r *rhythms) heard(d delivery.Delivery, order string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.kitchens[[2]string{d.Tenant, d.Kitchen}]
	if l == nil || !r.serving {
		return
	}
	placed := d.Kind == wire.KindNew
	if !l.silence.Heard(order, placed, r.now()) {
		return
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// run listens until ctx ends.
func (r *rhythms) run(ctx context.Context) error {
	if len(r.kitchens) == 0 {
		return nil
	}
	r.mu.Lock()
	r.serving = true
	r.mu.Unlock()
	ticker := time.NewTicker(roundEvery)
	defer ticker.Stop()
	for {
		r.round(ctx)
		select {
		case <-ctx.Done():
			r.end(ctx)
			return nil
		case <-ticker.C:
		case <-r.wake:
		}
	}
}

// sorted are the kitchens in one order.
func (r *rhythms) sorted() []*listened {
	list := slices.Collect(maps.Values(r.kitchens))
	slices.SortFunc(list, func(a, b *listened) int {
		return strings.Compare(a.tenant+"/"+a.id, b.tenant+"/"+b.id)
	})
	return list
}

// round lets time pass and has told and stored what follows. What the desk does not take now is
// asked again in the next round.
func (r *rhythms) round(ctx context.Context) {
	now := r.now()
	for _, l := range r.sorted() {
		r.mu.Lock()
		if w, warn := l.silence.Tick(now); warn {
			l.warning = w
		}
		warned, warning := l.silence.Warned(), l.warning
		r.mu.Unlock()
		if warned != l.told {
			var c entity.Command = alarm.Clear{Tenant: l.tenant, Cause: l.cause()}
			if warned {
				c = l.raise(warning)
			}
			if r.do(ctx, c) {
				l.told = warned
			}
		}
		if now.Sub(l.saved) >= learnEvery && r.learn(ctx, l) {
			l.saved = now
		}
	}
}

func (l *listened) raise(w kitchen.Warning) alarm.Raise {
	return alarm.Raise{Tenant: l.tenant, Cause: l.cause(), Kitchen: l.id, Severity: l.severity,
		Count: 1, Text: fmt.Sprintf("no order at kitchen %s since %s, %d minutes in which about %.0f "+
			"are usual: does the shop still send them?", l.id, w.Since.In(l.zone).Format("15:04"),
			int(w.For.Minutes()), w.Usual)}
}

func (r *rhythms) learn(ctx context.Context, l *listened) bool {
	r.mu.Lock()
	rhythm := l.silence.Rhythm()
	r.mu.Unlock()
	return r.do(ctx, kitchen.Learn{Tenant: l.tenant, Kitchen: l.id, Rhythm: rhythm})
}

// end stores what was learned since the last hour.
func (r *rhythms) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWord)
	defer cancel()
	for _, l := range r.sorted() {
		r.learn(ctx, l)
	}
}

func (r *rhythms) do(ctx context.Context, c entity.Command) bool {
	_, err := r.desk.Do(ctx, c)
	if err != nil && ctx.Err() == nil {
		r.log.Warn("silence watch waits", "command", fmt.Sprintf("%T", c), "err", err)
	}
	return err == nil
}

// kitchenDoor answers the door about kitchens.
type kitchenDoor struct{ s *Service }

var _ intake.Kitchens = kitchenDoor{}

// Rhythm implements [intake.Kitchens].
func (d kitchenDoor) Rhythm(_ context.Context, tenant, id string) (intake.Rhythm, error) {
	for _, k := range d.s.kitchens.all {
		if k.kitchen.Tenant == tenant && k.kitchen.ID == id {
			return d.s.rhythms.view(k)
		}
	}
	return intake.Rhythm{}, fmt.Errorf("%w: no kitchen is named so", intake.ErrNotFound)
}

// view shows what was learned; of a kitchen that is not listened to, what is stored.
func (r *rhythms) view(k walled) (intake.Rhythm, error) {
	now := r.now()
	v := intake.Rhythm{Kitchen: k.kitchen.ID, Zone: k.zone.String(),
		SilenceAlarm: k.kitchen.SilenceAlarm, WeeksNeeded: kitchen.WeeksMin,
		BusyFrom: kitchen.BusyRate, Hours: []intake.RhythmHour{}}
	var learned kitchen.Rhythm
	r.mu.Lock()
	if l := r.kitchens[[2]string{k.kitchen.Tenant, k.kitchen.ID}]; l != nil {
		learned = l.silence.Rhythm()
		v.Silent = l.silence.Warned()
		r.mu.Unlock()
	} else {
		r.mu.Unlock()
		var err error
		if learned, _, err = kitchen.Load(r.store, k.kitchen.Tenant, k.kitchen.ID); err != nil {
			return intake.Rhythm{}, err
		}
	}
	for hour := range kitchen.HoursOfWeek {
		c := learned.Cell(hour, now)
		if c.Weeks == 0 {
			continue
		}
		day := strings.ToLower(time.Weekday(hour / 24).String()[:3])
		v.Hours = append(v.Hours, intake.RhythmHour{Day: day, Hour: hour % 24, Weeks: c.Weeks,
			Orders: math.Round(c.Rate()*10) / 10, Known: c.Known()})
	}
	return v, nil
}
