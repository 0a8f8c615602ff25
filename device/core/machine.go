package core

import "time"

// Machine is the device's state. It has one owner, the core loop.
type Machine struct{ conf Config }

// New returns a machine without memory: it refuses tickets until [Started].
func New(conf Config) *Machine { return &Machine{conf: conf} }

// Step decides what e, seen at now, means.
func (m *Machine) Step(now Now, e Event) Decision { return Decision{} }

// Committed says that all changes decided so far are on disk.
func (m *Machine) Committed() {}

// Next is when the machine must be asked again, as Up of [Now]; false where only events matter.
func (m *Machine) Next(now Now) (time.Duration, bool) { return 0, false }
