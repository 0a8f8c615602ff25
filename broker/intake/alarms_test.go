package intake

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// bell is alarms with one alarm.
type bell struct {
	asked        string // the state that was asked for
	who, why     string
	level, tests int
}

func (b *bell) Alarms(_ context.Context, _, state string) ([]Alarm, error) {
	b.asked = state
	return nil, nil
}

func (b *bell) Alarm(_ context.Context, tenant, id string) (Alarm, error) {
	if tenant != "t1" || id != "late/grill" {
		return Alarm{}, fmt.Errorf("%w: no such alarm", ErrNotFound)
	}
	return Alarm{ID: id, State: "raised", Tries: []AlarmTry{}, Timeline: []AlarmMoment{}}, nil
}

func (b *bell) Acknowledge(ctx context.Context, tenant, id, who, why string) (Alarm, error) {
	b.who, b.why = who, why
	return b.Alarm(ctx, tenant, id)
}

func (b *bell) Test(_ context.Context, _ string, level int) ([]AlarmTest, error) {
	b.level = level
	b.tests++
	return []AlarmTest{{Destination: "phone", Level: 1, OK: true}}, nil
}

func TestEveryAnswerOfTheAlarmDoor(t *testing.T) {
	b := &bell{}
	d := New(Config{Desk: &memory{}, Alarms: b,
		Tokens: TokenList{{SHA256: TokenDigest(token), Tenant: "t1", Who: "owner"}}})
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		holds                    string
	}{
		{"open ones are the default", "GET", "/v1/alarms", "", 200, `"alarms":[]`},
		{"a state that is none names the field", "GET", "/v1/alarms?state=loud", "", 422,
			`"field":"state","found":"loud"`},
		{"one by its cause", "GET", "/v1/alarms/late/grill", "", 200, `"id":"late/grill"`},
		{"its slash may be escaped", "GET", "/v1/alarms/late%2Fgrill", "", 200, `"id":"late/grill"`},
		{"one that is not there", "GET", "/v1/alarms/late/moon", "", 404, "not-found"},
		{"acknowledged with a reason", "POST", "/v1/alarms/late%2Fgrill/acknowledge",
			`{"reason":"on my way"}`, 200, `"id":"late/grill"`},
		{"acknowledged without a body", "POST", "/v1/alarms/late/grill/acknowledge", "", 200, ""},
		{"another's", "POST", "/v1/alarms/late/moon/acknowledge", "", 404, "not-found"},
		{"an unknown field", "POST", "/v1/alarms/late/grill/acknowledge", `{"why":1}`, 422, "invalid"},
		{"no such verb", "POST", "/v1/alarms/late/grill", "", 404, "not-found"},
		{"a test of all levels", "POST", "/v1/alarms/test", "", 200, `"destination":"phone"`},
		{"a test of a level that is none", "POST", "/v1/alarms/test", `{"level":4}`, 422,
			`"field":"level"`},
		{"another method", "PUT", "/v1/alarms/late/grill", "", 405, "method-not-allowed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := call(d, c.method, c.path, c.body)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.holds) ||
				!json.Valid(w.Body.Bytes()) {
				t.Errorf("%d %s, want %d with %s", w.Code, w.Body, c.status, c.holds)
			}
		})
	}
	if w := call(d, "GET", "/v1/alarms", "", "Authorization", ""); w.Code != 401 {
		t.Errorf("without a token: %d", w.Code)
	}
	call(d, "GET", "/v1/alarms?state=over", "")
	call(d, "POST", "/v1/alarms/late/grill/acknowledge", `{"reason":"seen"}`)
	call(d, "POST", "/v1/alarms/test", `{"level":2}`)
	if b.asked != "over" || b.who != "owner" || b.why != "seen" || b.level != 2 || b.tests != 2 {
		t.Errorf("passed on: %+v", b)
	}
}
