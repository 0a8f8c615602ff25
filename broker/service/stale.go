package service

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"chit/broker/delivery"
	"chit/broker/entity"
	"chit/broker/intake"
	"chit/broker/relay"
	"chit/device/wire"
)

// stalePolicies are the values of a kitchen's stale, as the wire calls them.
var stalePolicies = map[string]wire.OnStale{
	"ask": wire.OnStaleAsk, "print": wire.OnStalePrint, "drop-to-dead-letter": wire.OnStaleDrop,
}

// stale answers what an owner asks about tickets that became too old.
type stale struct{ *tickets }

var _ intake.Stale = stale{}

// answersMax is how many answers the desk is asked to take at once.
const answersMax = 32

// Stale implements [intake.Stale]. It reads what is open: a person asks it, not a program.
func (s stale) Stale(_ context.Context, tenant string, after intake.Place, limit int) (
	list []intake.Ticket, next intake.Place, err error) {
	found, err := s.outdated(tenant)
	if err != nil {
		return nil, intake.Place{}, err
	}
	if after != (intake.Place{}) {
		place := delivery.Delivery{Release: after.At, Ticket: after.Ticket}
		n, here := slices.BinarySearchFunc(found, place, byRelease)
		if here {
			n++
		}
		found = found[n:]
	}
	if len(found) > limit {
		last := found[limit-1]
		found, next = found[:limit], intake.Place{At: last.Release, Ticket: last.Ticket}
	}
	now := s.now()
	for _, d := range found {
		v := view(d)
		v.AgeMS = max(now.Sub(d.Release), 0).Milliseconds()
		list = append(list, v)
	}
	return list, next, nil
}

func byRelease(a, b delivery.Delivery) int {
	return cmp.Or(a.Release.Compare(b.Release), strings.Compare(a.Ticket, b.Ticket))
}

// outdated are the deliveries about which somebody must say something, or will have to.
func (s stale) outdated(tenant string) ([]delivery.Delivery, error) {
	const page = 512
	var found []delivery.Delivery
	var after entity.Row
	now := s.now()
	for {
		rows, err := s.store.Rows(delivery.ListOpen, tenant, after, page)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			after = row
			d, version, err := delivery.Load(s.store, tenant, row.Key.ID)
			if err != nil {
				return nil, err
			}
			served, _ := s.kitchens.Station(tenant, d.Station)
			if version > 0 && d.Outdated(served.OnStale, served.StaleAfter, now) {
				found = append(found, d)
			}
		}
		if len(rows) < page {
			slices.SortFunc(found, byRelease)
			return found, nil
		}
	}
}

// AnswerStale implements [intake.Stale].
func (s stale) AnswerStale(ctx context.Context, tenant, who string, a intake.StaleAnswer) (
	[]intake.Ticket, error) {
	ids := a.Tickets
	if a.Station != "" {
		if err := s.kitchens.checkStation(tenant, "station", a.Station); err != nil {
			return nil, err
		}
		found, err := s.outdated(tenant)
		if err != nil {
			return nil, err
		}
		for _, d := range found {
			if d.Station == a.Station {
				ids = append(ids, d.Ticket)
			}
		}
	}
	for _, id := range ids {
		if _, err := s.view(tenant, id); err != nil {
			return nil, fmt.Errorf("ticket %s: %w", id, err) // Before anything is changed.
		}
	}
	changed := map[string]bool{}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(answersMax) // Together they share the store's commits.
	for _, id := range ids {
		group.Go(func() error {
			result, err := s.do(ctx, s.answer(tenant, id, who, a))
			mu.Lock()
			defer mu.Unlock()
			changed[id] = result.Changed
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var list []intake.Ticket
	for _, id := range ids {
		if !changed[id] {
			continue
		}
		v, err := s.view(tenant, id)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

func (s stale) answer(tenant, id, who string, a intake.StaleAnswer) delivery.AnswerStale {
	var served relay.Station
	if parsed, err := wire.ParseTicketID(id); err == nil {
		served, _ = s.kitchens.Station(tenant, parsed.Station)
	}
	return delivery.AnswerStale{Tenant: tenant, Ticket: id, Answer: delivery.Answer{
		Print: a.Answer == "print", Who: who, Why: a.Reason, Policy: served.OnStale,
		After: served.StaleAfter}}
}
