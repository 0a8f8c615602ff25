package relay

import (
	"fmt"

	"chit/broker/delivery"
	"chit/broker/entity"
)

// load reads what is open. Every lease is one that the broker's restart has lost: a deferral.
func (r *Relay) load() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	const page = 512
	var after entity.Row
	for {
		rows, err := r.conf.Store.Rows(delivery.ListOpen, "", after, page)
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
			r.backlogs.set(d, r.now())
			if s, _ := r.board.set(d); s != nil {
				r.dirty[s] = true
				r.board.items[row.Key].lost = d.State == delivery.Leased
			}
		}
		if len(rows) < page {
			return nil
		}
	}
}
