package delivery

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"chit/broker/entity"
	"chit/device/wire"
)

// Chain is the tickets of one order, over all stations, in order of acceptance.
type Chain struct {
	Format  int       `json:"v"`
	Tickets []string  `json:"tickets"`
	Until   time.Time `json:"until"` // the last expires of its tickets
}

func chainKey(tenant, order string) entity.Key {
	return entity.Key{Tenant: tenant, Kind: KindChain, ID: order}
}

func loadChain(view entity.View, tenant, order string) (Chain, uint64, error) {
	var c Chain
	version, err := load(view, chainKey(tenant, order), &c)
	return c, version, err
}

// changes tells a change ticket against the last accepted seq that says what the order holds.
func (c Chain) changes(view entity.View, d Delivery, id wire.TicketID, now wire.Content) (
	*wire.Changes, error) {
	if now.Kind != wire.KindChange {
		return nil, nil
	}
	lower, err := c.before(view, d, id)
	if err != nil {
		return nil, err
	}
	for _, other := range lower {
		// What was ended before any device had it is on no paper to be told against.
		if other.version > 0 && other.d.State == Cancelled && other.d.paperless() {
			continue
		}
		content, ok, err := LoadContent(view, d.Tenant, other.id.String())
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		var was wire.Content
		if err := json.Unmarshal(content.Data, &was); err != nil {
			return nil, fmt.Errorf("delivery: reading content of %s: %w", other.id, err)
		}
		voids, err := c.voids(view, other.d, other.id)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(voids, func(v row) bool { return v.id.Seq < id.Seq }) {
			return Diff(other.id.Seq, nil, now.Items), nil
		}
		switch was.Kind {
		case wire.KindNew, wire.KindChange:
			return Diff(other.id.Seq, was.Items, now.Items), nil
		case wire.KindVoid:
			return Diff(other.id.Seq, nil, now.Items), nil // After a void everything is added.
		}
	}
	return nil, nil
}

// standing is what a dispatch must know of the order's lower mutations at the station.
type standing struct {
	pred    string // the station's previous ticket of the order, "" for none
	blocked string // the lower one that must come first, "" for none
	above   int    // the highest seq that was handed over before a lower one is, 0 for none
	also    string // the other stations that have the same mutation, for alsoat
	doubt   bool   // its device may have printed it as another ticket
}

// standing looks at the other mutations of d's family. A cancelled one is no predecessor: no paper
// will miss it. Behind a twin waits what comes after it at its device, and nothing else. A higher
// one that was handed over stands above on paper, as far as the broker knows; the device may have
// lost its memory of it, and does not know of which mutation a twin is one (I6).
func (c Chain) standing(view entity.View, d Delivery, id wire.TicketID, device string) (standing,
	error) {
	var s standing
	if !d.mutation(id) && !d.twin() {
		return s, nil
	}
	lower, err := c.at(view, d.family(), func(o row) bool {
		return o.version > 0 && beneath(id)(o) &&
			(o.d.mutation(o.id) || o.d.twin() && o.d.Pinned.Device == device)
	})
	if err != nil {
		return s, err
	}
	for _, other := range slices.Backward(lower) {
		if s.pred == "" && other.d.State != Cancelled && !other.d.twin() && !d.twin() {
			s.pred = other.d.Ticket
		}
		if other.d.State.Blocks() {
			s.blocked = other.d.Ticket
			return s, nil
		}
	}
	higher, err := c.at(view, d.family(), func(o row) bool {
		return o.id.Seq > id.Seq && (o.d.mutation(o.id) || o.d.twin())
	})
	for _, other := range higher {
		printer := ""
		if d.twin() || other.d.twin() {
			printer = device // A twin is of one printer: nothing else is above it or below it.
		}
		if other.version > 0 && !other.d.paperlessAt(printer) {
			s.above = max(s.above, other.id.Seq)
		}
	}
	return s, err
}
