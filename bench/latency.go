package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// What tells pieces of bytes on the cables apart. The cable carries TLS, so only sizes can be seen;
// at an idle kitchen they are enough: a ticket is above 1 KiB, a signed answer about 550 bytes, a
// PUBACK 26, a question to a printer at most 6.
const (
	ticketBytesMin   = 700
	answerBytes      = 550 // the least; two that leave together have twice as many
	documentBytesMin = 64
)

// passing is a piece of bytes on a cable.
type passing struct {
	at       time.Time
	printer  bool // on the printer's cable; else on the broker's
	toTarget bool // to the printer, or to the broker
	bytes    int
}

// tape records what passes on a kitchen's cables.
type tape struct {
	mu   sync.Mutex
	heap []passing
}

func (t *tape) listen(k *kitchen) {
	record := func(printer bool) func(bool, int) {
		return func(toTarget bool, bytes int) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.heap = append(t.heap, passing{time.Now(), printer, toTarget, bytes})
		}
	}
	k.Cable.Watch(record(false))
	k.Printer.Watch(record(true))
}

// cut takes what was recorded.
func (t *tape) cut() []passing {
	t.mu.Lock()
	defer t.mu.Unlock()
	taken := t.heap
	t.heap = nil
	return taken
}

// seen is what the cables tell of one ticket's way through chitd.
type seen struct {
	firstByte time.Duration // from the ticket's arrival to the document's first byte at the printer
	answers   time.Duration // of it, waited for the printer's answers to questions before
	stored    time.Duration // from arrival to the first signed answer on the wire
	printed   time.Duration // from arrival to the second
}

var errNotSeen = errors.New("the cables did not show a ticket, a document and two answers")

// read finds one ticket's way in what passed.
func read(all []passing) (s seen, err error) {
	var arrived, asked time.Time
	var answers []time.Duration
	for _, p := range all {
		since := p.at.Sub(arrived)
		switch {
		case arrived.IsZero():
			if !p.printer && !p.toTarget && p.bytes >= ticketBytesMin {
				arrived = p.at
			}
		case p.printer && s.firstByte == 0 && p.toTarget && p.bytes >= documentBytesMin:
			s.firstByte = since
		case p.printer && s.firstByte == 0 && p.toTarget:
			asked = p.at
		case p.printer && s.firstByte == 0 && !asked.IsZero():
			s.answers += p.at.Sub(asked)
			asked = time.Time{}
		case !p.printer && p.toTarget:
			for range p.bytes / answerBytes {
				answers = append(answers, since)
			}
		}
	}
	if s.firstByte == 0 || len(answers) < 2 {
		return s, fmt.Errorf("%w: %d pieces", errNotSeen, len(all))
	}
	s.stored, s.printed = answers[0], answers[1]
	return s, nil
}

// course is what was measured at one kitchen.
type course struct{ firstByte, answers, own, stored, printed, door, flush passes }

// latency measures one ticket at a time. The second kitchen keeps its journal in memory: what is
// left there is chitd's own work, without the disk.
func (b *bench) latency(ctx context.Context) ([]row, error) {
	disk, err := b.course(ctx, "")
	if err != nil {
		return nil, err
	}
	rows := []row{
		timed("flush probe: 4 KiB write + fdatasync, between the tickets", disk.flush),
		timed("MQTT arrival → first byte of the ticket at the printer", disk.firstByte),
		timed("of it, waiting for the printer's answers", disk.answers),
		timed("MQTT arrival → first byte, without the printer's answers", disk.own),
		timed("MQTT arrival → first signed ack on the wire (stored)", disk.stored),
		timed("MQTT arrival → second signed ack on the wire (printed)", disk.printed),
		timed("POST /v1/tickets sent → first byte of the ticket at the printer", disk.door),
	}
	ratio := disk.own.figures().Median / disk.flush.figures().Median
	rows = append(rows, row{What: "first byte, without the printer's answers, in flush probes",
		Unit: "×", Median: ratio})
	memory, err := os.MkdirTemp("/dev/shm", "chit-bench-")
	if errors.Is(err, os.ErrNotExist) {
		b.say("there is no /dev/shm: chitd's work without the disk is not measured")
		return rows, nil
	} else if err != nil {
		return nil, fmt.Errorf("a folder in memory: %w", err)
	}
	defer func() { _ = os.RemoveAll(memory) }() // It is in memory: nothing stays.
	ram, err := b.course(ctx, memory)
	if err != nil {
		return nil, err
	}
	own := timed("first byte, without the printer's answers, journal in memory: no flush", ram.own)
	return append(rows, own.against("2 ms beside the commit", own.Median, ownTargetMs)), nil
}

// ownTargetMs is what chitd may add to one commit before the first byte (issue "One ticket").
const ownTargetMs = 2

// course runs passes of tickets at an idle kitchen, each ticket alone.
func (b *bench) course(ctx context.Context, state string) (c course, err error) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	dir, err := b.folder("latency")
	if err != nil {
		return c, err
	}
	k, err := openKitchen(ctx, setting{programs: b.programs, dir: dir, state: state, stations: 1})
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, k.Close()) }()
	probe, err := newProber(k.State)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, probe.Close()) }()
	for i := range warmUp { // The first tickets meet cold caches and an unknown printer.
		if err := k.one(ctx, i); err != nil {
			return c, err
		}
	}
	var t tape
	t.listen(k)
	for pass := range b.size.passes {
		if err := b.pass(ctx, k, &t, probe, warmUp+pass*b.size.tickets, &c); err != nil {
			return c, fmt.Errorf("pass %d: %w", pass+1, err)
		}
	}
	return c, k.counted(warmUp + b.size.passes*b.size.tickets)
}

const warmUp = 5

func (b *bench) pass(
	ctx context.Context, k *kitchen, t *tape, probe *prober, first int, c *course,
) error {
	var firstByte, answers, own, stored, printed, door, flush sample
	for i := range b.size.tickets {
		d, err := probe.flush()
		if err != nil {
			return err
		}
		flush.add(d)
		t.cut()
		posted := time.Now()
		if err := k.one(ctx, first+i); err != nil {
			return err
		}
		pieces := t.cut()
		s, err := read(pieces)
		if err != nil {
			return err
		}
		firstByte.add(s.firstByte)
		answers.add(s.answers)
		own.add(s.firstByte - s.answers)
		stored.add(s.stored)
		printed.add(s.printed)
		for _, p := range pieces {
			if p.printer && p.toTarget && p.bytes >= documentBytesMin {
				door.add(p.at.Sub(posted))
				break
			}
		}
	}
	c.firstByte, c.answers = append(c.firstByte, firstByte), append(c.answers, answers)
	c.own, c.flush = append(c.own, own), append(c.flush, flush)
	c.stored, c.printed = append(c.stored, stored), append(c.printed, printed)
	c.door = append(c.door, door)
	return nil
}
