package intake

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Alarms is what the door needs of the alarms. Acknowledge returns after the commit.
type Alarms interface {
	// Alarms lists a tenant's alarms in one of [AlarmStates], newest first.
	Alarms(ctx context.Context, tenant, state string) ([]Alarm, error)
	// Alarm is one of them with everything that is known about it, by its cause.
	Alarm(ctx context.Context, tenant, id string) (Alarm, error)
	// Acknowledge says that who has it: the ladder ends. who and why go into the audit.
	Acknowledge(ctx context.Context, tenant, id, who, why string) (Alarm, error)
	// Test sends a test to the tenant's destinations of a level, all of them where it is 0, and
	// waits for what each answered.
	Test(ctx context.Context, tenant string, level int) ([]AlarmTest, error)
}

// AlarmStates are what alarms can be asked for by: open is raised, acknowledged or clearing.
var AlarmStates = []string{"open", "raised", "acknowledged", "clearing", "over", "all"}

// Alarm is an alarm as the API shows it.
type Alarm struct {
	// ID is its cause, "<what>/<station or device>".
	ID string `json:"id"`
	// State is raised, acknowledged, clearing or over.
	State    string `json:"state"`
	Severity string `json:"severity"`
	Kitchen  string `json:"kitchen,omitempty"`
	Station  string `json:"station,omitempty"`
	Device   string `json:"device,omitempty"`
	Count    int    `json:"count"`
	Text     string `json:"text"`
	// Episode counts how often the cause came up anew.
	Episode uint64 `json:"episode"`
	// Level is how far the ladder was climbed; NextAt is when it goes on, absent where it does not.
	Level     int        `json:"level"`
	RaisedAt  time.Time  `json:"raised_at"`
	NextAt    *time.Time `json:"next_at,omitempty"`
	ClearedAt *time.Time `json:"cleared_at,omitempty"`

	Acknowledged *Acknowledged `json:"acknowledged,omitempty"`

	Tries    []AlarmTry    `json:"tries"`
	Timeline []AlarmMoment `json:"timeline"`
}

// Acknowledged is who has an alarm.
type Acknowledged struct {
	At     time.Time `json:"at"`
	Who    string    `json:"who"`
	Reason string    `json:"reason,omitempty"`
}

// AlarmTry is one try to tell one destination.
type AlarmTry struct {
	At          time.Time `json:"at"`
	Message     string    `json:"message"` // the webhook-id
	Level       int       `json:"level"`
	Destination string    `json:"destination"`
	// Outcome is sent, failed, refused (for good) or deferred (the destination's breaker is open).
	Outcome string `json:"outcome"`
	Error   string `json:"error,omitempty"`
}

// AlarmMoment is one line of an alarm's life.
type AlarmMoment struct {
	At       time.Time `json:"at"`
	What     string    `json:"what"`
	Severity string    `json:"severity"`
	Level    int       `json:"level"`
	Count    int       `json:"count"`
	Who      string    `json:"who,omitempty"`
	Reason   string    `json:"reason,omitempty"`
}

// AlarmTest is what one destination made of a test.
type AlarmTest struct {
	Destination string `json:"destination"`
	Level       int    `json:"level"`
	OK          bool   `json:"ok"`
	Error       string `json:"error,omitempty"`
	TookMS      int64  `json:"took_ms"`
}

// alarms serves GET /v1/alarms.
func (d *Door) alarms(w http.ResponseWriter, r *http.Request, o owner) {
	state := r.URL.Query().Get("state")
	if state == "" {
		state = "open"
	}
	if !slices.Contains(AlarmStates, state) {
		invalid(field{"state", shorten(state), "one of " +
			strings.Join(AlarmStates, ", ")}).write(w)
		return
	}
	list, err := d.Alarms.Alarms(r.Context(), o.tenant, state)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	if list == nil {
		list = []Alarm{}
	}
	answer(w, http.StatusOK, map[string]any{"alarms": list})
}

// alarm serves GET /v1/alarms/{alarm}; the id holds a slash, escaped or not.
func (d *Door) alarm(w http.ResponseWriter, r *http.Request, o owner) {
	view, err := d.Alarms.Alarm(r.Context(), o.tenant, r.PathValue("alarm"))
	if err != nil {
		d.fail(w, r, err)
		return
	}
	answer(w, http.StatusOK, view)
}

// postAlarm serves POST /v1/alarms/{alarm}/acknowledge, which is safe to repeat, and
// POST /v1/alarms/test.
func (d *Door) postAlarm(w http.ResponseWriter, r *http.Request, o owner) {
	path := r.PathValue("alarm")
	id, isAcknowledge := strings.CutSuffix(path, "/acknowledge")
	if !isAcknowledge && path != "test" {
		d.unknown(w, r)
		return
	}
	raw, err := body(w, r, bodyMax)
	if err != nil {
		d.refuseBody(w, r, err)
		return
	}
	if !isAcknowledge {
		d.testAlarms(w, r, o, raw)
		return
	}
	var request struct {
		Reason string `json:"reason"`
	}
	if len(raw) > 0 {
		if p := decode(raw, &request); p != nil {
			p.write(w)
			return
		}
	}
	if p := checkReason(request.Reason, 0); p != nil {
		p.write(w)
		return
	}
	view, err := d.Alarms.Acknowledge(r.Context(), o.tenant, id, o.who, request.Reason)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	d.Log.Info("alarm acknowledged", "tenant", o.tenant, "cause", view.ID, "who", o.who)
	answer(w, http.StatusOK, view)
}

func (d *Door) testAlarms(w http.ResponseWriter, r *http.Request, o owner, raw []byte) {
	var request struct {
		Level int `json:"level"`
	}
	if len(raw) > 0 {
		if p := decode(raw, &request); p != nil {
			p.write(w)
			return
		}
	}
	if request.Level < 0 || request.Level > 3 {
		invalid(field{"level", "", "1 to 3, or nothing for all of them"}).write(w)
		return
	}
	results, err := d.Alarms.Test(r.Context(), o.tenant, request.Level)
	if err != nil {
		d.fail(w, r, err)
		return
	}
	if results == nil {
		results = []AlarmTest{}
	}
	answer(w, http.StatusOK, map[string]any{"tests": results})
}
