package intake

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"chit/device/wire"
)

// problem is an RFC 9457 answer. Type is a stable word that programs may compare; titles and
// details are for people and may change.
type problem struct {
	Type   string  `json:"type"`
	Title  string  `json:"title"`
	Status int     `json:"status"`
	Detail string  `json:"detail,omitempty"`
	Hint   string  `json:"hint,omitempty"`
	Errors []field `json:"errors,omitempty"`
}

// field is one thing wrong with a request.
type field struct {
	Field    string `json:"field"`
	Found    string `json:"found,omitempty"`
	Expected string `json:"expected"`
}

const typePrefix = "urn:chit:problem:"

func (p problem) write(w http.ResponseWriter) {
	p.Type = typePrefix + p.Type
	if p.Title == "" {
		p.Title = http.StatusText(p.Status)
	}
	var body bytes.Buffer
	text := json.NewEncoder(&body)
	text.SetEscapeHTML(false) // People read <order>/<seq> here, and no browser takes it for a page.
	if err := text.Encode(p); err != nil {
		panic(fmt.Sprintf("intake: a problem of plain strings did not encode: %v", err))
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_, _ = w.Write(body.Bytes())
}

// fail answers err. What it does not know is an internal error, told to the log and not to the
// caller.
func (d *Door) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := problemOf(err)
	switch {
	case errors.Is(err, context.Canceled) && r.Context().Err() != nil:
		return // The caller has gone; what was committed stays committed.
	case p.Status == http.StatusInternalServerError:
		d.Log.Error("request failed", "route", r.Pattern, "err", err)
	case p.Status == http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	}
	p.write(w)
}

func problemOf(err error) problem {
	var content *wire.ContentError
	var syntax *wire.SyntaxError
	var large largeError
	var unknown *UnknownError
	switch {
	case errors.As(err, &content):
		return malformed(content)
	case errors.As(err, &syntax):
		return noJSON(syntax)
	case errors.Is(err, wire.ErrMalformed):
		return invalidTicket(field{"", "", "one JSON object in UTF-8, with no deeper nesting than " +
			"a ticket's"})
	case errors.As(err, &large):
		return problem{
			Status: http.StatusRequestEntityTooLarge, Type: "too-large", Detail: large.Error(),
		}
	case errors.Is(err, wire.ErrTooLarge): // Its canonical form is longer than what came.
		return problemOf(largeError{ticketMax})
	case errors.As(err, &unknown):
		return unknown.problem()
	case errors.Is(err, ErrConflict):
		return problem{
			Status: http.StatusConflict, Type: "id-conflict",
			Detail: "this id was accepted before with other content; nothing was changed",
			Hint:   "a change of an order is a new seq of kind change",
		}
	case errors.Is(err, ErrState):
		return problem{Status: http.StatusConflict, Type: "wrong-state", Detail: err.Error()}
	case errors.Is(err, ErrKitchen):
		return invalid(field{"kitchen", "", "a kitchen of this account: " + err.Error()})
	case errors.Is(err, ErrStation):
		return invalid(field{"station", "", "a station of this account: " + err.Error()})
	case errors.Is(err, ErrNotFound):
		return problem{Status: http.StatusNotFound, Type: "not-found", Detail: err.Error()}
	case errors.Is(err, ErrBusy), errors.Is(err, context.DeadlineExceeded):
		return problem{
			Status: http.StatusServiceUnavailable, Type: "busy",
			Detail: "not taken in now; send the same request again",
		}
	default:
		return problem{
			Status: http.StatusInternalServerError, Type: "internal",
			Detail: "the outcome is not known; send the same request again, it is safe",
		}
	}
}

func malformed(e *wire.ContentError) problem {
	fields := make([]field, 0, len(e.Fields))
	for _, f := range e.Fields {
		fields = append(fields, field{Field: f.Field, Found: f.Found, Expected: f.Want})
	}
	return invalidTicket(fields...)
}

// noJSON points at the place, so that the integrator looks at what was sent and not at the schema.
func noJSON(e *wire.SyntaxError) problem {
	line, column := e.Place()
	p := invalidTicket(field{"", e.Found(), e.Want})
	p.Detail = fmt.Sprintf("the body is not JSON: line %d, column %d has %s where %s must stand; "+
		"nothing was taken in", line, column, e.Found(), e.Want)
	return p
}

// invalid is a request with fields that are wrong.
func invalid(fields ...field) problem {
	return problem{
		Status: http.StatusUnprocessableEntity, Type: "invalid",
		Detail: "the request was not taken in; each field that is wrong is listed",
		Hint:   "GET /openapi.json describes each request",
		Errors: fields,
	}
}

// invalidTicket is a ticket with fields that are wrong.
func invalidTicket(fields ...field) problem {
	p := invalid(fields...)
	p.Hint = "the schema is at /schemas/ticket.json"
	return p
}
