package kitchen

import (
	"maps"
	"math"
	"slices"
	"time"
)

// When silence is suspicious.
const (
	// BusyRate is from how many usual orders per hour on an hour is judged.
	BusyRate = 3.0
	// SilenceMin is the shortest silence that is told of.
	SilenceMin = 15 * time.Minute
	// SilenceChance bounds the false alarms: so many in a busy hour whose orders come by chance at
	// their usual rate (Poisson). One silence alone is less likely than that, too.
	SilenceChance = 1e-3
	// deafAfter is the pause between two ticks after which the time between was not heard: the
	// machine stood still.
	deafAfter = 5 * time.Minute
	// dayPrior is how many orders, as usual, weigh against what the day shows of itself.
	dayPrior = 4
	// recentMax is how many orders are remembered to count each once.
	recentMax = 256
)

// Wall is what hangs on a kitchen's wall: its hours and its clock.
type Wall struct {
	Hours  Hours
	Zone   *time.Location // UTC where nil
	DayCut time.Duration  // when the business day begins after local midnight
}

// day is the business day, "2006-01-02".
func (w Wall) day(at time.Time) string {
	return in(at.Add(-w.DayCut), w.Zone).Format(time.DateOnly)
}

// Silence listens to one kitchen's orders: it learns the [Rhythm] and says when a busy hour has
// none. It is one value with one owner; time passes for it only by what it is told, so that the
// time in which nobody could have heard an order is no silence.
//
//	s := kitchen.NewSilence(wall, rhythm, false)
//	s.Tick(now)           // at least every minute while orders can be heard
//	s.Heard("4711", true, now)
type Silence struct {
	wall   Wall
	rhythm Rhythm
	now    time.Time // up to where time was heard, zero before the first tick
	open   bool      // at now

	// quiet is the open and heard time since the last order or the opening, by hour of the week;
	// since is when that was.
	quiet  map[int]time.Duration
	since  time.Time
	factor float64 // what this day has of the usual orders, at most 1
	recent []string
	warned bool
}

// Warning is a silence that is not by chance.
type Warning struct {
	Since time.Time     // the last order, the opening, or since when somebody listens
	For   time.Duration // open and heard time without any order
	// Usual is how many orders are usual in that time.
	Usual float64
}

// NewSilence goes on with a rhythm that was stored. warned is true where the last warning was not
// followed by an order yet.
func NewSilence(wall Wall, r Rhythm, warned bool) *Silence {
	if r.Today = maps.Clone(r.Today); r.Today == nil {
		r.Today = map[int]Count{}
	}
	return &Silence{wall: wall, rhythm: r, quiet: map[int]time.Duration{}, factor: 1, warned: warned}
}

// Rhythm is what was learned by now, for storing.
func (s *Silence) Rhythm() Rhythm {
	r := s.rhythm
	r.Today = maps.Clone(r.Today)
	return r
}

// Warned reports whether the last warning was not followed by an order yet.
func (s *Silence) Warned() bool { return s.warned }

// Tick says that orders could be heard until now. Where that makes the silence suspicious it says
// so once; the next order ends it.
func (s *Silence) Tick(now time.Time) (w Warning, warn bool) {
	s.live(now)
	if s.warned || !s.open {
		return Warning{}, false
	}
	rate := s.factor * s.usual(HourOfWeek(s.now, s.wall.Zone)).Rate()
	if rate < BusyRate {
		return Warning{}, false
	}
	w.Since = s.since
	surprise := 0.0
	for hour, quiet := range s.quiet {
		c := s.usual(hour)
		w.For += quiet
		w.Usual += s.factor * c.Rate() * quiet.Hours()
		surprise += c.surprise(s.factor, quiet)
	}
	// About rate silences begin in an hour, so that each must be so much less likely.
	if w.For < SilenceMin || surprise < math.Log(rate/SilenceChance) {
		return Warning{}, false
	}
	s.warned = true
	return w, true
}

// surprise is -ln of the chance that the hour has no order for so long. Its rate is known from few
// weeks only: seen as often as it was, it is Gamma distributed, which gives that chance as a power.
// With endless weeks it would be e to the -rate·time of Poisson.
func (c Cell) surprise(factor float64, quiet time.Duration) float64 {
	if c.Hours <= 0 {
		return 0
	}
	return c.Orders * math.Log1p(factor*quiet.Hours()/c.Hours)
}

// usual is what an hour is judged by: nothing before it is known.
func (s *Silence) usual(hour int) Cell {
	if c := s.rhythm.Cell(hour, s.now); c.Known() {
		return c
	}
	return Cell{}
}

// Heard takes in an accepted ticket. It ends the silence; placed is true where the ticket is of a
// new order, which is counted once. ended reports whether a warning is over.
func (s *Silence) Heard(order string, placed bool, now time.Time) (ended bool) {
	s.live(now)
	ended, s.warned = s.warned, false
	s.quiet, s.since = map[int]time.Duration{}, now
	if placed && s.open && !slices.Contains(s.recent, order) {
		if s.recent = append(s.recent, order); len(s.recent) > recentMax {
			s.recent = slices.Delete(s.recent, 0, recentMax/2)
		}
		hour := HourOfWeek(now, s.wall.Zone)
		n := s.rhythm.Today[hour]
		n.Orders++
		s.rhythm.Today[hour] = n
	}
	s.factor = s.share()
	return ended
}

// share is what this day has of the usual orders so far, at most 1: a quiet day has longer
// silences.
func (s *Silence) share() float64 {
	had, usual := 0.0, 0.0
	for hour, n := range s.rhythm.Today {
		if c := s.usual(hour); c.Hours > 0 {
			had += float64(n.Orders)
			usual += c.Rate() * n.Time.Hours()
		}
	}
	return min((had+dayPrior)/(usual+dayPrior), 1)
}

// live lets the time until now pass.
func (s *Silence) live(now time.Time) {
	from := s.now
	switch {
	case from.IsZero():
		s.since = now
		from = now
	case !now.After(from):
		return // Time that was heard is not heard again.
	case now.Sub(from) > deafAfter:
		from = now
	}
	for s.now = now; from.Before(now); {
		end := hourEnd(from, s.wall.Zone)
		if now.Before(end) {
			end = now
		}
		s.at(from)
		if s.open {
			hour := HourOfWeek(from, s.wall.Zone)
			n := s.rhythm.Today[hour]
			n.Time += end.Sub(from)
			s.rhythm.Today[hour] = n
			s.quiet[hour] += end.Sub(from)
		}
		from = end
	}
	s.at(now)
}

// at turns the day and opens or closes. Each opening begins a new silence: nobody orders before it.
func (s *Silence) at(now time.Time) {
	if s.rhythm.turn(s.wall.day(now), now) {
		s.factor = 1
	}
	open := s.wall.Hours.Open(now, s.wall.Zone)
	if open && !s.open {
		s.quiet, s.since = map[int]time.Duration{}, now
	}
	s.open = open
}
