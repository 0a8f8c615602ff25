package main

import (
	"fmt"
	"math"
)

// The bounds of a simulation. A time outside of them is none that the virtual clock can count.
const (
	hoursMin, hoursMax     = 0.01, 8760.0 // half a minute, a year
	minutesMin, minutesMax = 0.01, 1440.0
	rateMax                = 1e6
	placesMax              = 9000 // the largest storm that was tried
)

// span is a number of the command line and the bounds that it may touch.
type span struct {
	flag             string
	found, low, high float64
	unit             string
}

// check names the first flag whose number is out of its bounds, what was found and what was
// expected.
func (s *simulation) check() error {
	o := &s.storm
	for _, f := range []span{
		{"hours", s.options.Hours, hoursMin, hoursMax, "hours"},
		{"kitchens", float64(s.options.Kitchens), 1, placesMax, "kitchens"},
		{"seeds", float64(s.seeds), 1, math.MaxInt32, "seeds"},
		{"devices", float64(o.devices), 1, placesMax, "devices"},
		{"tenants", float64(o.tenants), 1, placesMax, "tenants"},
		{"minutes", o.minutes, minutesMin, minutesMax, "minutes"},
		{"orders", o.orders, 0.01, 3600, "orders an hour"},
		{"rate", o.rate, 0, rateMax, "dispatches per second; 0 is the broker's"},
		{"total", o.total, 0, rateMax, "dispatches per second; 0 is the broker's"},
	} {
		if !(f.low <= f.found && f.found <= f.high) { // Not a number is in no bounds.
			return fmt.Errorf("--%s: found %v, expected %v to %v %s", f.flag, f.found, f.low, f.high,
				f.unit)
		}
	}
	if most := math.MaxUint64 - s.options.Seed; uint64(s.seeds-1) > most {
		return fmt.Errorf("--seeds: found %d, expected at most %d from --seed %d upwards: "+
			"the last seed is %d", s.seeds, most+1, s.options.Seed, uint64(math.MaxUint64))
	}
	return nil
}
