package relay

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"chit/broker/delivery"
	"chit/device/wire"
)

// Counters are a relay's counts since its start.
type Counters struct {
	Sent, Unsent uint64            // tickets published; tickets that were not
	Acks         map[string]uint64 // acks that had an effect, by outcome
	BadAcks      map[string]uint64 // messages that had none, by reason
	Hellos       uint64
	Copies       uint64            // hellos that showed two devices with one identity
	Recalled     uint64            // recalls told, with repetitions
	Recalls      int               // recalls that are not answered
	Events       map[string]uint64 // deliveries' events by word: printed, buried, parked …
	Present      int               // devices with an open session
	Open         int               // deliveries waiting, leased, parked or stale
	Leased       int
}

type counts struct {
	mu sync.Mutex
	Counters
}

func newCounts() counts {
	return counts{Counters: Counters{Acks: map[string]uint64{}, BadAcks: map[string]uint64{},
		Events: map[string]uint64{}}}
}

func (c *counts) sent()     { c.add(func() { c.Sent++ }) }
func (c *counts) unsent()   { c.add(func() { c.Unsent++ }) }
func (c *counts) hello()    { c.add(func() { c.Hellos++ }) }
func (c *counts) recalled() { c.add(func() { c.Recalled++ }) }
func (c *counts) copied()   { c.add(func() { c.Copies++ }) }

func (c *counts) ack(o wire.Outcome) { c.add(func() { c.Acks[string(o)]++ }) }
func (c *counts) bad(reason string)  { c.add(func() { c.BadAcks[reason]++ }) }

func (c *counts) events(words []delivery.Word) {
	c.add(func() {
		for _, word := range words {
			c.Events[string(word)]++
		}
	})
}

func (c *counts) add(count func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	count()
}

// Counters is a snapshot.
func (r *Relay) Counters() Counters {
	r.counts.mu.Lock()
	c := r.counts.Counters
	c.Acks, c.BadAcks = maps.Clone(c.Acks), maps.Clone(c.BadAcks)
	c.Events = maps.Clone(c.Events)
	r.counts.mu.Unlock()

	r.mu.Lock()
	defer r.mu.Unlock()
	c.Open, c.Leased = len(r.board.items), r.board.leased
	for _, d := range r.devices {
		if d.present {
			c.Present++
		}
	}
	for _, devices := range r.recalls.of {
		c.Recalls += len(devices)
	}
	return c
}

// Devices lists what is known of every device heard since the start, by tenant and id.
func (r *Relay) Devices() []DeviceState {
	r.mu.Lock()
	defer r.mu.Unlock()
	var states []DeviceState
	for _, d := range r.devices {
		states = append(states, DeviceState{Tenant: d.tenant, Device: d.id, Present: d.present,
			Session: d.record.Session, Status: d.status, Telemetry: d.telemetry, Seen: d.seen,
			Leased: len(d.leased), Narrow: d.narrow})
	}
	slices.SortFunc(states, func(a, b DeviceState) int {
		return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Device, b.Device))
	})
	return states
}
