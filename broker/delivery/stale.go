package delivery

import (
	"cmp"
	"fmt"
	"time"

	"chit/broker/entity"
	"chit/device/wire"
)

// Reasons of a dead letter that was too old.
const (
	// ReasonStale is a ticket that its kitchen wants dropped when it is stale.
	ReasonStale = "stale"
	// ReasonNotWanted is one that a person said not to print any more: a paid order to be refunded
	// or made anew.
	ReasonNotWanted = "not-wanted"
)

// StaleAt is when the ticket is too old to be cooked without a person saying so, where its kitchen
// gives it after: counted from its release, and again from a person's wish to have it.
func (d Delivery) StaleAt(after time.Duration) time.Time {
	if d.Wanted.After(d.Release) {
		return d.Wanted.Add(after)
	}
	return d.Release.Add(after)
}

// cooked is true for tickets that somebody makes something of. The others only say what not to
// make, or tell: late they do no harm, and held back they do, so no stale policy is asked for them.
func (d Delivery) cooked() bool { return d.Kind != wire.KindVoid && d.Kind != wire.KindNotice }

// policy is what is to be done with the ticket once it is stale.
func (d Delivery) policy(p wire.OnStale) wire.OnStale {
	if d.cooked() && (p == wire.OnStaleAsk || p == wire.OnStaleDrop) {
		return p
	}
	return wire.OnStalePrint
}

// Outdated reports whether a person must be asked before the ticket prints, or would be if it were
// its turn: it is stale, or it waits or is parked and its time is over under the policy ask.
func (d Delivery) Outdated(policy wire.OnStale, after time.Duration, now time.Time) bool {
	switch d.State {
	case Stale:
		return true
	case Waiting, Parked:
		return d.policy(policy) == wire.OnStaleAsk && !now.Before(d.StaleAt(after))
	}
	return false
}

// Outdate says that the time of a waiting delivery is over under its kitchen's policy, which is ask
// or drop. Epoch is the delivery's as it was read.
type Outdate struct {
	Epoch  uint64
	Policy wire.OnStale
}

// Drop says that the time of a delivery is over whose device is away, under its kitchen's policy
// drop: a kitchen that wants no stale tickets hears of them when they are, and not when the device
// is back. Epoch is the delivery's as it was read; Policy and After are the station's.
type Drop struct {
	Epoch  uint64
	Policy wire.OnStale
	After  time.Duration
}

// Drops is when a delivery whose device is away is to be dropped, zero for never: one whose lease
// the next birth judges may be on paper, and waits for that.
func (d Delivery) Drops(policy wire.OnStale, after time.Duration) time.Time {
	if d.State != Parked || d.Lease != nil || d.policy(policy) != wire.OnStaleDrop {
		return time.Time{}
	}
	return d.StaleAt(cmp.Or(after, StaleAfter))
}

// Answer is a person's answer about an outdated delivery: print it or do not.
type Answer struct {
	Print    bool
	Who, Why string
	Device   string // at whose button it was given, "" for none
	// Policy and After are the station's, as in [Dispatch]: they say whether one that is waiting or
	// parked is outdated too.
	Policy wire.OnStale
	After  time.Duration
}

func (Outdate) action() {}
func (Drop) action()    {}
func (Answer) action()  {}

func outdate(d Delivery, o Outdate, now time.Time) ([]Event, error) {
	switch {
	case d.State != Waiting || d.Epoch != o.Epoch:
		return nil, fmt.Errorf("%w: %s is %s at epoch %d, read at %d", ErrMoved, d.Ticket, d.State,
			d.Epoch, o.Epoch)
	case now.Before(d.Due):
		return nil, fmt.Errorf("%w: %s before %s", ErrNotDue, d.Ticket, d.Due)
	case d.past(now) != "":
		return elapse(d, 0, now), nil
	case o.Policy == wire.OnStaleDrop:
		return []Event{bury(d, ReasonStale, now)}, nil
	}
	return []Event{{What: Staled, At: now}}, nil
}

func drop(d Delivery, o Drop, now time.Time) ([]Event, error) {
	if d.Epoch != o.Epoch {
		return nil, fmt.Errorf("%w: %s is at epoch %d, read at %d", ErrMoved, d.Ticket, d.Epoch, o.Epoch)
	}
	switch at := d.Drops(o.Policy, o.After); {
	case at.IsZero() || now.Before(at):
		return nil, nil
	case d.past(now) != "":
		return elapse(d, 0, now), nil
	}
	return []Event{bury(d, ReasonStale, now)}, nil
}

// answered takes a person's word once: of a delivery that is not outdated, or no longer, nothing is
// asked.
func answered(d Delivery, a Answer, now time.Time) []Event {
	switch {
	case !d.Outdated(a.Policy, a.After, now):
		return nil
	case d.past(now) != "":
		return elapse(d, 0, now)
	case !a.Print:
		e := bury(d, ReasonNotWanted, now)
		e.Who, e.Why, e.Device = a.Who, a.Why, a.Device
		return []Event{e}
	}
	e := Event{What: Approved, At: now, Who: a.Who, Why: a.Why, Device: a.Device,
		Until: now.Add(Window)}
	if d.State != Stale {
		e.What = Allowed
	}
	return []Event{e}
}

// wished starts the stale clock anew, and the window: what a person asks for now is owed from now
// on.
func (d *Delivery) wished(e Event) {
	d.Wanted = e.At
	if e.Until.After(d.WindowEnd) {
		d.WindowEnd = e.Until
	}
	if e.What == Approved {
		d.Due = e.At
	}
}

// AnswerStale is a person's answer about one outdated ticket. Repeated, or given about a ticket
// that nothing is to be asked about, it changes nothing.
type AnswerStale struct {
	Tenant, Ticket string
	Answer
}

// Identity implements [entity.Command].
func (c AnswerStale) Identity() entity.Identity { return entity.Identity{} }

// Name implements desk.Named.
func (c AnswerStale) Name() string { return "stale-answer" }

// Decide implements [entity.Command]; its answer is a [Result].
func (c AnswerStale) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	d, version, err := Load(view, c.Tenant, c.Ticket)
	if err != nil {
		return entity.Commit{}, err
	}
	if version == 0 {
		return entity.Commit{}, fmt.Errorf("%w: %s", ErrUnknown, c.Ticket)
	}
	commit, after, err := c.take(view, d, version, now)
	if err != nil {
		return entity.Commit{}, err
	}
	err = answer(&commit, after, len(commit.Changes) > 0)
	return commit, err
}

// take asks the order first, as a redrive does: what was voided meanwhile becomes cancelled.
func (c AnswerStale) take(view entity.View, d Delivery, version uint64, now time.Time) (
	entity.Commit, Delivery, error) {
	if c.Print && d.Outdated(c.Policy, c.After, now) {
		void, err := voided(view, d)
		if err != nil {
			return entity.Commit{}, d, err
		}
		if void != "" {
			return cancel(view, d, version, End{Who: c.Who, Reason: ReasonVoided, Why: void}, now)
		}
	}
	after, _, commit, err := step(d, version, c.Answer, now)
	return commit, after, err
}
