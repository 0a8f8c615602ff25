package delivery

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"chit/broker/entity"
	"chit/device/wire"
)

var (
	// ErrBlocked refuses a dispatch while a lower seq of the same order is waiting, leased or
	// parked (DESIGN.md I6).
	ErrBlocked = errors.New("delivery: a lower mutation comes first")
	// ErrSession refuses a dispatch to a session that is no longer the device's.
	ErrSession = errors.New("delivery: not the device's session")
)

// Dispatch hands a waiting delivery to a device's session: it gives the lease, at the first time
// the number, and the effect [Send].
type Dispatch struct {
	Tenant, Ticket string
	// Epoch is the delivery's as it was read.
	Epoch                    uint64
	Device, Printer, Session string
	Status                   string // the device's status now, for the attempt's telemetry
	Address                  string // the device's network address now, for the same
	// Place is whose printer it is: the delivery's own station's, where empty, or the backup's that
	// has it now.
	Place Place
	// Lease and StaleAfter are the station's, the defaults where 0; DayCut too.
	Lease, StaleAfter time.Duration
	OnStale           wire.OnStale   // the kitchen's policy; print where empty
	Zone              *time.Location // of the kitchen; UTC where nil
	DayCut            time.Duration
}

// Identity implements [entity.Command].
func (c Dispatch) Identity() entity.Identity { return entity.Identity{} }

// Name implements desk.Named.
func (c Dispatch) Name() string { return "lease" }

// Decide implements [entity.Command].
func (c Dispatch) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	d, version, err := Load(view, c.Tenant, c.Ticket)
	if err != nil {
		return entity.Commit{}, err
	}
	if version == 0 {
		return entity.Commit{}, fmt.Errorf("%w: %s", ErrUnknown, c.Ticket)
	}
	device, deviceVersion, err := loadDevice(view, c.Tenant, c.Device)
	if err != nil {
		return entity.Commit{}, err
	}
	if deviceVersion == 0 || device.Session != c.Session {
		return entity.Commit{}, fmt.Errorf("%w: %s of %s", ErrSession, c.Session, c.Device)
	}
	id, err := wire.ParseTicketID(d.Ticket)
	if err != nil {
		return entity.Commit{}, err
	}
	chain, _, err := loadChain(view, d.Tenant, id.Order)
	if err != nil {
		return entity.Commit{}, err
	}
	order, err := chain.standing(view, d, id, c.Device)
	if err != nil {
		return entity.Commit{}, err
	}
	if order.also, err = chain.also(view, d, id); err != nil {
		return entity.Commit{}, err
	}
	if order.doubt, err = d.doubtful(view); err != nil {
		return entity.Commit{}, err
	}
	if at := d.at(); c.Place.Station != "" && c.Place.Station != at ||
		c.Place.Station == "" && d.MovedTo != "" {
		return entity.Commit{}, fmt.Errorf("%w: %s is with %s", ErrMoved, d.Ticket, at)
	}
	if order.blocked != "" {
		return entity.Commit{}, fmt.Errorf("%w: %s before %s", ErrBlocked, order.blocked, d.Ticket)
	}
	if d.Kind == wire.KindVoid || d.twin() {
		device := ""
		if d.Pinned != nil {
			device = d.Pinned.Device
		}
		bare, _, err := chain.bare(view, d.family(), row{id: id, d: d}.scope(), device)
		if err != nil {
			return entity.Commit{}, err
		}
		if bare {
			commit, _, err := cancel(view, d, version, End{Epoch: c.Epoch, Reason: ReasonNoPaper}, now)
			return commit, err
		}
	}
	if p := d.policy(c.OnStale); p != wire.OnStalePrint && !now.Before(d.StaleAt(c.stale())) {
		_, _, commit, err := step(d, version, Outdate{Epoch: c.Epoch, Policy: p}, now)
		return commit, err
	}
	f := newDraft(view)
	commit, err := c.hand(f, d, version, device, order, now)
	if err != nil || len(chain.Tickets) == 1 {
		return commit, err
	}
	f.add(commit)
	return f.commit, f.spread(chain, d.family(), now)
}

func (c Dispatch) hand(view entity.View, d Delivery, version uint64, device Device, order standing,
	now time.Time) (entity.Commit, error) {
	lease := LeaseFor
	if c.Lease > 0 {
		lease = c.Lease
	}
	generation, err := LoadGeneration(view, c.Tenant)
	if err != nil {
		return entity.Commit{}, err
	}
	handing := Handing{
		Lease: Lease{Device: c.Device, Printer: c.Printer, Session: c.Session, Epoch: device.Epoch,
			Journal: device.Journal, Boot: device.Boot, Until: now.Add(lease), For: lease},
		Memory: device.Memory, Status: c.Status, Address: c.Address,
		Marks: c.marks(d, device, generation, now),
		Place: Place{Station: d.at(), Name: c.Place.Name},
	}
	if order.doubt && !slices.Contains(handing.Marks, wire.MarkPossibleDuplicate) {
		handing.Marks = append(handing.Marks, wire.MarkPossibleDuplicate)
	}
	station, stationVersion, err := loadStation(view, c.Tenant, d.Station)
	if err != nil {
		return entity.Commit{}, err
	}
	counted := !d.Canary && station.number(&handing, d, c, generation, now)
	after, events, commit, err := step(d, version, Hand{Epoch: c.Epoch, Handing: handing}, now)
	if err != nil || len(events) == 0 || events[0].What != Dispatched {
		return commit, err
	}
	if counted {
		err := change(&commit, stationKey(c.Tenant, d.Station), stationVersion, station, time.Time{})
		if err != nil {
			return entity.Commit{}, err
		}
	}
	content, ok, err := LoadContent(view, c.Tenant, d.Ticket)
	if err != nil {
		return entity.Commit{}, err
	}
	if !ok {
		return entity.Commit{}, fmt.Errorf("%w: %s has no content", ErrUnknown, d.Ticket)
	}
	as, err := told(view, after, &content)
	if err != nil {
		return entity.Commit{}, err
	}
	message := c.message(after, content, handing.Marks, order.pred, now)
	message.As, message.From = as, d.from()
	message.AlsoAt, message.Above = order.also, order.above
	commit.Effects = append(commit.Effects, Send{Key: Key(after.Tenant, after.Ticket),
		Epoch: after.Epoch, Lease: *after.Lease, Message: message})
	return commit, nil
}

func (c Dispatch) message(d Delivery, content Content, marks []wire.Mark, pred string,
	now time.Time) wire.Ticket {
	t := wire.Ticket{
		ID: d.Ticket, Source: "chit/" + d.Tenant, Device: c.Device,
		Time: d.Accepted.Format(time.RFC3339Nano), Data: content.Data, Changes: content.Changes,
		Attempt: d.Attempt, Lease: d.Lease.For.Milliseconds(),
		// Rounded up: the device forgets late, never early (DESIGN.md I3).
		Expires: int64((d.Expires.Sub(now) + time.Second - 1) / time.Second),
		Printer: c.Printer, Station: d.Station, Number: d.Number, Previous: d.Previous, Pred: pred,
		Gaps: d.Gaps, Marks: marks, CopyOf: d.CopyOf,
	}
	if left := d.StaleAt(c.stale()).Sub(now); left > 0 && !d.Canary {
		t.Stale = max(left.Milliseconds(), 1)
		if p := d.policy(c.OnStale); p != wire.OnStalePrint {
			t.OnStale = p
		}
	}
	return t
}

func (c Dispatch) stale() time.Duration {
	if c.StaleAfter > 0 {
		return c.StaleAfter
	}
	return StaleAfter
}

// marks are the banners of a handing-over. Paper may exist already where the ticket was handed to
// another device, which did not answer a recall, to this one before it lost its memory, or to any
// in a time that a restored store does not know of: a device that remembers drops duplicates
// itself.
func (c Dispatch) marks(d Delivery, device Device, g Generation, now time.Time) []wire.Mark {
	var marks []wire.Mark
	if d.Kind == wire.KindReprint {
		marks = append(marks, wire.MarkReprint)
	}
	moved, doubtful := false, g.lost(d.Release)
	for _, h := range d.Handed {
		other := h.Device != c.Device
		moved = moved || other || h.elsewhere(d.at()).Station != ""
		if !h.cleared() && (other || h.Doubt || h.Memory != device.Memory) {
			doubtful = true
		}
	}
	if moved {
		marks = append(marks, wire.MarkMoved)
	}
	if doubtful {
		marks = append(marks, wire.MarkPossibleDuplicate)
	}
	if !now.Before(d.Release.Add(c.stale())) && !d.Canary {
		marks = append(marks, wire.MarkLate)
	}
	return marks
}
