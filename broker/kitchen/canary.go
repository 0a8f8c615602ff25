package kitchen

import "time"

// CanaryLate is until how long after the opening a canary that could not be sent is still sent:
// later the kitchen's own orders say the same.
const CanaryLate = 15 * time.Minute

// Canary says whether the kitchen's canary is due, lead before an opening: then for which one and
// until when it says anything, which is the end of that day on the wall's clock, but not less than
// an hour. A kitchen that is always open or never has none.
func (h Hours) Canary(now time.Time, zone *time.Location, lead time.Duration) (
	opening, until time.Time, due bool) {
	opening, ok := h.Opening(now.Add(-CanaryLate), zone)
	if !ok || now.Before(opening.Add(-lead)) {
		return time.Time{}, time.Time{}, false
	}
	local := in(opening, zone)
	until = time.Date(local.Year(), local.Month(), local.Day()+1, 0, 0, 0, 0, local.Location())
	if least := opening.Add(time.Hour); until.Before(least) {
		until = least
	}
	return opening, until.UTC(), true
}
