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

// before lists the ids of the order's mutations at id's station with a lower seq, highest first.
// What broker or device made of a mutation speaks about it and takes no place in the row.
func (c Chain) before(id wire.TicketID) []wire.TicketID {
	var lower []wire.TicketID
	for _, ticket := range c.Tickets {
		other, err := wire.ParseTicketID(ticket)
		if err != nil || other.Station != id.Station || other.Made != "" || other.Seq >= id.Seq {
			continue
		}
		at := len(lower)
		for at > 0 && lower[at-1].Seq < other.Seq {
			at--
		}
		lower = append(lower[:at], append([]wire.TicketID{other}, lower[at:]...)...)
	}
	return lower
}

// changes tells a change ticket against the last accepted seq that says what the order holds.
func (c Chain) changes(view entity.View, tenant string, id wire.TicketID, now wire.Content) (
	*wire.Changes, error) {
	if now.Kind != wire.KindChange {
		return nil, nil
	}
	for _, other := range c.before(id) {
		// What was ended before any device had it is on no paper to be told against.
		d, version, err := Load(view, tenant, other.String())
		if err != nil {
			return nil, err
		}
		if version > 0 && d.State == Cancelled && d.paperless() {
			continue
		}
		content, ok, err := LoadContent(view, tenant, other.String())
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		var was wire.Content
		if err := json.Unmarshal(content.Data, &was); err != nil {
			return nil, fmt.Errorf("delivery: reading content of %s: %w", other, err)
		}
		voids, err := c.voids(view, tenant, other)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(voids, func(v row) bool { return v.id.Seq < id.Seq }) {
			return Diff(other.Seq, nil, now.Items), nil
		}
		switch was.Kind {
		case wire.KindNew, wire.KindChange:
			return Diff(other.Seq, was.Items, now.Items), nil
		case wire.KindVoid:
			return Diff(other.Seq, nil, now.Items), nil // After a void everything is added.
		}
	}
	return nil, nil
}

// standing is what a dispatch must know of the order's lower mutations at the station.
type standing struct {
	pred    string // the station's previous ticket of the order, "" for none
	blocked string // the lower one that must come first, "" for none
	above   int    // the highest seq that was handed over before a lower one is, 0 for none
}

// standing loads the order's other mutations at the station. A cancelled one is no predecessor: no
// paper will miss it. A higher one that was handed over stands above on paper, as far as the broker
// knows; the device may have lost its memory of it (I6).
func (c Chain) standing(view entity.View, tenant string, id wire.TicketID) (standing, error) {
	var s standing
	if id.Made != "" {
		return s, nil
	}
	for _, other := range c.before(id) {
		d, version, err := Load(view, tenant, other.String())
		if err != nil {
			return s, err
		}
		if version == 0 {
			continue
		}
		if s.pred == "" && d.State != Cancelled {
			s.pred = d.Ticket
		}
		if d.State.Blocks() {
			s.blocked = d.Ticket
			return s, nil
		}
	}
	for _, other := range c.after(id) {
		d, version, err := Load(view, tenant, other.String())
		if err != nil {
			return s, err
		}
		if version > 0 && !d.paperless() {
			s.above = max(s.above, other.Seq)
		}
	}
	return s, nil
}

// after lists the ids of the order's mutations at id's station with a higher seq.
func (c Chain) after(id wire.TicketID) []wire.TicketID {
	var higher []wire.TicketID
	for _, ticket := range c.Tickets {
		other, err := wire.ParseTicketID(ticket)
		if err == nil && other.Station == id.Station && other.Made == "" && other.Seq > id.Seq {
			higher = append(higher, other)
		}
	}
	return higher
}
