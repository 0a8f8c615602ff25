package delivery

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"chit/broker/entity"
	"chit/device/wire"
)

const (
	// KindJob is the kind of redrives of many dead letters; the id is the one that its maker gave.
	KindJob = "redrive-job"
	// ListJobs is the outbox list of the jobs that are not done.
	ListJobs = "redrive-jobs"

	// JobFor is how long a job is remembered by its id.
	JobFor = 30 * 24 * time.Hour
	// JobTicketsMax bounds the tickets that a job or a dry run names.
	JobTicketsMax = 100
)

// Filter chooses dead letters; an empty field chooses all.
type Filter struct {
	Station string `json:"station,omitempty"`
	Kitchen string `json:"kitchen,omitempty"`
	// Reason is what it died of; "refused" also means "refused:poison" and its like.
	Reason string `json:"reason,omitempty"`
	Order  string `json:"order,omitempty"`
	// Since and Until bound the instant of death, Until excluded.
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
}

// Chooses reports whether d is a dead letter that the filter means.
func (f Filter) Chooses(d Delivery) bool {
	order, _, _ := strings.Cut(d.Ticket, "/")
	return d.State == Dead &&
		(f.Station == "" || f.Station == d.Station) &&
		(f.Kitchen == "" || f.Kitchen == d.Kitchen) &&
		(f.Order == "" || f.Order == order) &&
		(f.Reason == "" || diedOf(d.Reason, f.Reason)) &&
		!d.DeadAt.Before(f.Since) && (f.Until.IsZero() || d.DeadAt.Before(f.Until))
}

// Job is the redrive of many dead letters, one after the other, as far as it has come. It takes
// those that were dead when it was planned: one that dies again is not driven round and round.
type Job struct {
	Format int    `json:"v"`
	Tenant string `json:"tenant"`
	ID     string `json:"id"`

	Filter    Filter    `json:"filter"`
	PerSecond int       `json:"per_second"` // redrives a second
	Who       string    `json:"who"`
	Why       string    `json:"why"`
	Planned   time.Time `json:"planned"`
	// Matched is how many the filter chose when it was planned.
	Matched int `json:"matched"`

	// Cursor is the last row of the list of dead letters that was looked at.
	Cursor Cursor `json:"cursor,omitzero"`
	// Redriven go on, Cancelled were voided meanwhile, Left could not go on, such as expired ones.
	Redriven  int `json:"redriven"`
	Cancelled int `json:"cancelled"`
	Left      int `json:"left"`
	// Tickets are the first that it redrove, at most JobTicketsMax.
	Tickets []string  `json:"tickets,omitempty"`
	Ended   time.Time `json:"ended,omitzero"`
}

// Cursor is a place in the list of dead letters.
type Cursor struct {
	At     time.Time `json:"at"`
	Ticket string    `json:"ticket"`
}

// Row is the cursor as the row to go on behind; the zero Row where nothing was looked at yet.
func (c Cursor) Row(tenant string) entity.Row {
	if c.Ticket == "" {
		return entity.Row{}
	}
	return entity.Row{List: ListDead, At: c.At, Key: Key(tenant, c.Ticket)}
}

func (c Cursor) before(r entity.Row) bool {
	return cmp.Or(c.At.Compare(r.At), strings.Compare(c.Ticket, r.Key.ID)) < 0
}

// Done reports whether it has looked at every dead letter.
func (j Job) Done() bool { return !j.Ended.IsZero() }

func jobKey(tenant, id string) entity.Key {
	return entity.Key{Tenant: tenant, Kind: KindJob, ID: id}
}

// LoadJob reads a job; version 0 means that there is none.
func LoadJob(view entity.View, tenant, id string) (Job, uint64, error) {
	var j Job
	version, err := load(view, jobKey(tenant, id), &j)
	return j, version, err
}

func (j Job) row() entity.Row {
	return entity.Row{List: ListJobs, At: j.Planned, Key: jobKey(j.Tenant, j.ID)}
}

// Plan makes a job. The same job again is answered as it stands, another one of the same id is
// [ErrConflict]. Its answer is the [Job].
type Plan struct {
	Tenant, ID string
	Filter     Filter
	PerSecond  int
	Who, Why   string
	Matched    int
}

// Identity implements [entity.Command]: the job itself remembers.
func (p Plan) Identity() entity.Identity { return entity.Identity{} }

// Name implements desk.Named.
func (p Plan) Name() string { return "redrive-plan" }

// Decide implements [entity.Command].
func (p Plan) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	if err := wire.CheckPrinter(p.ID); err != nil {
		return entity.Commit{}, fmt.Errorf("delivery: planning a redrive: %w", err)
	}
	// As they are read back from the store, so that they compare.
	p.Filter.Since = p.Filter.Since.UTC().Truncate(time.Millisecond)
	p.Filter.Until = p.Filter.Until.UTC().Truncate(time.Millisecond)
	j, version, err := LoadJob(view, p.Tenant, p.ID)
	if err != nil {
		return entity.Commit{}, err
	}
	if version > 0 {
		if j.Filter != p.Filter || j.PerSecond != p.PerSecond || j.Why != p.Why {
			return entity.Commit{}, fmt.Errorf("%w: redrive job %s", ErrConflict, p.ID)
		}
		answer, err := marshal("job", j)
		return entity.Commit{Answer: answer, Repeat: true}, err
	}
	j = Job{Format: Format, Tenant: p.Tenant, ID: p.ID, Filter: p.Filter, PerSecond: p.PerSecond,
		Who: p.Who, Why: p.Why, Planned: now, Matched: p.Matched}
	commit := entity.Commit{Owed: []entity.Row{j.row()}}
	err = j.store(&commit, version, "planned", now)
	return commit, err
}

// store adds the job to a Commit, with an event where what names one, and makes it the answer.
func (j Job) store(c *entity.Commit, was uint64, what string, now time.Time) error {
	key := jobKey(j.Tenant, j.ID)
	data, err := marshal(key.String(), j)
	if err != nil {
		return err
	}
	c.Answer = data
	c.Changes = append(c.Changes, entity.Change{Key: key, Was: was, Data: data,
		Expires: j.Planned.Add(JobFor)})
	if what == "" {
		return nil
	}
	event, err := marshal("event", eventData{Format: Format, Who: j.Who, Why: j.Why,
		Reason: fmt.Sprintf("%d redriven, %d cancelled, %d left, of %d", j.Redriven, j.Cancelled,
			j.Left, j.Matched)})
	c.Events = append(c.Events, entity.Event{Key: key, Type: KindJob + "." + what, At: now,
		Data: event})
	return err
}

// Step goes on with a job: it looks at Rows, which stand in the list of dead letters behind the
// job's cursor, and redrives at most Most of them. Rows that it has looked at are passed over, so a
// step that is repeated does nothing twice. Its answer is the [Job].
type Step struct {
	Tenant, ID string
	Rows       []entity.Row
	// Last is true where the list ends behind Rows: with them the job is done.
	Last bool
	Most int
}

// Identity implements [entity.Command].
func (s Step) Identity() entity.Identity { return entity.Identity{} }

// Name implements desk.Named.
func (s Step) Name() string { return "redrive-step" }

// Decide implements [entity.Command].
func (s Step) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	j, version, err := LoadJob(view, s.Tenant, s.ID)
	if err != nil {
		return entity.Commit{}, err
	}
	if version == 0 {
		return entity.Commit{}, fmt.Errorf("%w: redrive job %s", ErrUnknown, s.ID)
	}
	if j.Done() {
		answer, err := marshal("job", j)
		return entity.Commit{Answer: answer}, err
	}
	f := newDraft(view)
	j.Tickets = slices.Clone(j.Tickets)
	took, end := 0, s.Last
	for _, row := range s.Rows {
		if !j.Cursor.before(row) {
			continue
		}
		if row.At.After(j.Planned) {
			end = true
			break
		}
		if took >= s.Most {
			end = false
			break
		}
		did, err := j.take(f, row, now)
		if err != nil {
			return entity.Commit{}, err
		}
		if did {
			took++
		}
		j.Cursor = Cursor{At: row.At, Ticket: row.Key.ID}
	}
	what := ""
	if end {
		j.Ended, what = now, "finished"
		f.commit.Paid = append(f.commit.Paid, j.row())
	}
	return f.commit, j.store(&f.commit, version, what, now)
}

// take redrives one dead letter where the job means it, and reports whether it did.
func (j *Job) take(f *draft, row entity.Row, now time.Time) (bool, error) {
	d, version, err := Load(f, row.Key.Tenant, row.Key.ID)
	if err != nil || version == 0 || !j.Filter.Chooses(d) {
		return false, err
	}
	commit, after, err := redrive(f, d, version, j.Who, j.Why, now)
	switch {
	case errors.Is(err, ErrExpired):
		j.Left++
		return false, nil
	case err != nil:
		return false, err
	case after.State == Cancelled:
		j.Cancelled++
	default:
		j.Redriven++
		if len(j.Tickets) < JobTicketsMax {
			j.Tickets = append(j.Tickets, d.Ticket)
		}
	}
	f.add(commit)
	return true, nil
}

// ErrNotDead refuses to discard what is no dead letter (HTTP: 409).
var ErrNotDead = errors.New("delivery: not a dead letter")

// Discard gives a dead letter up: it becomes cancelled, with who and why in the audit. Discarded
// already, it changes nothing; anything but a dead letter is refused with [ErrNotDead].
type Discard struct {
	Tenant, Ticket string
	Who, Why       string
}

// Identity implements [entity.Command]: discarding twice changes nothing.
func (d Discard) Identity() entity.Identity { return entity.Identity{} }

// Name implements desk.Named.
func (d Discard) Name() string { return "discard" }

// Decide implements [entity.Command].
func (d Discard) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	dead, version, err := known(view, d.Tenant, d.Ticket)
	if err != nil {
		return entity.Commit{}, err
	}
	gone := dead.State == Cancelled && dead.Reason == ReasonDiscarded
	if dead.State != Dead && !gone {
		return entity.Commit{}, fmt.Errorf("%w: %s is %s", ErrNotDead, d.Ticket, dead.State)
	}
	e := End{Who: d.Who, Reason: ReasonDiscarded, Why: d.Why}
	commit, after, err := cancel(view, dead, version, e, now)
	if err != nil {
		return entity.Commit{}, err
	}
	err = answer(&commit, after, len(commit.Changes) > 0)
	return commit, err
}
