package desk

import (
	"fmt"
	"time"

	"chit/broker/entity"
	"chit/broker/store"
)

// batch is what is made durable together. Answers wait for it also where the command was refused or
// repeated: the refusal may rest on states that are not durable yet.
type batch struct {
	number  uint64
	decided []decided
	commits []entity.Commit
	effects []entity.Effect
	err     error // of its flush
}

// decided is one command and what its sender will hear.
type decided struct {
	request
	answer Answer
	err    error
}

func (b *batch) refuse(err error) {
	for _, one := range b.decided {
		one.done(Answer{}, err)
	}
}

// decide adds r to the batch. The error is of the store, not of the command.
func (d *Desk) decide(b *batch, r request) error {
	now := d.conf.Now().UTC().Truncate(time.Millisecond)
	one := decided{request: r}
	commit, err := d.decideOne(b, r.command, now)
	if d.view.err != nil {
		return d.view.err
	}
	if err != nil {
		one.err = err
	} else {
		one.answer = Answer{Data: commit.Answer, Repeat: commit.Repeat}
		b.effects = append(b.effects, commit.Effects...)
		if !commit.Empty() {
			b.commits = append(b.commits, commit)
		}
	}
	b.decided = append(b.decided, one)
	d.counts.decided(one)
	return nil
}

func (d *Desk) decideOne(b *batch, c entity.Command, now time.Time) (entity.Commit, error) {
	id := c.Identity()
	if id.ID != "" {
		record, found := d.view.recorded(id.Tenant, id.ID)
		switch {
		case d.view.err != nil:
			return entity.Commit{}, d.view.err
		case found && !record.Expires.IsZero() && !now.Before(record.Expires):
			// Its end has passed; the record is only not pruned yet.
		case found && record.Digest != id.Digest:
			return entity.Commit{}, fmt.Errorf("%w: command %s", ErrConflict, id.ID)
		case found:
			return entity.Commit{Answer: record.Answer, Repeat: true}, nil
		}
	}
	commit, err := c.Decide(d.view, now)
	if err != nil {
		return entity.Commit{}, err
	}
	if commit.At.IsZero() {
		commit.At = now
	}
	if id.ID != "" && !commit.Repeat {
		record := entity.Record{Tenant: id.Tenant, ID: id.ID, Digest: id.Digest, Answer: commit.Answer}
		if id.For > 0 {
			record.Expires = now.Add(id.For)
		}
		commit.Command = &record
	}
	return commit, d.view.apply(commit, b.number)
}

// view is the newest queued states: those of batches that are not durable yet, over the store's.
type view struct {
	store   store.Store
	states  map[entity.Key]queued[entity.State]
	records map[[2]string]queued[entity.Record]
	err     error // the first error of the store, which stops the desk
}

// queued is a value and the number of the batch that makes it durable.
type queued[T any] struct {
	value T
	batch uint64
}

func newView(s store.Store) *view {
	return &view{store: s, states: map[entity.Key]queued[entity.State]{},
		records: map[[2]string]queued[entity.Record]{}}
}

// Load implements [entity.View].
func (v *view) Load(key entity.Key) (entity.State, error) {
	if state, ok := v.states[key]; ok {
		return state.value, nil
	}
	if err := key.Check(); err != nil {
		return entity.State{}, err
	}
	state, err := v.store.Load(key)
	if err != nil && v.err == nil {
		v.err = err
	}
	return state, err
}

func (v *view) recorded(tenant, id string) (entity.Record, bool) {
	if record, ok := v.records[[2]string{tenant, id}]; ok {
		return record.value, true
	}
	record, found, err := v.store.Recorded(tenant, id)
	if err != nil && v.err == nil {
		v.err = err
	}
	return record, found
}

// apply queues a Commit's states, or refuses it whole where it was decided on other ones: the store
// would refuse the batch, and everybody else's commands with it.
func (v *view) apply(c entity.Commit, batch uint64) error {
	fresh := make(map[entity.Key]entity.State, len(c.Changes))
	for _, change := range c.Changes {
		was, ok := fresh[change.Key]
		if !ok {
			var err error
			if was, err = v.Load(change.Key); err != nil {
				return err
			}
		}
		if was.Version != change.Was {
			return fmt.Errorf("%w: %s is at %d, decided on %d", entity.ErrMoved, change.Key,
				was.Version, change.Was)
		}
		fresh[change.Key] = entity.State{Version: change.Was + 1, Data: change.Data,
			Timer: change.Timer}
	}
	for _, row := range c.Owed {
		if err := row.Key.Check(); err != nil {
			return err
		}
	}
	for key, state := range fresh {
		v.states[key] = queued[entity.State]{state, batch}
	}
	if c.Command != nil {
		v.records[[2]string{c.Command.Tenant, c.Command.ID}] = queued[entity.Record]{*c.Command, batch}
	}
	return nil
}

// durable forgets the states that the store shows by now.
func (v *view) durable(b *batch) {
	for _, commit := range b.commits {
		for _, change := range commit.Changes {
			if v.states[change.Key].batch == b.number {
				delete(v.states, change.Key)
			}
		}
		if r := commit.Command; r != nil && v.records[[2]string{r.Tenant, r.ID}].batch == b.number {
			delete(v.records, [2]string{r.Tenant, r.ID})
		}
	}
}
