// Package demo shows a whole installation on one machine working, failing and losing nothing.
//
// It drives a rig: real processes, virtual printers, a cable that can be cut. It sends lifelike
// orders, pulls plugs between them, and lets the paper be the judge.
package demo

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"time"

	"chit/printer/profile"
	"chit/rig"
)

// Config says what to show.
type Config struct {
	Orders int
	Seed   uint64
	Dir    string
	// Broker and Device are the programs, see [rig.Config].
	Broker, Device []string
	Story          io.Writer
}

// ticketMax bounds the wait for one ticket, faults included.
const ticketMax = 90 * time.Second

// Run shows everything and returns what the paper says. The error is of the demo itself; a broken
// promise is in the verdict.
func Run(ctx context.Context, c Config) (rig.Verdict, error) {
	s := &show{Config: c, teller: newTeller(c.Story, c.Orders), faults: map[string]int{},
		rng: rand.New(rand.NewPCG(c.Seed, 0))}
	defer s.teller.end()
	ctx, died := context.WithCancelCause(ctx)
	defer died(nil)
	s.teller.say("starting a broker, a device and %d printers in %s", len(stations), c.Dir)
	var err error
	s.rig, err = rig.Start(ctx, rig.Config{
		Dir: c.Dir, Broker: c.Broker, Device: c.Device, Stations: stations,
		Printer:   rig.Model(profile.Safe80()),
		KeepPaper: true, Died: died, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return rig.Verdict{}, err
	}
	defer func() { _ = s.rig.Close() }() // The verdict is in; what is left is only to be ended.
	s.teller.say("the device is paired and connected: own keys, TLS, no shared password")
	if err := s.play(ctx); err != nil {
		return rig.Verdict{}, err
	}
	v, err := s.rig.Judge(ctx)
	if err != nil {
		return v, err
	}
	v.Faults = s.faults
	return v, nil
}

// show is a demo under way.
type show struct {
	Config
	teller *teller
	rig    *rig.Rig
	rng    *rand.Rand
	faults map[string]int
}

// play sends the orders; every few of them an act pulls a plug around the next ones.
func (s *show) play(ctx context.Context) error {
	orders := ordersFor(s.Orders, s.rng, time.Now())
	plan := schedule(len(orders))
	for i := 0; i < len(orders); {
		used := 1
		var err error
		if act, until, due := plan.due(i); due {
			used, err = act.play(s, ctx, orders[i:until])
			s.faults[act.name]++
		} else {
			err = s.calm(ctx, orders[i])
		}
		if err != nil {
			return fmt.Errorf("order %d, %s: %w", i+1, orders[i].content.ID, err)
		}
		i += used
		s.teller.progress(i, len(s.rig.Sheets()))
	}
	return nil
}

// plan is the acts that are still to be played, and how many orders there are.
type plan struct {
	acts   []scheduled
	orders int
}

// scheduled is an act and the index of its first order.
type scheduled struct {
	at  int
	act act
}

// schedule spreads the acts over the orders: each once, and again for every fifty orders. With
// fewer orders than acts the last acts are left out.
func schedule(orders int) *plan {
	count := min(orders, len(acts)*(1+orders/50))
	p := &plan{orders: orders}
	for k := range count {
		at := (2*k + 1) * orders / (2 * count)
		p.acts = append(p.acts, scheduled{at, acts[k%len(acts)]})
	}
	return p
}

// due takes the act that is to begin with order i off the plan. It may use the orders before until:
// the next act needs one too.
func (p *plan) due(i int) (next act, until int, due bool) {
	if len(p.acts) == 0 || i < p.acts[0].at {
		return act{}, 0, false
	}
	next, p.acts = p.acts[0].act, p.acts[1:]
	if len(p.acts) == 0 {
		return next, p.orders, true
	}
	return next, max(i+1, p.acts[0].at), true
}

// calm sends one order with nothing in its way and waits for its paper.
func (s *show) calm(ctx context.Context, o order) error {
	return s.withBound(ctx, func(ctx context.Context) error {
		if err := s.post(ctx, o); err != nil {
			return err
		}
		return s.over(ctx, o)
	})
}

func (s *show) withBound(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, ticketMax)
	defer cancel()
	return do(ctx)
}

func (s *show) post(ctx context.Context, o order) error {
	status, err := s.rig.Post(ctx, o.content)
	if err != nil {
		return err
	}
	if status/100 != 2 {
		return fmt.Errorf("the door answered %d", status)
	}
	return nil
}

// over waits for the ticket's end and tells it.
func (s *show) over(ctx context.Context, o order) error {
	t, err := s.rig.Over(ctx, o.content.ID, o.content.Station)
	if err != nil {
		return err
	}
	mark := ""
	if t.Marked {
		mark = ", marked POSSIBLE DUPLICATE"
	}
	s.teller.say("%-34s %s, %s%s", o.say, t.Outcome, t.Evidence, mark)
	return nil
}

// Paper is where the pictures are.
func Paper(dir string) string { return filepath.Join(dir, "paper") }
