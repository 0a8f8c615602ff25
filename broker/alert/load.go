package alert

import (
	"fmt"

	"chit/broker/alarm"
	"chit/broker/delivery"
	"chit/broker/entity"
)

// load reads open deliveries, dead letters and alarms.
func (a *Alert) load() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, list := range []string{alarm.ListOpen, alarm.ListNotes} {
		err := a.rows(list, func(key entity.Key) error {
			found, version, err := alarm.Load(a.conf.Store, key.Tenant, key.ID)
			if err != nil || version == 0 {
				return err
			}
			a.alarms[key], a.dirty[key] = found, true
			a.watch.Known(found)
			return nil
		})
		if err != nil {
			return err
		}
	}
	now := a.now()
	for _, list := range []string{delivery.ListOpen, delivery.ListDead} {
		err := a.rows(list, func(key entity.Key) error {
			d, version, err := delivery.Load(a.conf.Store, key.Tenant, key.ID)
			if err != nil || version == 0 {
				return err
			}
			a.watch.Changed(delivery.Changed{Key: key, Delivery: d}, now)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// rows gives every row of a list to each.
func (a *Alert) rows(list string, each func(entity.Key) error) error {
	const page = 512
	var after entity.Row
	for {
		rows, err := a.conf.Store.Rows(list, "", after, page)
		if err != nil {
			return fmt.Errorf("list %s: %w", list, err)
		}
		for _, row := range rows {
			after = row
			if err := each(row.Key); err != nil {
				return err
			}
		}
		if len(rows) < page {
			return nil
		}
	}
}
