package delivery

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"chit/broker/entity"
	"chit/device/wire"
)

// Identity implements [entity.Command]. The delivery itself remembers id, digest and outcome until
// it expires, so no record of the command is kept beside it.
func (a Accept) Identity() entity.Identity { return entity.Identity{} }

// Name implements desk.Named.
func (a Accept) Name() string { return "accept" }

// Decide implements [entity.Command]. The same content again is answered with the delivery as it
// stands and [entity.Commit].Repeat; other content is [ErrConflict].
func (a Accept) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	order, seq, err := wire.ParseContentID(a.Content.ID)
	if err != nil {
		return entity.Commit{}, fmt.Errorf("delivery: accepting: %w", err)
	}
	id := wire.TicketID{Order: order, Seq: seq, Station: a.Content.Station}
	if err := id.Check(); err != nil {
		return entity.Commit{}, fmt.Errorf("delivery: accepting: %w", err)
	}
	d := Delivery{Format: Format, Tenant: a.Tenant, Ticket: id.String(), Digest: wire.Digest(a.Data),
		Accepted: now, Release: now, State: Waiting, Canary: a.Canary}
	if a.Content.ReleaseAt != "" {
		release, err := time.Parse(time.RFC3339, a.Content.ReleaseAt)
		if err != nil {
			return entity.Commit{}, fmt.Errorf("delivery: accepting %s: release_at: %w", d.Ticket, err)
		}
		// A release in the past is at once: before it a ticket owes nothing, and nothing earlier
		// than its acceptance was ever owed by us.
		if release = release.UTC().Truncate(time.Millisecond); release.After(now) {
			d.Release = release
		}
	}
	d.Due, d.Expires = d.Release, d.Release.Add(cmp.Or(max(a.ExpiresAfter, 0), ExpiresAfter))
	return d.birth(view, a.Content, a.Data, now, nil, a.Also)
}

// birth stores a new delivery with its content, its place in the order's chain and its copies at
// other stations, or answers for the one that is known. What was already said of it follows in the
// same Commit.
func (d Delivery) birth(view entity.View, content wire.Content, data []byte, now time.Time,
	said []Say, also []Copy) (entity.Commit, error) {
	id, err := wire.ParseTicketID(d.Ticket)
	if err != nil {
		return entity.Commit{}, err
	}
	chain, _, err := loadChain(view, d.Tenant, id.Order)
	if err != nil {
		return entity.Commit{}, err
	}
	// The chain is asked instead of the delivery: a look-up that finds nothing asks every day's
	// bucket, and most tickets are the first of their order.
	listed := slices.Contains(chain.Tickets, d.Ticket)
	if listed {
		commit, found, err := repeated(view, d)
		if found || err != nil {
			return commit, err
		}
	}
	if len(chain.Tickets) >= MutationsMax && !listed {
		return entity.Commit{}, fmt.Errorf("%w: %s has %d, the most", ErrTooMany, id.Order,
			len(chain.Tickets))
	}
	d.Kitchen, d.Station, d.Kind = content.Kitchen, content.Station, content.Kind
	d.WindowEnd = d.Release.Add(Window)
	f := newDraft(view)
	d, err = f.born(d, id, content, data, said, now)
	if err != nil {
		return entity.Commit{}, err
	}
	for _, to := range also {
		if err := f.copyTo(to, d, id, content, now); err != nil {
			return entity.Commit{}, err
		}
	}
	return f.commit, answer(&f.commit, d, true)
}

// born adds a new mutation: what its order makes of it, and what it makes needless.
func (f *draft) born(d Delivery, id wire.TicketID, content wire.Content, data []byte, said []Say,
	now time.Time) (Delivery, error) {
	chain, version, err := loadChain(f, d.Tenant, id.Order)
	if err != nil {
		return d, err
	}
	why, wait, err := f.order(chain, d, id, now)
	if err != nil {
		return d, err
	}
	if due := now.Add(VoidWait); wait && d.Due.Before(due) {
		d.Due = due
	}
	d, events := d.begin(why, said, now)
	return d, f.bear(d, content, data, chain, version, events)
}

// begin is d after its acceptance, what was already said of it, and its end where why names one.
func (d Delivery) begin(why string, said []Say, now time.Time) (Delivery, []Event) {
	d.tell(Event{What: Accepted, At: now})
	events := []Event{{What: Accepted, At: now}}
	take := func(action Action) {
		after, more, err := entity.Step[Delivery, Action, Event](Machine{}, d, action, now)
		if err == nil { // An ignored ack is forgotten with the strays.
			d, events = after, append(events, more...)
		}
	}
	for _, say := range said {
		take(say)
	}
	if why != "" {
		take(End{Reason: why})
	}
	return d, events
}

// bear adds a new delivery, its content and its place in the order's chain.
func (f *draft) bear(d Delivery, content wire.Content, data []byte, chain Chain, version uint64,
	events []Event) error {
	id, err := wire.ParseTicketID(d.Ticket)
	if err != nil {
		return err
	}
	commit, err := record(Delivery{}, 0, d, events)
	if err != nil {
		return err
	}
	changes, err := chain.changes(f, d, id, content)
	if err != nil {
		return err
	}
	stored, err := encodeContent(Content{Data: data, Changes: changes})
	if err != nil {
		return err
	}
	commit.Changes = append(commit.Changes, entity.Change{Data: stored, Expires: d.Expires,
		Key: entity.Key{Tenant: d.Tenant, Kind: KindContent, ID: d.Ticket}})
	chain.Format = Format
	// The chain knows the ids, so it stays as long as any of them may come back (I3).
	if chain.Until.Before(d.Expires) {
		chain.Until = d.Expires
	}
	if !slices.Contains(chain.Tickets, d.Ticket) {
		chain.Tickets = append(slices.Clone(chain.Tickets), d.Ticket)
	}
	err = change(&commit, chainKey(d.Tenant, id.Order), version, chain, chain.Until)
	f.add(commit)
	return err
}

// repeated answers for a delivery that the chain lists; found is false where it is past its expires
// and forgotten, while a later ticket of its order keeps the chain.
func repeated(view entity.View, d Delivery) (commit entity.Commit, ok bool, err error) {
	found, version, err := Load(view, d.Tenant, d.Ticket)
	if err != nil || version == 0 {
		return entity.Commit{}, false, err
	}
	if found.Digest != d.Digest {
		return entity.Commit{}, true, fmt.Errorf("%w: ticket %s has %s, found %s", ErrConflict,
			d.Ticket, found.Digest, d.Digest)
	}
	commit.Repeat = true
	return commit, true, answer(&commit, found, false)
}
