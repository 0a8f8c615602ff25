// Package kitchen knows when a kitchen is open.
//
// It is pure: the instant and the zone are arguments. Hours follow the clock on the kitchen's wall:
// where daylight saving time repeats an hour, a kitchen that is open in it is open twice; where it
// leaves one out, nobody is open in it.
//
//	hours, err := kitchen.ParseHours([]string{"mon-fri 11:00-14:30", "fri-sat 18:00-02:00"})
//	hours.Open(now, berlin)            // is somebody there?
//	at, ok := hours.Opening(now, berlin) // when next from closed to open
package kitchen
