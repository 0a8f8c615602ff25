package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"chit/broker/alarm"
	"chit/broker/delivery"
	"chit/broker/desk"
	"chit/broker/entity"
	"chit/broker/intake"
	"chit/broker/store"
	"chit/device/wire"
)

// tickets answers the door from the desk and the store.
type tickets struct {
	desk     *desk.Desk
	store    store.Store
	kitchens *kitchens
	now      func() time.Time
	ready    func(context.Context) error
}

var _ intake.Desk = (*tickets)(nil)

// Accept implements [intake.Desk].
func (t *tickets) Accept(ctx context.Context, tenant string, content wire.Content, data []byte) (
	intake.Ticket, bool, error) {
	if err := t.kitchens.check(tenant, content); err != nil {
		return intake.Ticket{}, false, err
	}
	result, err := t.do(ctx, delivery.Accept{Tenant: tenant, Content: content, Data: data,
		Also: t.kitchens.also(tenant, content.Station)})
	if err != nil {
		return intake.Ticket{}, false, err
	}
	view, err := t.view(tenant, result.Ticket)
	return view, !result.Changed, err
}

// do runs a command and reads its Result.
func (t *tickets) do(ctx context.Context, command entity.Command) (delivery.Result, error) {
	answer, err := t.desk.Do(ctx, command)
	if err != nil {
		return delivery.Result{}, forDoor(err)
	}
	var result delivery.Result
	if err := json.Unmarshal(answer.Data, &result); err != nil {
		return delivery.Result{}, fmt.Errorf("reading the answer of %T: %w", command, err)
	}
	return result, nil
}

// forDoor gives the desk's errors the door's names, so that the door chooses the right answer.
func forDoor(err error) error {
	for _, pair := range []struct{ from, to error }{
		{desk.ErrBusy, intake.ErrBusy}, {desk.ErrStopped, intake.ErrBusy},
		{desk.ErrConflict, intake.ErrConflict}, {delivery.ErrConflict, intake.ErrConflict},
		{delivery.ErrUnknown, intake.ErrNotFound},
		{alarm.ErrUnknown, intake.ErrNotFound}, {delivery.ErrExpired, intake.ErrState},
		{delivery.ErrTooMany, intake.ErrState}, {delivery.ErrMoved, intake.ErrState},
		{delivery.ErrNotDead, intake.ErrState}, {delivery.ErrVoid, intake.ErrState},
		{delivery.ErrSuperseded, intake.ErrState}, {entity.ErrKey, intake.ErrNotFound},
	} {
		if errors.Is(err, pair.from) {
			return fmt.Errorf("%w: %w", pair.to, err)
		}
	}
	return err
}

// Tickets implements [intake.Desk].
func (t *tickets) Tickets(_ context.Context, tenant, order string, seq int, made string) (
	[]intake.Ticket, error) {
	ids, err := delivery.Tickets(t.store, tenant, order, seq)
	switch {
	case errors.Is(err, entity.ErrKey):
		return nil, nil // No order is named so, and nothing is wrong here.
	case err != nil:
		return nil, err
	}
	var out []intake.Ticket
	for _, id := range ids {
		parsed, err := wire.ParseTicketID(id)
		if err != nil || parsed.Made != made {
			continue
		}
		view, err := t.view(tenant, id)
		if err != nil {
			return nil, err
		}
		out = append(out, view)
	}
	return out, nil
}

// Dead implements [intake.Desk].
func (t *tickets) Dead(_ context.Context, tenant string, after intake.Place, limit int) (
	out []intake.Ticket, next intake.Place, err error) {
	var behind entity.Row
	if after != (intake.Place{}) {
		behind = entity.Row{List: delivery.ListDead, At: after.At,
			Key: delivery.Key(tenant, after.Ticket)}
	}
	rows, err := t.store.Rows(delivery.ListDead, tenant, behind, limit+1)
	if err != nil {
		return nil, intake.Place{}, err
	}
	for i, row := range rows {
		if i == limit {
			last := rows[i-1]
			return out, intake.Place{At: last.At, Ticket: last.Key.ID}, nil
		}
		view, err := t.view(tenant, row.Key.ID)
		if err != nil {
			return nil, intake.Place{}, err
		}
		out = append(out, view)
	}
	return out, intake.Place{}, nil
}

// DeadLetter implements [intake.Desk].
func (t *tickets) DeadLetter(_ context.Context, tenant, id string) (intake.Ticket, error) {
	view, err := t.view(tenant, id)
	if err != nil {
		return intake.Ticket{}, err
	}
	if view.State != string(delivery.Dead) {
		return intake.Ticket{}, fmt.Errorf("%w: ticket %s is %s, not dead", intake.ErrNotFound, id,
			view.State)
	}
	d, _, err := delivery.Load(t.store, tenant, id)
	if err != nil {
		return intake.Ticket{}, err
	}
	view.Tries, view.Waits = tries(d), waits(d)
	return view, nil
}

// Redrive implements [intake.Desk]. What is open or under way again is answered as it stands; what
// has paper is refused: a second paper is a reprint and says so.
func (t *tickets) Redrive(ctx context.Context, tenant, id, who, why string) (intake.Ticket, error) {
	before, err := t.view(tenant, id)
	if err != nil {
		return intake.Ticket{}, err
	}
	if s := delivery.State(before.State); s != delivery.Dead && !s.Open() {
		return intake.Ticket{}, fmt.Errorf("%w: ticket %s is %s", intake.ErrState, id, s)
	}
	command := delivery.Redrive{Tenant: tenant, Ticket: id, Who: who, Why: why}
	if _, err := t.do(ctx, command); err != nil {
		return intake.Ticket{}, err
	}
	return t.view(tenant, id)
}

// Ready implements [intake.Desk].
func (t *tickets) Ready(ctx context.Context) error { return t.ready(ctx) }

func (t *tickets) view(tenant, id string) (intake.Ticket, error) {
	d, version, err := delivery.Load(t.store, tenant, id)
	switch {
	case errors.Is(err, entity.ErrKey):
		return intake.Ticket{}, fmt.Errorf("%w: no such ticket", intake.ErrNotFound)
	case err != nil:
		return intake.Ticket{}, err
	case version == 0:
		return intake.Ticket{}, fmt.Errorf("%w: no such ticket", intake.ErrNotFound)
	}
	v := view(d)
	void, ok, err := delivery.VoidOf(t.store, d)
	if err != nil {
		return intake.Ticket{}, err
	}
	if ok {
		asked := void.Asked()
		v.Voided = &intake.Voided{Ticket: void.Ticket, At: asked.At, Who: asked.Who, Why: asked.Why}
	}
	return v, nil
}

// view shows a delivery without its content.
func view(d delivery.Delivery) intake.Ticket {
	mutation, _, _ := strings.Cut(d.Ticket, "@")
	v := intake.Ticket{
		ID: mutation, Ticket: d.Ticket, Kitchen: d.Kitchen, Station: d.Station,
		Kind: string(d.Kind), Digest: d.Digest, State: string(d.State), Outcome: string(d.Outcome),
		Evidence: string(d.Evidence), Reason: d.Reason, Marked: d.Marked, Attempts: d.Attempt,
		Number: d.Number, Previous: d.Previous, AcceptedAt: d.Accepted, ReleaseAt: d.Release,
		Timeline: []intake.Moment{},
	}
	v.MovedTo, v.CopyOf = d.MovedTo, d.CopyOf
	if d.Pinned != nil {
		v.PinnedTo = &intake.PinnedTo{Device: d.Pinned.Device, Printer: d.Pinned.Printer}
	}
	for _, r := range d.Recalls {
		v.Recalls = append(v.Recalls, r.Device)
	}
	for _, deferral := range d.Deferrals {
		v.Deferrals += deferral.Count
	}
	if d.Lease != nil {
		v.Device, v.Printer = d.Lease.Device, d.Lease.Printer
	}
	if d.Printed != nil {
		at := d.Printed.At
		v.SettledAt, v.Device = &at, d.Printed.Device
	}
	if d.State == delivery.Waiting && !d.Due.IsZero() {
		due := d.Due
		v.DueAt = &due
	}
	if d.Outcome == wire.OutcomeHeld {
		v.Held = heldReason(d)
	}
	for _, m := range d.Timeline {
		v.Timeline = append(v.Timeline, moment(m))
	}
	return v
}

// heldReason is the newest reason a device gave for holding the ticket.
func heldReason(d delivery.Delivery) string {
	for i := len(d.Timeline) - 1; i >= 0; i-- {
		if w := d.Timeline[i].What; w == string(delivery.Held) || w == string(delivery.Staled) {
			return d.Timeline[i].Reason
		}
	}
	return ""
}

func moment(m delivery.Moment) intake.Moment {
	detail := m.Reason
	if m.To != "" {
		detail += ": to " + m.To
	}
	for _, more := range []string{m.Why, string(m.Evidence), m.Who} {
		switch {
		case more == "":
		case detail == "":
			detail = more
		default:
			detail += ", " + more
		}
	}
	return intake.Moment{At: m.At, What: m.What, Attempt: m.Attempt, Device: m.Device, Detail: detail,
		Who: m.Who, Why: m.Why}
}
