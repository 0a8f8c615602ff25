package intake

import (
	"context"
	"net/http"
)

// Kitchens is what the door needs of the kitchens.
type Kitchens interface {
	// Rhythm is what was learned of a kitchen's orders.
	Rhythm(ctx context.Context, tenant, kitchen string) (Rhythm, error)
}

// Rhythm is how many orders a kitchen usually gets, as the API shows it.
type Rhythm struct {
	Kitchen string `json:"kitchen"`
	Zone    string `json:"zone"`
	// SilenceAlarm is whether the kitchen is listened to: nothing is learned where it is not.
	SilenceAlarm bool `json:"silence_alarm"`
	// Silent is true while a busy hour has no orders and somebody was told.
	Silent bool `json:"silent"`
	// WeeksNeeded is in how many weeks an hour must have been seen before it is judged, BusyFrom from
	// how many usual orders per hour on.
	WeeksNeeded int     `json:"weeks_needed"`
	BusyFrom    float64 `json:"busy_from"`
	// Hours are those that were seen, from Sunday 00:00 on the kitchen's clock.
	Hours []RhythmHour `json:"hours"`
}

// RhythmHour is one hour of the week.
type RhythmHour struct {
	Day    string  `json:"day"`  // sun … sat
	Hour   int     `json:"hour"` // 0 to 23
	Orders float64 `json:"orders_per_hour"`
	Weeks  int     `json:"weeks"` // in which it was seen
	Known  bool    `json:"known"` // in enough weeks to be judged
}

// rhythm serves GET /v1/kitchens/{kitchen}/rhythm.
func (d *Door) rhythm(w http.ResponseWriter, r *http.Request, o owner) {
	view, err := d.Kitchens.Rhythm(r.Context(), o.tenant, r.PathValue("kitchen"))
	if err != nil {
		d.fail(w, r, err)
		return
	}
	answer(w, http.StatusOK, view)
}
