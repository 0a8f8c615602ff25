package delivery

import (
	"cmp"
	"slices"
	"time"

	"chit/device/wire"
)

// Copies is what tells two devices that use one identity, such as two that run from copies of one
// card, from one that lost its memory. A memory is lost once: the card was replaced or an older
// copy of it restored, and what was there before does not speak again. Two copies alternate.
type Copies struct {
	// Count is how often a hello showed that another copy runs, LastAt when it last did.
	Count  uint64    `json:"count,omitempty"`
	LastAt time.Time `json:"last_at,omitzero"`
	// Told is n of the last hello.
	Told uint64 `json:"told,omitempty"`
	// Turned is when a memory last came back or fell back, which one device can do too: a card put
	// in again, a copy restored. The next time within [TurnWindow] it is no longer believed.
	Turned time.Time `json:"turned,omitzero"`
	// Memories are the journals that spoke, the present one last, at most MemoriesMax.
	Memories []Memory `json:"memories,omitempty"`
}

// Memory is a journal and how far it came, at the most since it fell back.
type Memory struct {
	Journal string `json:"journal"`
	Boot    uint64 `json:"boot"` // the highest
	N       uint64 `json:"n"`    // the highest of that boot
}

// MemoriesMax is how many journals of a device are remembered.
const MemoriesMax = 4

// TurnWindow is how long a memory that came back is remembered. Copies that both run throw one
// another out within minutes; a person who restores a card twice seldom does so in one day.
const TurnWindow = 24 * time.Hour

// compare compares how far two memories of one journal came.
func (m Memory) compare(other Memory) int {
	return cmp.Or(cmp.Compare(m.Boot, other.Boot), cmp.Compare(m.N, other.N))
}

// copies is was.Copies after a new session's hello, and whether the hello shows that two devices
// use one identity: a journal from before is back in the very process that another journal had
// replaced, or a memory came back or fell back for the second time within a day. Falling back
// counts only from where the journal had been before it fell: one that is restored again on its
// way there is still one device.
func (was Device) copies(h wire.Hello, now time.Time) (Copies, bool) {
	is := was.Copies
	last := Memory{Journal: was.Journal, Boot: was.Boot, N: max(was.N, is.Told)}
	said := Memory{Journal: h.Journal, Boot: h.Boot, N: h.N}
	is.Memories, is.Told = slices.Clone(is.Memories), h.N
	if was.Session != "" {
		is.reach(last)
	}
	before := is.reach(said)
	again := !is.Turned.IsZero() && now.Sub(is.Turned) < TurnWindow
	found := false
	switch {
	case before == nil:
		return is, false
	case was.Journal != h.Journal:
		found = again || before.Boot == said.Boot && before.N <= said.N
	case said.compare(last) < 0:
		found = again && last.compare(*before) >= 0
		is.Memories[len(is.Memories)-1] = last // What it must reach before it can fall again.
	default:
		return is, false
	}
	is.Turned = now
	if found {
		is.Count++
		is.LastAt = now
	}
	return is, found
}

// reach puts m last among the memories, at the furthest that its journal came. It returns where
// that was before, nil for a journal that is new.
func (c *Copies) reach(m Memory) (before *Memory) {
	at := slices.IndexFunc(c.Memories, func(o Memory) bool { return o.Journal == m.Journal })
	if at >= 0 {
		old := c.Memories[at]
		before = &old
		c.Memories = slices.Delete(c.Memories, at, at+1)
		if m.compare(old) < 0 {
			m = old
		}
	}
	c.Memories = append(c.Memories, m)
	c.Memories = c.Memories[max(0, len(c.Memories)-MemoriesMax):]
	return before
}
