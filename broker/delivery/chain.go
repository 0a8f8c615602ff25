package delivery

import (
	"chit/broker/entity"
)

// Chain is the tickets of one order, over all stations, in order of acceptance.
type Chain struct {
	Format  int      `json:"v"`
	Tickets []string `json:"tickets"`
}

func chainKey(tenant, order string) entity.Key {
	return entity.Key{Tenant: tenant, Kind: KindChain, ID: order}
}

func loadChain(view entity.View, tenant, order string) (Chain, uint64, error) {
	var c Chain
	version, err := load(view, chainKey(tenant, order), &c)
	return c, version, err
}
