package service

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"chit/broker/delivery"
	"chit/broker/entity"
	"chit/broker/intake"
)

// office answers what an owner asks about tickets after they were taken in.
type office struct {
	*tickets
	redrives *redrives
	quiet    quiet
}

var _ intake.BackOffice = (*office)(nil)

// Cancel implements [intake.BackOffice].
func (o *office) Cancel(ctx context.Context, tenant, order string, seq int, station, who,
	why string) (intake.Cancellation, error) {
	answer, err := o.desk.Do(ctx, delivery.Withdraw{Tenant: tenant, Order: order, Seq: seq,
		Station: station, Who: who, Why: why})
	if err != nil {
		return intake.Cancellation{}, forDoor(err)
	}
	var done delivery.Withdrawn
	if err := json.Unmarshal(answer.Data, &done); err != nil {
		return intake.Cancellation{}, fmt.Errorf("reading a cancellation: %w", err)
	}
	view := intake.Cancellation{ID: fmt.Sprintf("%s/%d", done.Order, done.Seq), Changed: done.Changed}
	for _, at := range done.Stations {
		view.Stations = append(view.Stations, intake.CancelledHere{Station: at.Station,
			Ticket: at.Ticket, State: string(at.State), Outcome: string(at.Outcome), Voids: at.Voids})
	}
	return view, nil
}

// Discard implements [intake.BackOffice].
func (o *office) Discard(ctx context.Context, tenant, id, who, why string) (intake.Ticket, error) {
	command := delivery.Discard{Tenant: tenant, Ticket: id, Who: who, Why: why}
	if _, err := o.do(ctx, command); err != nil {
		return intake.Ticket{}, err
	}
	return o.view(tenant, id)
}

// filter checks the names and gives the filter the delivery's form.
func (o *office) filter(tenant string, f intake.Filter) (delivery.Filter, error) {
	var errs []error
	if f.Kitchen != "" {
		errs = append(errs, o.kitchens.checkKitchen(tenant, "filter.kitchen", f.Kitchen))
	}
	if f.Station != "" {
		errs = append(errs, o.kitchens.checkStation(tenant, "filter.station", f.Station))
	}
	if f.Reason != "" {
		errs = append(errs, o.checkReason(tenant, f.Reason))
	}
	if err := cmp.Or(errs...); err != nil {
		return delivery.Filter{}, err
	}
	out := delivery.Filter{Station: f.Station, Kitchen: f.Kitchen, Reason: f.Reason, Order: f.Order}
	if f.Since != nil {
		out.Since = *f.Since
	}
	if f.Until != nil {
		out.Until = *f.Until
	}
	return out, nil
}

// checkReason refuses a word that no dead letter can have died of. A device newer than the broker
// may refuse for reasons of its own: what some dead letter did die of is known.
func (o *office) checkReason(tenant, reason string) error {
	if slices.Contains(delivery.Reasons(), reason) {
		return nil
	}
	matched, _, err := o.matching(tenant, delivery.Filter{Reason: reason})
	if err != nil || matched > 0 {
		return err
	}
	return &intake.UnknownError{Kind: intake.ErrReason, Field: "filter.reason", Found: reason,
		Known: delivery.Reasons()}
}

// Redrivable implements [intake.BackOffice].
func (o *office) Redrivable(_ context.Context, tenant string, f intake.Filter) (int, []string,
	error) {
	filter, err := o.filter(tenant, f)
	if err != nil {
		return 0, nil, err
	}
	return o.matching(tenant, filter)
}

// matching reads the list of dead letters through.
func (o *office) matching(tenant string, filter delivery.Filter) (matched int, first []string,
	err error) {
	first = []string{}
	var after entity.Row
	for {
		rows, err := o.store.Rows(delivery.ListDead, tenant, after, deadPage)
		if err != nil {
			return 0, nil, err
		}
		for _, row := range rows {
			after = row
			d, _, err := delivery.Load(o.store, tenant, row.Key.ID)
			if err != nil {
				return 0, nil, err
			}
			if !filter.Chooses(d) {
				continue
			}
			if matched++; len(first) < delivery.JobTicketsMax {
				first = append(first, d.Ticket)
			}
		}
		if len(rows) < deadPage {
			return matched, first, nil
		}
	}
}

// PlanRedrive implements [intake.BackOffice].
func (o *office) PlanRedrive(ctx context.Context, tenant, who string, r intake.RedriveRequest) (
	intake.RedriveJob, error) {
	filter, err := o.filter(tenant, *r.Filter)
	if err != nil {
		return intake.RedriveJob{}, err
	}
	matched, _, err := o.matching(tenant, filter)
	if err != nil {
		return intake.RedriveJob{}, err
	}
	id := r.ID
	if id == "" {
		random := make([]byte, 8)
		if _, err := rand.Read(random); err != nil {
			return intake.RedriveJob{}, fmt.Errorf("making a job's id: %w", err)
		}
		id = hex.EncodeToString(random)
	}
	answer, err := o.desk.Do(ctx, delivery.Plan{Tenant: tenant, ID: id, Filter: filter,
		PerSecond: r.PerSecond, Who: who, Why: r.Reason, Matched: matched})
	if err != nil {
		return intake.RedriveJob{}, forDoor(err)
	}
	o.redrives.planned()
	var job delivery.Job
	if err := json.Unmarshal(answer.Data, &job); err != nil {
		return intake.RedriveJob{}, fmt.Errorf("reading a planned job: %w", err)
	}
	return jobView(job), nil
}

// RedriveJob implements [intake.BackOffice].
func (o *office) RedriveJob(_ context.Context, tenant, id string) (intake.RedriveJob, error) {
	job, version, err := delivery.LoadJob(o.store, tenant, id)
	if err != nil {
		return intake.RedriveJob{}, err
	}
	if version == 0 {
		return intake.RedriveJob{}, fmt.Errorf("%w: no such redrive", intake.ErrNotFound)
	}
	return jobView(job), nil
}

func jobView(j delivery.Job) intake.RedriveJob {
	v := intake.RedriveJob{ID: j.ID, State: "running", PerSecond: j.PerSecond, Reason: j.Why,
		Who: j.Who, Matched: j.Matched, Redriven: j.Redriven, Cancelled: j.Cancelled, Left: j.Left,
		Tickets: append([]string{}, j.Tickets...), PlannedAt: &j.Planned,
		Filter: intake.Filter{Station: j.Filter.Station, Kitchen: j.Filter.Kitchen,
			Reason: j.Filter.Reason, Order: j.Filter.Order, Since: instant(j.Filter.Since),
			Until: instant(j.Filter.Until)}}
	if j.Done() {
		v.State, v.EndedAt = "done", &j.Ended
	}
	return v
}

// instant is t where it says something.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// auditScan bounds how many events of the log one question of the audit reads through once it has
// something to answer.
const auditScan = 20_000

// quiet remembers of each tenant a stretch of the log in which nothing is the tenant's: who asks
// for news again and again does not have the others' events read each time.
type quiet struct {
	mu sync.Mutex
	of map[string][2]uint64 // from, to
}

// skip is from where to read, for one who asks for what is behind since.
func (q *quiet) skip(tenant string, since uint64) uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	if of, ok := q.of[tenant]; ok && of[0] <= since && since < of[1] {
		return of[1]
	}
	return since
}

func (q *quiet) note(tenant string, from, to uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.of == nil {
		q.of = map[string][2]uint64{}
	}
	if of, ok := q.of[tenant]; ok && of[0] <= from && from <= of[1] {
		from = of[0]
	}
	q.of[tenant] = [2]uint64{from, to}
}

// Audit implements [intake.BackOffice]. What others did moves no position that it tells.
func (o *office) Audit(ctx context.Context, tenant string, since uint64, limit int) (
	list []intake.Entry, next uint64, more bool, err error) {
	next = since
	for read, at := 0, o.quiet.skip(tenant, since); ; {
		const page = 1000
		events, err := o.store.Events(at, page)
		if err != nil {
			return nil, 0, false, err
		}
		for _, e := range events {
			at = e.Position
			entry, ok := audited(e.Event)
			if !ok || e.Key.Tenant != tenant {
				continue
			}
			entry.Position, next = e.Position, e.Position
			if list = append(list, entry); len(list) == limit {
				return list, next, true, nil
			}
		}
		read += len(events)
		switch {
		case ctx.Err() != nil:
			return nil, 0, false, ctx.Err()
		case len(events) < page:
			o.quiet.note(tenant, next, at)
			return list, next, false, nil
		case read >= auditScan && len(list) > 0:
			o.quiet.note(tenant, next, at)
			return list, next, true, nil
		}
	}
}

// always are the events that stand in the audit also where no person is named: a ticket that nobody
// will get.
var always = map[string]bool{"delivery." + string(delivery.CancelDone): true}

// audited reads an event as a line of the audit; ok is false for what no person did. Whoever writes
// an event that a person asked for says who, and with that it is in the audit.
func audited(e entity.Event) (entry intake.Entry, ok bool) {
	var said struct {
		Who    string `json:"who"`
		Why    string `json:"why"`
		Reason string `json:"reason"`
	}
	if err := json.Unmarshal(e.Data, &said); err != nil || said.Who == "" && !always[e.Type] {
		return intake.Entry{}, false
	}
	entry = intake.Entry{At: e.At, What: e.Type, ID: e.Key.ID, Who: said.Who, Why: said.Why,
		Detail: said.Reason}
	if strings.HasSuffix(e.Type, "."+string(delivery.Redriven)) && entry.Why == "" {
		entry.Why, entry.Detail = said.Reason, "" // A redrive's reason is the person's.
	}
	return entry, true
}
