package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// writtenTarget is the most bytes that chitd may write for a ticket (issue "One ticket").
const writtenTarget = 64 << 10

// written counts the bytes that chitd writes, for tickets that come alone and for many at once.
func (b *bench) written(ctx context.Context) (rows []row, err error) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	dir, err := b.folder("written")
	if err != nil {
		return nil, err
	}
	k, err := openKitchen(ctx, setting{programs: b.programs, dir: dir, stations: 1})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, k.Close()) }()
	next := 0
	take := func(n int) (int, int) { next += n; return next - n, next }
	alone := func() error {
		for i, end := take(b.size.tickets); i < end; i++ {
			if err := k.one(ctx, i); err != nil {
				return err
			}
		}
		return nil
	}
	together := func() error {
		first, end := take(b.size.burst)
		return k.burst(ctx, first, end-first, b.size.burst)
	}
	for i, end := take(warmUp); i < end; i++ {
		if err := k.one(ctx, i); err != nil {
			return nil, err
		}
	}
	for _, c := range []struct {
		what    string
		tickets int
		do      func() error
	}{
		{"a ticket that comes alone", b.size.tickets, alone},
		{fmt.Sprintf("each of %d tickets posted at once", b.size.burst), b.size.burst, together},
	} {
		var files, account sample
		for range b.size.passes {
			w, err := k.writes(c.do)
			if err != nil {
				return nil, err
			}
			files = append(files, w.files/float64(c.tickets))
			account = append(account, w.account/float64(c.tickets))
		}
		r := row{What: "bytes written to files for " + c.what, Unit: "B", Median: files.median(),
			Best: files.at(0), N: len(files)}
		rows = append(rows, r.against("65536", r.Median, writtenTarget), row{
			What: "the same as the kernel accounts it (write_bytes, whole folios)", Unit: "B",
			Median: account.median(), Best: account.at(0), N: len(account)})
	}
	return rows, k.counted(next)
}

// wrote is what a daemon wrote: to files, and what the kernel accounts for them.
type wrote struct{ files, account float64 }

// writes watches the daemon during do. What it wrote to files, journal and log, is all that it
// wrote less what passed on its cables.
func (k *kitchen) writes(do func() error) (w wrote, err error) {
	var sent atomic.Int64
	k.Cable.Watch(func(toBroker bool, bytes int) {
		if toBroker {
			sent.Add(int64(bytes))
		}
	})
	k.Printer.Watch(func(toPrinter bool, bytes int) {
		if toPrinter {
			sent.Add(int64(bytes))
		}
	})
	pid := k.Daemon.Pid()
	before, err := handedOver(pid)
	if err != nil {
		return w, err
	}
	accountBefore, err := accounted(pid)
	if err != nil {
		return w, err
	}
	if err := do(); err != nil {
		return w, err
	}
	after, err := handedOver(pid)
	if err != nil {
		return w, err
	}
	accountAfter, err := accounted(pid)
	return wrote{after - before - float64(sent.Load()), accountAfter - accountBefore}, err
}

// burst posts tickets from many producers and waits until all are settled.
func (k *kitchen) burst(ctx context.Context, first, tickets, producers int) error {
	before, err := k.settled(ctx)
	if err != nil {
		return err
	}
	if err := k.produce(ctx, first, tickets, producers); err != nil {
		return err
	}
	return k.drained(ctx, before+float64(tickets))
}

// produce posts tickets first to first+tickets-1, by several producers that each wait for the
// door's answer before they post the next.
func (k *kitchen) produce(ctx context.Context, first, tickets, producers int) error {
	numbers := make(chan int)
	errs := make(chan error, producers)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var group sync.WaitGroup
	for range producers {
		group.Go(func() {
			for n := range numbers {
				if err := k.post(ctx, order(n, k.Stations[n%len(k.Stations)])); err != nil {
					errs <- err
					cancel()
					return
				}
			}
		})
	}
	for n := first; n < first+tickets && ctx.Err() == nil; n++ {
		select {
		case numbers <- n:
		case <-ctx.Done():
		}
	}
	close(numbers)
	group.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return ctx.Err()
	}
}
