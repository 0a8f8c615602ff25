package relay

// newStation is a station's own lane, alone.
func newStation(tenant, id string) *station {
	return newLane(laneKey{tenant: tenant, id: id, at: id}, &group{orders: map[string][]*item{}})
}
