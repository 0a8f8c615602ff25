package delivery

import (
	"time"

	"chit/broker/entity"
	"chit/device/wire"
)

// Station counts the running numbers of one station.
type Station struct {
	Format int    `json:"v"`
	Day    string `json:"day"` // business day, "2006-01-02"
	Last   int    `json:"last"`
	// Previous is the number given last on this day, "" at its beginning.
	Previous string `json:"previous,omitempty"`
	// Generation is the store's at the newest number, 0 before there was any but the first.
	Generation uint64 `json:"generation,omitempty"`
	// Gaps are numbers without paper here that the next ticket must tell of.
	Gaps []wire.Gap `json:"gaps,omitempty"`
}

// gapsMax is how many gaps one ticket can tell of (device/wire, ticket, gaps).
const gapsMax = 32

func stationKey(tenant, station string) entity.Key {
	return entity.Key{Tenant: tenant, Kind: KindStation, ID: station}
}

func loadStation(view entity.View, tenant, station string) (Station, uint64, error) {
	var s Station
	version, err := load(view, stationKey(tenant, station), &s)
	return s, version, err
}

// next counts one number on. A new day begins at 1 and says "first today"; a clock that steps back
// over midnight does not begin the old day again, for its numbers are on paper. The first number
// after a restore jumps: nobody knows which numbers the lost time gave. A day that began after the
// restore has lost none.
func (s Station) next(day string, g Generation, restored string) Station {
	s.Format = Format
	if day > s.Day {
		s.Day, s.Last, s.Previous, s.Gaps = day, 0, "", nil
	}
	if was := max(s.Generation, 1); g.Number > was {
		s.Generation = g.Number
		if s.Day <= restored {
			s.Last += NumberJump * int(g.Number-was)
			s.Previous = wire.PreviousUnknown
		}
	}
	s.Last++
	return s
}

// BusinessDay is the local date of now less cut in zone, "2006-01-02" (DESIGN.md section 2). A nil
// zone is UTC, a zero cut [DayCut].
func BusinessDay(now time.Time, zone *time.Location, cut time.Duration) string {
	if zone == nil {
		zone = time.UTC
	}
	if cut == 0 {
		cut = DayCut
	}
	return now.Add(-cut).In(zone).Format(time.DateOnly)
}
