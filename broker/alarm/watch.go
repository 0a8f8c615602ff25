package alarm

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"chit/broker/delivery"
	"chit/broker/entity"
	"chit/broker/kitchen"
)

// When somebody is told of a ticket without paper (DESIGN.md section 5, "Somebody is told early").
const (
	LateAfter    = 2 * time.Minute // P2
	VeryLate     = 5 * time.Minute // P1
	StartGrace   = 15 * time.Second
	UpdateAfter  = 30 * time.Second // the shortest pause between two changes of a text
	DoubledFor   = 24 * time.Hour
	CopiesFor    = time.Hour
	neverChanges = 24 * time.Hour
	// NamesMax is how many doubled tickets one text names.
	NamesMax = 5
)

// Place is where a station is.
type Place struct {
	Kitchen string
	Hours   kitchen.Hours
	Zone    *time.Location
}

// StationKey names a station.
type StationKey struct{ Tenant, Station string }

// Watch keeps the tickets without paper of every station and says which alarms that makes. It
// believes that what it says is done; feed it what the store knows with [Watch.Known] first.
//
// Lateness counts from the latest of a ticket's release, the last wish of a person to have it (a
// redrive, a yes to a stale one) and the kitchen's opening: what waits at night is nobody's fault
// yet. A closed kitchen raises nothing; what was raised
// before it closed stays until the paper is there.
type Watch struct {
	places   map[StationKey]Place
	started  time.Time
	stations map[StationKey]*station
	said     map[entity.Key]said
	dirty    map[StationKey]bool
	later    map[StationKey]time.Time
	next     time.Time // not later than the earliest of later; zero for none
	out      []entity.Command
	canaries map[StationKey]*canary
}

// said is what an alarm says by now.
type said struct {
	severity Severity
	count    int
	at       time.Time
	names    []string // of doubled tickets, the newest first, at most NamesMax
}

// station is one station's tickets.
type station struct {
	open queue
	dead map[string]*ticket
}

// NewWatch makes a watch of these stations that starts at now. Within StartGrace nothing is raised
// for being late: devices come back after a restart of the broker.
func NewWatch(places map[StationKey]Place, now time.Time) *Watch {
	w := &Watch{places: places, started: now, stations: map[StationKey]*station{},
		said: map[entity.Key]said{}, dirty: map[StationKey]bool{}, later: map[StationKey]time.Time{},
		canaries: map[StationKey]*canary{}}
	for key := range places {
		w.station(key)
	}
	return w
}

func (w *Watch) station(key StationKey) *station {
	s := w.stations[key]
	if s == nil {
		s = &station{open: newQueue(), dead: map[string]*ticket{}}
		w.stations[key] = s
	}
	return s
}

// Known takes in an alarm as the store has it.
func (w *Watch) Known(a Alarm) {
	if a.State != Raised && a.State != Taken {
		return
	}
	told := said{severity: a.Severity, count: a.Count}
	if strings.HasPrefix(a.Cause, CauseDoubled+"/") {
		told.at = a.Ends.Add(-DoubledFor)
	}
	w.said[Key(a.Tenant, a.Cause)] = told
	if a.Station != "" {
		w.dirty[StationKey{a.Tenant, a.Station}] = true
	}
}

// Changed takes in where a delivery stands. News older than what is known change nothing.
func (w *Watch) Changed(e delivery.Changed, now time.Time) {
	d := e.Delivery
	if d.Canary {
		w.canaryChanged(d)
		return
	}
	key := StationKey{d.Tenant, d.Station}
	s := w.station(key)
	known := s.open.tickets[d.Ticket]
	if known == nil {
		known = s.dead[d.Ticket]
	}
	if known != nil && d.Epoch < known.epoch {
		return
	}
	was := known != nil
	s.open.remove(d.Ticket)
	delete(s.dead, d.Ticket)
	switch t := newTicket(d); {
	case d.State.Open():
		s.open.add(t)
		w.dirty[key] = true
	case d.State == delivery.Dead:
		s.dead[d.Ticket] = t
		w.dirty[key] = true
	case was:
		w.dirty[key] = true
	}
	if slices.Contains(e.What, delivery.Doubled) {
		w.doubled(d, now)
	}
}

// doubled raises an alarm for each second paper: a cause without an end of its own.
func (w *Watch) doubled(d delivery.Delivery, now time.Time) {
	key := Key(d.Tenant, CauseDoubled+"/"+d.Station)
	count, names := 1, []string{named(d.Number)}
	if was, ok := w.said[key]; ok && now.Before(was.at.Add(DoubledFor)) {
		count += was.count
		names = append(names, was.names...)
		names = names[:min(len(names), NamesMax)]
	}
	those := strings.Join(names, ", ")
	if more := count - len(names); more > 0 {
		those += fmt.Sprintf(" and %d more", more)
	}
	w.raise(Raise{Tenant: d.Tenant, Cause: key.ID, Kitchen: d.Kitchen, Station: d.Station,
		Severity: P2, Count: count, News: true, For: DoubledFor,
		Text: fmt.Sprintf("%s came out at two printers of %s; is one of them cooked twice?",
			those, d.Station)}, now)
	said := w.said[key]
	said.names = names
	w.said[key] = said
}

// Copied raises the alarm for two devices with one identity.
func (w *Watch) Copied(e delivery.Greeted, now time.Time) {
	if !e.Copied {
		return
	}
	w.raise(Raise{Tenant: e.Tenant, Cause: CauseCopies + "/" + e.ID, Device: e.ID, Severity: P1,
		Count: 1, For: CopiesFor, Text: fmt.Sprintf("two devices use the identity %s: is a card "+
			"copied? Pair one of them anew", e.ID)}, now)
}

// Memory takes in whether a device can remember; degraded is its own word for why not, "" where it
// can.
func (w *Watch) Memory(tenant, device, degraded string, now time.Time) {
	key := Key(tenant, CauseMemory+"/"+device)
	_, is := w.said[key]
	switch {
	case degraded != "" && !is:
		w.raise(Raise{Tenant: tenant, Cause: key.ID, Device: device, Severity: P1, Count: 1,
			Text: fmt.Sprintf("device %s cannot remember orders (%s) and refuses tickets: its card "+
				"must be looked at", device, degraded)}, now)
	case degraded == "" && is:
		w.clear(key)
	}
}

func (w *Watch) raise(r Raise, now time.Time) {
	w.said[Key(r.Tenant, r.Cause)] = said{severity: r.Severity, count: r.Count, at: now}
	w.out = append(w.out, r)
}

func (w *Watch) clear(key entity.Key) {
	delete(w.said, key)
	w.out = append(w.out, Clear{Tenant: key.Tenant, Cause: key.ID})
}

// Due is what follows by now, in order, and when to ask again if nothing happens before; zero for
// never.
func (w *Watch) Due(now time.Time) (commands []entity.Command, next time.Time) {
	if !w.next.IsZero() && !now.Before(w.next) {
		w.next = time.Time{}
		for key, at := range w.later {
			if !now.Before(at) {
				w.dirty[key] = true
			} else {
				earliest(&w.next, at)
			}
		}
	}
	// In one order, so that the same story is told the same way again.
	for _, key := range slices.SortedFunc(maps.Keys(w.dirty), byName) {
		delete(w.later, key)
		var at time.Time
		earliest(&at, w.dead(key, now))
		earliest(&at, w.late(key, now))
		earliest(&at, w.canary(key, now))
		if !at.IsZero() {
			w.later[key] = at
			earliest(&w.next, at)
		}
	}
	clear(w.dirty)
	commands, w.out = w.out, nil
	return commands, w.next
}

func byName(a, b StationKey) int {
	return cmp.Or(strings.Compare(a.Tenant, b.Tenant), strings.Compare(a.Station, b.Station))
}

// earliest makes at the earlier of the two; zero stands for never.
func earliest(at *time.Time, other time.Time) {
	if !other.IsZero() && (at.IsZero() || other.Before(*at)) {
		*at = other
	}
}

// dead judges a station's dead letters and says when to look again.
func (w *Watch) dead(key StationKey, now time.Time) (next time.Time) {
	s := w.stations[key]
	cause := Key(key.Tenant, CauseDead+"/"+key.Station)
	was, is := w.said[cause]
	severity := s.deadSeverity()
	switch n := len(s.dead); {
	case n == 0 && is:
		w.clear(cause)
	case n == 0 || n == was.count && !severity.worse(was.severity):
	case is && !severity.worse(was.severity) && now.Before(was.at.Add(UpdateAfter)):
		return was.at.Add(UpdateAfter)
	default:
		newest := s.newestDead()
		w.raise(Raise{Tenant: key.Tenant, Cause: cause.ID, Kitchen: w.places[key].Kitchen,
			Station: key.Station, Severity: severity, Count: n, News: true,
			Text: fmt.Sprintf("%s at %s: %s was not printed and is not tried any more (%s)",
				counted(n, "dead letter"), key.Station, named(newest.number), newest.reason)}, now)
	}
	return time.Time{}
}

// late judges a station's tickets without paper and says when to look again.
func (w *Watch) late(key StationKey, now time.Time) (next time.Time) {
	cause := Key(key.Tenant, CauseLate+"/"+key.Station)
	was, is := w.said[cause]
	oldest := w.stations[key].open.oldest()
	if oldest == nil || now.Before(oldest.owed.Add(LateAfter)) {
		if is {
			w.clear(cause)
		}
		if oldest != nil {
			next = oldest.owed.Add(LateAfter)
		}
		return next
	}
	if grace := w.started.Add(StartGrace); now.Before(grace) {
		return grace
	}
	since, open, next := w.since(key, oldest, now)
	if !open {
		return next
	}
	var severity Severity
	switch age := now.Sub(since); {
	case age >= VeryLate:
		severity = P1
	case age >= LateAfter:
		severity, next = P2, since.Add(VeryLate)
	default: // An alarm from before the kitchen closed stays as it is.
		return since.Add(LateAfter)
	}
	update := was.at.Add(UpdateAfter)
	if is && !severity.worse(was.severity) && now.Before(update) {
		earliest(&next, update)
		return next
	}
	count := w.stations[key].open.before(now.Add(-LateAfter))
	// The next ticket becomes late with no other news.
	earliest(&next, w.stations[key].open.nextAfter(now.Add(-LateAfter), LateAfter))
	if is && !severity.worse(was.severity) && count == was.count {
		return next
	}
	if was.severity == P1 {
		severity = P1 // It is the same alarm; the severity only rises.
	}
	w.raise(Raise{Tenant: key.Tenant, Cause: cause.ID, Kitchen: w.places[key].Kitchen,
		Station: key.Station, Severity: severity, Count: count,
		Text: lateText(key.Station, count, oldest, now.Sub(since))}, now)
	return next
}

func lateText(station string, count int, oldest *ticket, age time.Duration) string {
	return fmt.Sprintf("%s without paper at %s, %s for %s: %s", counted(count, "ticket"), station,
		named(oldest.number), age.Truncate(time.Second), oldest.reason)
}

// LateNow is how many tickets of a station are late by now, and what is to be said of them. It is
// for whoever looks at the alarm: those who were told are not told again. ok is false where none is
// late, or the kitchen is closed.
func (w *Watch) LateNow(key StationKey, now time.Time) (count int, text string, ok bool) {
	s := w.stations[key]
	if s == nil {
		return 0, "", false
	}
	oldest := s.open.oldest()
	if oldest == nil || now.Before(oldest.owed.Add(LateAfter)) {
		return 0, "", false
	}
	since, open, _ := w.since(key, oldest, now)
	if !open {
		return 0, "", false
	}
	count = s.open.before(now.Add(-LateAfter))
	return count, lateText(key.Station, count, oldest, now.Sub(since)), true
}

// since is from when the oldest ticket's lateness counts. Where the kitchen is closed, next is when
// it opens.
func (w *Watch) since(key StationKey, oldest *ticket, now time.Time) (
	since time.Time, open bool, next time.Time) {
	place := w.places[key]
	since = oldest.owed
	if !place.Hours.Open(now, place.Zone) {
		if next, open = place.Hours.Opening(now, place.Zone); !open {
			next = now.Add(neverChanges)
		}
		return since, false, next
	}
	if opened, ok := place.Hours.Opened(now, place.Zone); ok && opened.After(since) {
		since = opened
	}
	return since, true, time.Time{}
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// named is a ticket's number; one that was never handed over has none.
func named(number string) string {
	if number == "" {
		return "a ticket without a number yet"
	}
	return "number " + number
}
