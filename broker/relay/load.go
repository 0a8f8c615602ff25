package relay

import (
	"fmt"

	"chit/broker/delivery"
	"chit/broker/entity"
)

// load reads what is open, and what is recalled. Every lease is one that the broker's restart has
// lost: a deferral.
func (r *Relay) load() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.owed(delivery.ListOpen, func(key entity.Key, d delivery.Delivery) {
		r.backlogs.set(d, r.now())
		if s, _ := r.board.set(d); s != nil {
			r.dirty[s] = true
			r.board.items[key].lost = d.State == delivery.Leased
		}
	})
	if err != nil {
		return err
	}
	return r.owed(delivery.ListRecall, func(_ entity.Key, d delivery.Delivery) { r.recalls.set(d) })
}

// owed reads every delivery of an outbox list.
func (r *Relay) owed(list string, take func(entity.Key, delivery.Delivery)) error {
	const page = 512
	var after entity.Row
	for {
		rows, err := r.conf.Store.Rows(list, "", after, page)
		if err != nil {
			return err
		}
		for _, row := range rows {
			after = row
			d, version, err := delivery.Load(r.conf.Store, row.Key.Tenant, row.Key.ID)
			if err != nil {
				return err
			}
			if version == 0 {
				return fmt.Errorf("%s is owed and not there", row.Key)
			}
			take(row.Key, d)
		}
		if len(rows) < page {
			return nil
		}
	}
}
