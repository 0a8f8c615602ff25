package relay

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"chit/broker/delivery"
	"chit/broker/entity"
	"chit/device/wire"
)

// board is every open delivery, by station in the order in which it is to be handed over.
type board struct {
	items    map[entity.Key]*item
	stations map[[2]string]*station // by tenant and station
	leased   int
}

// item is one open delivery as the relay knows it: at least as old as what is durable.
type item struct {
	key     entity.Key
	id      wire.TicketID
	station *station

	epoch    uint64
	state    delivery.State
	release  time.Time
	accepted time.Time
	due      time.Time
	lease    *delivery.Lease

	// busy is true while the desk is asked about it; retry is when it may be asked again after it
	// refused.
	busy  bool
	lost  bool // its lease is older than the relay
	retry time.Time
}

// station is one station's open deliveries.
type station struct {
	tenant, id string
	items      []*item            // by release, acceptance and id
	orders     map[string][]*item // the same by order
}

func newBoard() *board {
	return &board{items: map[entity.Key]*item{}, stations: map[[2]string]*station{}}
}

func order(a, b *item) int {
	return cmp.Or(a.release.Compare(b.release), a.accepted.Compare(b.accepted),
		strings.Compare(a.id.Order, b.id.Order), cmp.Compare(a.id.Seq, b.id.Seq),
		strings.Compare(a.id.Made, b.id.Made))
}

// set takes in where a delivery stands, and tells its station and the lease that was known of it
// before. s is nil where nothing was learned: news older than what is known change nothing.
func (b *board) set(d delivery.Delivery) (s *station, was *delivery.Lease) {
	key := delivery.Key(d.Tenant, d.Ticket)
	known := b.items[key]
	if known != nil {
		if d.Epoch < known.epoch {
			return nil, nil
		}
		was = known.lease
		b.count(known, -1)
	}
	if !d.State.Open() {
		if known == nil {
			return nil, nil
		}
		b.remove(known)
		return known.station, was
	}
	if known == nil {
		id, err := wire.ParseTicketID(d.Ticket)
		if err != nil {
			return nil, nil // No such delivery can be accepted.
		}
		known = &item{key: key, id: id, release: d.Release, accepted: d.Accepted}
		b.insert(known, d.Tenant, d.Station)
	}
	known.epoch, known.state, known.due, known.lease = d.Epoch, d.State, d.Due, d.Lease
	known.retry, known.lost = time.Time{}, false
	b.count(known, 1)
	return known.station, was
}

func (b *board) count(i *item, by int) {
	if i.state == delivery.Leased {
		b.leased += by
	}
}

func (b *board) insert(i *item, tenant, name string) {
	s := b.stations[[2]string{tenant, name}]
	if s == nil {
		s = &station{tenant: tenant, id: name, orders: map[string][]*item{}}
		b.stations[[2]string{tenant, name}] = s
	}
	at, _ := slices.BinarySearchFunc(s.items, i, order)
	s.items = slices.Insert(s.items, at, i)
	s.orders[i.id.Order] = append(s.orders[i.id.Order], i)
	i.station = s
	b.items[i.key] = i
}

func (b *board) remove(i *item) {
	at, found := slices.BinarySearchFunc(i.station.items, i, order)
	if found {
		i.station.items = slices.Delete(i.station.items, at, at+1)
	}
	same := slices.DeleteFunc(i.station.orders[i.id.Order], func(o *item) bool { return o == i })
	if i.station.orders[i.id.Order] = same; len(same) == 0 {
		delete(i.station.orders, i.id.Order)
	}
	delete(b.items, i.key)
}

// blocked reports whether a lower mutation of i's order must reach the station first. The desk
// checks it again; this keeps the relay from asking in vain.
func (s *station) blocked(i *item) bool {
	if i.id.Made != "" {
		return false
	}
	for _, other := range s.orders[i.id.Order] {
		if other.id.Made == "" && other.id.Seq < i.id.Seq && other.state.Blocks() {
			return true
		}
	}
	return false
}
