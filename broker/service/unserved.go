package service

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"chit/broker/alarm"
	"chit/broker/delivery"
	"chit/broker/desk"
	"chit/broker/entity"
	"chit/broker/store"
)

// unserved looks at a start for open tickets whose station is not configured: nobody prints them
// until it is again. A station is easily left out by mistake.
type unserved struct {
	desk     *desk.Desk
	store    store.Store
	kitchens *kitchens
	log      *slog.Logger
}

// tell warns of each such station of the tenants, and ends the alarms of those that are back.
func (u unserved) tell(ctx context.Context, tenants []string) error {
	for _, tenant := range tenants {
		open, err := u.count(tenant)
		if err != nil {
			return fmt.Errorf("looking for tickets without a station: %w", err)
		}
		for _, station := range slices.Sorted(maps.Keys(open)) {
			n := open[station]
			u.log.Warn("tickets are open at a station that is not configured: nobody prints them",
				"tenant", tenant, "station", station, "open", n)
			what := "tickets are"
			if n == 1 {
				what = "ticket is"
			}
			raise := alarm.Raise{Tenant: tenant, Cause: alarm.CauseUnserved + "/" + station,
				Station: station, Severity: alarm.P1, Count: n, Text: fmt.Sprintf("%d %s open at %s, "+
					"which is not in the broker's configuration (any more): nobody prints them. Put the "+
					"station back, or cancel them.", n, what, station)}
			if _, err := u.desk.Do(ctx, raise); err != nil {
				return fmt.Errorf("raising the alarm of %s: %w", station, err)
			}
		}
		if err := u.clear(ctx, tenant, open); err != nil {
			return err
		}
	}
	return nil
}

// count is the open tickets of a tenant by station, of those that are not configured.
func (u unserved) count(tenant string) (map[string]int, error) {
	const page = 1000
	open := map[string]int{}
	var after entity.Row
	for {
		rows, err := u.store.Rows(delivery.ListOpen, tenant, after, page)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			after = row
			_, station, _ := strings.Cut(row.Key.ID, "@")
			if _, ok := u.kitchens.byStation[tenant+"/"+station]; !ok {
				open[station]++
			}
		}
		if len(rows) < page {
			return open, nil
		}
	}
}

// clear ends the alarms of stations that have no such tickets any more.
func (u unserved) clear(ctx context.Context, tenant string, open map[string]int) error {
	const page = 1000
	var after entity.Key
	for {
		found, err := u.store.Scan(tenant, alarm.Kind, after, page)
		if err != nil {
			return fmt.Errorf("reading alarms: %w", err)
		}
		for _, one := range found {
			after = one.Key
			station, ok := strings.CutPrefix(one.Key.ID, alarm.CauseUnserved+"/")
			if !ok || open[station] > 0 {
				continue
			}
			if _, err := u.desk.Do(ctx, alarm.Clear{Tenant: tenant, Cause: one.Key.ID}); err != nil {
				return fmt.Errorf("ending the alarm of %s: %w", station, err)
			}
		}
		if len(found) < page {
			return nil
		}
	}
}
