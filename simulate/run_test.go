package simulate_test

import (
	"flag"
	"runtime/debug"
	"strconv"
	"sync"
	"testing"
	"time"

	"chit/simulate"
)

var seeds = flag.Int("simulate.seeds", 200, "stories of five kitchen-days each")

// TestMain collects garbage rarely: stories make much that dies with them.
func TestMain(m *testing.M) {
	flag.Parse()
	debug.SetGCPercent(400)
	m.Run()
}

// shapes are stories of five kitchen-days.
var shapes = []simulate.Options{
	{Hours: 24, Kitchens: 5}, {Hours: 60, Kitchens: 2}, {Hours: 120, Kitchens: 1},
}

// TestEveryPromiseHoldsWhateverGoesWrong tells 1,000 kitchen-days from 200 seeds, with every fault.
func TestEveryPromiseHoldsWhateverGoesWrong(t *testing.T) {
	var mu sync.Mutex
	var total simulate.Result
	begin := time.Now()
	t.Run("seeds", func(t *testing.T) {
		for seed := 1; seed <= *seeds; seed++ {
			t.Run(strconv.Itoa(seed), func(t *testing.T) {
				t.Parallel()
				o := shapes[seed%len(shapes)]
				o.Seed, o.Faults = uint64(seed), simulate.All()
				r := simulate.Run(o)
				if r.Broken() {
					t.Errorf("seed %d, %v hours, %d kitchens: %v", seed, o.Hours, o.Kitchens,
						r.Violations)
				}
				mu.Lock()
				total = total.Add(r)
				mu.Unlock()
			})
		}
	})
	if total.Accepted == 0 || total.MarkedDuplicates == 0 {
		t.Errorf("nothing went wrong: %d accepted, %d marked duplicates", total.Accepted,
			total.MarkedDuplicates)
	}
	t.Logf("%.0f kitchen-days: %d tickets, %d printed, %d marked duplicates, %d of copied cards, "+
		"%d dead; %.1f kitchen-days a second", total.KitchenDays, total.Accepted, total.Printed,
		total.MarkedDuplicates, total.CopiedDuplicates, total.Dead,
		total.KitchenDays/time.Since(begin).Seconds())
}

// TestACopiedCardIsNoticed runs a second machine from a copy of the card: what it prints again
// cannot be marked, and somebody is told.
func TestACopiedCardIsNoticed(t *testing.T) {
	var total simulate.Result
	for seed := uint64(1); seed <= 48 && (seed <= 12 || total.CopiedDuplicates == 0); seed++ {
		r := simulate.Run(simulate.Options{Seed: seed, Hours: 12, Kitchens: 2,
			Faults: []simulate.FaultName{simulate.SDClone, simulate.PaperOut}})
		if r.Broken() {
			t.Errorf("seed %d: %v", seed, r.Violations)
		}
		total = total.Add(r)
	}
	if total.CopiedDuplicates == 0 {
		t.Error("no copy printed a ticket again: the judge excuses what does not happen")
	}
}

func TestWhereNothingGoesWrongEveryTicketPrintsOnce(t *testing.T) {
	for seed := uint64(1); seed <= 5; seed++ {
		r := simulate.Run(simulate.Options{Seed: seed, Hours: 24, Kitchens: 2})
		if r.Broken() || r.Accepted == 0 || r.Printed+r.Cancelled != r.Accepted ||
			r.MarkedDuplicates != 0 || r.Dead != 0 {
			t.Errorf("seed %d: %+v", seed, r)
		}
	}
}

func TestTheSameSeedTellsTheSameStory(t *testing.T) {
	for seed := uint64(1); seed <= 3; seed++ {
		o := simulate.Options{Seed: seed, Hours: 24, Kitchens: 2, Faults: simulate.All()}
		first, second := simulate.Run(o), simulate.Run(o)
		if first.Hash != second.Hash || first.Steps != second.Steps {
			t.Errorf("seed %d: %d steps and hash %x, then %d and %x", seed, first.Steps, first.Hash,
				second.Steps, second.Hash)
		}
		o.Tell = true
		if told := simulate.Run(o); told.Hash != first.Hash {
			t.Errorf("seed %d: telling it changes it", seed)
		}
		o.Seed += 100
		if other := simulate.Run(o); other.Hash == first.Hash {
			t.Errorf("seed %d and %d tell the same story", seed, o.Seed)
		}
	}
}

func TestABrokenStoryIsMadeSmall(t *testing.T) {
	o := simulate.Options{Hours: 24, Kitchens: 2, Faults: simulate.All(),
		Bug: simulate.BugUnmarkedReprint}
	var broken simulate.Result
	for o.Seed = 1; !broken.Broken(); o.Seed++ {
		if broken = simulate.Run(o); broken.Broken() {
			break
		}
		if o.Seed == seedsMax {
			t.Fatal("the bug does not show")
		}
	}
	whole := simulate.NewPlan(o)
	small := simulate.Shrink(o, broken)
	if !small.Result.Broken() || small.Result.Violations[0].Rule != broken.Violations[0].Rule {
		t.Fatalf("made small it breaks %v, want %s", small.Result.Violations,
			broken.Violations[0].Rule)
	}
	if len(small.Plan.Posts) > 3 || len(small.Plan.Faults) > 3 {
		t.Errorf("%d posts and %d faults are left of %d and %d, want at most 3 and 3",
			len(small.Plan.Posts), len(small.Plan.Faults), len(whole.Posts), len(whole.Faults))
	}
}

func TestUnknownFaultsAreRefused(t *testing.T) {
	if _, err := simulate.ParseFaults("loss, rats"); err == nil {
		t.Error("rats are taken for a fault")
	}
	if _, err := simulate.ParseBug("feature"); err == nil {
		t.Error("feature is taken for a bug")
	}
}
