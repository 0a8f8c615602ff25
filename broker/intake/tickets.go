package intake

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"chit/device/wire"
)

// accept serves POST /v1/tickets.
func (d *Door) accept(w http.ResponseWriter, r *http.Request, o owner) {
	raw, err := body(w, r, ticketMax)
	if err != nil {
		d.refuseBody(w, r, err)
		return
	}
	data, content, err := wire.Canonical(raw)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	if lines := content.LinesMin(); lines > wire.LinesMax {
		invalidTicket(field{"items", strconv.Itoa(lines) + " lines or more on paper",
			fmt.Sprintf("at most %d lines, 1 m of paper", wire.LinesMax)}).write(w)
		return
	}
	view, repeat, err := d.Desk.Accept(r.Context(), o.tenant, content, data)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	w.Header().Set("Location", "/v1/tickets/"+view.ID+"?station="+view.Station)
	status := http.StatusAccepted
	if repeat {
		status = http.StatusOK
	} else {
		d.Log.Info("ticket accepted", "tenant", o.tenant, "ticket", view.Ticket)
	}
	answer(w, status, view)
}

var errBody = errors.New("body ended early")

// limit is how long a body may be, in bytes, and what to call it.
type limit struct {
	what string
	most int64
}

var (
	ticketMax = limit{"a ticket's body", wire.ContentMax}
	answerMax = limit{"an answer about stale tickets", wire.ContentMax}
	// bodyMax is for the doors that take a reason and little more.
	bodyMax = limit{"this request's body", 4 << 10}
)

// largeError is a body over its limit.
type largeError struct{ limit }

func (e largeError) Error() string { return fmt.Sprintf("%s is at most %d bytes", e.what, e.most) }

// body reads at most as much as the limit says. Errors: [largeError], errBody. Content-Type is not
// asked: the bytes must be JSON whatever it says, and a forgotten header must not cost an order.
func body(w http.ResponseWriter, r *http.Request, most limit) ([]byte, error) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most.most))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, largeError{most}
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errBody, err)
	}
	return raw, nil
}

func (d *Door) refuseBody(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, errBody) {
		problem{Status: http.StatusBadRequest, Type: "cut-short", Detail: "the body ended early"}.write(w)
		return
	}
	d.fail(w, r, err)
}

// ticket serves GET /v1/tickets/{order}/{seq} and what was made of it, /r{k} and /d{k}.
func (d *Door) ticket(w http.ResponseWriter, r *http.Request, o owner) {
	order, made := r.PathValue("order"), r.PathValue("made")
	seq, err := strconv.Atoi(r.PathValue("seq"))
	if err != nil || seq < 1 || strconv.Itoa(seq) != r.PathValue("seq") {
		invalid(field{"seq", shorten(r.PathValue("seq")), "a whole number from 1"}).write(w)
		return
	}
	found, err := d.Desk.Tickets(r.Context(), o.tenant, order, seq, made)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	station := r.URL.Query().Get("station")
	var stations []string
	var matching []Ticket
	for _, t := range found {
		stations = append(stations, t.Station)
		if station == "" || station == t.Station {
			matching = append(matching, t)
		}
	}
	switch {
	case len(found) > 0 && len(matching) == 0:
		problem{Status: http.StatusNotFound, Type: "not-found",
			Detail: "this ticket is not at that station",
			Errors: []field{{"station", shorten(station), "one of " + strings.Join(stations, ", ")}},
		}.write(w)
	case len(matching) == 1:
		answer(w, http.StatusOK, matching[0])
	case len(matching) > 1:
		invalid(field{"station", "", "one of " + strings.Join(stations, ", ")}).write(w)
	default:
		d.fail(w, r, fmt.Errorf("%w: no ticket %s/%d here", ErrNotFound, shorten(order), seq))
	}
}
