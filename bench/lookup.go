package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"chit/device/journal"
)

// lookupTarget is how many times slower the fullest journal may be than the emptiest.
const lookupTarget = 4

// memories are journals of growing size, each with its look-ups of known and unknown ids.
type memories struct {
	journals       []*journal.Journal
	known, unknown []passes // by journal
}

// lookup measures in turns, so that a disturbance meets all sizes alike.
func (b *bench) lookup(ctx context.Context) (rows []row, err error) {
	dir, err := b.folder("lookup")
	if err != nil {
		return nil, err
	}
	n := len(b.size.ids)
	m := &memories{known: make([]passes, n), unknown: make([]passes, n)}
	defer func() {
		for _, j := range m.journals {
			err = errors.Join(err, j.Close())
		}
	}()
	for _, ids := range b.size.ids {
		// Filling is not measured, so it need not be flushed.
		j, err := journal.Open(filepath.Join(dir, fmt.Sprint(ids)), journal.Options{
			NoSync: true, MaxSize: 1 << 30, Reserve: -1})
		if err != nil {
			return nil, err
		}
		m.journals = append(m.journals, j)
		if err := fill(j, ids); err != nil {
			return nil, err
		}
	}
	rng := rand.New(rand.NewPCG(1, 0))
	for range b.size.passes {
		for i, ids := range b.size.ids {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if err := m.pass(i, ids, b.size.looked, rng); err != nil {
				return nil, err
			}
		}
	}
	return append(b.lookupRows("known id, printed any day of the month", m.known),
		b.lookupRows("new id (every new ticket)", m.unknown)...), nil
}

func (m *memories) pass(i, ids, looked int, rng *rand.Rand) error {
	var known, unknown sample
	for range looked {
		n := rng.IntN(ids)
		for id, s := range map[string]*sample{rememberedID(n): &known, rememberedID(n + ids): &unknown} {
			start := time.Now()
			found, err := m.journals[i].Lookup(id)
			took := time.Since(start)
			if err != nil {
				return err
			}
			if found.Found != (s == &known) {
				return fmt.Errorf("id %s: found is %t, expected otherwise", id, found.Found)
			}
			s.add(took)
		}
	}
	m.known[i], m.unknown[i] = append(m.known[i], known), append(m.unknown[i], unknown)
	return nil
}

func (b *bench) lookupRows(what string, each []passes) (rows []row) {
	for i, ids := range b.size.ids {
		r := timed(fmt.Sprintf("%s, among %d", what, ids), each[i])
		r.Unit, r.Median, r.Best, r.P99 = "µs", r.Median*1000, r.Best*1000, r.P99*1000
		if last := len(each) - 1; i == last {
			ratio := each[last].figures().Median / each[0].figures().Median
			target := fmt.Sprintf("%d × the first (is %.1f ×)", lookupTarget, ratio)
			r = r.against(target, ratio, lookupTarget)
		}
		rows = append(rows, r)
	}
	return rows
}
