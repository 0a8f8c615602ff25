package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"chit/device/core"
	"chit/device/journal"
	"chit/device/wire"
)

// Targets (issue "One ticket").
const (
	startTargetMs  = 300
	memoryTargetMB = 25
)

// rememberedDays is how long a device remembers an id (I3).
const rememberedDays = 30

const day = 24 * time.Hour

// start measures a chitd whose journal is a month old.
func (b *bench) start(ctx context.Context) (rows []row, err error) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	dir, err := b.folder("start")
	if err != nil {
		return nil, err
	}
	k, err := openKitchen(ctx, setting{programs: b.programs, dir: dir, stations: 1})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, k.Close()) }()
	// The first life brings the journal into being and learns the printer.
	if err := k.one(ctx, 0); err != nil {
		return nil, err
	}
	if err := k.Daemon.Stop(); err != nil {
		return nil, err
	}
	if err := remember(filepath.Join(k.State, "journal.db"), b.size.remembered); err != nil {
		return nil, err
	}
	var started, memory passes
	for range b.size.passes {
		var s, m sample
		for range b.size.starts {
			took, megabytes, err := k.restart(ctx)
			if err != nil {
				return nil, err
			}
			s.add(took)
			m = append(m, megabytes)
		}
		started, memory = append(started, s), append(memory, m)
	}
	busy, err := k.busy(ctx, b.size.memoryTickets)
	if err != nil {
		return nil, err
	}
	if err := k.counted(1 + b.size.memoryTickets); err != nil {
		return nil, err
	}
	ids := fmt.Sprintf("%d remembered ids", b.size.remembered)
	subscribed := timed("exec → subscribed and greeted, "+ids, started)
	idle := timed("RssAnon when subscribed, "+ids, memory)
	idle.Unit = "MB"
	high := row{What: fmt.Sprintf("RssAnon, highest seen over %d tickets", b.size.memoryTickets),
		Unit: "MB", Median: busy, N: 1}
	return []row{
		subscribed.against("300 ms", subscribed.Median, startTargetMs),
		idle.against("25 MB", idle.Median, memoryTargetMB), high.against("25 MB", busy, memoryTargetMB),
	}, nil
}

// remember gives a journal n ids over 30 days, as a month of tickets does, with the journal's own
// code.
func remember(path string, n int) error {
	j, err := journal.Open(path, journal.Options{})
	if err != nil {
		return err
	}
	state, err := j.Load()
	if err != nil {
		return errors.Join(err, j.Close())
	}
	meta := state.Meta
	meta.Lived += rememberedDays * day
	meta.Days = map[uint32]uint32{}
	for d := range uint32(rememberedDays) {
		meta.Days[d] = d + rememberedDays
	}
	meta.Contents = rememberedDays - 2
	err = errors.Join(j.Apply([]core.Change{core.PutMeta{Meta: meta}}), fill(j, n))
	return errors.Join(err, j.Close())
}

// fillBatch is how many ids share a commit.
const fillBatch = 5000

func fill(j *journal.Journal, n int) error {
	digest := wire.Digest([]byte("a ticket"))
	var batch []core.Change
	for i := range n {
		d := uint32(i * rememberedDays / n)
		batch = append(batch, core.PutSeen{Day: d, ID: rememberedID(i), Record: core.Record{
			Digest: digest, Outcome: wire.OutcomePrinted, Evidence: wire.EvidenceConfirmed, Attempt: 1,
			Expires: time.Duration(d+rememberedDays) * day, Arrival: uint64(i),
		}})
		if len(batch) == fillBatch || i == n-1 {
			if err := j.Apply(batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	return nil
}

// rememberedID is an id as doors form them: nothing in it ascends.
func rememberedID(i int) string {
	return fmt.Sprintf("order-%016x/1@s0", uint64(i)*0x9E3779B97F4A7C15)
}

// restart starts the daemon, waits until it says that it is subscribed, and stops it.
func (k *kitchen) restart(ctx context.Context) (took time.Duration, megabytes float64, err error) {
	info, err := os.Stat(k.Daemon.Log)
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	if err := k.Daemon.Start(); err != nil {
		return 0, 0, err
	}
	if err := k.said(ctx, info.Size(), "link is up"); err != nil {
		return 0, 0, err
	}
	took = time.Since(began)
	if err := k.Connected(ctx); err != nil { // The broker's welcome is in now, too.
		return 0, 0, err
	}
	if megabytes, err = anonymous(k.Daemon.Pid()); err != nil {
		return 0, 0, err
	}
	return took, megabytes, k.Daemon.Stop()
}

// logEvery is the pause between two looks at the log, far below what is measured by them.
const logEvery = time.Millisecond

// said waits until the daemon's log holds a phrase behind an offset.
func (k *kitchen) said(ctx context.Context, offset int64, phrase string) error {
	ticker := time.NewTicker(logEvery)
	defer ticker.Stop()
	for {
		raw, err := os.ReadFile(k.Daemon.Log)
		if err != nil {
			return err
		}
		if int64(len(raw)) > offset && strings.Contains(string(raw[offset:]), phrase) {
			return nil
		}
		select {
		case <-ticker.C:
		case <-k.Daemon.Ended():
			return fmt.Errorf("the daemon ended before it said %q: see its log:\n%s", phrase, raw[offset:])
		case <-ctx.Done():
			return fmt.Errorf("waiting for the daemon to say %q: %w", phrase, ctx.Err())
		}
	}
}

// busy starts the daemon, lets it print and returns the most memory seen, in MB.
func (k *kitchen) busy(ctx context.Context, tickets int) (most float64, err error) {
	if err := k.Daemon.Start(); err != nil {
		return 0, err
	}
	for i := range tickets {
		if err := k.one(ctx, 1+i); err != nil {
			return 0, err
		}
		now, err := anonymous(k.Daemon.Pid())
		if err != nil {
			return 0, err
		}
		most = max(most, now)
	}
	return most, nil
}
