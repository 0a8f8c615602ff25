package panel

import "time"

// Sound names a pattern of the buzzer.
type Sound string

// The sounds. Reprints and notices sound like new tickets.
const (
	SoundNew    Sound = "new"
	SoundChange Sound = "change"
	SoundVoid   Sound = "void"
	SoundAlarm  Sound = "alarm"
)

// Step is one tone and the silence after it.
type Step struct {
	On, Off time.Duration
}

// Bounds of patterns. A test holds every pattern to them; the player enforces OnMax by itself.
const (
	// OnMax is the longest tone. A buzzer that cannot be turned off drives people to pull its plug,
	// and the printer's with it.
	OnMax = 2 * time.Second
	// PatternMax is the longest pattern.
	PatternMax = 10 * time.Second
)

// patterns can be told apart with the back turned: two short tones for a new ticket, a quick roll
// for a change, two long tones for a void, and a long row for an alarm.
var patterns = map[Sound][]Step{
	SoundNew:    row(2, 150*time.Millisecond, 120*time.Millisecond),
	SoundChange: row(4, 70*time.Millisecond, 70*time.Millisecond),
	SoundVoid:   row(2, 800*time.Millisecond, 250*time.Millisecond),
	SoundAlarm:  row(6, 400*time.Millisecond, 200*time.Millisecond),
}

// gap keeps two patterns apart.
const gap = 400 * time.Millisecond

func row(tones int, on, off time.Duration) []Step {
	steps := make([]Step, tones)
	for i := range steps {
		steps[i] = Step{On: on, Off: off}
	}
	steps[tones-1].Off = gap
	return steps
}

// urgency is the order in which waiting sounds are played.
var urgency = []Sound{SoundAlarm, SoundVoid, SoundChange, SoundNew}

// Pattern returns the steps of a sound, nil for an unknown one.
func Pattern(s Sound) []Step { return append([]Step(nil), patterns[s]...) }
