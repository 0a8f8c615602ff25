package service

import (
	"maps"
	"sync"
)

// counters are the daemon's own figures, by name and one label.
type counters struct {
	mu     sync.Mutex
	values map[[2]string]uint64
}

func newCounters() *counters { return &counters{values: map[[2]string]uint64{}} }

func (c *counters) count(name, label string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values[[2]string{name, label}]++
}

func (c *counters) all() map[[2]string]uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.values)
}

// flat is for telemetry: "answers.printed".
func (c *counters) flat() map[string]uint64 {
	out := map[string]uint64{}
	for key, n := range c.all() {
		name := key[0]
		if key[1] != "" {
			name += "." + key[1]
		}
		out[name] = n
	}
	return out
}
