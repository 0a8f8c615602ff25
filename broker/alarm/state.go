package alarm

import "slices"

// State is where an alarm stands.
//
//	Over     --began-->              Raised    also the first time
//	Raised   --updated,worse-->      Raised    more of it, or worse: P2 became P1
//	Raised   --climbed,again-->      Raised    nobody answered; all were told, and there is more
//	Raised   --acknowledged-->       Taken     ends the ladder
//	Raised   --cleared-->            Clearing
//	Taken    --updated-->            Taken
//	Taken    --worse,again-->        Raised    not what was acknowledged
//	Taken    --cleared-->            Clearing
//	Clearing --acknowledged-->       Clearing
//	Clearing --returned-->           Raised
//	Clearing --resumed-->            Taken
//	Clearing --ended-->              Over
type State string

// The states.
const (
	// Raised: somebody is being told, ever more of them. Bounded by LevelMax.
	Raised State = "raised"
	// Taken: somebody has it. Stays until the cause ends, or is more than was acknowledged.
	Taken State = "acknowledged"
	// Clearing: the cause has ended, not yet for ClearFor.
	Clearing State = "clearing"
	// Over: nothing is wrong any more. The next time is a new episode.
	Over State = "over"
)

// Open reports whether the alarm is not over.
func (s State) Open() bool { return s == Raised || s == Taken || s == Clearing }

// Word names an event, in the past tense.
type Word string

// The events of an alarm.
const (
	Began    Word = "began"
	Updated  Word = "updated"
	Worse    Word = "worse"
	Again    Word = "again"
	Climbed  Word = "climbed"
	Noticed  Word = "acknowledged"
	Lifted   Word = "cleared"
	Returned Word = "returned"
	Resumed  Word = "resumed"
	Ended    Word = "ended"

	// Tried and Settled are of the messages; they happen in every state and change none.
	Tried   Word = "tried"
	Settled Word = "settled"
)

// arc is one step from a state by an event.
type arc struct {
	from State
	what Word
}

// arcs is the drawing as data; Evolve panics where an event happens elsewhere, because then Decide
// is wrong.
var arcs = map[arc]State{
	{Over, Began}:        Raised,
	{Raised, Updated}:    Raised,
	{Raised, Worse}:      Raised,
	{Raised, Climbed}:    Raised,
	{Raised, Again}:      Raised,
	{Raised, Noticed}:    Taken,
	{Raised, Lifted}:     Clearing,
	{Taken, Updated}:     Taken,
	{Taken, Worse}:       Raised,
	{Taken, Again}:       Raised,
	{Taken, Lifted}:      Clearing,
	{Clearing, Noticed}:  Clearing,
	{Clearing, Returned}: Raised,
	{Clearing, Resumed}:  Taken,
	{Clearing, Ended}:    Over,
}

// leads is where an event leads from a state; ok is false where it cannot happen.
func leads(from State, what Word) (to State, ok bool) {
	if from == "" {
		from = Over
	}
	if what == Tried || what == Settled {
		return from, slices.Contains([]State{Raised, Taken, Clearing, Over}, from)
	}
	to, ok = arcs[arc{from, what}]
	return to, ok
}
