package delivery

import (
	"slices"
	"time"

	"chit/broker/entity"
	"chit/device/wire"
)

// Why a delivery was cancelled, in a word ([Delivery].Reason).
const (
	ReasonVoided    = "voided"    // a void of its order came
	ReasonReplaced  = "replaced"  // a change of its order came before any device was given it
	ReasonNoPaper   = "no-paper"  // a void, and none of what it speaks about is on paper
	ReasonCancelled = "cancelled" // by a person
	ReasonDiscarded = "discarded" // a dead letter that a person gave up
)

// VoidWait is how long a void waits for devices to say that they have not printed what it speaks
// about: where all say so it is not needed.
const VoidWait = 2 * time.Second

// order says what the order makes of a new delivery, and cancels what the new one makes needless
// (DESIGN.md section 5): a void ends everything below it that is not on paper, and itself where no
// device was ever given any of it; a change takes the place of lower forms that no device was ever
// given. why is the word for which the new one is cancelled at its birth, "" where it is wanted.
//
// wait is true where the void should first hear what became of handings-over that it ended.
func (f *draft) order(chain Chain, d Delivery, id wire.TicketID, now time.Time) (why string,
	wait bool, err error) {
	if !d.mutation(id) || len(chain.Tickets) == 0 {
		return "", false, nil
	}
	void, err := chain.fate(f, d, id)
	if err != nil || void != "" {
		return ReasonVoided, false, err
	}
	higher, err := chain.at(f, d.family(), above(id))
	if err != nil {
		return "", false, err
	}
	for _, r := range higher {
		// Whoever cancels an order ends what it builds on, also what comes later.
		if form(r.d.Kind) && r.d.State == Cancelled && r.d.Reason == ReasonCancelled {
			return ReasonVoided, false, nil
		}
		// A change that is still to be handed over will say everything.
		if form(d.Kind) && r.d.Kind == wire.KindChange && r.d.State.Open() &&
			r.d.paperless() {
			return ReasonReplaced, false, nil
		}
	}
	switch d.Kind {
	case wire.KindChange:
		return "", false, f.replace(chain, d, id, now)
	case wire.KindVoid:
		e := End{Reason: ReasonVoided, Why: d.Ticket}
		return f.void(chain, d.family(), beneath(id), e, now)
	}
	return "", false, nil
}

// form reports whether a ticket of the kind says what the station should make.
func form(k wire.Kind) bool {
	return k == wire.KindNew || k == wire.KindChange || k == wire.KindReprint
}

// voids reports whether the ticket is a void that holds: one that was cancelled for another reason
// than having nothing to void does not.
func (r row) voids() bool {
	return r.version > 0 && r.d.Kind == wire.KindVoid && (r.d.State != Cancelled ||
		r.d.Reason == ReasonNoPaper || r.d.Reason == ReasonVoided)
}

// replace cancels the lower forms that no device was ever given: the change says all of it.
func (f *draft) replace(chain Chain, d Delivery, id wire.TicketID, now time.Time) error {
	lower, err := chain.at(f, d.family(), beneath(id))
	if err != nil {
		return err
	}
	for _, r := range lower {
		if r.version == 0 || !form(r.d.Kind) || !r.d.paperless() || r.d.over() {
			continue
		}
		e := End{Reason: ReasonReplaced, Why: d.Ticket}
		if _, err := f.end(r.d, r.version, e, now); err != nil {
			return err
		}
	}
	return nil
}

// void ends what a void speaks about, scope, as far as it is not on paper.
func (f *draft) void(chain Chain, of family, scope func(row) bool, e End, now time.Time) (
	why string, wait bool, err error) {
	lower, err := chain.at(f, of, scope)
	if err != nil {
		return "", false, err
	}
	for _, r := range lower {
		// A notice that a device was given is no order: nothing is gained by taking it back.
		if r.version == 0 || r.d.over() || r.d.Kind == wire.KindVoid ||
			r.d.Kind == wire.KindNotice && len(r.d.Handed) > 0 {
			continue
		}
		if _, err := f.end(r.d, r.version, e, now); err != nil {
			return "", false, err
		}
	}
	bare, recalled, err := chain.bare(f, of, scope, "")
	if bare {
		why = ReasonNoPaper
	}
	return why, recalled, err
}

// told is how a change is printed now, "" for as what it is. What it changes is told against the
// newest form that may be on paper, which need not be the one at its acceptance: that may have been
// taken back meanwhile.
func told(view entity.View, d Delivery, content *Content) (as wire.Kind, err error) {
	if d.Kind != wire.KindChange {
		return "", nil
	}
	id, err := wire.ParseTicketID(d.Ticket)
	if err != nil {
		return "", err
	}
	chain, _, err := loadChain(view, d.Tenant, id.Order)
	if err != nil {
		return "", err
	}
	fresh, err := chain.fresh(view, d, id)
	if err != nil {
		return "", err
	}
	if fresh {
		content.Changes = nil
		return wire.KindNew, nil
	}
	if content.Changes == nil {
		return "", nil
	}
	lower, err := chain.before(view, d, id)
	if err != nil {
		return "", err
	}
	if !slices.ContainsFunc(lower, func(r row) bool {
		return r.version > 0 && r.id.Seq == content.Changes.Since && r.d.State == Cancelled &&
			r.d.paperless()
	}) {
		return "", nil
	}
	now, err := wire.ParseContent(content.Data)
	if err != nil {
		return "", err
	}
	content.Changes, err = chain.changes(view, d, id, now)
	return "", err
}

// voided names the void of the order that speaks about d, "" where there is none.
func voided(view entity.View, d Delivery) (string, error) {
	id, err := wire.ParseTicketID(d.Ticket)
	if err != nil {
		return "", err
	}
	chain, _, err := loadChain(view, d.Tenant, id.Order)
	if err != nil {
		return "", err
	}
	return chain.fate(view, d, id)
}

// VoidOf is the void that tells the kitchen not to make d: one that a person asked for before
// others. ok is false where there is none, or where it was not needed in the end.
func VoidOf(view entity.View, d Delivery) (void Delivery, ok bool, err error) {
	id, err := wire.ParseTicketID(d.Ticket)
	if err != nil || !form(d.Kind) {
		return Delivery{}, false, err
	}
	chain, _, err := loadChain(view, d.Tenant, id.Order)
	if err != nil {
		return Delivery{}, false, err
	}
	voids, err := chain.voids(view, d, id)
	for _, v := range voids {
		// One that was made for a late paper speaks of that paper alone.
		if v.d.State == Cancelled || v.d.Pinned != nil && v.id.Seq != id.Seq {
			continue
		}
		if !ok || void.Asked().Who == "" && v.d.Asked().Who != "" {
			void, ok = v.d, true
		}
	}
	return void, ok, err
}

// Asked is the acceptance, which says who asked for the ticket and why, where a person did.
func (d Delivery) Asked() Moment {
	if len(d.Timeline) == 0 {
		return Moment{At: d.Accepted}
	}
	return d.Timeline[0] // It is never dropped.
}

// fate names the void that ends d, "" where there is none. One that was made for a late paper
// speaks of that paper alone, and not of what is below it; several voids of one mutation are each
// for another printer.
func (c Chain) fate(view entity.View, d Delivery, id wire.TicketID) (string, error) {
	voids, err := c.voids(view, d, id)
	for _, v := range voids {
		same := v.id.Seq == id.Seq
		if v.d.Pinned == nil && !same || same && d.Kind != wire.KindVoid {
			return v.d.Ticket, err
		}
	}
	return "", err
}

// voids lists the voids that speak about d.
func (c Chain) voids(view entity.View, d Delivery, id wire.TicketID) ([]row, error) {
	return c.at(view, d.family(), func(o row) bool {
		return o.voids() && o.scope()(row{id: id})
	})
}

// over reports whether there is nothing left to cancel.
func (d Delivery) over() bool { return d.State == Settled || d.State == Cancelled }

// paperless reports whether it is certain that the ticket is on no paper.
func (d Delivery) paperless() bool {
	return d.State != Settled && !slices.ContainsFunc(d.Handed, func(h Handed) bool {
		return !h.cleared()
	})
}

// paperlessAt reports whether it is certain that the ticket is on no paper of one device; "": of
// none at all.
func (d Delivery) paperlessAt(device string) bool {
	if device == "" {
		return d.paperless()
	}
	h, handed := d.handedTo(device)
	return !d.printedAt(device) && (!handed || h.cleared())
}

// printedAt reports whether a device has said that it has printed the ticket.
func (d Delivery) printedAt(device string) bool {
	return d.Printed != nil && d.Printed.Device == device ||
		slices.ContainsFunc(d.Doubled, func(p Paper) bool { return p.Device == device })
}

// bare reports whether it is certain that nothing of what a void speaks about, scope, is on paper,
// of one device or, where device is "", of any.
// Where nothing of it is known, nothing is certain: it may have expired, or not have come yet.
// recalled is true where a device may still answer that there is none.
func (c Chain) bare(view entity.View, of family, scope func(row) bool, device string) (bare,
	recalled bool, err error) {
	lower, err := c.at(view, of, scope)
	if err != nil {
		return false, false, err
	}
	known, sure, printed := false, true, false
	for _, r := range lower {
		if r.d.Kind == wire.KindVoid {
			continue
		}
		known = true
		sure = sure && r.version > 0 && r.d.paperlessAt(device)
		printed = printed || r.d.State == Settled
		recalled = recalled || len(r.d.Recalls) > 0
	}
	return known && sure, recalled && !printed, nil
}

// fresh reports whether a change is the first that its station hears of the order: then it is
// printed as a new one, without what it changes.
func (c Chain) fresh(view entity.View, d Delivery, id wire.TicketID) (bool, error) {
	lower, err := c.at(view, d.family(), beneath(id))
	if err != nil || d.twin() { // A twin goes only where there may be paper.
		return false, err
	}
	for _, r := range lower {
		if r.version == 0 || r.d.Kind != wire.KindNotice && !r.d.paperless() {
			return false, nil
		}
	}
	return true, nil
}
