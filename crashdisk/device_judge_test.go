package crashdisk_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"chit/device/core"
	"chit/device/journal"
	"chit/device/wire"
)

// judgeDevice opens the journal that a power cut left, holds it against what was told to the world
// before, then starts the device on it, has every ticket handed over again, and counts paper.
func judgeDevice(dir string, facts []fact, seed uint64) (err error) {
	path := filepath.Join(dir, journalName)
	if err := judgeBirth(path, facts); err != nil {
		return err
	}
	t := &told{all: facts}
	d := newDevice(t, path, fmt.Sprintf("after-%x", seed), rand.New(rand.NewPCG(seed, 1)))
	d.noSync = true // No power cut follows this one.
	j, err := journal.Open(path, journal.Options{Serial: serial})
	if err != nil {
		return fmt.Errorf("start-up: %w", err)
	}
	err = errors.Join(judgeJournal(j, facts), j.Close())
	if err != nil {
		return err
	}
	if err := d.start(); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	defer func() { err = errors.Join(err, d.j.Close()) }()
	if err := d.handOverAgain(); err != nil {
		return err
	}
	report, err := d.j.Check()
	if err != nil || len(report.Problems) > 0 {
		return fmt.Errorf("check after the start: %q, %w", report.Problems, err)
	}
	return errors.Join(judgeNumbers(t.all), judgePaper(t.all), judgeEnds(t.all))
}

// judgeBirth: a journal that has said hello is there.
func judgeBirth(path string, facts []fact) error {
	_, err := os.Stat(path)
	for _, f := range facts {
		if f.Born != nil && err != nil {
			return fmt.Errorf("journal %s said hello: %w", f.Born.Journal, err)
		}
	}
	return nil
}

// judgeJournal compares the file with the facts (I1 to I4), before a start changes it.
func judgeJournal(j *journal.Journal, facts []fact) error {
	report, err := j.Check()
	if err != nil || len(report.Problems) > 0 {
		return fmt.Errorf("check: %q, %w", report.Problems, err)
	}
	state, err := j.Load()
	if err != nil {
		return err
	}
	if len(state.Intents) > len(printers) {
		return fmt.Errorf("%d intents for %d printers", len(state.Intents), len(printers))
	}
	v := view{j: j, state: state}
	acks, papers := map[string]wire.Ack{}, map[string]paper{}
	for _, f := range facts {
		if f.Ack != nil {
			if err := v.number(f.Ack.Journal, f.Ack.Boot, f.Ack.N); err != nil {
				return fmt.Errorf("%s %s: %w", f.Ack.Outcome, f.Ack.Ticket, err)
			}
			acks[f.Ack.Ticket] = *f.Ack
		}
		if f.Born != nil {
			if err := v.number(f.Born.Journal, f.Born.Boot, f.Born.N); err != nil {
				return fmt.Errorf("hello: %w", err)
			}
		}
		if f.Paper != nil {
			papers[f.Paper.Ticket] = *f.Paper
		}
	}
	for _, id := range slices.Sorted(maps.Keys(acks)) {
		if err := v.keeps(acks[id]); err != nil {
			return fmt.Errorf("said %s %s attempt %d: %w", acks[id].Outcome, id, acks[id].Attempt, err)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(papers)) {
		if err := v.knows(papers[id]); err != nil {
			return fmt.Errorf("paper of %s left as %s: %w", id, papers[id].Token, err)
		}
	}
	return nil
}

// view is a journal as it was found.
type view struct {
	j     *journal.Journal
	state core.State
}

// number: n and boot are not below one that was said (I1), so they cannot come again.
func (v view) number(id string, boot, n uint64) error {
	m := v.state.Meta
	switch {
	case id != m.Journal:
		return fmt.Errorf("journal was %s and is %s", id, m.Journal)
	case boot > m.Boot:
		return fmt.Errorf("boot %d was said, %d is recorded", boot, m.Boot)
	case n > m.NReserved:
		return fmt.Errorf("n %d was said, %d are reserved", n, m.NReserved)
	}
	return nil
}

func (v view) open(id string) *core.Open {
	for i := range v.state.Open {
		if o := &v.state.Open[i].Open; o.ID == id {
			return o
		}
	}
	return nil
}

// recorded is the journal's newest word on an id: while it is open, its open record.
func (v view) recorded(id string) (core.Known, error) {
	known, err := v.j.Lookup(id)
	if err != nil {
		return known, err
	}
	o := v.open(id)
	switch {
	case o == nil:
	case !known.Found:
		return known, errors.New("is open and its id is not remembered")
	case o.State == core.Received || o.State == core.Stale:
		known.Record.Outcome, known.Record.Attempt = wire.OutcomeStored, o.Attempt
		known.Record.Marked = o.Marked
	default:
		known.Record.Outcome, known.Record.Evidence = o.Outcome, o.Evidence
		known.Record.Attempt, known.Record.Marked = o.Attempt, o.Marked
	}
	return known, nil
}

// keeps: what was answered last for an id is remembered, with its digest (I1, I2).
func (v view) keeps(a wire.Ack) error {
	if a.Outcome == wire.OutcomeRefused && a.Reason != "poison" {
		return nil // Nothing is remembered of it, and nothing was promised.
	}
	known, err := v.recorded(a.Ticket)
	if err != nil {
		return err
	}
	r := known.Record
	switch {
	case !known.Found:
		return errors.New("forgotten")
	case a.Digest != "" && r.Digest != a.Digest:
		return fmt.Errorf("digest is %s, was %s", r.Digest, a.Digest)
	case r.Attempt > a.Attempt:
		return nil // Handed over anew since; the answer to that was not said yet.
	}
	switch a.Outcome {
	case wire.OutcomePrinted, wire.OutcomeDuplicate:
		if r.Outcome != wire.OutcomePrinted || r.Evidence.Rank() < a.Evidence.Rank() ||
			a.Marked && !r.Marked {
			return fmt.Errorf("recorded as %s %s, marked %v", r.Outcome, r.Evidence, r.Marked)
		}
	case wire.OutcomeRecalled, wire.OutcomeRefused, wire.OutcomeExpired:
		if r.Outcome != a.Outcome {
			return fmt.Errorf("recorded as %s", r.Outcome)
		}
	case wire.OutcomeStored, wire.OutcomeHeld:
		return v.content(a)
	}
	return nil
}

// content: an unfinished ticket can still be printed, with the bytes that came.
func (v view) content(a wire.Ack) error {
	for _, o := range v.state.Open {
		if o.Open.ID != a.Ticket || o.Open.State != core.Received {
			continue
		}
		if got := wire.Digest(o.Ticket.Data); got != a.Digest {
			return fmt.Errorf("content has digest %s, want %s", got, a.Digest)
		}
	}
	return nil
}

// knows: the newest paper of a ticket has its intent, or its outcome is recorded, or the next paper
// will be marked (I4).
func (v view) knows(p paper) error {
	known, err := v.recorded(p.Ticket)
	if err != nil {
		return err
	}
	o := v.open(p.Ticket)
	switch {
	case !known.Found:
		return errors.New("forgotten")
	case known.Record.Outcome == wire.OutcomePrinted, known.Record.Marked:
		return nil
	case o == nil:
		return errors.New("neither open nor printed")
	}
	intent, ok := v.state.Intents[p.Printer]
	if !ok || intent.Arrival != o.Arrival || intent.Token != p.Token {
		return fmt.Errorf("no intent, and outcome %s; the printer's intent: %+v",
			known.Record.Outcome, intent)
	}
	return nil
}

// roundsMax bounds the work after a start; it ends when nothing is at a printer any more.
const roundsMax = 10_000

// handOverAgain is a broker that heard nothing: it hands every ticket over once more.
func (d *device) handOverAgain() error {
	ids := slices.SortedFunc(maps.Keys(d.came), cmp.Compare[string])
	var events []core.Event
	for _, id := range ids {
		d.tries[id]++
		e, err := d.arrival(id)
		if err != nil {
			return err
		}
		events = append(events, e)
	}
	if err := d.do(events...); err != nil {
		return err
	}
	for range roundsMax {
		if err := errors.Join(d.finish(), d.pass(2*time.Second)); err != nil {
			return err
		}
		if len(d.at) > 0 {
			continue
		}
		report, err := d.j.Check()
		if err != nil || report.Unfinished == 0 {
			return err
		}
	}
	return errors.New("tickets are unfinished and nothing prints")
}

// judgeNumbers: one (journal, boot, n) names one answer for ever.
func judgeNumbers(facts []fact) error {
	said := map[wire.AckKey]wire.Ack{}
	for _, f := range facts {
		if f.Ack == nil {
			continue
		}
		if was, twice := said[f.Ack.Key()]; twice && was != *f.Ack {
			return fmt.Errorf("n %d was given twice, for %+v and %+v", f.Ack.N, was, *f.Ack)
		}
		said[f.Ack.Key()] = *f.Ack
	}
	return nil
}

// judgePaper: of all papers of a ticket one is without a mark, and it is the first (I4).
func judgePaper(facts []fact) error {
	papers := map[string]int{}
	for _, f := range facts {
		if f.Paper == nil {
			continue
		}
		if papers[f.Paper.Ticket]++; papers[f.Paper.Ticket] > 1 && !f.Paper.Marked {
			return fmt.Errorf("paper %d of %s is not marked", papers[f.Paper.Ticket], f.Paper.Ticket)
		}
	}
	return nil
}

// judgeEnds: what was handed over again to a device that works is on paper, or a person is told.
func judgeEnds(facts []fact) error {
	last, papers := map[string]wire.Ack{}, map[string]bool{}
	for _, f := range facts {
		if f.Ack != nil {
			last[f.Ack.Ticket] = *f.Ack
		}
		if f.Paper != nil {
			papers[f.Paper.Ticket] = true
		}
	}
	for id, a := range last {
		switch {
		case a.Outcome == wire.OutcomeStored, a.Outcome == wire.OutcomeHeld:
			return fmt.Errorf("%s ends as %s %s", id, a.Outcome, a.Reason)
		case a.Outcome.OnPaper() && !papers[id]:
			return fmt.Errorf("%s was answered %s and has no paper", id, a.Outcome)
		}
	}
	return nil
}
