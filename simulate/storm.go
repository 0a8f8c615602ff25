package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"chit/broker/relay"
	"chit/device/wire"
)

// Storm is a story in which all kitchens lose their network at once and come back, while orders go
// on. Everything in it is as real as in other stories, printers and paper too.
type Storm struct {
	Seed uint64
	// Devices is how many there are, one in each kitchen; Tenants share them: the first has a fifth
	// of them, the others equal parts of the rest.
	Devices, Tenants int
	// Away is how long the network is gone.
	Away time.Duration
	// Orders is how many each kitchen gets in an hour.
	Orders float64
	// Rate and Total bound the broker's dispatches per second, of one tenant and of all; its
	// defaults where 0.
	Rate, Total float64
}

// limits are the broker's, with the bursts in the proportion of its defaults.
func (s Storm) limits() (c relay.Config) {
	c.Rate, c.Total = s.Rate, s.Total
	if c.Rate <= 0 {
		c.Rate = relay.RateDefault
	}
	if c.Total <= 0 {
		c.Total = relay.TotalDefault
	}
	c.Burst = max(1, int(c.Rate*relay.BurstDefault/relay.RateDefault))
	c.TotalBurst = max(1, int(c.Total*relay.TotalBurstDefault/relay.TotalDefault))
	return c
}

// Bounds of a storm's story.
const (
	stormCalm  = 6 * time.Minute // before it: every connection has stood long enough to be stable
	stormAfter = 5 * time.Minute // that orders go on after it
	stormStart = time.Minute     // in which the devices start
)

// StormResult is what became of a storm. Times count from when the network is back.
type StormResult struct {
	Result
	Storm Storm
	// Backlog is how many tickets were waiting when the network came back.
	Backlog int
	// Peak is the most dispatches in any second, of all tenants and of one; Limit and TenantLimit
	// are what they may be.
	Peak, Limit, TenantPeak, TenantLimit int
	// AttemptsAway is how many attempts were spent at devices that were away, Attempts at all.
	AttemptsAway, Attempts int
	// Known is when the last device was known again, Oldest when the last kitchen had its oldest
	// ticket handed over, Drained when the last ticket of the backlog was settled.
	Known, Oldest, Drained time.Duration
	// WaitWorst and WaitMedian are how long a kitchen that was known again waited for its oldest
	// ticket.
	WaitWorst, WaitMedian time.Duration
	// TenantWorst and TenantMedian are how long the tenants' backlogs took to drain, TenantSlowest
	// whose took longest.
	TenantWorst, TenantMedian time.Duration
	TenantSlowest             string
	Samples                   []Sample
}

// Sample is one second of a storm.
type Sample struct {
	At                           time.Duration // from the storm's beginning, negative before
	Present, Waiting, Dispatched int
}

// RunStorm tells a storm's story. Anything but the promised is a violation.
func RunStorm(s Storm) StormResult {
	o := Options{Seed: s.Seed, Kitchens: s.Devices,
		Hours: (stormCalm + s.Away + stormAfter).Hours()}
	w := newWorld(o, stormPlan(s))
	w.limits = s.limits()
	w.storm = newWatch(w, s)
	w.stagger = stormStart / time.Duration(max(1, s.Devices))
	r := StormResult{Result: w.tell(), Storm: s}
	w.storm.result(&r)
	return r
}

// stormPlan is all kitchens' partition at one instant, and plain orders.
func stormPlan(s Storm) Plan {
	var p Plan
	for k := range s.Devices {
		r := stream(s.Seed, fmt.Sprint("kitchen ", k))
		p.Kitchens = append(p.Kitchens, Kitchen{Tenant: s.tenant(k),
			Stations: []string{fmt.Sprintf("g%d", k)}, Printers: []string{"hot"},
			Cabled: r.IntN(2) == 0})
		at, n := stormStart, 0
		for {
			at += time.Duration(r.ExpFloat64() / s.Orders * float64(time.Hour))
			if at >= stormCalm+s.Away+stormAfter || n == 99 {
				break
			}
			post := Post{Kitchen: k, At: at, Order: fmt.Sprintf("%d%02d", 1000+k, n), Seq: 1,
				Station: p.Kitchens[k].Stations[0], Kind: wire.KindNew, Items: items(r)}
			p.Posts = append(p.Posts, post)
			if r.IntN(6) == 0 {
				post.Seq, post.Kind = 2, wire.KindChange
				post.At += time.Duration(r.IntN(180)) * time.Second
				post.Items = items(r)
				p.Posts = append(p.Posts, post)
			}
			n++
		}
		p.Faults = append(p.Faults, Fault{Name: Partition, Kitchen: k, At: stormCalm, For: s.Away})
	}
	slices.SortStableFunc(p.Posts, func(a, b Post) int { return cmp.Compare(a.At, b.At) })
	return p
}

// tenant shares the kitchens out.
func (s Storm) tenant(k int) string {
	large := s.Devices / 5
	if k < large || s.Tenants < 2 {
		return "t0"
	}
	return fmt.Sprintf("t%d", 1+(k-large)%(s.Tenants-1))
}

// peak is the most of times, which are in order, within any second.
func peak(times []time.Duration) int {
	most, from := 0, 0
	for i, at := range times {
		for at-times[from] >= time.Second {
			from++
		}
		most = max(most, i-from+1)
	}
	return most
}
