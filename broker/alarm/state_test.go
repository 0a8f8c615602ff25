package alarm

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestDrawingAndCodeAgree reads the drawing in the comment of State, and lives until every arrow
// was taken.
func TestDrawingAndCodeAgree(t *testing.T) {
	source, err := os.ReadFile("state.go")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]State{"Raised": Raised, "Taken": Taken, "Clearing": Clearing, "Over": Over}
	drawn := map[string]bool{}
	line := regexp.MustCompile(`(?m)^//\t(\w+) +--([\w,]+)--> +(\w+)`)
	for _, m := range line.FindAllStringSubmatch(string(source), -1) {
		for word := range strings.SplitSeq(m[2], ",") {
			drawn[fmt.Sprintf("%s --%s--> %s", names[m[1]], word, names[m[3]])] = true
		}
	}
	coded := map[string]bool{}
	for from, to := range arcs {
		arrow := fmt.Sprintf("%s --%s--> %s", from.from, from.what, to)
		if coded[arrow] = true; !drawn[arrow] {
			t.Errorf("coded and not drawn: %s", arrow)
		}
	}
	for arrow := range drawn {
		if !coded[arrow] {
			t.Errorf("drawn and not coded: %s", arrow)
		}
	}
	taken := map[string]bool{}
	for range 50 {
		rapid.Check(t, func(rt *rapid.T) { live(rt, taken) })
		if len(taken) == len(coded) {
			return
		}
	}
	t.Errorf("%d of %d arrows taken: %v", len(taken), len(coded), taken)
}

// live does anything at any time, and checks after each step what must always hold.
func live(t *rapid.T, taken map[string]bool) {
	var a Alarm
	now, levels := noon, map[string]int{}
	for range rapid.IntRange(1, 40).Draw(t, "steps") {
		now = now.Add(time.Duration(rapid.IntRange(0, 400).Draw(t, "seconds")) * time.Second)
		var action Action
		switch rapid.IntRange(0, 6).Draw(t, "action") {
		case 0, 1:
			r := raise(rapid.SampledFrom([]Severity{P1, P2}).Draw(t, "severity"),
				rapid.IntRange(1, 5).Draw(t, "count"))
			r.News = rapid.Bool().Draw(t, "news")
			r.For = time.Duration(rapid.IntRange(0, 1).Draw(t, "for")) * time.Hour
			action = r
		case 2:
			action = Clear{}
		case 3:
			action = Acknowledge{Who: "ana"}
		case 4, 5:
			action = Elapse{}
		default:
			action = Record{Note: a.LastNote, Destination: "phone",
				Outcome: rapid.SampledFrom([]Outcome{Sent, Failed, Deferred}).Draw(t, "outcome")}
		}
		events, err := Machine{}.Decide(a, action, now)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			from := a.State
			if from == "" {
				from = Over
			}
			a = Machine{}.Evolve(a, e)
			if e.What != Tried && e.What != Settled {
				taken[fmt.Sprintf("%s --%s--> %s", from, e.What, a.State)] = true
			}
		}
		check(t, a, now, levels)
	}
}

// check is what must hold of every alarm at every time.
func check(t *rapid.T, a Alarm, now time.Time, levels map[string]int) {
	switch {
	case a.LastNote == 0:
		return
	case (a.State == Taken) != (a.Acknowledged != nil) && a.State != Clearing && a.State != Over:
		t.Fatalf("%s, acknowledged by %+v", a.State, a.Acknowledged)
	case a.Severity == P2 && a.Level > 1, a.Level > LevelMax:
		t.Fatalf("a %s at level %d", a.Severity, a.Level)
	case a.State == Taken && !a.Next.IsZero(), a.State == Over && !a.Due().IsZero():
		t.Fatalf("%s goes on at %s", a.State, a.Due())
	case len(a.Notes) > NotesMax || len(a.Tries) > TriesMax || len(a.Timeline) > TimelineMax:
		t.Fatal("a list has no bound")
	}
	// Within an episode a level is not said twice without something that is news.
	for _, n := range a.Notes {
		key := fmt.Sprint(a.Episode, "/", n.N)
		if was, ok := levels[key]; ok && was != n.Level {
			t.Fatalf("message %d changed its level", n.N)
		}
		levels[key] = n.Level
	}
	last := map[int]Word{}
	for _, n := range a.Notes {
		switch n.What {
		case Began, Worse, Again:
			clear(last)
		case Climbed:
			if last[n.Level] == Climbed {
				t.Fatalf("level %d was climbed to twice: %+v", n.Level, a.Notes)
			}
		}
		last[n.Level] = n.What
	}
}
