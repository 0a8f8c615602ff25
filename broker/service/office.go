package service

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"chit/broker/delivery"
	"chit/broker/entity"
	"chit/broker/intake"
)

// office answers what an owner asks about tickets after they were taken in.
type office struct {
	*tickets
	redrives *redrives
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
	if f.Kitchen != "" && !o.kitchens.byKitchen[tenant+"/"+f.Kitchen] {
		return delivery.Filter{}, fmt.Errorf("%w %q", intake.ErrKitchen, f.Kitchen)
	}
	if _, ok := o.kitchens.byStation[tenant+"/"+f.Station]; f.Station != "" && !ok {
		return delivery.Filter{}, fmt.Errorf("%w %q", intake.ErrStation, f.Station)
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

// auditScan bounds how many events of the log one question of the audit reads through.
const auditScan = 20_000

// Audit implements [intake.BackOffice].
func (o *office) Audit(_ context.Context, tenant string, since uint64, limit int) (
	list []intake.Entry, next uint64, more bool, err error) {
	next = since
	for read := 0; read < auditScan; {
		const page = 1000
		events, err := o.store.Events(next, page)
		if err != nil {
			return nil, 0, false, err
		}
		for _, e := range events {
			next = e.Position
			entry, ok := audited(e.Event)
			if !ok || e.Key.Tenant != tenant {
				continue
			}
			entry.Position = e.Position
			if list = append(list, entry); len(list) == limit {
				return list, next, true, nil
			}
		}
		if read += len(events); len(events) < page {
			return list, next, false, nil
		}
	}
	return list, next, true, nil
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
