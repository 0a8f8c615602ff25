package intake

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// everyDoor is a door with all its routes.
func everyDoor(m *memory) *Door {
	return New(Config{Desk: m,
		Tokens: TokenList{{SHA256: TokenDigest(token), Tenant: "t1", Who: "owner"}},
		Fleet:  noFleet{}, Alarms: &bell{}, BackOffice: &papers{}, Stale: noStale{}, Days: calendar{},
		Kitchens: noKitchens{}, Metrics: http.NotFoundHandler()})
}

func TestNoRouteIgnoresAQueryFieldThatItDoesNotKnow(t *testing.T) {
	door := everyDoor(&memory{byID: map[string]Ticket{}})
	for _, r := range door.routes() {
		method, path, _ := strings.Cut(r.pattern, " ")
		w := call(door, method, path+"?statoin=grill", "")
		wantProblem(t, w, "invalid", "statoin")
		if !strings.Contains(w.Body.String(), "expected") {
			t.Errorf("%s: %s", r.pattern, w.Body)
		}
		for _, name := range r.query {
			wantProblem(t, call(door, method, path+"?"+name+"=1&"+name+"=2", ""), "invalid", name)
		}
	}
	wantProblem(t, call(door, "GET", "/v1/alarms?state=over;x", ""), "invalid", "query")
}

func TestThePublishedDocumentListsExactlyTheQueryFields(t *testing.T) {
	type parameter struct{ Name, In string }
	type operation struct{ Parameters []parameter }
	var doc struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(openapi, &doc); err != nil {
		t.Fatal(err)
	}
	published := map[string][]string{}
	for path, methods := range doc.Paths {
		var shared []parameter
		if raw := methods["parameters"]; raw != nil {
			if err := json.Unmarshal(raw, &shared); err != nil {
				t.Fatal(err)
			}
		}
		for method, raw := range methods {
			if method == "parameters" {
				continue
			}
			var one operation
			if err := json.Unmarshal(raw, &one); err != nil {
				t.Fatal(err)
			}
			name := strings.ToUpper(method) + " " + path
			for _, p := range append(one.Parameters, shared...) {
				if p.In == "query" {
					published[name] = append(published[name], p.Name)
				}
			}
		}
	}
	queried := 0
	for _, r := range everyDoor(&memory{}).routes() {
		listed := published[r.pattern]
		slices.Sort(listed)
		if !slices.Equal(listed, slices.Sorted(slices.Values(r.query))) {
			t.Errorf("%s: published %q, known %q", r.pattern, listed, r.query)
		}
		if len(r.query) > 0 {
			queried++
		}
	}
	if queried != len(published) {
		t.Errorf("%d routes have a query, %d are published: %v", queried, len(published), published)
	}
}

// pages reads a list to its end.
func pages(t *testing.T, door *Door, limit string) (tickets []string, answers int) {
	t.Helper()
	for next := ""; ; answers++ {
		w := call(door, "GET", "/v1/dead-letters?limit="+limit+"&after="+url.QueryEscape(next), "")
		var page struct {
			List []Ticket `json:"dead_letters"`
			Next string   `json:"next"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || w.Code != 200 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		for _, one := range page.List {
			tickets = append(tickets, one.Ticket)
		}
		if next = page.Next; next == "" {
			return tickets, answers + 1
		}
	}
}

func TestDeadLettersAreReadPageByPage(t *testing.T) {
	door := everyDoor(&memory{dead: 7})
	for limit, answers := range map[string]int{"2": 4, "7": 1, "3": 3, "1000": 1} {
		tickets, got := pages(t, door, limit)
		if len(tickets) != 7 || tickets[0] != "o0/1@grill" || tickets[6] != "o6/1@grill" ||
			len(slices.Compact(tickets)) != 7 || got != answers {
			t.Errorf("limit %s: %d answers with %q", limit, got, tickets)
		}
	}
	for query, name := range map[string]string{"limit=0": "limit", "limit=1001": "limit",
		"limit=x": "limit", "after=x": "after", "after=MTIz": "after"} {
		wantProblem(t, call(door, "GET", "/v1/dead-letters?"+query, ""), "invalid", name)
		wantProblem(t, call(door, "GET", "/v1/stale?"+query, ""), "invalid", name)
	}
}

func TestErrorsOfRequestsSayNothingOfGo(t *testing.T) {
	for _, test := range []struct{ path, body, found, expected string }{
		{"/v1/stale/answer", `{"station":1,"answer":"print"}`, "a JSON number", "a JSON string"},
		{"/v1/stale/answer", `{"stations":"x"}`, "an unknown field", "station, tickets, answer, reason"},
		{"/v1/stale/answer", `{"station":`, "JSON that ends early", "a JSON object"},
		{"/v1/stale/answer", `{]`, "no JSON at byte 2", "a JSON object"},
		{"/v1/stale/answer", `{"answer":"drop"}{}`, "more behind it", "one JSON object"},
		{"/v1/stale/answer", `[]`, "a JSON array", "a JSON object"},
		{"/v1/alarms/test", `{"level":"loud"}`, "a JSON string", "a whole number"},
		{"/v1/dead-letters/redrive", `{"filter":{"since":"noon"}}`, "noon", "an instant"},
		{"/v1/dead-letters/redrive", `{"filter":{},"dry_run":3}`, "a JSON number", "true or false"},
		{"/v1/devices/codes", `{"stations":"grill"}`, "a JSON string", "a JSON array"},
		{"/v1/tickets/o1/1/cancel", `{"cause":"x"}`, "an unknown field", "reason, station"},
	} {
		w := call(everyDoor(&memory{}), "POST", test.path, test.body)
		said := w.Body.String()
		if w.Code != http.StatusUnprocessableEntity || !strings.Contains(said, test.found) ||
			!strings.Contains(said, test.expected) || innerWords(w) {
			t.Errorf("%s %s: %d %s", test.path, test.body, w.Code, said)
		}
	}
	w := call(everyDoor(&memory{}), "POST", "/v1/tickets", `{"id":1}`)
	if !strings.Contains(w.Body.String(), "/schemas/ticket.json") {
		t.Errorf("a ticket's error does not name its schema: %s", w.Body)
	}
}

// innerWords finds what only this program's makers should read, and a hint of another door.
func innerWords(w *httptest.ResponseRecorder) bool {
	for _, word := range []string{"json:", "Go ", "struct", "unmarshal", "intake", "delivery:",
		"schemas/ticket.json", "parsing time"} {
		if strings.Contains(w.Body.String(), word) {
			return true
		}
	}
	return false
}
