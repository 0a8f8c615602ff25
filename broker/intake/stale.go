package intake

import (
	"context"
	"fmt"
	"net/http"
)

// Stale is what an owner is asked about tickets that became too old to be cooked without a word.
type Stale interface {
	// Stale lists at most limit of them from behind a place, oldest first: those that wait for a word,
	// and those whose device is away and that will. next is where to go on, the zero Place where
	// there is no more.
	Stale(ctx context.Context, tenant string, after Place, limit int) (list []Ticket, next Place,
		err error)
	// AnswerStale gives the word and lists the tickets that it changed. Repeated it changes nothing.
	AnswerStale(ctx context.Context, tenant, who string, a StaleAnswer) ([]Ticket, error)
}

// StaleAnswer is the body of POST /v1/stale/answer.
type StaleAnswer struct {
	// Station or Tickets, one of them: all stale tickets of a station, or these.
	Station string   `json:"station,omitempty"`
	Tickets []string `json:"tickets,omitempty"`
	Answer  string   `json:"answer"` // print or drop
	Reason  string   `json:"reason,omitempty"`
}

// StaleMax is how many tickets one answer may name.
const StaleMax = 500

// staleTickets serves GET /v1/stale.
func (d *Door) staleTickets(w http.ResponseWriter, r *http.Request, o owner) {
	after, limit, ok := pageOf(w, r)
	if !ok {
		return
	}
	list, next, err := d.Stale.Stale(r.Context(), o.tenant, after, limit)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	answerPage(w, "stale", list, next)
}

// answerStale serves POST /v1/stale/answer. It is safe to repeat.
func (d *Door) answerStale(w http.ResponseWriter, r *http.Request, o owner) {
	raw, err := body(w, r, answerMax)
	if err != nil {
		d.refuseBody(w, r, err)
		return
	}
	var a StaleAnswer
	p := decode(raw, &a)
	if p == nil {
		p = a.check()
	}
	if p != nil {
		p.write(w)
		return
	}
	list, err := d.Stale.AnswerStale(r.Context(), o.tenant, o.who, a)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	if list == nil {
		list = []Ticket{}
	}
	d.Log.Info("stale tickets answered", "tenant", o.tenant, "answer", a.Answer, "who", o.who,
		"changed", len(list))
	answer(w, http.StatusAccepted, map[string]any{"changed": list})
}

func (a StaleAnswer) check() *problem {
	var wrong []field
	if a.Answer != "print" && a.Answer != "drop" {
		wrong = append(wrong, field{"answer", shorten(a.Answer), "print or drop"})
	}
	switch {
	case a.Station == "" && len(a.Tickets) == 0:
		wrong = append(wrong, field{"station", "nothing", "a station, or a list of tickets"})
	case a.Station != "" && len(a.Tickets) > 0:
		wrong = append(wrong, field{"tickets", "a station too", "one of station and tickets"})
	case len(a.Tickets) > StaleMax:
		wrong = append(wrong, field{"tickets", fmt.Sprintf("%d tickets", len(a.Tickets)),
			fmt.Sprintf("at most %d", StaleMax)})
	}
	if p := checkReason(a.Reason, 0); p != nil {
		wrong = append(wrong, p.Errors...)
	}
	if len(wrong) == 0 {
		return nil
	}
	p := invalid(wrong...)
	p.Hint = "GET /v1/stale lists the tickets that wait for an answer"
	return &p
}
