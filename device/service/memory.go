package service

import (
	"errors"
	"time"

	"chit/device/core"
	"chit/device/journal"
)

// lose is what follows a failed commit or look-up: nobody knows what of the batch is on disk, so
// the machine forgets it, the batch's messages are refused for now, and the journal is reopened.
func (l *loop) lose(cause error, batch []item) {
	if l.lost == nil || l.lost.Error() != cause.Error() {
		l.log.Error("device has no memory: tickets are refused until the journal works", "err", cause)
	}
	l.lost = cause
	l.count("storage_lost", "")
	if l.journal != nil {
		if err := l.journal.Close(); err != nil {
			l.log.Warn("journal did not close", "err", err)
		}
		l.journal = nil
	}
	l.pause = min(max(2*l.pause, reopenMin), reopenMax)
	l.reopenAt = time.Now().Add(l.pause)
	clear(l.presses)
	clear(l.handles) // Theirs are given anew below; all earlier ones are done.
	then := l.machine.Step(now(), core.StorageLost{}).Then
	for _, it := range l.keep(batch) {
		if _, start := it.event.(core.Started); start {
			continue
		}
		e, err := l.complete(&it)
		if err != nil {
			continue // No journal is open, so no look-up can fail.
		}
		then = append(then, l.machine.Step(now(), e).Then...)
	}
	l.leave(then)
}

// keep sets results aside: they are recorded when there is a journal again.
func (l *loop) keep(batch []item) []item {
	var rest []item
	for _, it := range batch {
		switch it.event.(type) {
		case core.PrintDone, core.Resolved:
			l.kept = append(l.kept, it)
		default:
			rest = append(rest, it)
		}
	}
	return rest
}

func (l *loop) maybeReopen() {
	if l.lost != nil && !time.Now().Before(l.reopenAt) {
		l.reopen()
	}
}

// settingTenant is the journal's setting that names its owner.
const settingTenant = "tenant"

// remember opens the tenant's journal and reads what a start needs. A journal of another tenant is
// put aside: what it remembers must neither print nor speak for this one (DESIGN section 4).
func (l *loop) remember() (*journal.Journal, core.State, error) {
	path := l.conf.JournalPath()
	j, state, err := load(path, l.options)
	if err != nil {
		return nil, core.State{}, err
	}
	if owner := string(state.Settings[settingTenant]); owner != "" && owner != l.tenant {
		if err := j.Close(); err != nil {
			return nil, core.State{}, err
		}
		aside, err := journal.Retire(path)
		if err != nil {
			return nil, core.State{}, err
		}
		l.log.Warn("journal of another tenant is put aside", "tenant", owner, "file", aside)
		if j, state, err = load(path, l.options); err != nil {
			return nil, core.State{}, err
		}
	}
	if len(state.Settings[settingTenant]) == 0 {
		owned := core.PutSetting{Key: settingTenant, Value: []byte(l.tenant)}
		if err := j.Apply([]core.Change{owned}); err != nil {
			return nil, core.State{}, errors.Join(err, j.Close())
		}
	}
	return j, state, nil
}

func load(path string, options journal.Options) (*journal.Journal, core.State, error) {
	j, err := journal.Open(path, options)
	if err != nil {
		return nil, core.State{}, err
	}
	state, err := j.Load()
	if err != nil {
		return nil, core.State{}, errors.Join(err, j.Close())
	}
	return j, state, nil
}

// reopen opens the journal and starts the machine on it.
func (l *loop) reopen() {
	var j *journal.Journal
	var state core.State
	err := l.aside(func() (err error) {
		j, state, err = l.remember()
		return err
	})
	if err != nil {
		l.lose(err, nil)
		return
	}
	l.begin(j, state)
}

// begin starts the machine on an open journal.
func (l *loop) begin(j *journal.Journal, state core.State) {
	again := l.lost != nil
	l.journal, l.lost = j, nil
	before := l.pause
	l.process([]item{{event: core.Started{State: state, KernelBoot: l.boot}}})
	if l.lost != nil {
		l.pause = min(max(l.pause, 2*before), reopenMax)
		return
	}
	l.log.Info("journal is open", "journal", state.Meta.Journal, "boot", state.Meta.Boot+1,
		"open", len(state.Open), "intents", len(state.Intents))
	if kept := l.kept; len(kept) > 0 {
		l.kept = nil
		l.process(kept)
	}
	if again {
		l.greet() // Another boot of the journal: the broker must hear it.
	}
}
