package intake

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// wishes is a Stale that remembers what it was told.
type wishes struct {
	who  string
	told StaleAnswer
}

func (w *wishes) Stale(context.Context, string, Place, int) ([]Ticket, Place, error) {
	return nil, Place{}, nil
}

func (w *wishes) AnswerStale(_ context.Context, _, who string, a StaleAnswer) ([]Ticket, error) {
	w.who, w.told = who, a
	return nil, nil
}

func TestAnAnswerAboutStaleTicketsIsCheckedBeforeItCounts(t *testing.T) {
	long := strings.Repeat("x", ReasonMax+1)
	many := strings.TrimSuffix(strings.Repeat(`"1/1@s",`, StaleMax+1), ",")
	for _, test := range []struct {
		name, body, field string
	}{
		{"station", `{"station":"grill","answer":"print","reason":"they wait"}`, ""},
		{"tickets", `{"tickets":["1/1@s"],"answer":"drop"}`, ""},
		{"no answer", `{"station":"grill"}`, "answer"},
		{"another answer", `{"station":"grill","answer":"burn"}`, "answer"},
		{"nothing chosen", `{"answer":"print"}`, "station"},
		{"both", `{"station":"grill","tickets":["1/1@s"],"answer":"print"}`, "tickets"},
		{"too many", `{"tickets":[` + many + `],"answer":"print"}`, "tickets"},
		{"a long reason", `{"station":"grill","answer":"print","reason":"` + long + `"}`, "reason"},
		{"a misspelt field", `{"stations":"grill","answer":"print"}`, "stations"},
	} {
		w := &wishes{}
		tokens := TokenList{{SHA256: TokenDigest("secret"), Tenant: "t1", Who: "ana"}}
		door := New(Config{Desk: &memory{}, Tokens: tokens, Stale: w})
		r := httptest.NewRequest("POST", "/v1/stale/answer", strings.NewReader(test.body))
		r.Header.Set("Authorization", "Bearer secret")
		answer := httptest.NewRecorder()
		door.ServeHTTP(answer, r)
		want := http.StatusAccepted
		if test.field != "" {
			want = http.StatusUnprocessableEntity
		}
		if answer.Code != want || !strings.Contains(answer.Body.String(), test.field) {
			t.Errorf("%s: %d %s", test.name, answer.Code, answer.Body)
		}
		if told := w.who == "ana"; told != (test.field == "") {
			t.Errorf("%s: told %v: %s", test.name, told, fmt.Sprint(w.told))
		}
	}
}
