package kitchen

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// week is a Monday without any change of clocks for months.
var week = time.Date(2026, 4, 6, 0, 0, 0, 0, time.UTC)

// street is a kitchen with its orders drawn from a seed.
type street struct {
	t      testing.TB
	s      *Silence
	now    time.Time
	wall   Wall
	rate   func(time.Time) float64 // orders per hour
	random *rand.Rand
	orders int
	busy   time.Duration // open and judged
	warned []Warning
}

func newStreet(t testing.TB, seed uint64, wall Wall, rate func(time.Time) float64) *street {
	return &street{t: t, s: NewSilence(wall, Rhythm{}, false), now: week, wall: wall, rate: rate,
		random: rand.New(rand.NewPCG(seed, 1))}
}

// live lets time pass minute by minute; heard is whether the orders arrive.
func (k *street) live(d time.Duration, heard bool) {
	for end := k.now.Add(d); k.now.Before(end); k.now = k.now.Add(time.Minute) {
		if w, warn := k.s.Tick(k.now); warn {
			k.warned = append(k.warned, w)
		}
		open := k.wall.Hours.Open(k.now, k.wall.Zone)
		if open && k.s.usual(HourOfWeek(k.now, k.wall.Zone)).Rate() >= BusyRate {
			k.busy += time.Minute
		}
		if open && heard && k.random.Float64() < 1-math.Exp(-k.rate(k.now)/60) {
			k.orders++
			k.s.Heard(fmt.Sprint("o", k.orders), true, k.now)
		}
	}
}

const oneWeek = 7 * 24 * time.Hour

// evening has its peak at eight and nothing like it at noon.
func evening(at time.Time) float64 {
	hour := float64(at.Hour()) + float64(at.Minute())/60
	return 4 + 36*math.Exp(-(hour-20)*(hour-20)/4)
}

func flat(rate float64) func(time.Time) float64 {
	return func(time.Time) float64 { return rate }
}

func TestChanceAloneRaisesFewerAlarmsThanDesigned(t *testing.T) {
	const years = 1
	wall := Wall{Hours: parse(t, "daily 11:00-23:00"), DayCut: 4 * time.Hour}
	for name, rate := range map[string]func(time.Time) float64{
		"4 per hour": flat(4), "20 per hour": flat(20), "60 per hour": flat(60), "evening": evening,
	} {
		k := newStreet(t, 7, wall, rate)
		k.live(years*52*oneWeek, true)
		perHour := float64(len(k.warned)) / k.busy.Hours()
		t.Logf("%s: %d false alarms in %.0f busy hours, %.2g per hour", name, len(k.warned),
			k.busy.Hours(), perHour)
		if k.busy < years*40*oneWeek/2 || perHour > SilenceChance {
			t.Errorf("%s: %d false alarms in %s, designed for %g per hour", name, len(k.warned), k.busy,
				SilenceChance)
		}
	}
}

func TestAShopThatFallsSilentIsToldOfInTime(t *testing.T) {
	wall := Wall{Hours: parse(t, "daily 11:00-23:00"), DayCut: 4 * time.Hour}
	for rate, most := range map[float64]time.Duration{
		4: 180 * time.Minute, 20: 50 * time.Minute, 60: 20 * time.Minute, 200: 17 * time.Minute,
	} {
		k := newStreet(t, 11, wall, flat(rate))
		k.live(8*oneWeek+14*time.Hour, true)
		k.warned = nil
		k.live(4*time.Hour, false)
		if len(k.warned) != 1 {
			t.Errorf("%g per hour: %d warnings of one silence", rate, len(k.warned))
			continue
		}
		w := k.warned[0]
		t.Logf("%g per hour: told after %s, in which %.1f are usual", rate, w.For, w.Usual)
		if w.For < SilenceMin || w.For > most {
			t.Errorf("%g per hour: told after %s, want %s to %s", rate, w.For, SilenceMin, most)
		}
		if !k.s.Heard("back", true, k.now) || k.s.Heard("more", true, k.now) || k.s.Warned() {
			t.Errorf("%g per hour: the next order does not end it once", rate)
		}
	}
}

func TestAnHourIsNotJudgedBeforeThreeWeeksNorWhereItIsQuiet(t *testing.T) {
	wall := Wall{Hours: parse(t, "daily 11:00-23:00"), DayCut: 4 * time.Hour}
	for _, test := range []struct {
		name  string
		weeks time.Duration
		rate  float64
		told  int
	}{{"two weeks", 2, 30, 0}, {"three weeks", 3, 30, 1}, {"quiet", 12, BusyRate / 2, 0}} {
		k := newStreet(t, 3, wall, flat(test.rate))
		k.live(test.weeks*oneWeek+14*time.Hour, true)
		k.warned = nil
		k.live(4*time.Hour, false)
		if len(k.warned) != test.told {
			t.Errorf("%s: %d warnings, want %d", test.name, len(k.warned), test.told)
		}
	}
}

func TestADayWithoutAnyOrderTeachesNothing(t *testing.T) {
	wall := Wall{Hours: parse(t, "daily 11:00-23:00"), DayCut: 4 * time.Hour}
	k := newStreet(t, 5, wall, flat(20))
	k.live(6*oneWeek+5*time.Hour, true) // Past Monday's cut.
	before := k.s.Rhythm().Cells
	k.live(24*time.Hour, false)
	after := k.s.Rhythm().Cells
	for hour := range after {
		if after[hour] != before[hour] {
			t.Errorf("hour %d: %+v, before the holiday %+v", hour, after[hour], before[hour])
		}
	}
	k.live(24*time.Hour, true)
	if c := k.s.Rhythm().Cells[2*24+12]; c.Weeks != before[2*24+12].Weeks+1 {
		t.Errorf("the day after teaches nothing: %+v", c)
	}
}

func TestTimeInWhichNobodyListenedIsNoSilence(t *testing.T) {
	wall := Wall{Hours: parse(t, "daily 11:00-23:00"), DayCut: 4 * time.Hour}
	k := newStreet(t, 9, wall, flat(30))
	k.live(6*oneWeek+13*time.Hour, true)
	k.warned = nil
	// The broker is down for two hours and starts again from what is stored.
	k.now = k.now.Add(2 * time.Hour)
	k.s = NewSilence(wall, k.s.Rhythm(), false)
	k.live(SilenceMin, false)
	if len(k.warned) != 0 {
		t.Fatalf("told %+v of a time in which it was down", k.warned)
	}
	k.live(time.Hour, false)
	if len(k.warned) != 1 || k.warned[0].For > time.Hour {
		t.Errorf("a silence after the restart: %+v", k.warned)
	}
	// A machine that stood still heard nothing either.
	k.s.Heard("back", true, k.now)
	k.warned = nil
	k.now = k.now.Add(2 * time.Hour)
	k.live(SilenceMin, false)
	if len(k.warned) != 0 {
		t.Errorf("told %+v of a time in which the machine stood still", k.warned)
	}
}

func TestEachOpeningBeginsANewSilence(t *testing.T) {
	wall := Wall{Hours: parse(t, "daily 11:00-14:00 17:00-22:00"), DayCut: 4 * time.Hour}
	k := newStreet(t, 2, wall, flat(30))
	k.live(6*oneWeek+13*time.Hour+50*time.Minute, true)
	k.warned = nil
	k.live(17*time.Hour-13*time.Hour-50*time.Minute+SilenceMin, false)
	if len(k.warned) != 0 {
		t.Errorf("told %+v a quarter of an hour after the opening", k.warned)
	}
	k.live(30*time.Minute, false)
	if len(k.warned) != 1 || k.warned[0].Since.Hour() != 17 {
		t.Errorf("a silence from the opening on: %+v", k.warned)
	}
}

func TestAnOrderAtManyStationsIsCountedOnce(t *testing.T) {
	s := NewSilence(Wall{}, Rhythm{}, false)
	s.Tick(week)
	for range 3 {
		s.Heard("4711", true, week)
	}
	s.Heard("4711", false, week)
	s.Heard("4712", true, week)
	if n := s.Rhythm().Today[24].Orders; n != 2 {
		t.Errorf("%d orders, want 2", n)
	}
}

func TestOldWeeksCountLessAndAnHourNotSeenForHalfAYearIsForgotten(t *testing.T) {
	c := Cell{}
	at := week
	for range 30 {
		c = c.learn(Count{Orders: 10, Time: time.Hour}, at)
		at = at.Add(oneWeek)
	}
	for range 4 { // As long as the half-life: half of what is known is of the new rate.
		c = c.learn(Count{Orders: 30, Time: time.Hour}, at)
		at = at.Add(oneWeek)
	}
	if got := c.Rate(); math.Abs(got-20) > 0.2 {
		t.Errorf("%.2f per hour, want about 20", got)
	}
	r := Rhythm{Cells: make([]Cell, HoursOfWeek)}
	r.Cells[5] = c
	if !r.Cell(5, at).Known() || r.Cell(5, at.Add(ForgetAfter)).Known() || r.Cell(900, at).Known() {
		t.Error("what is known at which time is wrong")
	}
	if c = c.learn(Count{Orders: 1, Time: time.Hour}, at.Add(ForgetAfter)); c.Weeks != 1 {
		t.Errorf("begun anew with %d weeks", c.Weeks)
	}
}

// TestEveryOpenMinuteIsLearnedOnceWhateverTheClocksDo compares with a clock that is read every
// minute, in weeks in which clocks change.
func TestEveryOpenMinuteIsLearnedOnceWhateverTheClocksDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines, _ := drawHours(t)
		hours, err := ParseHours(lines)
		if err != nil {
			t.Fatal(err)
		}
		change := rapid.SampledFrom(weeks).Draw(t, "week")
		place, err := time.LoadLocation(change.zone)
		if err != nil {
			t.Fatal(err)
		}
		from, err := time.ParseInLocation(time.DateOnly, change.from, place)
		if err != nil {
			t.Fatal(err)
		}
		wall := Wall{Hours: hours, Zone: place, DayCut: 4 * time.Hour}
		s := NewSilence(wall, Rhythm{}, false)
		days := map[string]map[int]*[2]int{} // minutes and orders, by hour of the week
		end := from.Add(oneWeek)
		for now := from; now.Before(end); now = now.Add(time.Minute) {
			s.Tick(now)
			ordered := now.Minute()%10 == 0
			if ordered {
				s.Heard(fmt.Sprint(now.Unix()), true, now)
			}
			// A day is learned when it is over; the last one is not.
			if day := wall.day(now); hours.Open(now, place) && day < wall.day(end) {
				if days[day] == nil {
					days[day] = map[int]*[2]int{}
				}
				n := days[day][HourOfWeek(now, place)]
				if n == nil {
					n = &[2]int{}
					days[day][HourOfWeek(now, place)] = n
				}
				if n[0]++; ordered {
					n[1]++
				}
			}
		}
		s.Tick(end)
		r := s.Rhythm()
		want := map[int][2]int{}
		for _, day := range days {
			had := 0
			for _, n := range day {
				had += n[1]
			}
			for hour, n := range day {
				if had > 0 {
					want[hour] = [2]int{want[hour][0] + n[0], want[hour][1] + n[1]}
				}
			}
		}
		for hour := range HoursOfWeek {
			// Where half an hour is put in, an hour may be of two days, of which one counts less by now.
			c, open, orders := r.Cell(hour, end), float64(want[hour][0])/60, float64(want[hour][1])
			if math.Abs(c.Hours-open) > 0.03*open || math.Abs(c.Orders-orders) > 0.03*orders {
				t.Fatalf("hour %d: %.3f hours with %.2f orders, want %.3f with %.0f", hour, c.Hours,
					c.Orders, open, orders)
			}
		}
	})
}

func TestACanaryIsDueBeforeEachOpeningAndSaysNothingTomorrow(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	h := parse(t, "mon-sat 11:00-14:00 17:00-22:00")
	at := func(text string) time.Time {
		instant, err := time.ParseInLocation("2006-01-02 15:04", text, berlin)
		if err != nil {
			t.Fatal(err)
		}
		return instant
	}
	for _, test := range []struct{ now, opening, until string }{
		{"2026-03-28 10:49", "", ""}, // The day before the clocks change.
		{"2026-03-28 10:50", "2026-03-28 11:00", "2026-03-29 00:00"},
		{"2026-03-28 11:14", "2026-03-28 11:00", "2026-03-29 00:00"},
		{"2026-03-28 11:15", "", ""}, {"2026-03-29 10:55", "", ""}, // On Sunday it is closed.
		{"2026-03-30 10:55", "2026-03-30 11:00", "2026-03-31 00:00"},
		{"2026-03-30 16:55", "2026-03-30 17:00", "2026-03-31 00:00"},
	} {
		opening, until, due := h.Canary(at(test.now), berlin, 10*time.Minute)
		if due != (test.opening != "") ||
			due && (!opening.Equal(at(test.opening)) || !until.Equal(at(test.until))) {
			t.Errorf("at %s: %v for %s until %s", test.now, due, opening, until)
		}
	}
	late := parse(t, "fri 23:30-02:00")
	opening, until, due := late.Canary(at("2026-03-27 23:25"), berlin, 10*time.Minute)
	if !due || until.Sub(opening) != time.Hour {
		t.Errorf("an opening before midnight: until %s", until)
	}
	if _, _, due := (Hours{}).Canary(week, nil, time.Hour); due {
		t.Error("a kitchen that is always open has an opening")
	}
}
