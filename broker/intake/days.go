package intake

import (
	"context"
	"net/http"
	"time"
)

// Today is the day that a kitchen is in, by its own clock and day cut; Yesterday is the one before.
const (
	Today     = "today"
	Yesterday = "yesterday"
)

// CheckDay reports whether day can be asked for: a date, [Today] or [Yesterday].
func CheckDay(day string) bool {
	_, err := time.Parse(time.DateOnly, day)
	return err == nil || day == Today || day == Yesterday
}

// Days is what the door needs of the running numbers.
type Days interface {
	// Days tells a business day of the tenant's stations, of one where station is named: as it was
	// closed, or as it stands now. Day is "2006-01-02", [Today] or [Yesterday].
	Days(ctx context.Context, tenant, day, station string) ([]Day, error)
	// PrintDays prints what Days tells, each station's at its own printer, and lists the notices.
	PrintDays(ctx context.Context, tenant, day, station string) ([]Slip, error)
}

// Slip is a day on its way to paper.
type Slip struct {
	Station string `json:"station"`
	Day     string `json:"day"`
	// ID is the notice, as GET /v1/tickets knows it.
	ID string `json:"id"`
}

// Day is what became of one station's running numbers on one business day.
type Day struct {
	Station  string     `json:"station"`
	Day      string     `json:"day"`
	ClosedAt *time.Time `json:"closed_at,omitempty"` // absent while the day runs
	First    int        `json:"first"`
	Last     int        `json:"last"`
	Count    int        `json:"count"`
	// Missing are numbers without paper at this station, with what became of their tickets.
	Missing []Missing `json:"missing"`
	// Voided are numbers whose paper a void took back; Voids are those of the voids themselves.
	Voided             []string `json:"voided"`
	Voids              []string `json:"voids"`
	PossibleDuplicates []string `json:"possible_duplicates"`
	Doubled            []string `json:"doubled"`
	// Jumps are numbers that the store never gave, because it was restored.
	Jumps []Jump `json:"jumps"`
	// Slip is the same as text.
	Slip string `json:"slip"`
}

// Missing is a number without paper: moved, cancelled, dead or open.
type Missing struct {
	Number string `json:"number"`
	What   string `json:"what"`
	Why    string `json:"why,omitempty"`
}

// Jump is a run of numbers, both ends included.
type Jump struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// days serves GET /v1/days/{day}.
func (d *Door) days(w http.ResponseWriter, r *http.Request, o owner) {
	day, ok := dayOf(w, r)
	if !ok {
		return
	}
	list, err := d.Config.Days.Days(r.Context(), o.tenant, day, r.URL.Query().Get("station"))
	if err != nil {
		d.fail(w, r, err)
		return
	}
	if list == nil {
		list = []Day{}
	}
	answer(w, http.StatusOK, map[string]any{"days": list})
}

// dayOf is the day that a request names; where it is none, that is answered and ok false.
func dayOf(w http.ResponseWriter, r *http.Request) (day string, ok bool) {
	day = r.PathValue("day")
	if !CheckDay(day) {
		invalid(field{"day", shorten(day), "a date such as 2026-12-01, " + Today + " or " +
			Yesterday}).write(w)
		return "", false
	}
	return day, true
}

// printDays serves POST /v1/days/{day}/print. Repeated it prints again.
func (d *Door) printDays(w http.ResponseWriter, r *http.Request, o owner) {
	day, ok := dayOf(w, r)
	if !ok {
		return
	}
	list, err := d.Config.Days.PrintDays(r.Context(), o.tenant, day, r.URL.Query().Get("station"))
	if err != nil {
		d.fail(w, r, err)
		return
	}
	if list == nil {
		list = []Slip{}
	}
	d.Log.Info("day printed", "tenant", o.tenant, "day", day, "who", o.who, "slips", len(list))
	answer(w, http.StatusAccepted, map[string]any{"slips": list})
}
