package delivery

// State is where a delivery stands.
type State string

// The states.
const (
	Waiting   State = "waiting"   // for its release, its back-off, its turn
	Leased    State = "leased"    // handed to a live session; the lease's end is an unanswered attempt
	Parked    State = "parked"    // the device is away; no timer but the window's end, the birth wakes it
	Stale     State = "stale"     // too old to be cooked without a person saying so
	Settled   State = "settled"   // paper exists
	Dead      State = "dead"      // budget, window or memory spent, or refused: a person was told
	Cancelled State = "cancelled" // no longer wanted
)

// Open reports whether the delivery is still owed.
func (s State) Open() bool { return s == Waiting || s == Leased || s == Parked || s == Stale }

// Blocks reports whether a higher seq of the same order must wait for it (DESIGN.md section 5: "Only
// waiting, leased and parked predecessors block").
func (s State) Blocks() bool { return s == Waiting || s == Leased || s == Parked }
