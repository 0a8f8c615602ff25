package kitchen

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // The machine of a test may have no zone files.

	"pgregory.net/rapid"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	l, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func parse(t testing.TB, lines ...string) Hours {
	t.Helper()
	h, err := ParseHours(lines)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestAKitchenIsOpenFromItsOpeningMinuteUpToItsClosingMinute(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	h := parse(t, "mon-fri 11:00-14:30 17:00-22:00", "fri-sat 18:00-02:00", "sun 00:00-24:00")
	for at, want := range map[string]bool{
		"2026-11-30 10:59": false, "2026-11-30 11:00": true, "2026-11-30 14:29": true,
		"2026-11-30 14:30": false, "2026-11-30 17:00": true, "2026-11-30 22:00": false,
		"2026-12-04 23:59": true, "2026-12-05 01:59": true, "2026-12-05 02:00": false,
		"2026-12-05 17:59": false, "2026-12-05 18:00": true, "2026-12-06 12:00": true,
		"2026-12-06 23:59": true, "2026-12-07 00:00": false,
	} {
		instant, err := time.ParseInLocation("2006-01-02 15:04", at, berlin)
		if err != nil {
			t.Fatal(err)
		}
		if got := h.Open(instant, berlin); got != want {
			t.Errorf("%s %s: open %v, want %v", instant.Weekday(), at, got, want)
		}
	}
}

func TestNoHoursMeanAlwaysOpen(t *testing.T) {
	now := time.Date(2026, 12, 1, 3, 0, 0, 0, time.UTC)
	for _, h := range []Hours{{}, parse(t), parse(t, "daily 00:00-24:00")} {
		if !h.Open(now, nil) {
			t.Errorf("%+v is closed", h)
		}
		if at, ok := h.Opening(now, nil); ok {
			t.Errorf("%+v opens at %s", h, at)
		}
		if at, ok := h.Opened(now, nil); ok {
			t.Errorf("%+v opened at %s", h, at)
		}
	}
}

func TestHoursThatCannotBeAreRefusedWithWhatWasExpected(t *testing.T) {
	for _, line := range []string{
		"", "mon", "11:00-12:00", "mon 11:00", "mon 11:00-11:00", "mun 11:00-12:00",
		"mon-mun 11:00-12:00", "mon 24:00-25:00", "mon 24:00-01:00", "mon 11:60-12:00",
		"mon 1100-1200", "mon 11:00-12:0", "mon 011:00-12:00", "mon -11:00-12:00", "mon, 11:00-12:00",
		"mon +1:00-2:00",
	} {
		_, err := ParseHours([]string{"tue 11:00-12:00", line})
		if !errors.Is(err, ErrHours) || !strings.Contains(err.Error(), fmt.Sprintf("found %q", line)) {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// naive is the dumb second implementation: lines again, asked minute by minute.
type naive []struct {
	days       []time.Weekday
	start, end int
}

func (n naive) open(local time.Time) bool {
	at := local.Hour()*60 + local.Minute()
	for _, s := range n {
		for _, day := range s.days {
			end := s.end
			over := end <= s.start
			if over {
				end = minutesDay
			}
			if local.Weekday() == day && at >= s.start && at < end {
				return true
			}
			if over && local.Weekday() == (day+1)%7 && at < s.end {
				return true
			}
		}
	}
	return false
}

// drawHours draws lines and what they mean.
func drawHours(t *rapid.T) (lines []string, n naive) {
	for range rapid.IntRange(1, 3).Draw(t, "lines") {
		first := rapid.IntRange(0, 6).Draw(t, "first")
		count := rapid.IntRange(1, 7).Draw(t, "days")
		start := rapid.IntRange(0, minutesDay-1).Draw(t, "start")
		end := rapid.IntRange(0, minutesDay).Filter(func(e int) bool { return e != start }).
			Draw(t, "end")
		last := (first + count - 1) % 7
		lines = append(lines, fmt.Sprintf("%s-%s %02d:%02d-%02d:%02d", dayNames[first], dayNames[last],
			start/60, start%60, end/60, end%60))
		one := struct {
			days       []time.Weekday
			start, end int
		}{start: start, end: end}
		for i := range count {
			one.days = append(one.days, time.Weekday((first+i)%7))
		}
		n = append(n, one)
	}
	return lines, n
}

// Weeks in which the wall's clock is put forward or back, in zones that do it at odd hours, by odd
// amounts, and one that never does.
var weeks = []struct{ zone, from string }{
	{"Europe/Berlin", "2026-03-25"}, {"Europe/Berlin", "2026-10-21"},
	{"America/New_York", "2026-10-28"}, {"Australia/Lord_Howe", "2026-04-01"},
	{"America/Havana", "2026-03-05"}, {"Asia/Kolkata", "2026-05-01"},
}

func TestHoursAgreeWithAClockThatIsReadEveryMinute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines, n := drawHours(t)
		h, err := ParseHours(lines)
		if err != nil {
			t.Fatal(err)
		}
		week := rapid.SampledFrom(weeks).Draw(t, "week")
		place, err := time.LoadLocation(week.zone)
		if err != nil {
			t.Fatal(err)
		}
		from, err := time.ParseInLocation(time.DateOnly, week.from, place)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, h, n, from, place)
	})
}

// compare walks nine days and asks all three questions at every minute.
func compare(t *rapid.T, h Hours, n naive, from time.Time, place *time.Location) {
	const minutes = 9 * minutesDay
	open := make([]bool, minutes)
	for i := range open {
		at := from.Add(time.Duration(i) * time.Minute)
		open[i] = n.open(at.In(place))
		if got := h.Open(at, place); got != open[i] {
			t.Fatalf("at %s: open %v, want %v", at, got, open[i])
		}
	}
	// Opened looks back from the end, Opening forward; both within the walked days.
	var opened time.Time
	known := false
	for i := 1; i < minutes; i++ {
		at := from.Add(time.Duration(i) * time.Minute)
		if open[i] && !open[i-1] {
			opened, known = at, true
			before := at.Add(-time.Minute)
			if got, ok := h.Opening(before, place); !ok || !got.Equal(at) {
				t.Fatalf("after %s it opens at %s, %v, want %s", before, got, ok, at)
			}
		}
		got, ok := h.Opened(at.Add(30*time.Second), place)
		switch {
		case !open[i]:
			known = false
			if ok {
				t.Fatalf("closed at %s, and opened at %s", at, got)
			}
		case known && (!ok || !got.Equal(opened)):
			t.Fatalf("at %s: opened %s, %v, want %s", at, got, ok, opened)
		}
	}
	next := -1
	for i := minutes - 1; i >= 1; i-- {
		at := from.Add(time.Duration(i-1) * time.Minute)
		if open[i] && !open[i-1] {
			next = i
		}
		if next < 0 {
			continue
		}
		want := from.Add(time.Duration(next) * time.Minute)
		if got, ok := h.Opening(at.Add(time.Second), place); !ok || !got.Equal(want) {
			t.Fatalf("after %s it opens at %s, %v, want %s", at, got, ok, want)
		}
	}
}
