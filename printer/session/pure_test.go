package session

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"chit/printer/escpos"
	"chit/printer/status"
)

func TestTheHoldIsWhatAPersonShouldDoFirst(t *testing.T) {
	for _, c := range []struct {
		name  string
		said  []status.Event
		want  Hold
		paper bool
	}{
		{"nothing was said", nil, HoldNone, false},
		{"all well", []status.Event{
			status.Printer{}, status.Offline{}, status.Error{}, status.Paper{}}, HoldNone, false},
		{"near end holds nothing", []status.Event{status.Paper{NearEnd: true}}, HoldNone, true},
		{"paper end", []status.Event{status.Paper{NearEnd: true, End: true}}, HoldPaper, true},
		{"stopped by paper end", []status.Event{status.Offline{PaperEnd: true}}, HoldPaper, false},
		{"the cover comes before the paper", []status.Event{
			status.Paper{End: true}, status.Offline{CoverOpen: true}}, HoldCover, false},
		{"cutter", []status.Event{status.Error{Cutter: true}}, HoldCutter, false},
		{"hot", []status.Event{status.Error{AutoRecover: true}}, HoldHot, false},
		{"unrecoverable", []status.Event{status.Error{Unrecoverable: true}}, HoldError, false},
		{"recoverable", []status.Event{status.Error{Recoverable: true}}, HoldError, false},
		{"offline for no reason", []status.Event{status.Printer{Offline: true}}, HoldOff, false},
		{"pushed offline", []status.Event{status.WentOffline{}}, HoldOff, false},
		{"back online", []status.Event{status.Printer{Offline: true}, status.Printer{}}, HoldNone, false},
		{"a fence carries the paper sensors", []status.Event{
			status.Fence{Paper: status.Paper{NearEnd: true}}}, HoldNone, true},
		{"a pushed block says it all", []status.Event{status.Offline{CoverOpen: true},
			status.ASB{}}, HoldNone, false},
		{"pushed cover", []status.Event{status.ASB{Offline: true, CoverOpen: true}}, HoldCover, false},
		{"pushed paper end", []status.Event{status.ASB{Offline: true, End: true}}, HoldPaper, false},
		{"pushed cutter", []status.Event{status.ASB{Offline: true, Cutter: true}}, HoldCutter, false},
		{"garbage says nothing", []status.Event{status.Unknown{Raw: []byte{0xFF}}}, HoldNone, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var h health
			for _, e := range c.said {
				h = h.after(e)
			}
			if h.hold() != c.want || h.paperLow != c.paper {
				t.Errorf("got %q, low %v, want %q, %v", h.hold(), h.paperLow, c.want, c.paper)
			}
		})
	}
}

func TestTrustIsEarnedByExactCountingAndLostForEver(t *testing.T) {
	at := func(lines, cuts uint64) Counters { return Counters{true, lines, cuts} }
	var trust Trust
	if trust.Covers(false) || trust.Covers(true) {
		t.Error("trusted before anything was counted")
	}
	if trust = trust.After(false, at(10, 1), Counters{}, 5, 1); trust != (Trust{}) {
		t.Errorf("an unknown reading taught %+v", trust)
	}
	trust = trust.After(false, at(10, 1), at(15, 2), 5, 1)
	if !trust.Covers(false) || trust.Covers(true) {
		t.Errorf("after an exact text: %+v", trust)
	}
	trust = trust.After(true, at(15, 2), at(30, 3), 5, 1)
	if trust.Raster != Lost || trust.Text != Earned {
		t.Errorf("after a raster that did not fit: %+v", trust)
	}
	if trust = trust.After(false, at(15, 2), at(20, 2), 5, 1); trust.Text != Lost {
		t.Errorf("after a cut that was not counted: %+v", trust)
	}
	if trust = trust.After(false, at(20, 2), at(25, 3), 5, 1); trust.Text != Lost {
		t.Errorf("trust came back: %+v", trust)
	}
}

func TestTrustOnceLostNeverComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var trust Trust
		lost := map[bool]bool{}
		t.Repeat(map[string]func(*rapid.T){
			"count": func(t *rapid.T) {
				raster := rapid.Bool().Draw(t, "raster")
				off := rapid.SampledFrom([]uint64{0, 0, 0, 1}).Draw(t, "off")
				before := Counters{rapid.Bool().Draw(t, "known"), 100, 10}
				trust = trust.After(raster, before, Counters{true, 105 + off, 11}, 5, 1)
				lost[raster] = lost[raster] || before.Known && off > 0
			},
			"": func(t *rapid.T) {
				for raster := range lost {
					if lost[raster] && trust.Covers(raster) {
						t.Fatalf("raster %v is trusted again", raster)
					}
				}
			},
		})
	})
}

func TestAUnitSurvivesTheJournal(t *testing.T) {
	want := known
	want.Trust = Trust{Text: Earned, Raster: Lost}
	want.Counters = Counters{true, 1, 2}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Unit
	if err := json.Unmarshal(text, &got); err != nil || got != want {
		t.Errorf("%s: got %+v, %v", text, got, err)
	}
	if err := json.Unmarshal([]byte(`{"trust":{"text":"much"}}`), &got); err == nil {
		t.Error("an unknown standing was read")
	}
}

func TestTheTokensOfOneJobDifferAndMeetNoNeighbour(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Max(escpos.Tokens-1).Draw(t, "n")
		token := escpos.TokenOf(n)
		if b := bodyToken(token); b == token || !b.Valid() {
			t.Fatalf("%q has body token %q", token, b)
		}
		near := escpos.TokenOf(n + 1 + rapid.Uint64Max(30e6).Draw(t, "later"))
		if near == token || bodyToken(near) == token || near == bodyToken(token) {
			t.Fatalf("%q and %q meet", token, near)
		}
	})
}

func TestProofsAreBoundedAndExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var heard proofs
		said := map[uint64]bool{}
		numbers := rapid.SliceOfN(rapid.Uint64Max(200), 0, 300).Draw(t, "answers")
		for i, n := range numbers {
			heard.answered(escpos.TokenOf(n))
			if len(numbers)-i <= proofsMax {
				said[n] = true
			}
		}
		if len(heard) > proofsMax {
			t.Fatalf("%d proofs are kept", len(heard))
		}
		for n := range uint64(201) {
			if printed, _ := heard.of(escpos.TokenOf(n)); (printed == whole) != said[n] {
				t.Fatalf("document %d: %v, but said %v", n, printed, said[n])
			}
		}
	})
}

func TestThePlanNeverSendsAfterAnUnansweredGSr(t *testing.T) {
	j := job(1, "A", 2)
	for _, c := range []struct {
		name  string
		unit  Unit
		cut   bool
		steps int
	}{
		{"GS ( H", Unit{ProcessID: true, Fence: true}, true, 1},
		{"GS ( H, no cutter", Unit{ProcessID: true}, false, 1},
		{"GS r", Unit{Fence: true}, true, 2},
		{"GS r, no cutter", Unit{Fence: true}, false, 1},
		{"nothing", Unit{}, true, 1},
	} {
		one := j
		if !c.cut {
			one.Paper.Cut = nil
		}
		if got := plan(c.unit, one); len(got) != c.steps {
			t.Errorf("%s: %d steps, want %d", c.name, len(got), c.steps)
		}
	}
}

func TestThePauseBetweenDialsDoublesToItsBound(t *testing.T) {
	timing := Timing{}.withDefaults()
	want := []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second,
		5 * time.Second, 5 * time.Second}
	for i, pause := range want {
		if got := timing.redial(i + 1); got != pause {
			t.Errorf("dial %d: %v, want %v", i+1, got, pause)
		}
	}
	if got := timing.redial(1 << 30); got != redialMaxDefault {
		t.Errorf("got %v", got)
	}
}
