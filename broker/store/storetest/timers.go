package storetest

import (
	"fmt"
	"reflect"
	"time"

	"chit/broker/entity"
)

func timed(id string, was uint64, minute int) entity.Commit {
	c := put(id, was, "x")
	if minute > 0 {
		c.Changes[0].Timer = Day.Add(time.Duration(minute) * time.Minute)
	}
	return c
}

func (e *exam) wantTimers(minute, limit int, next int, want ...string) {
	e.Helper()
	e.wantTimersOf("thing", minute, limit, next, want...)
}

func (e *exam) wantTimersOf(kind string, minute, limit int, next int, want ...string) {
	e.Helper()
	now := Day.Add(time.Duration(minute) * time.Minute)
	due, after, err := e.Timers(kind, now, limit)
	if err != nil {
		e.Fatal(err)
	}
	var got []string
	for _, d := range due {
		got = append(got, fmt.Sprintf("%s@%d", d.Key.ID, int(d.At.Sub(Day).Minutes())))
	}
	if !reflect.DeepEqual(got, want) {
		e.Fatalf("due at %d: %v, want %v", minute, got, want)
	}
	wantNext := time.Time{}
	if next > 0 {
		wantNext = Day.Add(time.Duration(next) * time.Minute)
	}
	if !after.Equal(wantNext) {
		e.Fatalf("next after %d: %v, want %v", minute, after, wantNext)
	}
}

func timers(e *exam) {
	e.commit(timed("a", 0, 5))
	e.wantTimers(0, 9, 5)
	e.commit(timed("a", 1, 3))
	e.wantTimers(9, 9, 0, "a@3")
	e.commit(timed("a", 2, 3))
	e.wantTimers(9, 9, 0, "a@3")
	e.commit(timed("a", 3, 7), timed("a", 4, 8))
	e.reopen()
	e.wantTimers(9, 9, 0, "a@8")
	if state, err := e.Load(key("a")); err != nil || !state.Timer.Equal(Day.Add(8*time.Minute)) {
		e.Fatalf("timer %v, %v", state.Timer, err)
	}
	e.commit(timed("a", 5, 0))
	e.wantTimers(9, 9, 0)
	e.want("a", 6, "x")
}

func due(e *exam) {
	e.commit(timed("late", 0, 400), timed("b", 0, 2), timed("a", 0, 2), timed("first", 0, 1))
	e.wantTimers(0, 9, 1)
	e.wantTimers(1, 9, 2, "first@1") // An end has passed at its instant, not after it.
	e.wantTimers(2, 9, 400, "first@1", "a@2", "b@2")
	e.wantTimers(2, 2, 2, "first@1", "a@2")
	e.wantTimers(400, 9, 0, "first@1", "a@2", "b@2", "late@400")

	// Another kind's timers neither crowd these out nor wake who waits for them.
	bell := timed("bell", 0, 0)
	bell.Changes[0].Key.Kind = "alarm"
	bell.Changes[0].Timer = Day.Add(3 * time.Minute)
	first := timed("before", 0, 0)
	first.Changes[0].Key.Kind = "alarm"
	first.Changes[0].Timer = Day
	e.commit(bell, first)
	e.wantTimers(0, 9, 1)
	e.wantTimers(2, 1, 2, "first@1")
	e.wantTimers(2, 9, 400, "first@1", "a@2", "b@2")
	e.wantTimersOf("alarm", 2, 9, 3, "before@0")
	e.wantTimersOf("alarm", 400, 9, 0, "before@0", "bell@3")
	e.wantTimersOf("larm", 400, 9, 0)
	e.wantTimersOf("", 2, 9, 3, "before@0", "first@1", "a@2", "b@2")
}
