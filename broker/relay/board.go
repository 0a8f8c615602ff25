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

// board is every open delivery, sorted so that what must be done next is found without looking at
// what merely waits.
type board struct {
	items    map[entity.Key]*item
	stations map[laneKey]*station
	groups   map[[2]string]*group // by tenant and station
	// ends are the items by when time alone changes them. It mirrors the store's timers, which are
	// there for the next start.
	ends queue[*item]
	// owing are the items whose lease names a device, by device.
	owing  map[string]map[*item]bool
	leased int
	// drops is when a kitchen wants a delivery dropped as it stands, zero for never.
	drops func(delivery.Delivery) time.Time
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
	ordered  bool   // a lower mutation of its order comes first
	copyOf   string // of the station's copies of whose tickets it is one
	due      time.Time
	end      time.Time // when time alone changes it
	drops    bool      // that end is its kitchen's, which wants no stale tickets
	lease    *delivery.Lease
	watch    delivery.Watch

	// busy is true while the desk is asked about it, and asked is the epoch that it was asked at;
	// waking is true while it is asked to become waiting. retry is when it may be asked again after
	// it refused.
	busy, waking bool
	asked        uint64
	retry        time.Time
	lost         bool // its lease is older than the relay
	ripe         bool // its due and its retry have come
	gone         bool // it is open no more

	in        *queue[*item] // the station's queue that it is in, nil for none
	at, endAt int           // its places in that and in the board's ends
}

// look is when a time that is not the delivery's own end asks for another look.
func (i *item) look() time.Time {
	if i.state == delivery.Waiting && i.due.After(i.retry) {
		return i.due
	}
	return i.retry
}

// until is when the desk is to be asked what time makes of it.
func (i *item) until() time.Time {
	if !i.end.IsZero() && i.retry.After(i.end) {
		return i.retry
	}
	return i.end
}

// laneKey names a lane: a station's deliveries that are with one printer.
type laneKey struct {
	tenant, id string
	at         string       // the station whose printer it is: the own one, or the backup
	pin        delivery.Pin // the one printer that they are for, instead
	stays      bool         // for canaries, which go to the station's own printer alone
}

// group is the lanes of one station.
type group struct {
	lanes  []*station
	orders map[string][]*item
}

// station is one lane: a station's open deliveries that go to its own printer, to its backup's, or
// to one that they are pinned to. Each is in at most one of the queues: in none while the desk is
// asked about something else than to wake it, or where a person must say what becomes of it.
type station struct {
	laneKey
	*group
	open int

	ready   queue[*item] // waiting and due, nothing comes before them; oldest first
	blocked queue[*item] // waiting and due, behind a lower mutation of their order
	parked  queue[*item] // parked, nothing unanswered; oldest first
	unheard queue[*item] // parked with a lease that the next birth judges
	waking  queue[*item] // the desk is asked to make them waiting; oldest first
	leased  queue[*item]
	later   queue[*item] // to be looked at later, by when

	// watched are those of which a device is silent, or that it holds.
	watched map[*item]bool

	// turn is the round of its tenant that it stands in line for, with head; see line.
	turn uint64
	head *item
	look time.Time // when to look at it again
	// Its places in the tenant's line and among the looks.
	lineAt, lookAt int
}

func newBoard(drops func(delivery.Delivery) time.Time) *board {
	return &board{drops: drops, items: map[entity.Key]*item{}, stations: map[laneKey]*station{},
		groups: map[[2]string]*group{}, owing: map[string]map[*item]bool{},
		ends: queue[*item]{place: func(i *item) *int { return &i.endAt },
			compare: func(a, b *item) int { return cmp.Or(a.until().Compare(b.until()), order(a, b)) }}}
}

func newLane(key laneKey, of *group) *station {
	sorted := func(compare func(a, b *item) int) queue[*item] {
		return queue[*item]{compare: compare, place: func(i *item) *int { return &i.at }}
	}
	return &station{laneKey: key, group: of, watched: map[*item]bool{}, ready: sorted(order),
		blocked: sorted(order), parked: sorted(order), unheard: sorted(order), waking: sorted(order),
		leased: sorted(order), later: sorted(func(a, b *item) int {
			return cmp.Or(a.look().Compare(b.look()), order(a, b))
		})}
}

// order is by age: release, acceptance and id. The key decides between tenants.
func order(a, b *item) int {
	return cmp.Or(a.release.Compare(b.release), a.accepted.Compare(b.accepted),
		strings.Compare(a.id.Order, b.id.Order), cmp.Compare(a.id.Seq, b.id.Seq),
		strings.Compare(a.id.Made, b.id.Made), strings.Compare(a.id.Station, b.id.Station),
		strings.Compare(a.key.Tenant, b.key.Tenant))
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
	}
	if known == nil {
		id, err := wire.ParseTicketID(d.Ticket)
		if err != nil || !d.State.Open() {
			return nil, nil // No delivery without an id can be accepted.
		}
		known = &item{key: key, id: id, release: d.Release, accepted: d.Accepted, copyOf: d.CopyOf,
			ordered: id.Made == "" || d.Source != ""}
		b.insert(known, d)
	}
	b.unfile(known) // Its places depend on what changes now.
	b.lane(known, d)
	b.count(known, -1)
	blocks := known.state.Blocks()
	known.epoch, known.state, known.due, known.end = d.Epoch, d.State, d.Due, d.Ends()
	known.drops = false
	if at := b.drops(d); !at.IsZero() && at.Before(known.end) {
		known.end, known.drops = at, true
	}
	known.lease, known.retry, known.lost, known.ripe = d.Lease, time.Time{}, false, false
	known.watch = d.Watch()
	b.count(known, 1)
	if !d.State.Open() {
		b.remove(known)
	}
	b.file(known)
	if blocks != known.state.Blocks() {
		for _, other := range known.station.orders[known.id.Order] {
			b.file(other)
		}
	}
	return known.station, was
}

// count keeps the sums and the index of leases.
func (b *board) count(i *item, by int) {
	if i.state == delivery.Leased {
		b.leased += by
	}
	if i.lease == nil {
		return
	}
	owed := b.owing[i.lease.Device]
	switch {
	case by < 0:
		if delete(owed, i); len(owed) == 0 {
			delete(b.owing, i.lease.Device)
		}
	case !i.state.Open():
	case owed == nil:
		b.owing[i.lease.Device] = map[*item]bool{i: true}
	default:
		owed[i] = true
	}
}

func (b *board) insert(i *item, d delivery.Delivery) {
	i.station = b.station(laneOf(d))
	i.station.open++
	orders := i.station.orders
	orders[i.id.Order] = append(orders[i.id.Order], i)
	b.items[i.key] = i
}

// laneOf is where a delivery stands in line.
func laneOf(d delivery.Delivery) laneKey {
	key := laneKey{tenant: d.Tenant, id: d.Station, at: cmp.Or(d.MovedTo, d.Station),
		stays: d.Canary}
	if d.Pinned != nil {
		key.pin = *d.Pinned
	}
	return key
}

func (b *board) station(key laneKey) *station {
	s := b.stations[key]
	if s != nil {
		return s
	}
	of := b.groups[[2]string{key.tenant, key.id}]
	if of == nil {
		of = &group{orders: map[string][]*item{}}
		b.groups[[2]string{key.tenant, key.id}] = of
	}
	s = newLane(key, of)
	of.lanes = append(of.lanes, s)
	b.stations[key] = s
	return s
}

// lane puts i, which is in no queue, into the lane where d belongs.
func (b *board) lane(i *item, d delivery.Delivery) {
	was, is := i.station, b.station(laneOf(d))
	if was == is {
		return
	}
	was.open--
	is.open++
	delete(was.watched, i)
	i.station = is
}

func (b *board) remove(i *item) {
	s := i.station
	same := slices.DeleteFunc(s.orders[i.id.Order], func(o *item) bool { return o == i })
	if s.orders[i.id.Order] = same; len(same) == 0 {
		delete(s.orders, i.id.Order)
	}
	s.open--
	delete(s.watched, i)
	i.gone = true
	delete(b.items, i.key)
}

// unfile takes i out of every queue.
func (b *board) unfile(i *item) {
	b.ends.drop(i)
	if i.in != nil {
		i.in.drop(i)
		i.in = nil
	}
}

// file puts i where it belongs now. Whatever a place depends on must change between unfile and
// file.
func (b *board) file(i *item) {
	b.unfile(i)
	if i.gone {
		return
	}
	if !i.busy && !i.until().IsZero() {
		b.ends.put(i)
	}
	if i.watch.Anything() {
		i.station.watched[i] = true
	} else {
		delete(i.station.watched, i)
	}
	if i.in = i.belongs(); i.in != nil {
		i.in.put(i)
	}
}

func (i *item) belongs() *queue[*item] {
	s := i.station
	switch {
	case i.waking:
		return &s.waking
	case i.busy:
		return nil
	case !i.ripe && !i.look().IsZero():
		return &s.later
	case i.state == delivery.Leased:
		return &s.leased
	case i.state == delivery.Parked && i.lease != nil:
		return &s.unheard
	case i.state == delivery.Parked:
		return &s.parked
	case i.state != delivery.Waiting:
		return nil
	case s.behind(i):
		return &s.blocked
	}
	return &s.ready
}

// ripen files what has come due by now.
func (b *board) ripen(s *station, now time.Time) {
	for {
		i, ok := s.later.first()
		if !ok || now.Before(i.look()) {
			return
		}
		b.unfile(i)
		i.ripe, i.retry = true, time.Time{}
		b.file(i)
	}
}

// behind reports whether a lower mutation of i's order must reach the station first, or the printer
// where both are for that one alone. The desk checks it again; this keeps the relay from asking in
// vain.
func (s *station) behind(i *item) bool {
	if !i.ordered {
		return false
	}
	for _, other := range s.orders[i.id.Order] {
		pin := other.station.pin
		if other.ordered && other.copyOf == i.copyOf && other.id.Seq < i.id.Seq &&
			other.state.Blocks() && (pin == delivery.Pin{} || pin == i.station.pin) {
			return true
		}
	}
	return false
}
