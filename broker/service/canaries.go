package service

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"chit/broker/delivery"
	"chit/broker/entity"
	"chit/broker/store"
)

// canaries has each station of the kitchens that want it print a ticket before the kitchen opens.
// It remembers nothing that the store does not: a ticket that is known is not made again.
type canaries struct {
	desk     asker
	store    store.Store
	now      func() time.Time
	log      *slog.Logger
	kitchens []walled
	done     map[entity.Key]time.Time // until when they need not be looked at
}

func newCanaries(s store.Store, list *kitchens, now func() time.Time, log *slog.Logger) *canaries {
	c := &canaries{store: s, now: now, log: log, done: map[entity.Key]time.Time{}}
	for _, k := range list.all {
		if k.kitchen.Canary > 0 {
			c.kitchens = append(c.kitchens, k)
		}
	}
	return c
}

// run works until ctx ends.
func (c *canaries) run(ctx context.Context) error {
	if len(c.kitchens) == 0 {
		return nil
	}
	ticker := time.NewTicker(roundEvery)
	defer ticker.Stop()
	for {
		c.round(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// round makes what is due. What the desk does not take now is asked again in the next round.
func (c *canaries) round(ctx context.Context) {
	now := c.now()
	for key, until := range c.done {
		if !now.Before(until) {
			delete(c.done, key)
		}
	}
	for _, k := range c.kitchens {
		opening, until, due := k.hours.Canary(now, k.zone, k.kitchen.Canary)
		if !due {
			continue
		}
		day := opening.In(k.zone).Format(time.DateOnly)
		for _, station := range k.kitchen.Stations {
			accept, err := delivery.NewCanary(k.kitchen.Tenant, k.kitchen.ID, station.ID, day,
				until.Sub(now))
			if err != nil {
				c.log.Error("canary not made", "station", station.ID, "err", err)
				continue
			}
			key := delivery.Key(accept.Tenant, accept.Ticket())
			if c.done[key].IsZero() && c.made(ctx, accept) {
				c.done[key] = until
			}
		}
	}
}

// made reports whether nothing is left to do for one canary.
func (c *canaries) made(ctx context.Context, accept delivery.Accept) bool {
	known, version, err := delivery.Load(c.store, accept.Tenant, accept.Ticket())
	if err == nil && version == 0 {
		_, err = c.desk.Do(ctx, accept)
	}
	switch {
	case version > 0 && !known.Canary, errors.Is(err, delivery.ErrConflict):
		c.log.Error("no canary: an order of the shop has its id", "tenant", accept.Tenant,
			"ticket", accept.Ticket())
		return true
	case err != nil && ctx.Err() == nil:
		c.log.Warn("canary waits", "tenant", accept.Tenant, "ticket", accept.Ticket(), "err", err)
	}
	return err == nil
}
