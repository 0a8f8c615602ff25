package delivery

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"chit/device/wire"
)

// Bounds of failover (DESIGN.md section 5).
const (
	// SilentMax is how long a device has to say that a ticket is stored, HeldMax how long it may
	// hold one, AwayMax how long it may be away, before the backup takes over.
	SilentMax = 15 * time.Second
	HeldMax   = 60 * time.Second
	AwayMax   = 5 * time.Second
	// RecallWait is how long the backup waits for the answer of a device that is here.
	RecallWait = time.Second
)

// Place is a station as the place where a ticket goes.
type Place struct {
	Station string `json:"station,omitempty"`
	Name    string `json:"name,omitempty"` // what people call it; the id where empty
}

// called is what people call the place.
func (p Place) called(station string) string { return cmp.Or(p.Name, p.Station, station) }

// Pin is one printer, whichever station it serves.
type Pin struct {
	Device  string `json:"device"`
	Printer string `json:"printer"`
}

// Move gives the delivery to the backup's device, or back to its own station's.
type Move struct {
	Epoch uint64
	To    Place // whose device has it from now on
	// Device is that device, Home true where it is the station's own.
	Device string
	Home   bool
	Reason string // silent, held, away, no-device, degraded
	// Here is true where the device that has it now has a session, so that its answer is worth a
	// wait.
	Here   bool
	Chance float64
}

// move ends the lease, sets where the ticket goes next, and recalls it from the device that has it.
// A device that said nothing in all that time was given an attempt in vain; everything else is not
// the ticket's fault. The first move waits for nothing but the recall; later ones also for the
// back-off, so that two kitchens that are both in trouble do not throw a ticket to and fro.
func move(d Delivery, m Move, now time.Time) ([]Event, error) {
	to := m.To.Station
	if m.Home {
		to = ""
	}
	switch {
	case d.Epoch != m.Epoch:
		return nil, fmt.Errorf("%w: %s is at epoch %d, read at %d", ErrMoved, d.Ticket, d.Epoch,
			m.Epoch)
	case d.State != Waiting && d.State != Leased && d.State != Parked, d.MovedTo == to,
		d.Pinned != nil, d.Canary, d.past(now) != "":
		return nil, nil
	}
	var events []Event
	due := now
	if d.Lease != nil {
		e := d.free("moved", now)
		if d.State == Leased && !d.Lease.Stored && m.Reason == "silent" {
			e = d.pause(Failed, "silent", m.Chance, now)
			if d.Moves == 0 {
				e.Pause, e.Limit = 0, 0
			}
			due = now.Add(e.Pause)
		}
		if events = settleEnds(d, []Event{e}, now); len(events) > 1 {
			return events, nil
		}
	} else if d.Moves > 0 {
		due = later(due, d.Due)
	}
	var asked []Event
	for _, h := range d.Handed {
		// What the taking device was asked before is superseded when it gets the ticket. Where one
		// device has both printers it is asked too, for the ticket must leave the one's queue.
		if _, open := d.recallOf(h.Device); open || h.cleared() || h.Ended >= h.Last ||
			h.Device == m.Device && h.Last != d.Attempt {
			continue
		}
		e := h.asks("moved", m.To.called(d.Station), h.Last, now)
		if m.Here && h.Last == d.Attempt {
			due = later(due, now.Add(RecallWait))
			e.Recall.Until = now.Add(RecallWait)
		}
		asked = append(asked, e)
	}
	events = append(events, Event{What: Moved, At: now, Reason: m.Reason, Attempt: d.Attempt,
		To: m.To.Station, Home: m.Home, Until: later(due, d.Release)})
	return append(events, asked...), nil
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// addPrinter adds a printer to a list that is not changed.
func addPrinter(list []string, printer string) []string {
	if slices.Contains(list, printer) {
		return list
	}
	return append(slices.Clone(list), printer)
}

// feel keeps since when a device is silent about the ticket or holds it. What a person must answer,
// a stale ticket, is no trouble of the device's.
func (d *Delivery) feel(e Event) {
	for i := range d.Handed {
		h := &d.Handed[i]
		switch {
		case e.What == Moved:
			h.Silent, h.Held = time.Time{}, time.Time{} // Whoever gets it again starts anew.
		case h.Device != e.Device:
		case e.What == Dispatched && h.Silent.IsZero() && h.Held.IsZero():
			h.Silent = e.At
		case e.What == Stored, e.What == Staled:
			h.Silent, h.Held = time.Time{}, time.Time{}
		case e.What == Held:
			h.Silent = time.Time{}
			if h.Held.IsZero() {
				h.Held = e.At
			}
		case e.What == Failed && e.Reason != "unanswered", e.What == ParkedNow,
			e.What == Deferred && e.Reason != "unfinished":
			h.Silent, h.Held = time.Time{}, time.Time{}
		}
	}
}

// at is the station whose device has the delivery, its own or the backup.
func (d Delivery) at() string { return cmp.Or(d.MovedTo, d.Station) }

// from is what people call the station that had the ticket before the newest handing-over, "" where
// it was the same one.
func (d Delivery) from() string {
	var before Place
	last := 0
	for _, h := range d.Handed {
		if p := h.elsewhere(d.at()); p.Station != "" && h.Last > last {
			before, last = p, h.Last
		}
	}
	return before.called("")
}

// had reports whether the newest handing-over went to the station.
func (d Delivery) had(station string) bool {
	return slices.ContainsFunc(d.Handed, func(h Handed) bool {
		return h.Last == d.Attempt && h.Place.Station == station
	})
}

// elsewhere is the newest place at the device that is not the given station.
func (h Handed) elsewhere(station string) Place {
	if h.Place.Station == station {
		return h.Before
	}
	return h.Place
}

// number counts the station on for the first handing-over, and keeps what its own printer must tell
// of numbers without paper there: what went to a backup is told by the next ticket at home, once.
// A pinned one takes no number: at the station's own printer that number would be missing. It
// reports whether the station has changed.
func (s *Station) number(h *Handing, d Delivery, c Dispatch, g Generation, now time.Time) bool {
	if d.Pinned != nil {
		return false
	}
	home, changed := d.MovedTo == "", false
	if d.Number == "" {
		changed = true
		*s = s.next(BusinessDay(now, c.Zone, c.DayCut), g, BusinessDay(g.At, c.Zone, c.DayCut))
		h.Number, h.Previous, h.Day = strconv.Itoa(s.Last), s.Previous, s.Day
		s.Previous = h.Number
		if home {
			h.Gaps, s.Gaps = wire.FormatGaps(s.Gaps), nil
		}
	}
	number, day := cmp.Or(d.Number, h.Number), cmp.Or(d.Day, h.Day)
	at := slices.IndexFunc(s.Gaps, func(g wire.Gap) bool { return g.Number == number })
	switch {
	case day != s.Day: // Yesterday's numbers are told of no more.
	case home && at >= 0 && s.Gaps[at].What == "moved":
		s.Gaps, changed = slices.Delete(slices.Clone(s.Gaps), at, at+1), true
	case !home && at < 0 && len(s.Gaps) < gapsMax && !d.had(d.MovedTo):
		gap := wire.Gap{Number: number, What: "moved", To: d.MovedTo}
		s.Gaps, changed = append(slices.Clone(s.Gaps), gap), true
	}
	return changed
}

// Seat is a station's device and printer as the relay sees them now, the own or the backup's.
type Seat struct {
	Device  string // "" where nobody is paired for it
	Present bool
	// Away is since when it is not present; after the broker's start not before presence could be
	// learnt.
	Away     time.Time
	Degraded bool
	// Held is since when the device says that this printer is held, zero where it is not.
	Held time.Time
}

// Fits reports whether the seat could take a ticket over.
func (s Seat) Fits() bool { return s.Device != "" && s.Present && !s.Degraded && s.Held.IsZero() }

// Watch is what decides where one delivery goes, as Delivery.Watch reads it.
type Watch struct {
	Moved   bool // the backup has it
	Stays   bool // it is for one printer alone, or proves that it works
	Release time.Time
	// Silent and Held are those of Handed, by device.
	Silent, Held map[string]time.Time
}

// Watch reads what is watched of d. The zero value is of what nothing is to be watched of.
func (d Delivery) Watch() Watch {
	w := Watch{Moved: d.MovedTo != "", Release: d.Release, Stays: d.Canary || d.Pinned != nil}
	for _, h := range d.Handed {
		if !h.Silent.IsZero() {
			if w.Silent == nil {
				w.Silent = map[string]time.Time{}
			}
			w.Silent[h.Device] = h.Silent
		}
		if !h.Held.IsZero() {
			if w.Held == nil {
				w.Held = map[string]time.Time{}
			}
			w.Held[h.Device] = h.Held
		}
	}
	return w
}

// Anything reports whether a device is silent about the delivery or holds it.
func (w Watch) Anything() bool { return len(w.Silent)+len(w.Held) > 0 }

// trouble is why the seat does not serve the delivery, "" where it does, and when it will not if
// nothing changes, zero for never.
func (w Watch) trouble(s Seat, now time.Time) (reason string, at time.Time) {
	switch {
	case s.Device == "":
		return "no-device", time.Time{}
	case s.Present && s.Degraded:
		return "degraded", time.Time{}
	}
	type since struct {
		reason string
		from   time.Time
		most   time.Duration
	}
	causes := []since{{"away", s.Away, AwayMax}}
	if s.Present {
		causes = []since{{"silent", w.Silent[s.Device], SilentMax},
			{"held", w.Held[s.Device], HeldMax}, {"held", s.Held, HeldMax}}
	}
	for _, c := range causes {
		if c.from.IsZero() {
			continue
		}
		end := c.from.Add(c.most)
		if !now.Before(end) {
			return c.reason, time.Time{}
		}
		if at.IsZero() || end.Before(at) {
			at = end
		}
	}
	return "", at
}

// Where says whether the delivery should change hands: from whoever has it, home or backup, where
// that is in trouble and the other is well. It stays where it is otherwise, also after the trouble
// is over: what moves to and fro is printed twice. next is when to ask again if nothing changes,
// zero for then only.
func (w Watch) Where(home, backup Seat, now time.Time) (move bool, reason string, next time.Time) {
	if w.Stays {
		return false, "", time.Time{}
	}
	if now.Before(w.Release) {
		return false, "", w.Release // Before it the ticket owes nothing.
	}
	has, other := home, backup
	if w.Moved {
		has, other = backup, home
	}
	if !other.Fits() {
		return false, "", time.Time{}
	}
	reason, next = w.trouble(has, now)
	if reason == "silent" && has.Device == other.Device {
		return false, "", time.Time{} // The other printer is the same silent device's.
	}
	return reason != "", reason, next
}
