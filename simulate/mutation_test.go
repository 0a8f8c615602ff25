package simulate_test

import (
	"testing"

	"chit/simulate"
)

// seedsMax is how many stories a planted bug may survive.
const seedsMax = 60

// stuck are the faults by which a ticket is taken back from a printer.
var stuck = []simulate.FaultName{simulate.PaperOut, simulate.Jam, simulate.Cover, simulate.Slow,
	simulate.Partition, simulate.Drop}

// fertile are the faults among which a bug shows that only shows where several come together.
var fertile = map[simulate.Bug][]simulate.FaultName{
	simulate.BugForgetEarly:     {simulate.Loss, simulate.Drop, simulate.Duplicate, simulate.Delay},
	simulate.BugHostOnce:        {simulate.Loss, simulate.BrokerCrash},
	simulate.BugHelloOnce:       {simulate.Loss, simulate.BrokerCrash, simulate.Drop},
	simulate.BugLostRow:         {simulate.BrokerCrash, simulate.Drop, simulate.Delay},
	simulate.BugSharedIntent:    {simulate.DeviceCrash, simulate.PowerOff, simulate.ForgetBuffer},
	simulate.BugCopiesUnseen:    {simulate.SDClone},
	simulate.BugRecallForgotten: {simulate.BrokerCrash, simulate.Partition, simulate.Drop},
	simulate.BugNoticeUnsaid:    stuck,
	simulate.BugRecalledWrongly: stuck,
	simulate.BugAnyAnswer:       stuck,
	simulate.BugReprints:        stuck,
	simulate.BugOldWill:         {simulate.OldWill, simulate.Drop, simulate.Partition},
}

// pairs are the bugs that show only where two devices stand in for each other.
var pairs = map[simulate.Bug]bool{
	simulate.BugRecalledWrongly: true, simulate.BugMovedUnasked: true,
	simulate.BugOldLease: true, simulate.BugNoticeUnsaid: true,
	simulate.BugRecallForgotten: true, simulate.BugMovedUnmarked: true,
	simulate.BugAnyAnswer: true, simulate.BugReprints: true,
}

// TestEveryPlantedBugIsCaught plants one fault of ours after the other. A simulation that does not
// find them would not find real ones.
func TestEveryPlantedBugIsCaught(t *testing.T) {
	for _, bug := range simulate.Bugs() {
		t.Run(string(bug), func(t *testing.T) {
			t.Parallel()
			for seed := uint64(1); seed <= seedsMax; seed++ {
				o := simulate.Options{Seed: seed, Hours: 12, Kitchens: 1, Faults: simulate.All(), Bug: bug}
				if faults := fertile[bug]; faults != nil {
					o.Faults, o.Hours, o.Kitchens = faults, 24, 4
				}
				if pairs[bug] {
					o.Kitchens = max(o.Kitchens, 2)
				}
				r := simulate.Run(o)
				if r.Broken() {
					t.Logf("seed %d: %v", seed, r.Violations[0])
					return
				}
			}
			t.Errorf("%d stories passed with it", seedsMax)
		})
	}
}
