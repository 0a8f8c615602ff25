package delivery

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"chit/broker/entity"
	"chit/device/wire"
)

var (
	// ErrVoid refuses to cancel a void (HTTP: 409): what it ended cannot be had back by that.
	ErrVoid = errors.New("delivery: a void cannot be cancelled")
	// ErrSuperseded refuses to cancel a form of an order that a later one has replaced at the
	// station (HTTP: 409): to cancel is to end the newest form.
	ErrSuperseded = errors.New("delivery: a later mutation stands at the station")
)

// Outcome says what a cancellation came to at one station.
type Outcome string

// The outcomes of a cancellation.
const (
	// EndedClean: no device has it, there is no paper.
	EndedClean Outcome = "cancelled"
	// EndedRecalled: a device was given it and has not said that it is stored. It is told not to
	// print it; if it does all the same, a void follows.
	EndedRecalled Outcome = "recalled"
	// EndedVoided: a device has or had it. It is told not to print it, and a void follows, unless
	// the device proves first that there is no paper.
	EndedVoided Outcome = "void-sent"
	// EndedOnPaper: it is on paper already, and a void follows.
	EndedOnPaper Outcome = "on-paper-void-sent"
	// EndedTooLate: it is a notice on paper; nothing can be voided by paper.
	EndedTooLate Outcome = "on-paper"
)

// Withdraw cancels a mutation of an order, and with it the lower ones that it builds on, at one
// station or at all that have it (DESIGN.md section 8, cancel). Where paper may be, a void follows
// to every printer that may have it. Repeated, it changes nothing and says how it stands now. Its
// answer is [Withdrawn].
type Withdraw struct {
	Tenant, Order string
	Seq           int
	Station       string // "": all
	Who, Why      string
}

// Withdrawn is what a cancellation came to.
type Withdrawn struct {
	Order    string        `json:"order"`
	Seq      int           `json:"seq"`
	Changed  bool          `json:"changed"`
	Stations []WithdrawnAt `json:"stations"`
}

// WithdrawnAt is what it came to at one station.
type WithdrawnAt struct {
	Station string  `json:"station"`
	Ticket  string  `json:"ticket"`
	State   State   `json:"state"`
	Outcome Outcome `json:"outcome"`
	// Voids are the tickets that tell the kitchen, each for one printer.
	Voids []string `json:"voids,omitempty"`
}

// Identity implements [entity.Command]: cancelling twice changes nothing.
func (w Withdraw) Identity() entity.Identity { return entity.Identity{} }

// Name implements desk.Named.
func (w Withdraw) Name() string { return "cancel" }

// Decide implements [entity.Command]. One station that refuses refuses all.
func (w Withdraw) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	chain, _, err := loadChain(view, w.Tenant, w.Order)
	if err != nil {
		return entity.Commit{}, err
	}
	f := newDraft(view)
	done := Withdrawn{Order: w.Order, Seq: w.Seq}
	for _, ticket := range chain.Tickets {
		id, err := wire.ParseTicketID(ticket)
		if err != nil || id.Seq != w.Seq {
			continue
		}
		d, version, err := Load(view, w.Tenant, ticket)
		if err != nil {
			return entity.Commit{}, err
		}
		// Copies go with what they are copies of.
		told := cmp.Or(d.CopyOf, id.Station)
		if !d.mutation(id) || w.Station != "" && told != w.Station {
			continue
		}
		if version == 0 {
			return entity.Commit{}, fmt.Errorf("%w: %s", ErrUnknown, ticket)
		}
		at, err := w.at(f, id, now)
		if err != nil {
			return entity.Commit{}, err
		}
		done.Stations = append(done.Stations, at)
	}
	if len(done.Stations) == 0 {
		return entity.Commit{}, fmt.Errorf("%w: %s/%d", ErrUnknown, w.Order, w.Seq)
	}
	done.Changed = len(f.commit.Changes) > 0
	f.commit.Answer, err = marshal("answer", done)
	return f.commit, err
}

// at cancels at one station.
func (w Withdraw) at(f *draft, id wire.TicketID, now time.Time) (WithdrawnAt, error) {
	d, version, err := known(f, w.Tenant, id.String())
	if err != nil {
		return WithdrawnAt{}, err
	}
	chain, _, err := loadChain(f, w.Tenant, id.Order)
	if err != nil {
		return WithdrawnAt{}, err
	}
	e := End{Who: w.Who, Reason: ReasonCancelled, Why: w.Why}
	switch d.Kind {
	case wire.KindVoid:
		return WithdrawnAt{}, fmt.Errorf("%w: %s", ErrVoid, d.Ticket)
	case wire.KindNotice:
		d, err = f.end(d, version, e, now)
		return w.tell(d, nil, []row{{id: id, d: d}}), err
	}
	later, err := chain.at(f, d.family(), above(id))
	if err != nil {
		return WithdrawnAt{}, err
	}
	for _, r := range later {
		if form(r.d.Kind) && r.d.State != Cancelled {
			return WithdrawnAt{}, fmt.Errorf("%w: cancel %s instead of %s", ErrSuperseded,
				r.id.Content(), id.Content())
		}
	}
	// As a void made of this mutation would.
	speaks := around(wire.TicketID{Order: id.Order, Seq: id.Seq, Made: "r0", Station: id.Station})
	if _, _, err := f.void(chain, d.family(), speaks, e, now); err != nil {
		return WithdrawnAt{}, err
	}
	scope, err := chain.at(f, d.family(), speaks)
	if err != nil {
		return WithdrawnAt{}, err
	}
	voids, err := chain.voids(f, d, id)
	if err != nil {
		return WithdrawnAt{}, err
	}
	if len(voids) == 0 && slices.ContainsFunc(scope, row.arrived) {
		if voids, err = f.follow(scope, id, e, now); err != nil {
			return WithdrawnAt{}, err
		}
	}
	d, _, err = known(f, w.Tenant, id.String())
	return w.tell(d, voids, scope), err
}

// arrived reports whether a device has said that it has the ticket, or may have printed it in a
// time that nobody remembers.
func (r row) arrived() bool {
	return r.version == 0 || form(r.d.Kind) && (r.d.State == Settled ||
		!r.d.paperless() && r.d.Evidence != wire.EvidenceNone)
}

// tell says how it stands now.
func (w Withdraw) tell(d Delivery, voids, scope []row) WithdrawnAt {
	at := WithdrawnAt{Station: d.Station, Ticket: d.Ticket, State: d.State, Outcome: EndedClean}
	for _, v := range voids {
		if v.d.State != Cancelled {
			at.Voids = append(at.Voids, v.d.Ticket)
		}
	}
	printed := slices.ContainsFunc(scope, func(r row) bool { return r.d.State == Settled })
	switch {
	case d.Kind == wire.KindNotice && printed:
		at.Outcome = EndedTooLate
	case len(at.Voids) > 0 && printed:
		at.Outcome = EndedOnPaper
	case len(at.Voids) > 0:
		at.Outcome = EndedVoided
	case slices.ContainsFunc(scope, func(r row) bool { return len(r.d.Recalls) > 0 }):
		at.Outcome = EndedRecalled
	}
	return at
}

// follow makes the void that speaks about a mutation and all below it. It goes to the station's
// present printer; when that is known, those for the other printers follow.
func (f *draft) follow(scope []row, id wire.TicketID, e End, now time.Time) ([]row, error) {
	v, err := f.makeVoid(id, scope, nil, e, now)
	return []row{v}, err
}

// makeVoid bears a void of the broker's own about a mutation and what is below it. Its content is
// of the newest of them. Its acceptance says who asked for it and why, where a person did: what is
// on paper has no event of its own for that.
func (f *draft) makeVoid(id wire.TicketID, scope []row, pin *Pin, e End, now time.Time) (row,
	error) {
	var of row
	for _, r := range scope {
		if r.version > 0 && form(r.d.Kind) {
			of = r // Lowest seq first.
		}
	}
	stored, ok, err := LoadContent(f, of.d.Tenant, of.d.Ticket)
	if err != nil {
		return row{}, err
	}
	if !ok {
		return row{}, fmt.Errorf("%w: %s has no content", ErrUnknown, id)
	}
	content, err := wire.ParseContent(stored.Data)
	if err != nil {
		return row{}, fmt.Errorf("delivery: voiding %s: %w", id, err)
	}
	content.ID, content.Kind, content.ReleaseAt, content.Note = id.Content(), wire.KindVoid, "", ""
	data, err := wire.CanonicalContent(content)
	if err != nil {
		return row{}, fmt.Errorf("delivery: voiding %s: %w", id, err)
	}
	chain, version, err := loadChain(f, of.d.Tenant, id.Order)
	if err != nil {
		return row{}, err
	}
	made, err := f.next(chain, of.d.Tenant, id)
	if err != nil {
		return row{}, err
	}
	d := Delivery{Format: Format, Tenant: of.d.Tenant, Ticket: made.String(),
		Digest: wire.Digest(data), Kitchen: content.Kitchen, Station: id.Station, Kind: wire.KindVoid,
		Accepted: now, Release: now, Due: now, WindowEnd: now.Add(Window),
		Expires: now.Add(ExpiresAfter), State: Waiting, Pinned: pin, CopyOf: of.d.CopyOf}
	if slices.ContainsFunc(scope, func(r row) bool { return len(r.d.Recalls) > 0 }) &&
		!slices.ContainsFunc(scope, func(r row) bool { return r.d.State == Settled }) {
		d.Due = now.Add(VoidWait)
	}
	accepted := Event{What: Accepted, At: now, Reason: e.Reason, Who: e.Who, Why: e.Why}
	d.tell(accepted)
	if err := f.bear(d, content, data, chain, version, []Event{accepted}); err != nil {
		return row{}, err
	}
	return row{id: made, d: d, version: 1}, nil
}

// next is the id of the next ticket that the broker makes of a mutation at a station. It is none of
// those that it made in a time which a restored store does not know of.
func (f *draft) next(c Chain, tenant string, id wire.TicketID) (wire.TicketID, error) {
	generation, err := LoadGeneration(f, tenant)
	highest := generation.madeBase()
	for _, ticket := range c.Tickets {
		o, err := wire.ParseTicketID(ticket)
		if err != nil || o.Station != id.Station || o.Seq != id.Seq || o.Made == "" ||
			o.Made[0] != 'r' {
			continue
		}
		if k, err := strconv.Atoi(o.Made[1:]); err == nil {
			highest = max(highest, k)
		}
	}
	return wire.TicketID{Order: id.Order, Seq: id.Seq, Station: id.Station,
		Made: "r" + strconv.Itoa(highest+1)}, err
}

// surprise makes a void for the printer that has just told of paper that nobody wants: its ticket
// was cancelled, or its order voided (DESIGN.md section 5). It makes none where one is on its way
// to that printer.
func (f *draft) surprise(before, after Delivery, device string, now time.Time) error {
	id, err := wire.ParseTicketID(after.Ticket)
	if err != nil || !form(after.Kind) {
		return err
	}
	chain, _, err := loadChain(f, after.Tenant, id.Order)
	if err != nil {
		return err
	}
	voids, err := chain.voids(f, after, id)
	if err != nil {
		return err
	}
	if len(voids) == 0 && before.State != Cancelled {
		return nil
	}
	self := []row{{id: id, d: after, version: 1}}
	pin := Pin{Device: device}
	for _, try := range after.Tries {
		if try.Device == device {
			pin.Printer = try.Printer
		}
	}
	for _, v := range voids {
		// One that goes to another printer is followed by its twin for this one.
		_, handed := v.d.handedTo(device)
		if v.d.State != Cancelled && (handed || v.d.Pinned == nil && len(v.d.Handed) == 0 ||
			v.d.Pinned != nil && v.d.Pinned.Device == device) {
			return nil
		}
	}
	_, err = f.makeVoid(id, self, &pin, End{}, now)
	return err
}
