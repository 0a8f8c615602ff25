package service

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"chit/broker/delivery"
	"chit/broker/desk"
	"chit/broker/entity"
	"chit/broker/store"
)

const (
	// deadPage is how many rows of the list of dead letters are read at once.
	deadPage = 256
	// stepEvery is the shortest pause between two steps of a job that redrives: faster jobs take
	// more at a step.
	stepEvery = 100 * time.Millisecond
	// stepRetry is the pause after a step that the desk did not take.
	stepRetry = time.Second
)

// redrives carries the redrive jobs on, one step after the other, at each job's own rate. A job
// that a restart interrupted goes on where its cursor stands.
type redrives struct {
	desk interface {
		Do(context.Context, entity.Command) (desk.Answer, error)
	}
	store store.Store
	log   *slog.Logger
	wake  chan struct{}
}

func newRedrives(d *desk.Desk, s store.Store, log *slog.Logger) *redrives {
	return &redrives{desk: d, store: s, log: log, wake: make(chan struct{}, 1)}
}

// planned says that there is a new job.
func (r *redrives) planned() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// run works until ctx ends. Its error is of the store.
func (r *redrives) run(ctx context.Context) error {
	due := map[entity.Key]time.Time{}
	failing := ""
	for {
		jobs, err := r.store.Rows(delivery.ListJobs, "", entity.Row{}, deadPage)
		if err != nil {
			return fmt.Errorf("reading redrive jobs: %w", err)
		}
		sleep := time.Duration(-1)
		for _, row := range jobs {
			wait := time.Until(due[row.Key])
			if wait <= 0 {
				if wait, err = r.step(ctx, row.Key); ctx.Err() != nil {
					return nil
				}
				if said := fmt.Sprint(err); err != nil && said != failing {
					failing = said
					r.log.Warn("redrive job waits", "job", row.Key.ID, "err", err)
				}
				due[row.Key] = time.Now().Add(wait)
			}
			if sleep < 0 || wait < sleep {
				sleep = wait
			}
		}
		if len(jobs) == 0 {
			clear(due)
		}
		if !r.pause(ctx, sleep) {
			return nil
		}
	}
}

// pause waits for a new job, or so long; negative: for a new job alone. It is false once ctx ended.
func (r *redrives) pause(ctx context.Context, sleep time.Duration) bool {
	var over <-chan time.Time
	if sleep >= 0 {
		timer := time.NewTimer(sleep)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-ctx.Done():
		return false
	case <-r.wake:
	case <-over:
	}
	return true
}

// step goes on with one job and says when it may go on again.
func (r *redrives) step(ctx context.Context, key entity.Key) (time.Duration, error) {
	job, version, err := delivery.LoadJob(r.store, key.Tenant, key.ID)
	if err != nil || version == 0 || job.Done() {
		return stepRetry, err
	}
	rows, err := r.store.Rows(delivery.ListDead, key.Tenant, job.Cursor.Row(key.Tenant), deadPage)
	if err != nil {
		return stepRetry, err
	}
	pause := max(time.Second/time.Duration(max(job.PerSecond, 1)), stepEvery)
	most := max(int(pause*time.Duration(job.PerSecond)/time.Second), 1)
	answer, err := r.desk.Do(ctx, delivery.Step{Tenant: key.Tenant, ID: key.ID, Rows: rows,
		Last: len(rows) < deadPage, Most: most})
	if err != nil {
		return stepRetry, err
	}
	var now delivery.Job
	if err := json.Unmarshal(answer.Data, &now); err != nil {
		return stepRetry, fmt.Errorf("reading a job's step: %w", err)
	}
	if now.Done() {
		r.log.Info("redrive done", "tenant", key.Tenant, "job", key.ID, "redriven", now.Redriven,
			"cancelled", now.Cancelled, "left", now.Left)
	}
	if now.Redriven+now.Cancelled == job.Redriven+job.Cancelled {
		return 0, nil // Nothing was taken, so the rate has nothing to say.
	}
	return pause, nil
}
