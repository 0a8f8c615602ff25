package kitchen

import (
	"math"
	"time"
)

// Format is the version of stored rhythms.
const Format = 1

// How the rhythm is learned.
const (
	// HalfLife is after how long what was learned counts half.
	HalfLife = 4 * 7 * 24 * time.Hour
	// WeeksMin is in how many weeks an hour must have been seen before it is judged.
	WeeksMin = 3
	// ForgetAfter is how long an hour that is not seen again stays known.
	ForgetAfter = 26 * 7 * 24 * time.Hour
	// seenMin is the shortest time of one hour that counts as having seen it.
	seenMin = 5 * time.Minute
)

// HoursOfWeek is how many hours a week has on the wall's clock; the first is Sunday's from 00:00.
const HoursOfWeek = 7 * 24

// Rhythm is how many orders a kitchen usually gets in each hour of the week, as stored.
//
// An order is counted once, however many stations and changes it has. A day is learned when it is
// over, and not at all where it had no order: then the kitchen was closed, whatever its opening
// hours say. An hour that summer time leaves out is not seen in that week, one that it repeats is
// seen for two hours.
type Rhythm struct {
	Format int `json:"v"`
	// Cells has one entry for each hour of the week, or none where nothing was learned yet.
	Cells []Cell `json:"cells,omitempty"`
	// Day is the business day, "2006-01-02", that Today is of: what is not learned yet.
	Day   string        `json:"day,omitempty"`
	Today map[int]Count `json:"today,omitempty"`
}

// Cell is one hour of the week. Orders and Hours are decaying sums: a week's worth counts half
// after HalfLife.
type Cell struct {
	Orders float64 `json:"orders"`
	// Hours is how long the kitchen was open and heard in this hour.
	Hours float64   `json:"hours"`
	Weeks int       `json:"weeks"` // in which it was seen
	At    time.Time `json:"at"`    // when it was learned last
}

// Count is what one hour of a day had so far.
type Count struct {
	Orders int           `json:"orders"`
	Time   time.Duration `json:"time_ns"` // open and heard
}

// Rate is the usual number of orders per hour, 0 where nothing is known.
func (c Cell) Rate() float64 {
	if c.Hours <= 0 {
		return 0
	}
	return c.Orders / c.Hours
}

// Known reports whether enough weeks were seen to judge the hour.
func (c Cell) Known() bool { return c.Weeks >= WeeksMin && c.Hours > 0 }

// Cell is what is known of an hour of the week at an instant: what is older than ForgetAfter is
// not.
func (r Rhythm) Cell(hour int, now time.Time) Cell {
	if hour < 0 || hour >= len(r.Cells) || now.Sub(r.Cells[hour].At) > ForgetAfter {
		return Cell{}
	}
	return r.Cells[hour]
}

// learn adds what one hour of a day had.
func (c Cell) learn(n Count, at time.Time) Cell {
	switch age := at.Sub(c.At); {
	case c.At.IsZero(), age > ForgetAfter:
		c = Cell{}
	case age > 0:
		left := math.Exp2(-float64(age) / float64(HalfLife))
		c.Orders, c.Hours = c.Orders*left, c.Hours*left
	}
	c.Orders += float64(n.Orders)
	c.Hours += n.Time.Hours()
	if n.Time >= seenMin {
		c.Weeks++
	}
	c.At = at
	return c
}

// turn begins a business day and learns the one that is over. A clock that steps back over midnight
// does not begin the old day again.
func (r *Rhythm) turn(day string, at time.Time) (turned bool) {
	if day <= r.Day {
		return false
	}
	orders := 0
	for _, n := range r.Today {
		orders += n.Orders
	}
	if orders > 0 {
		cells := make([]Cell, HoursOfWeek)
		copy(cells, r.Cells)
		for hour, n := range r.Today {
			if hour >= 0 && hour < HoursOfWeek {
				cells[hour] = cells[hour].learn(n, at)
			}
		}
		r.Cells = cells
	}
	r.Format, r.Day, r.Today = Format, day, map[int]Count{}
	return true
}

// HourOfWeek is the hour of the week on the wall's clock, 0 to HoursOfWeek-1. A nil zone is UTC.
func HourOfWeek(at time.Time, zone *time.Location) int {
	local := in(at, zone)
	return int(local.Weekday())*24 + local.Hour()
}

// hourEnd is when the hour on the wall's clock ends, or that clock is put forward or back.
func hourEnd(at time.Time, zone *time.Location) time.Time {
	local := in(at, zone)
	into := intoWeek(local) % time.Hour
	end := at.Add(time.Hour - into)
	if _, bound := local.ZoneBounds(); !bound.IsZero() && bound.Before(end) {
		return bound
	}
	return end
}
