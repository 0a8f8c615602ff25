package delivery

import "slices"

// State is where a delivery stands. Every event and where it leads (a test compares):
//
//	Waiting   --dispatched-->          Leased     its lease is durable before the bytes leave
//	Leased    --stored,held-->         Leased     the device has it; the lease is prolonged
//	Leased    --failed,deferred-->     Waiting    unanswered or refused; or not the ticket's fault
//	Waiting   --staled-->              Stale      too old for the kitchen's policy ask
//	Leased    --staled-->              Stale      became too old at the device
//	Stale     --approved-->            Waiting    a person said: print it
//	Waiting   --allowed-->             Waiting    the same, before anybody had to be asked
//	Parked    --allowed-->             Parked
//	Leased    --parked-->              Parked     the session or the broker went away meanwhile
//	Waiting   --parked-->              Parked     the device is away: no retry timer
//	Parked    --woken,failed,deferred--> Waiting  the birth, which tells what a lost lease had been
//	Waiting   --buried-->              Dead       attempts, window or memory spent; too old
//	Leased    --buried-->              Dead       refused for good, or expired at the device
//	Parked    --buried-->              Dead       window or memory spent
//	Stale     --buried-->              Dead       the same; or a person said: not wanted
//	Dead      --redriven-->            Waiting    by a person
//	Waiting   --cancelled-->           Cancelled  no longer wanted
//	Leased    --cancelled-->           Cancelled
//	Parked    --cancelled-->           Cancelled
//	Stale     --cancelled-->           Cancelled
//	Dead      --cancelled-->           Cancelled
//	Waiting   --printed-->             Settled    a late answer wins over everything
//	Leased    --printed-->             Settled
//	Parked    --printed-->             Settled
//	Stale     --printed-->             Settled
//	Dead      --printed-->             Settled
//	Cancelled --printed-->             Settled    paper that nobody wants exists
//	Settled   --confirmed,doubled-->   Settled    better evidence; a second paper
//	Waiting   --moved-->               Waiting    to the backup's device, or back
//	Parked    --moved-->               Waiting
//
// A recall is asked, answered or ended beside the state, which stays as it is:
//
//	Waiting   --recall-asked,recall-answered,recall-ended--> Waiting    moved
//	Dead      --recall-asked,recall-answered,recall-ended--> Dead       whoever was handed it
//	Cancelled --recall-asked,recall-answered,recall-ended--> Cancelled  the same
//	Settled   --recall-asked,recall-answered,recall-ended--> Settled    there is paper elsewhere
//	Leased    --recall-answered,recall-ended-->              Leased     of another device
//	Parked    --recall-answered,recall-ended-->              Parked
//	Stale     --recall-answered,recall-ended-->              Stale
type State string

// The states.
const (
	// Waiting for its release, its back-off or its turn. Bounded by the window.
	Waiting State = "waiting"
	// Leased is handed to a live session; the lease's end is an unanswered attempt.
	Leased State = "leased"
	// Parked has its device away. The birth wakes it; its only timer is the window's end.
	Parked State = "parked"
	// Stale is too old to be cooked without a person saying so. A person's answer moves it on;
	// bounded by the window. It keeps no window of a printer and no later mutation waiting.
	Stale State = "stale"
	// Settled has paper. Final, but for better evidence and second papers.
	Settled State = "settled"
	// Dead spent its attempts, its window or its memory, or was refused; a person was told. A
	// redrive or a late answer ends it.
	Dead State = "dead"
	// Cancelled is no longer wanted. A late answer still says that paper exists.
	Cancelled State = "cancelled"
)

// Open reports whether the delivery is still owed.
func (s State) Open() bool { return s == Waiting || s == Leased || s == Parked || s == Stale }

// Blocks reports whether a higher seq of the same order must wait for it (DESIGN.md section 5:
// "Only waiting, leased and parked predecessors block").
func (s State) Blocks() bool { return s == Waiting || s == Leased || s == Parked }

// Word names an event, in the past tense.
type Word string

// The events of a delivery.
const (
	Accepted   Word = "accepted"
	Dispatched Word = "dispatched"
	Stored     Word = "stored"
	Held       Word = "held"
	Failed     Word = "failed"
	Deferred   Word = "deferred"
	ParkedNow  Word = "parked"
	Woken      Word = "woken"
	Buried     Word = "buried"
	Redriven   Word = "redriven"
	CancelDone Word = "cancelled"
	Printed    Word = "printed"
	Confirmed  Word = "confirmed"
	Doubled    Word = "doubled"
	// Staled says that a person must be asked, Approved and Allowed that one said to print it.
	Staled   Word = "staled"
	Approved Word = "approved"
	Allowed  Word = "allowed"
	// Moved says that another station's device takes over, or that the own one has it again.
	Moved Word = "moved"
	// RecallAsked is the duty to tell a device not to start the ticket; RecallAnswered is its
	// answer; RecallEnded is the duty's end by anything else.
	RecallAsked    Word = "recall-asked"
	RecallAnswered Word = "recall-answered"
	RecallEnded    Word = "recall-ended"
)

// arc is one event and where it may happen and leads; "" is where it was.
type arc struct {
	from []State
	to   State
}

// every is all states.
var every = []State{Waiting, Leased, Parked, Stale, Settled, Dead, Cancelled}

// arcs is the drawing as data; Evolve panics where an event happens elsewhere, because then Decide
// is wrong and nothing that follows can be trusted.
var arcs = map[Word]arc{
	Dispatched: {[]State{Waiting}, Leased},
	Stored:     {[]State{Leased}, Leased},
	Held:       {[]State{Leased}, Leased},
	Failed:     {[]State{Leased, Parked}, Waiting},
	Deferred:   {[]State{Leased, Parked}, Waiting},
	ParkedNow:  {[]State{Leased, Waiting}, Parked},
	Woken:      {[]State{Parked}, Waiting},
	Buried:     {[]State{Waiting, Leased, Parked, Stale}, Dead},
	Redriven:   {[]State{Dead}, Waiting},
	CancelDone: {[]State{Waiting, Leased, Parked, Stale, Dead}, Cancelled},
	Printed:    {[]State{Waiting, Leased, Parked, Stale, Dead, Cancelled}, Settled},
	Confirmed:  {[]State{Settled}, Settled},
	Doubled:    {[]State{Settled}, Settled},

	Staled:         {[]State{Waiting, Leased}, Stale},
	Approved:       {[]State{Stale}, Waiting},
	Allowed:        {[]State{Waiting, Parked}, ""},
	Moved:          {[]State{Waiting, Parked}, Waiting},
	RecallAsked:    {[]State{Waiting, Dead, Cancelled, Settled}, ""},
	RecallAnswered: {every, ""},
	RecallEnded:    {every, ""},
}

func (a arc) leads(from State) bool { return slices.Contains(a.from, from) }

// end is the state that the event leads to.
func (a arc) end(from State) State {
	if a.to == "" {
		return from
	}
	return a.to
}
