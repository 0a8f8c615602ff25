package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"chit/device/wire"
)

// BackOffice is what an owner does about tickets after they were taken in. Its methods return after
// the commit they speak of.
type BackOffice interface {
	// Cancel cancels a mutation of an order at one station, or at all where none is named; a void
	// follows where paper may be.
	Cancel(ctx context.Context, tenant, order string, seq int, station, who, why string) (
		Cancellation, error)
	// Discard gives a dead letter up.
	Discard(ctx context.Context, tenant, id, who, why string) (Ticket, error)
	// Redrivable counts the dead letters that a filter chooses and names the first of them; it
	// changes nothing.
	Redrivable(ctx context.Context, tenant string, filter Filter) (matched int, first []string,
		err error)
	// PlanRedrive makes a job that redrives what the filter chooses. The same job again is answered
	// as it stands.
	PlanRedrive(ctx context.Context, tenant, who string, r RedriveRequest) (RedriveJob, error)
	// RedriveJob is how far a job has come.
	RedriveJob(ctx context.Context, tenant, id string) (RedriveJob, error)
	// Audit lists what people did, from behind a position in the log, oldest first. next is the
	// position of the last entry, since where there is none; more is true where there may be more
	// behind it.
	Audit(ctx context.Context, tenant string, since uint64, limit int) (list []Entry, next uint64,
		more bool, err error)
}

// Bounds of redrive jobs and of the audit.
const (
	// ReasonMax is the longest reason, in characters.
	ReasonMax = 200
	// PerSecondDefault and PerSecondMax bound a job's redrives per second.
	PerSecondDefault = 10
	PerSecondMax     = 100
	// AuditDefault and AuditMax bound one answer of the audit.
	AuditDefault = 100
	AuditMax     = 1000
)

// Filter chooses dead letters; an absent field chooses all.
type Filter struct {
	Station string     `json:"station,omitempty"`
	Kitchen string     `json:"kitchen,omitempty"`
	Reason  string     `json:"reason,omitempty"`
	Order   string     `json:"order,omitempty"`
	Since   *time.Time `json:"since,omitempty"`
	Until   *time.Time `json:"until,omitempty"`
}

// RedriveRequest is the body of POST /v1/dead-letters/redrive.
type RedriveRequest struct {
	// Filter must be there; an empty object chooses all.
	Filter    *Filter `json:"filter"`
	DryRun    bool    `json:"dry_run,omitempty"`
	PerSecond int     `json:"per_second,omitempty"`
	Reason    string  `json:"reason,omitempty"`
	// ID makes a repetition of the request the same job; the broker makes one where it is absent.
	ID string `json:"id,omitempty"`
}

// RedriveJob is a redrive of many dead letters as the API shows it.
type RedriveJob struct {
	ID string `json:"id,omitempty"`
	// State is running, done, or dry-run: nothing was changed.
	State     string `json:"state"`
	Filter    Filter `json:"filter"`
	PerSecond int    `json:"per_second,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Who       string `json:"who,omitempty"`
	// Matched is how many the filter chose at the beginning.
	Matched   int `json:"matched"`
	Redriven  int `json:"redriven"`
	Cancelled int `json:"cancelled"` // voided meanwhile
	Left      int `json:"left"`      // past their expiry: a new ticket is needed
	// Tickets are the first, at most 100.
	Tickets   []string   `json:"tickets"`
	PlannedAt *time.Time `json:"planned_at,omitempty"`
	EndedAt   *time.Time `json:"ended_at,omitempty"`
}

// Entry is one line of the audit.
type Entry struct {
	// Position is the entry's place in the log: it only grows.
	Position uint64    `json:"position"`
	At       time.Time `json:"at"`
	// What is the event's word, such as delivery.redriven.
	What string `json:"what"`
	// ID is what it was done to: a ticket, a job, an alarm.
	ID  string `json:"id"`
	Who string `json:"who,omitempty"`
	Why string `json:"why,omitempty"`
	// Detail is what the program says of it, such as what the ticket had died of.
	Detail string `json:"detail,omitempty"`
}

// reason reads {"reason": …}, which must be there.
func reason(raw []byte) (string, *problem) {
	var request struct {
		Reason string `json:"reason"`
	}
	if len(raw) > 0 {
		if p := decode(raw, &request); p != nil {
			return "", p
		}
	}
	return request.Reason, checkReason(request.Reason, 1)
}

// checkReason is for every reason that a person gives: it stands in the audit, where a line break
// or a character that turns the writing around would make it say something else.
func checkReason(s string, least int) *problem {
	n := utf8.RuneCountInString(s)
	found := fmt.Sprintf("%d characters", n)
	i := strings.IndexFunc(s, steers)
	if i >= 0 {
		r, _ := utf8.DecodeRuneInString(s[i:])
		found = fmt.Sprintf("the control character U+%04X", r)
	}
	if i >= 0 || n < least || n > ReasonMax || n > 0 && strings.TrimSpace(s) == "" {
		p := invalid(field{"reason", found, fmt.Sprintf("why, for the audit: %d to %d "+
			"characters in one line, not only spaces", least, ReasonMax)})
		p.Hint = "no guest's name or phone: the audit is kept"
		return &p
	}
	return nil
}

// steers reports a character that is no writing but moves it: controls, line and paragraph
// separators, and those that turn its direction (Unicode's Bidi_Control).
func steers(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

// letter serves POST /v1/dead-letters/{delivery}/redrive and …/discard.
func (d *Door) letter(w http.ResponseWriter, r *http.Request, o owner) {
	if id, ok := strings.CutSuffix(r.PathValue("delivery"), "/discard"); ok && d.BackOffice != nil {
		d.discard(w, r, o, id)
		return
	}
	d.redrive(w, r, o)
}

// discard is safe to repeat.
func (d *Door) discard(w http.ResponseWriter, r *http.Request, o owner, id string) {
	raw, err := body(w, r, bodyMax)
	if err != nil {
		d.refuseBody(w, r, err)
		return
	}
	why, p := reason(raw)
	if p != nil {
		p.write(w)
		return
	}
	view, err := d.BackOffice.Discard(r.Context(), o.tenant, id, o.who, why)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	d.Log.Info("dead letter discarded", "tenant", o.tenant, "ticket", view.Ticket, "who", o.who)
	answer(w, http.StatusOK, view)
}

// redriveMany serves POST /v1/dead-letters/redrive.
func (d *Door) redriveMany(w http.ResponseWriter, r *http.Request, o owner) {
	raw, err := body(w, r, bodyMax)
	if err != nil {
		d.refuseBody(w, r, err)
		return
	}
	request, p := readRedrive(raw)
	if p != nil {
		p.write(w)
		return
	}
	if request.DryRun {
		matched, first, err := d.BackOffice.Redrivable(r.Context(), o.tenant, *request.Filter)
		if err != nil {
			d.fail(w, r, err)
			return
		}
		answer(w, http.StatusOK, RedriveJob{State: "dry-run", Filter: *request.Filter,
			Matched: matched, Tickets: first})
		return
	}
	job, err := d.BackOffice.PlanRedrive(r.Context(), o.tenant, o.who, request)
	if errors.Is(err, ErrConflict) {
		problem{Status: http.StatusConflict, Type: "id-conflict",
			Detail: "a redrive with this id was asked for before with another filter, rate or reason",
			Hint:   "leave id out, or choose another one"}.write(w)
		return
	}
	if err != nil {
		d.fail(w, r, err)
		return
	}
	d.Log.Info("redrive planned", "tenant", o.tenant, "job", job.ID, "matched", job.Matched,
		"who", o.who)
	w.Header().Set("Location", "/v1/dead-letters/redrive/"+job.ID)
	answer(w, http.StatusAccepted, job)
}

// readRedrive reads and checks the request, naming every field that is wrong.
func readRedrive(raw []byte) (RedriveRequest, *problem) {
	var request RedriveRequest
	wrong := unknownFields(raw)
	if len(wrong) == 0 {
		if p := decode(raw, &request); p != nil {
			return request, p
		}
	}
	if len(wrong) == 0 && request.Filter == nil {
		wrong = append(wrong, field{"filter", "nothing", "an object with some of " + filterFields +
			"; {} chooses every dead letter"})
	}
	if n := request.PerSecond; n < 0 || n > PerSecondMax {
		wrong = append(wrong, field{"per_second", strconv.Itoa(n),
			fmt.Sprintf("1 to %d, or nothing for %d", PerSecondMax, PerSecondDefault)})
	}
	if request.ID != "" && wire.CheckPrinter(request.ID) != nil {
		wrong = append(wrong, field{"id", shorten(request.ID), "1 to 64 of A-Z, a-z, 0-9 and ._-"})
	}
	if p := checkReason(request.Reason, 0); p != nil {
		wrong = append(wrong, p.Errors...)
	}
	if len(wrong) > 0 {
		p := invalid(wrong...)
		p.Hint = "with dry_run nothing is changed; the answer says what would be"
		return request, &p
	}
	if request.PerSecond == 0 {
		request.PerSecond = PerSecondDefault
	}
	return request, nil
}

const filterFields = "station, kitchen, reason, order, since, until"

// unknownFields names the fields that no redrive has: one that is misspelt would choose too much.
func unknownFields(raw []byte) (wrong []field) {
	known := map[string]bool{"filter": true, "dry_run": true, "per_second": true, "reason": true,
		"id": true}
	var request map[string]json.RawMessage
	if json.Unmarshal(raw, &request) != nil {
		return nil // decode says what is wrong.
	}
	for name := range request {
		if !known[name] {
			wrong = append(wrong, field{shorten(name), "",
				"one of filter, dry_run, per_second, reason, id"})
		}
	}
	var filter map[string]json.RawMessage
	if json.Unmarshal(request["filter"], &filter) != nil {
		return wrong
	}
	for name := range filter {
		if !strings.Contains(", "+filterFields+",", ", "+name+",") {
			wrong = append(wrong, field{"filter." + shorten(name), "", "one of " + filterFields})
		}
	}
	return wrong
}

// redriveJob serves GET /v1/dead-letters/redrive/{job}. A ticket of an order that is called redrive
// has the same path; only a ticket's id holds an @.
func (d *Door) redriveJob(w http.ResponseWriter, r *http.Request, o owner) {
	id := r.PathValue("job")
	if strings.Contains(id, "@") {
		r.SetPathValue("delivery", "redrive/"+id)
		d.deadLetter(w, r, o)
		return
	}
	job, err := d.BackOffice.RedriveJob(r.Context(), o.tenant, id)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	answer(w, http.StatusOK, job)
}

// audit serves GET /v1/audit.
func (d *Door) audit(w http.ResponseWriter, r *http.Request, o owner) {
	var wrong []field
	since, bad := number(r.URL.Query(), "since", 0, 0, 1<<53)
	if bad != nil {
		wrong = append(wrong, *bad)
	}
	limit, bad := number(r.URL.Query(), "limit", AuditDefault, 1, AuditMax)
	if bad != nil {
		wrong = append(wrong, *bad)
	}
	if len(wrong) > 0 {
		invalid(wrong...).write(w)
		return
	}
	list, next, more, err := d.BackOffice.Audit(r.Context(), o.tenant, since, int(limit))
	if err != nil {
		d.fail(w, r, err)
		return
	}
	if list == nil {
		list = []Entry{}
	}
	answer(w, http.StatusOK, map[string]any{"entries": list, "next": next, "more": more})
}
