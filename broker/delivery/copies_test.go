package delivery

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"chit/device/wire"
)

// spoken is one hello of a story: who speaks, after how long.
type spoken struct {
	journal string
	boot, n uint64
	after   time.Duration
}

// hear tells a story to an empty record, and counts the alarms.
func hear(t testing.TB, story ...spoken) Device {
	t.Helper()
	s := newShelf(t)
	alarms := uint64(0)
	var last Device
	for i, h := range story {
		s.now = s.now.Add(h.after)
		e := s.hello("d1", fmt.Sprint("s", i), func(to *wire.Hello) {
			to.Journal, to.Boot, to.N = h.journal, h.boot, h.n
		})
		if e.Copied {
			alarms++
			if !e.Device.Copies.LastAt.Equal(s.now) {
				t.Errorf("hello %d: last at %s, want %s", i, e.Device.Copies.LastAt, s.now)
			}
		}
		last = e.Device
	}
	if alarms != last.Copies.Count {
		t.Errorf("%d alarms, the record counts %d", alarms, last.Copies.Count)
	}
	return last
}

func parseStory(t *testing.T, text string) (story []spoken) {
	t.Helper()
	after := time.Minute
	for word := range strings.FieldsSeq(text) {
		if word == "later" {
			after = TurnWindow
			continue
		}
		h := spoken{after: after}
		told := strings.ReplaceAll(word, "/", " ")
		if _, err := fmt.Sscan(told, &h.journal, &h.boot, &h.n); err != nil {
			t.Fatalf("%q: %v", word, err)
		}
		story, after = append(story, h), time.Minute
	}
	return story
}

func TestTwoDevicesWithOneIdentityAreNoticed(t *testing.T) {
	tests := map[string]struct {
		story string // journal/boot/n of each hello, a minute apart
		want  uint64
	}{
		"one device":                {"a/1/0 a/1/7 a/2/7 a/4/9", 0},
		"new card":                  {"a/9/50 b/1/0 b/2/3", 0},
		"cards one after the other": {"a/9/50 b/1/0 c/1/0 d/1/0", 0},
		"restored backup":           {"a/9/50 a/6/30 a/7/31 a/12/70", 0},
		"restored again on the way": {"a/9/50 a/6/30 a/7/31 a/6/30", 0},
		"restored months later":     {"a/9/50 a/6/30 later a/12/70 a/6/30", 0},
		"old card put in again":     {"a/9/50 b/1/0 a/10/50 a/11/60", 0},
		"old card restored":         {"a/9/50 b/1/0 a/6/30", 0},

		"copies on other hardware":  {"a/9/50 b/9/50 a/9/50", 1},
		"they go on":                {"a/9/50 b/9/50 a/9/51 b/9/52", 2},
		"restarted in between":      {"a/9/50 b/9/50 a/10/50 b/10/50", 1},
		"copies on one machine":     {"a/2/5 a/3/5 a/2/5 a/3/5 a/2/5", 1},
		"with equal boots":          {"a/3/8 a/3/5 a/3/8 a/3/6", 1},
		"after a restored backup":   {"a/9/5 a/6/3 a/7/3 a/6/3 a/7/3 a/6/3", 1},
		"a third card between them": {"a/9/5 b/1/0 c/1/0 a/9/5", 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if is := hear(t, parseStory(t, test.story)...); is.Copies.Count != test.want {
				t.Errorf("noticed %d times, want %d: %+v", is.Copies.Count, test.want, is.Copies)
			}
		})
	}
}

// TestARepeatedHelloIsNoCopy: what an engine repeats is of a session that the record knows.
func TestARepeatedHelloIsNoCopy(t *testing.T) {
	s := newShelf(t)
	hello := func(session, journal string) {
		s.must(Greet{Tenant: "t1", Hello: wire.Hello{Device: "d1", Session: session, Boot: 1,
			Journal: journal, Format: 1}})
	}
	hello("s1", "a")
	hello("s2", "b")
	for range 3 {
		hello("s1", "a")
		hello("s2", "b")
	}
	if d, _, err := LoadDevice(s, "t1", "d1"); err != nil || d.Copies.Count != 0 {
		t.Errorf("%+v, %v", d.Copies, err)
	}
}

// TestARecordFromBeforeCopiesIsRead: the first hello after it still knows who spoke last.
func TestARecordFromBeforeCopiesIsRead(t *testing.T) {
	var was Device
	old := `{"v":1,"session":"s1","epoch":4,"journal":"a","boot":9,"n":50,"memory":0}`
	if err := json.Unmarshal([]byte(old), &was); err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1e9, 0)
	var copied bool
	was.Copies, copied = was.copies(wire.Hello{Journal: "b", Boot: 1}, now)
	if copied {
		t.Error("a new card is taken for a copy")
	}
	was.Journal, was.Boot, was.N = "b", 1, 0
	if _, copied = was.copies(wire.Hello{Journal: "a", Boot: 9, N: 50}, now); !copied {
		t.Error("the journal of the old record is not known")
	}
}

// TestOneDeviceIsNeverTakenForTwo: restarts, tickets, new cards, and a backup restored at most once
// a day. Two copies are noticed by their second round, and the record stays small.
func TestOneDeviceIsNeverTakenForTwo(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		story := []spoken{{"j0", 1, 0, 0}}
		saved, cards := story[0], 0
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			next := story[len(story)-1]
			next.after = time.Minute
			next.boot += rapid.Uint64Range(0, 3).Draw(r, "boots")
			next.n += rapid.Uint64Range(0, 9).Draw(r, "tickets")
			switch rapid.IntRange(0, 9).Draw(r, "what") {
			case 0:
				saved = next
			case 1:
				cards++
				next = spoken{fmt.Sprint("j", cards), 1, 0, time.Minute}
				saved = next
			case 2:
				next = spoken{saved.journal, saved.boot + 1, saved.n, TurnWindow}
			}
			story = append(story, next)
		}
		is := hear(t, story...)
		if is.Copies.Count != 0 || len(is.Copies.Memories) > MemoriesMax {
			r.Fatalf("%+v of %+v", is.Copies, story)
		}
		one := story[len(story)-1]
		other := one
		one.after, other.after = time.Minute, time.Minute
		other.boot++
		if rapid.Bool().Draw(r, "other hardware") {
			other.journal = "moved"
		}
		if is := hear(t, append(story, other, one, other, one, other, one)...); is.Copies.Count == 0 {
			r.Fatalf("copies not noticed: %+v of %+v", is.Copies, story)
		}
	})
}
