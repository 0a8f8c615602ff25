package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"chit/broker/delivery"
	"chit/device/wire"
)

// watch measures a storm and judges what is promised of it. Its methods do nothing on nil, so that
// other stories call them too.
type watch struct {
	w          *world
	storm      Storm
	drop, back time.Duration
	all        []time.Duration            // when each dispatch was
	tenants    map[string][]time.Duration // the same by tenant
	second     int                        // dispatches of this second
	samples    []Sample
	kitchens   []stormKitchen
	backlog    map[string]bool
	waited     int                      // of the backlog
	away, lost int                      // attempts
	drained    map[string]time.Duration // by tenant
}

// stormKitchen is one kitchen in a storm; -1 is a time that has not come.
type stormKitchen struct {
	open   []string // keys of the open deliveries, as they came
	oldest string   // of those that waited when the network came back
	known  time.Duration
	served time.Duration
}

func newWatch(w *world, s Storm) *watch {
	v := &watch{w: w, storm: s, drop: stormCalm, back: stormCalm + s.Away,
		tenants: map[string][]time.Duration{}, backlog: map[string]bool{},
		drained: map[string]time.Duration{}, kitchens: make([]stormKitchen, s.Devices)}
	for k := range v.kitchens {
		v.kitchens[k].known, v.kitchens[k].served = -1, -1
	}
	w.at(v.drop-time.Minute-time.Second, func() { v.second = 0 })
	w.at(v.drop-time.Minute, v.sample)
	w.at(v.back, v.returns)
	return v
}

// sample keeps a second, until a minute after all is drained.
func (v *watch) sample() {
	present := 0
	for _, d := range v.w.broker.relay.Relay().Devices() {
		if d.Present {
			present++
		}
	}
	waiting := v.w.judge.open
	for _, leased := range v.w.judge.leased {
		waiting -= leased
	}
	v.samples = append(v.samples, Sample{At: v.w.now - v.drop, Present: present, Waiting: waiting,
		Dispatched: v.second})
	v.second = 0
	if v.w.now < v.back+stormAfter {
		v.w.after(time.Second, v.sample)
	}
}

// returns is the instant at which the network is back.
func (v *watch) returns() {
	for k := range v.kitchens {
		kitchen := &v.kitchens[k]
		for _, key := range kitchen.open {
			if waits(v.w.judge.deliveries[key]) {
				v.backlog[key] = true
				v.waited++
			}
		}
		kitchen.oldest = v.oldest(kitchen)
	}
}

// oldest is the oldest ticket of a kitchen's backlog, "" for none.
func (v *watch) oldest(kitchen *stormKitchen) (key string) {
	for _, one := range kitchen.open {
		first, ok := v.w.judge.deliveries[key]
		if v.backlog[one] && (!ok || older(v.w.judge.deliveries[one], first)) {
			key = one
		}
	}
	return key
}

func waits(d delivery.Delivery) bool {
	return d.State == delivery.Waiting || d.State == delivery.Parked
}

// older is the order in which a station's tickets are handed over.
func older(a, b delivery.Delivery) bool {
	x, errX := wire.ParseTicketID(a.Ticket)
	y, errY := wire.ParseTicketID(b.Ticket)
	if errX != nil || errY != nil {
		return false
	}
	return cmp.Or(a.Release.Compare(b.Release), a.Accepted.Compare(b.Accepted),
		strings.Compare(x.Order, y.Order), cmp.Compare(x.Seq, y.Seq)) < 0
}

// greeted is a device that the broker knows again.
func (v *watch) greeted(e delivery.Greeted) {
	if v == nil || v.w.now < v.back {
		return
	}
	if k, ok := v.w.broker.kitchen(e.ID); ok && v.kitchens[k].known < 0 {
		v.kitchens[k].known = v.w.now
	}
}

// sent is a ticket that leaves. An older one of its station must not be waiting then.
func (v *watch) sent(k int, d delivery.Delivery) {
	if v == nil {
		return
	}
	v.all = append(v.all, v.w.now)
	v.tenants[d.Tenant] = append(v.tenants[d.Tenant], v.w.now)
	v.second++
	kitchen := &v.kitchens[k]
	if d.Tenant+"/"+d.Ticket == kitchen.oldest && kitchen.served < 0 {
		kitchen.served = v.w.now
	}
	for _, key := range kitchen.open {
		o := v.w.judge.deliveries[key]
		if waits(o) && !o.Due.After(v.w.broker.clock()) && older(o, d) && !v.blocked(o) {
			v.w.judge.broke("oldest", k, fmt.Sprintf("%s is sent while the older %s is %s", d.Ticket,
				o.Ticket, o.State))
		}
	}
}

// blocked is true where a lower mutation of the order is under way.
func (v *watch) blocked(d delivery.Delivery) bool {
	id, err := wire.ParseTicketID(d.Ticket)
	for id.Seq--; err == nil && id.Seq > 0; id.Seq-- {
		if o, ok := v.w.judge.deliveries[d.Tenant+"/"+id.String()]; ok && o.State.Blocks() {
			return true
		}
	}
	return false
}

// changed keeps what is open, and counts attempts.
func (v *watch) changed(k int, e delivery.Changed) {
	if v == nil {
		return
	}
	key := e.Key.Tenant + "/" + e.Key.ID
	kitchen := &v.kitchens[k]
	switch known := slices.Index(kitchen.open, key); {
	case e.Delivery.State.Open() && known < 0:
		kitchen.open = append(kitchen.open, key)
	case !e.Delivery.State.Open() && known >= 0:
		kitchen.open = slices.Delete(kitchen.open, known, known+1)
		if v.backlog[key] {
			delete(v.backlog, key)
			v.drained[e.Key.Tenant] = v.w.now
			if key == kitchen.oldest && kitchen.served < 0 {
				kitchen.oldest = v.oldest(kitchen) // A change took its place, or a person ended it.
			}
		}
	}
	if !slices.Contains(e.What, delivery.Failed) || v.w.now < v.drop {
		return
	}
	v.lost++
	if kitchen.known < 0 {
		v.away++
		v.w.judge.broke("I5", k, e.Key.ID+" spent an attempt while its device was away")
	}
}

// result sums up, and judges what only the whole story shows.
func (v *watch) result(r *StormResult) {
	r.Backlog = v.waited
	r.AttemptsAway, r.Attempts, r.Samples = v.away, v.lost, v.samples
	r.Peak = peak(v.all)
	limits := v.storm.limits()
	r.Limit = limits.TotalBurst + int(limits.Total)
	r.TenantLimit = limits.Burst + int(limits.Rate)
	for _, times := range v.tenants {
		r.TenantPeak = max(r.TenantPeak, peak(times))
	}
	var waits []time.Duration
	for k := range v.kitchens {
		kitchen := &v.kitchens[k]
		r.Known = max(r.Known, kitchen.known-v.back)
		if kitchen.oldest == "" {
			continue
		}
		if kitchen.known < 0 || kitchen.served < 0 {
			v.w.judge.broke("I5", k, kitchen.oldest+" was never handed over")
			continue
		}
		r.Oldest = max(r.Oldest, kitchen.served-v.back)
		waits = append(waits, kitchen.served-kitchen.known)
	}
	r.WaitWorst, r.WaitMedian = worst(waits)
	var drains []time.Duration
	for tenant, at := range v.drained {
		drains = append(drains, at-v.back)
		r.Drained = max(r.Drained, at-v.back)
		if at-v.back == r.Drained {
			r.TenantSlowest = tenant
		}
	}
	r.TenantWorst, r.TenantMedian = worst(drains)
	// What was asked for in one instant becomes durable in up to ten milliseconds more or less.
	if r.Peak > r.Limit+1+int(limits.Total/100) {
		v.w.judge.broke("limit", -1, fmt.Sprintf("%d dispatches in a second, at most %d are promised",
			r.Peak, r.Limit))
	}
	if r.TenantPeak > r.TenantLimit+1+int(limits.Rate/100) {
		v.w.judge.broke("limit", -1, fmt.Sprintf("%d dispatches of a tenant in a second, at most %d "+
			"are promised", r.TenantPeak, r.TenantLimit))
	}
	r.Violations = v.w.judge.violations
}

func worst(times []time.Duration) (most, median time.Duration) {
	if len(times) == 0 {
		return 0, 0
	}
	slices.Sort(times)
	return times[len(times)-1], times[len(times)/2]
}
