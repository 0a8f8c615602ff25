package kitchen

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrHours is wrapped by every error of [ParseHours].
var ErrHours = errors.New("kitchen: bad opening hours")

// hoursForm is what an error expects.
const hoursForm = `days and times such as "mon-fri 11:00-14:30", "daily 11:00-23:00" or ` +
	`"fri-sat 18:00-02:00"`

// Minutes of the week; it begins on Sunday as [time.Weekday] does.
const (
	minutesDay  = 24 * 60
	minutesWeek = 7 * minutesDay
)

// searchMax bounds how far a change of open and closed is looked for: hours repeat every week, and
// the hour that summer time leaves out may swallow one opening.
const searchMax = 15 * 24 * time.Hour

// Hours are a kitchen's opening hours. The zero value is always open.
type Hours struct {
	// bounds are the minutes of the week at which open and closed change, ascending; the first is
	// an opening where open is false at minute 0, else a closing.
	bounds []int
	// zero is whether minute 0 of the week is open.
	zero bool
	set  bool // false: no hours are known
}

// ParseHours reads opening hours: each line is days and one or more times, of which a closing that
// is not after its opening is the next day's. Lines may overlap. No line at all is always open.
//
// Days are mon … sun, daily, a range such as mon-fri, or a list of these with commas. The error
// wraps [ErrHours] and says what was found and expected.
func ParseHours(lines []string) (Hours, error) {
	if len(lines) == 0 {
		return Hours{}, nil
	}
	var open [minutesWeek]bool
	for _, line := range lines {
		if err := parseLine(line, &open); err != nil {
			return Hours{}, fmt.Errorf("%w: found %q, expected %s: %w", ErrHours, line, hoursForm, err)
		}
	}
	h := Hours{set: true, zero: open[0]}
	for m := 1; m < minutesWeek; m++ {
		if open[m] != open[m-1] {
			h.bounds = append(h.bounds, m)
		}
	}
	if open[0] != open[minutesWeek-1] {
		h.bounds = slices.Insert(h.bounds, 0, 0)
		h.zero = open[minutesWeek-1] // Before the bound at 0.
	}
	return h, nil
}

func parseLine(line string, open *[minutesWeek]bool) error {
	words := strings.Fields(strings.ToLower(line))
	if len(words) < 2 {
		return errors.New("days or times are missing")
	}
	days, err := parseDays(words[0])
	if err != nil {
		return err
	}
	for _, word := range words[1:] {
		from, to, ok := strings.Cut(strings.TrimSuffix(word, ","), "-")
		if !ok {
			return fmt.Errorf("%q is no time from-to", word)
		}
		start, err := parseClock(from)
		if err != nil {
			return err
		}
		end, err := parseClock(to)
		switch {
		case err != nil:
			return err
		case start == minutesDay:
			return fmt.Errorf("%q begins after its day", word)
		case start == end:
			return fmt.Errorf("%q is no time at all; the whole day is 00:00-24:00", word)
		case end < start:
			end += minutesDay
		}
		for _, day := range days {
			for m := start; m < end; m++ {
				open[(int(day)*minutesDay+m)%minutesWeek] = true
			}
		}
	}
	return nil
}

var dayNames = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

func parseDays(word string) (days []time.Weekday, err error) {
	for part := range strings.SplitSeq(word, ",") {
		if part == "daily" {
			part = "sun-sat"
		}
		from, to, ranged := strings.Cut(part, "-")
		if !ranged {
			to = from
		}
		first, last := slices.Index(dayNames, from), slices.Index(dayNames, to)
		if first < 0 || last < 0 {
			return nil, fmt.Errorf("%q is no day", part)
		}
		for d := first; ; d = (d + 1) % 7 {
			days = append(days, time.Weekday(d))
			if d == last {
				break
			}
		}
	}
	return days, nil
}

// parseClock reads "11:00" as minutes after midnight, 00:00 to 24:00.
func parseClock(text string) (int, error) {
	h, m, ok := strings.Cut(text, ":")
	hour, errHour := strconv.ParseUint(h, 10, 8)
	minute, errMinute := strconv.ParseUint(m, 10, 8)
	at := int(hour)*60 + int(minute)
	if !ok || errHour != nil || errMinute != nil || len(h) > 2 || len(m) != 2 || minute > 59 ||
		at > minutesDay {
		return 0, fmt.Errorf("%q is no time of day", text)
	}
	return at, nil
}

// Open reports whether the kitchen is open at an instant; its opening minute is open, its closing
// minute is not. zone is the kitchen's, UTC where nil.
func (h Hours) Open(at time.Time, zone *time.Location) bool {
	if !h.set {
		return true
	}
	passed, _ := slices.BinarySearch(h.bounds, minute(at, zone)+1)
	return h.zero != (passed%2 == 1)
}

// Opening is the next instant after at when the kitchen goes from closed to open; ok is false where
// it never does, because it is always open or never.
func (h Hours) Opening(at time.Time, zone *time.Location) (opening time.Time, ok bool) {
	was := h.Open(at, zone)
	for next := at; len(h.bounds) > 0; {
		next = h.after(next, zone)
		if next.Sub(at) > searchMax {
			break
		}
		is := h.Open(next, zone)
		if is && !was {
			return next, true
		}
		was = is
	}
	return time.Time{}, false
}

// Opened is when the opening that holds at at began; ok is false where the kitchen is closed, or
// open without a beginning.
func (h Hours) Opened(at time.Time, zone *time.Location) (opened time.Time, ok bool) {
	if !h.Open(at, zone) {
		return time.Time{}, false
	}
	for last := at; len(h.bounds) > 0; {
		last = h.upTo(last, zone)
		if at.Sub(last) > searchMax {
			break
		}
		before := last.Add(-time.Nanosecond)
		if !h.Open(before, zone) {
			return last, true
		}
		last = before
	}
	return time.Time{}, false
}

// after is the first instant behind at at which open and closed may change: the next bound on the
// wall's clock, or the instant at which that clock is put forward or back.
func (h Hours) after(at time.Time, zone *time.Location) time.Time {
	local := in(at, zone)
	into := intoWeek(local)
	next := h.bounds[0]*60 + minutesWeek*60
	if i, _ := slices.BinarySearch(h.bounds, int(into/time.Minute)+1); i < len(h.bounds) {
		next = h.bounds[i] * 60
	}
	then := at.Add(time.Duration(next)*time.Second - into)
	if _, end := local.ZoneBounds(); !end.IsZero() && end.Before(then) {
		return end
	}
	return then
}

// upTo is the last instant up to at at which open and closed may have changed.
func (h Hours) upTo(at time.Time, zone *time.Location) time.Time {
	local := in(at, zone)
	into := intoWeek(local)
	last := (h.bounds[len(h.bounds)-1] - minutesWeek) * 60
	if i, _ := slices.BinarySearch(h.bounds, int(into/time.Minute)+1); i > 0 {
		last = h.bounds[i-1] * 60
	}
	then := at.Add(time.Duration(last)*time.Second - into)
	if start, _ := local.ZoneBounds(); start.After(then) {
		return start
	}
	return then
}

// minute is the minute of the week on the wall's clock.
func minute(at time.Time, zone *time.Location) int {
	return int(intoWeek(in(at, zone)) / time.Minute)
}

// intoWeek is how far the wall's clock has gone since Sunday 00:00.
func intoWeek(local time.Time) time.Duration {
	return time.Duration(local.Weekday())*24*time.Hour +
		time.Duration(local.Hour())*time.Hour + time.Duration(local.Minute())*time.Minute +
		time.Duration(local.Second())*time.Second + time.Duration(local.Nanosecond())
}

func in(at time.Time, zone *time.Location) time.Time {
	if zone == nil {
		zone = time.UTC
	}
	return at.In(zone)
}
