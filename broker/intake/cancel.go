package intake

import (
	"net/http"
	"strconv"
)

// Cancellation is what cancelling a mutation of an order came to.
type Cancellation struct {
	// ID is "<order>/<seq>".
	ID string `json:"id"`
	// Changed is false where it was cancelled before.
	Changed  bool            `json:"changed"`
	Stations []CancelledHere `json:"stations"`
}

// CancelledHere is what it came to at one station.
type CancelledHere struct {
	Station string `json:"station"`
	Ticket  string `json:"ticket"`
	State   string `json:"state"`
	// Outcome is cancelled, recalled, void-sent, on-paper-void-sent, or on-paper.
	Outcome string `json:"outcome"`
	// Voids are the tickets that tell the kitchen, each for one printer.
	Voids []string `json:"voids,omitempty"`
}

// cancel serves POST /v1/tickets/{order}/{seq}/cancel. It is safe to repeat.
func (d *Door) cancel(w http.ResponseWriter, r *http.Request, o owner) {
	seq, err := strconv.Atoi(r.PathValue("seq"))
	if err != nil || seq < 1 || strconv.Itoa(seq) != r.PathValue("seq") {
		invalid(field{"seq", shorten(r.PathValue("seq")), "a whole number from 1"}).write(w)
		return
	}
	var request struct {
		Reason  string `json:"reason"`
		Station string `json:"station"`
	}
	if !d.read(w, r, &request) {
		return
	}
	if p := checkReason(request.Reason, 1); p != nil {
		p.write(w)
		return
	}
	done, err := d.BackOffice.Cancel(r.Context(), o.tenant, r.PathValue("order"), seq,
		request.Station, o.who, request.Reason)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	if done.Changed {
		d.Log.Info("ticket cancelled", "tenant", o.tenant, "ticket", done.ID, "who", o.who)
	}
	answer(w, http.StatusOK, done)
}
