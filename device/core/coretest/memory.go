// Package coretest holds a journal in memory: the dumb second implementation that core's tests run
// on and that the journal's tests are judged by.
package coretest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"chit/device/core"
	"chit/device/wire"
)

// Memory is what a journal remembers, as plain maps. Make it with [NewMemory].
type Memory struct {
	Meta     core.Meta
	Seen     map[uint32]map[string]core.Record
	Content  map[uint32]map[uint64]wire.Ticket
	Open     map[uint64]core.Open
	Intents  map[string]core.Intent
	Settings map[string][]byte
	// Commits counts Apply calls that wrote something.
	Commits int
}

// NewMemory is a journal at its birth.
func NewMemory(id string) *Memory {
	return &Memory{
		Meta:    core.Meta{Journal: id, Days: map[uint32]uint32{}},
		Seen:    map[uint32]map[string]core.Record{},
		Content: map[uint32]map[uint64]wire.Ticket{}, Open: map[uint64]core.Open{},
		Intents: map[string]core.Intent{}, Settings: map[string][]byte{},
	}
}

// Apply carries changes out. It panics at a change it does not know: that is a fault of the test.
func (m *Memory) Apply(changes []core.Change) {
	if len(changes) > 0 {
		m.Commits++
	}
	for _, change := range changes {
		switch c := change.(type) {
		case core.PutMeta:
			id, serial := m.Meta.Journal, m.Meta.Serial
			m.Meta = c.Meta
			m.Meta.Journal, m.Meta.Serial = id, serial
			if m.Meta.Days = maps.Clone(c.Meta.Days); m.Meta.Days == nil {
				m.Meta.Days = map[uint32]uint32{}
			}
		case core.PutSeen:
			put(m.Seen, c.Day, c.ID, c.Record)
		case core.PutContent:
			put(m.Content, c.Day, c.Arrival, c.Ticket)
		case core.PutOpen:
			m.Open[c.Open.Arrival] = c.Open
		case core.DropOpen:
			delete(m.Open, c.Arrival)
		case core.PutIntent:
			m.Intents[c.Printer] = c.Intent
		case core.ClearIntent:
			delete(m.Intents, c.Printer)
		case core.PutSetting:
			m.Settings[c.Key] = slices.Clone(c.Value)
		case core.DropSeen:
			delete(m.Seen, c.Day)
		case core.DropContent:
			delete(m.Content, c.Day)
		default:
			panic(fmt.Sprintf("coretest: unknown change %T", change))
		}
	}
}

func put[K comparable, V any](days map[uint32]map[K]V, day uint32, key K, value V) {
	if days[day] == nil {
		days[day] = map[K]V{}
	}
	days[day][key] = value
}

// Load is what a start is told.
func (m *Memory) Load() core.State {
	s := core.State{
		Meta: m.Meta, Intents: maps.Clone(m.Intents), Settings: maps.Clone(m.Settings),
	}
	s.Meta.Days = maps.Clone(m.Meta.Days)
	for _, o := range m.Open {
		stored := core.Stored{Open: o}
		if o.State == core.Received || o.State == core.Stale {
			t, ok := m.Content[o.Day][o.Arrival]
			if !ok {
				panic(fmt.Sprintf("coretest: open ticket %s has no content", o.ID))
			}
			stored.Ticket = t
		}
		s.Open = append(s.Open, stored)
	}
	slices.SortFunc(s.Open, func(a, b core.Stored) int {
		return cmp.Compare(a.Open.Arrival, b.Open.Arrival)
	})
	return s
}

// Recorded is what is on disk of id: its open ticket speaks first, then its record.
func (m *Memory) Recorded(id string) (outcome wire.Outcome, e wire.Evidence, attempt int) {
	for _, o := range m.Open {
		switch {
		case o.ID != id:
		case o.State == core.Printed || o.State == core.Ended:
			return o.Outcome, o.Evidence, o.Attempt
		default:
			return wire.OutcomeStored, wire.EvidenceStored, o.Attempt
		}
	}
	r := m.Lookup(id).Record
	return r.Outcome, r.Evidence, r.Attempt
}

// Lookup finds the newest record of id.
func (m *Memory) Lookup(id string) core.Known {
	days := slices.Sorted(maps.Keys(m.Seen))
	slices.Reverse(days)
	for _, day := range days {
		if r, ok := m.Seen[day][id]; ok {
			return core.Known{Found: true, Day: day, Record: r}
		}
	}
	return core.Known{}
}
