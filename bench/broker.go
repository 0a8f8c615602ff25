package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// broker measures how many tickets a second the doors take in while no device is there, and how
// many go from the door to the paper and back where the printers take no time. All programs, the
// producers and the printers share this machine.
func (b *bench) broker(ctx context.Context) ([]row, error) {
	var rows []row
	var disk probed
	for _, producers := range b.size.producers {
		var rates sample
		for range max(b.size.passes*3/5, 1) {
			rate, err := b.accepted(ctx, producers)
			if err := errors.Join(err, disk.take(b.dir)); err != nil {
				return nil, err
			}
			rates = append(rates, rate)
		}
		rows = append(rows, rated(fmt.Sprintf("accepted over HTTP and parked, %d producers", producers),
			"tickets/s", rates))
	}
	for _, kind := range []struct {
		what string
		mute bool
	}{{"printers that answer", false}, {"mute printers", true}} {
		settled, load, err := b.endToEnd(ctx, kind.mute, &disk)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind.what, err)
		}
		for i, producers := range b.size.producers {
			rows = append(rows, rated(fmt.Sprintf("door → paper → settled, %d producers, %d %s", producers,
				b.size.stations, kind.what), "tickets/s", settled[i]))
		}
		rows = append(rows, load...)
	}
	return append(rows, disk.row()), nil
}

// accepted is the rate at which a new broker says 202.
func (b *bench) accepted(ctx context.Context, producers int) (rate float64, err error) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	dir, err := b.folder("accepted")
	if err != nil {
		return 0, err
	}
	k, err := openKitchen(ctx, setting{programs: b.programs, dir: dir, stations: b.size.stations,
		offline: true})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, k.Close()) }()
	began := time.Now()
	n := 0
	for time.Since(began) < b.size.accept { // Rounds, so that a slow disk does not make it long.
		if err := k.produce(ctx, n, acceptRound*producers, producers); err != nil {
			return 0, err
		}
		n += acceptRound * producers
	}
	return float64(n) / time.Since(began).Seconds(), nil
}

// acceptRound is how many tickets each producer posts before the clock is looked at.
const acceptRound = 10

// endToEnd is the rates of each number of producers, over several passes at one kitchen, and the
// CPU time that each process had for a ticket.
func (b *bench) endToEnd(
	ctx context.Context, mute bool, disk *probed,
) (rates []sample, load []row, err error) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	dir, err := b.folder("end-to-end")
	if err != nil {
		return nil, nil, err
	}
	k, err := openKitchen(ctx, setting{programs: b.programs, dir: dir, stations: b.size.stations,
		mute: mute})
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, k.Close()) }()
	next := 0
	for ; next < b.size.stations; next++ { // Every printer is known before it is measured.
		if err := k.one(ctx, next); err != nil {
			return nil, nil, err
		}
	}
	first := next
	before, err := k.processors()
	if err != nil {
		return nil, nil, err
	}
	rates = make([]sample, len(b.size.producers))
	for range max(b.size.passes*3/5, 1) {
		if err := disk.take(b.dir); err != nil {
			return nil, nil, err
		}
		for i, producers := range b.size.producers {
			began := time.Now()
			if err := k.burst(ctx, next, b.size.settle[i], producers); err != nil {
				return nil, nil, err
			}
			next += b.size.settle[i]
			rates[i] = append(rates[i], float64(b.size.settle[i])/time.Since(began).Seconds())
		}
	}
	after, err := k.processors()
	if err != nil {
		return nil, nil, err
	}
	for i, name := range []string{"broker", "chitd", "producers and printers"} {
		load = append(load, row{What: "CPU time of it, " + name, Unit: "ms/ticket",
			Median: (after[i] - before[i]) / float64(next-first), N: next - first})
	}
	return rates, load, k.counted(next)
}

// processors is the CPU time of the broker, the daemon and this process, in milliseconds.
func (k *kitchen) processors() (times [3]float64, err error) {
	for i, pid := range []int{k.Broker.Pid(), k.Daemon.Pid(), os.Getpid()} {
		if times[i], err = processor(pid); err != nil {
			return times, err
		}
	}
	return times, nil
}
