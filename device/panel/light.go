package panel

import "time"

// Light is what the lamp shows.
type Light uint8

// The lights. All but the first two blink; [Rhythm] says how.
const (
	LightOff Light = iota
	LightOn
	LightSlow  // work waits
	LightFast  // trouble: a person is needed
	LightFlash // alone: no broker, and nothing to do here
)

// rhythms can be told apart at a glance from across a kitchen: even and calm, even and hurried, and
// a short flash with a long dark behind it.
var rhythms = map[Light]Step{
	LightSlow:  {On: time.Second, Off: time.Second},
	LightFast:  {On: 200 * time.Millisecond, Off: 200 * time.Millisecond},
	LightFlash: {On: 100 * time.Millisecond, Off: 2900 * time.Millisecond},
}

// Rhythm is how a light blinks; both parts are 0 for one that does not.
func Rhythm(l Light) Step { return rhythms[l] }
