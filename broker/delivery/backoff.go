package delivery

import "time"

// PauseLimit is the limit of the wait after the nth failure or deferral in a row, n from 1:
// min(15 min, 2 s · 2^(n−1)) (DESIGN.md section 5).
func PauseLimit(n int) time.Duration {
	pause := PauseFirst
	for i := 1; i < n && pause < PauseMax; i++ {
		pause *= 2
	}
	return min(pause, PauseMax)
}

// Pause is the wait itself, full jitter: chance, drawn uniformly from [0, 1), of its limit.
func Pause(n int, chance float64) time.Duration {
	return time.Duration(chance * float64(PauseLimit(n))).Truncate(time.Millisecond)
}
