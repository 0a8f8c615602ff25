package intake

import (
	"net/http"
	"strings"
)

// deadLetters serves GET /v1/dead-letters.
func (d *Door) deadLetters(w http.ResponseWriter, r *http.Request, o owner) {
	after, limit, ok := pageOf(w, r)
	if !ok {
		return
	}
	list, next, err := d.Desk.Dead(r.Context(), o.tenant, after, limit)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	answerPage(w, "dead_letters", list, next)
}

// deadLetter serves GET /v1/dead-letters/{delivery}; the id holds a slash, escaped or not.
func (d *Door) deadLetter(w http.ResponseWriter, r *http.Request, o owner) {
	view, err := d.Desk.DeadLetter(r.Context(), o.tenant, r.PathValue("delivery"))
	if err != nil {
		d.fail(w, r, err)
		return
	}
	answer(w, http.StatusOK, view)
}

// redrive serves POST /v1/dead-letters/{delivery}/redrive. It is safe to repeat: a delivery that is
// under way again is answered as it is.
func (d *Door) redrive(w http.ResponseWriter, r *http.Request, o owner) {
	id, isRedrive := strings.CutSuffix(r.PathValue("delivery"), "/redrive")
	if !isRedrive {
		d.unknown(w, r)
		return
	}
	var request struct {
		Reason string `json:"reason"`
	}
	if !d.read(w, r, &request) {
		return
	}
	if p := checkReason(request.Reason, 0); p != nil {
		p.write(w)
		return
	}
	view, err := d.Desk.Redrive(r.Context(), o.tenant, id, o.who, request.Reason)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	d.Log.Info("dead letter redriven", "tenant", o.tenant, "ticket", view.Ticket, "who", o.who)
	answer(w, http.StatusAccepted, view)
}

// read takes a small request into a struct; an empty body leaves it as it is. Where it cannot, it
// has answered, and ok is false.
func (d *Door) read(w http.ResponseWriter, r *http.Request, into any) (ok bool) {
	raw, err := body(w, r, bodyMax)
	if err != nil {
		d.refuseBody(w, r, err)
		return false
	}
	if len(raw) == 0 {
		return true
	}
	if p := decode(raw, into); p != nil {
		p.write(w)
		return false
	}
	return true
}
