package intake

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"chit/device/wire"
)

// memory is a Desk that keeps tickets by id and content, as the broker does.
type memory struct {
	mu    sync.Mutex
	byID  map[string]Ticket
	fail  error
	panic bool
	dead  int
}

func (m *memory) Accept(_ context.Context, _ string, c wire.Content, data []byte) (Ticket, bool,
	error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.panic:
		panic("a bug")
	case m.fail != nil:
		return Ticket{}, false, m.fail
	case c.Kitchen != "main":
		return Ticket{}, false, fmt.Errorf("%w: %q", ErrKitchen, c.Kitchen)
	case c.Station != "grill" && c.Station != "bar":
		return Ticket{}, false, fmt.Errorf("%w: %q", ErrStation, c.Station)
	}
	id := c.ID + "@" + c.Station
	known, repeat := m.byID[id]
	if repeat && known.Digest != wire.Digest(data) {
		return Ticket{}, false, ErrConflict
	}
	if !repeat {
		known = Ticket{ID: c.ID, Ticket: id, Station: c.Station, Digest: wire.Digest(data),
			State: "waiting", Timeline: []Moment{}}
		m.byID[id] = known
	}
	return known, repeat, nil
}

func (m *memory) Tickets(_ context.Context, _, order string, seq int, _ string) ([]Ticket, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Ticket
	for _, station := range []string{"bar", "grill"} {
		if t, ok := m.byID[fmt.Sprintf("%s/%d@%s", order, seq, station)]; ok {
			out = append(out, t)
		}
	}
	return out, nil
}

// Dead has as many dead letters as m.dead says, one a minute.
func (m *memory) Dead(_ context.Context, _ string, after Place, limit int) ([]Ticket, Place,
	error) {
	var list []Ticket
	for n := range m.dead {
		at := Place{At: time.Unix(0, 0).UTC().Add(time.Duration(n) * time.Minute),
			Ticket: fmt.Sprintf("o%d/1@grill", n)}
		if after != (Place{}) && !at.At.After(after.At) {
			continue
		}
		if list = append(list, Ticket{Ticket: at.Ticket}); len(list) == limit && n+1 < m.dead {
			return list, at, nil
		}
	}
	return list, Place{}, nil
}

func (m *memory) DeadLetter(_ context.Context, _, id string) (Ticket, error) {
	if id != "o1/1@grill" {
		return Ticket{}, fmt.Errorf("%w: no dead letter", ErrNotFound)
	}
	return Ticket{ID: "o1/1", Ticket: id, State: "dead"}, nil
}

func (m *memory) Redrive(ctx context.Context, tenant, id, _, _ string) (Ticket, error) {
	return m.DeadLetter(ctx, tenant, id)
}

func (m *memory) Ready(context.Context) error { return m.fail }

const token = "t-secret"

func newDoor(t *testing.T) (*Door, *memory) {
	t.Helper()
	m := &memory{byID: map[string]Ticket{}}
	tokens := TokenList{{SHA256: TokenDigest(token), Tenant: "t1", Who: "owner"}}
	if err := tokens.Check(); err != nil {
		t.Fatal(err)
	}
	return New(Config{Desk: m, Tokens: tokens}), m
}

func call(d http.Handler, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w
}

func ticketBody(id, station, item string) string {
	return fmt.Sprintf(`{"id":%q,"kitchen":"main","station":%q,"kind":"new","order":"41",`+
		`"items":[{"quantity":2,"name":%q}]}`, id, station, item)
}

func TestEveryAnswerOfTheTicketDoor(t *testing.T) {
	good := ticketBody("o1/1", "grill", "burger")
	cases := []struct {
		name, body string
		headers    []string
		status     int
		wantType   string
		wantField  string
	}{
		{"first time is 202", good, nil, 202, "", ""},
		{"the same again is 200", good, nil, 200, "", ""},
		{"the same in other order and spacing is 200",
			strings.Replace(good, `{"id":"o1/1","kitchen":"main",`, `{ "kitchen":"main", "id":"o1/1",`, 1),
			nil, 200, "", ""},
		{"other content is 409", ticketBody("o1/1", "grill", "salad"), nil, 409, "id-conflict", ""},
		{"same mutation at another station is its own ticket", ticketBody("o1/1", "bar", "beer"),
			nil, 202, "", ""},
		{"unknown station is 422", ticketBody("o2/1", "moon", "x"), nil, 422, "invalid", "station"},
		{"unknown field is 422", strings.Replace(good, `"kind"`, `"colour":1,"kind"`, 1), nil, 422,
			"invalid", "colour"},
		{"wrong quantity names its item", strings.Replace(good, `:2,`, `:"two",`, 1), nil, 422,
			"invalid", "items[0].quantity"},
		{"not JSON is 422", "two burgers", nil, 422, "invalid", ""},
		{"empty is 422", "", nil, 422, "invalid", ""},
		{"over 1 m of paper is 422", strings.Replace(ticketBody("o3/1", "grill", "x"), `"items":[`,
			`"items":[`+strings.Repeat(`{"quantity":1,"name":"soup","modifiers":["hot"]},`, 150), 1),
			nil, 422, "invalid", "items"},
		{"over 40 KiB is 413", `{"note":"` + strings.Repeat("x", wire.ContentMax) + `"}`, nil, 413,
			"too-large", ""},
		{"no token is 401", good, []string{"Authorization", ""}, 401, "no-token", ""},
		{"wrong token is 401", good, []string{"Authorization", "Bearer nope"}, 401, "no-token", ""},
		{"basic auth is 401", good, []string{"Authorization", "Basic " + token}, 401, "no-token", ""},
		{"a forgotten Content-Type costs nothing", good,
			[]string{"Content-Type", "application/x-www-form-urlencoded"}, 200, "", ""},
		{"JSON with a charset passes", good, []string{"Content-Type", "application/json; charset=utf-8"},
			200, "", ""},
	}
	door, _ := newDoor(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := call(door, "POST", "/v1/tickets", c.body, c.headers...)
			if w.Code != c.status {
				t.Fatalf("status %d, want %d: %s", w.Code, c.status, w.Body)
			}
			if c.wantType != "" {
				wantProblem(t, w, c.wantType, c.wantField)
			}
		})
	}
}

func wantProblem(t *testing.T, w *httptest.ResponseRecorder, kind, fieldName string) {
	t.Helper()
	if got := w.Header().Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("Content-Type %q, want a problem", got)
	}
	var p problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatalf("not a problem document: %v: %s", err, w.Body)
	}
	if p.Type != typePrefix+kind || p.Status != w.Code {
		t.Errorf("type %q status %d, want %q %d", p.Type, p.Status, typePrefix+kind, w.Code)
	}
	for _, f := range p.Errors {
		if f.Field == fieldName && f.Expected != "" {
			return
		}
	}
	if fieldName != "" {
		t.Errorf("no error names %q: %s", fieldName, w.Body)
	}
}

func TestABusyDeskIsATemporaryAnswerWithRetryAfter(t *testing.T) {
	door, m := newDoor(t)
	m.fail = fmt.Errorf("queue: %w", ErrBusy)
	w := call(door, "POST", "/v1/tickets", ticketBody("o1/1", "grill", "burger"))
	if w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Fatalf("status %d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
	}
}

func TestAPanicEndsOneRequestAndSaysNothingOfItsCause(t *testing.T) {
	door, m := newDoor(t)
	m.panic = true
	w := call(door, "POST", "/v1/tickets", ticketBody("o1/1", "grill", "burger"))
	if w.Code != 500 || strings.Contains(w.Body.String(), "a bug") {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
}

func TestATicketIsFoundByItsMutationAndStation(t *testing.T) {
	door, _ := newDoor(t)
	for _, body := range []string{ticketBody("o1/1", "grill", "a"), ticketBody("o1/1", "bar", "b"),
		ticketBody("o2/1", "bar", "c")} {
		if w := call(door, "POST", "/v1/tickets", body); w.Code != 202 {
			t.Fatalf("status %d: %s", w.Code, w.Body)
		}
	}
	for path, status := range map[string]int{
		"/v1/tickets/o2/1":               200,
		"/v1/tickets/o1/1":               422, // two stations: which?
		"/v1/tickets/o1/1?station=grill": 200,
		"/v1/tickets/o1/1?station=moon":  404,
		"/v1/tickets/o1/2":               404,
		"/v1/tickets/o1/01":              422,
		"/v1/tickets/o1/x":               422,
		"/v1/nothing":                    404,
	} {
		if w := call(door, "GET", path, ""); w.Code != status {
			t.Errorf("GET %s: status %d, want %d: %s", path, w.Code, status, w.Body)
		}
	}
}

func TestADeadLetterIsNamedByItsTicketWithTheSlashEscapedOrNot(t *testing.T) {
	door, _ := newDoor(t)
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/v1/dead-letters", 200},
		{"GET", "/v1/dead-letters/o1/1@grill", 200},
		{"GET", "/v1/dead-letters/o1%2F1@grill", 200},
		{"GET", "/v1/dead-letters/o1/2@grill", 404},
		{"POST", "/v1/dead-letters/o1%2F1@grill/redrive", 202},
		{"POST", "/v1/dead-letters/o1/1@grill/redrive", 202},
		{"POST", "/v1/dead-letters/o1/1@grill", 404},
	} {
		if w := call(door, c.method, c.path, ""); w.Code != c.status {
			t.Errorf("%s %s: status %d, want %d: %s", c.method, c.path, w.Code, c.status, w.Body)
		}
	}
}

func TestAnotherMethodOfAKnownPathIs405WithWhatIsAllowed(t *testing.T) {
	door, _ := newDoor(t)
	for _, c := range []struct{ method, path, allow string }{
		{"PUT", "/v1/tickets", "POST"},
		{"GET", "/v1/tickets", "POST"},
		{"DELETE", "/v1/tickets/o1/1", "GET, HEAD"},
		{"POST", "/v1/tickets/o1/1/r1", "GET, HEAD"},
		{"PUT", "/v1/dead-letters", "GET, HEAD"},
		{"PUT", "/v1/dead-letters/o1/1@grill", "GET, HEAD, POST"},
		{"BREW", "/healthz", "GET, HEAD"},
	} {
		w := call(door, c.method, c.path, "")
		if w.Code != 405 || w.Header().Get("Allow") != c.allow {
			t.Errorf("%s %s: status %d, Allow %q; want 405, %q", c.method, c.path, w.Code,
				w.Header().Get("Allow"), c.allow)
			continue
		}
		wantProblem(t, w, "method-not-allowed", "")
	}
	if w := call(door, "PUT", "/v1/nothing", ""); w.Code != 404 {
		t.Errorf("an unknown path: status %d, want 404", w.Code)
	}
}

func TestABodyThatIsNotJSONIsToldWhere(t *testing.T) {
	door, _ := newDoor(t)
	for body, want := range map[string]string{
		"{\n \"id\": \"1/1\",\n}": "line 3, column 1 has \"}\" where a name in quotes must stand",
		"":                        "line 1, column 1 has the end where a value must stand",
		strings.Repeat("[", 99):   "",
	} {
		w := call(door, "POST", "/v1/tickets", body)
		var p problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != 422 ||
			!strings.Contains(p.Detail, want) || strings.Contains(w.Body.String(), "wire:") {
			t.Errorf("%.20q: %d %v %s; want %q", body, w.Code, err, w.Body, want)
		}
	}
}

// FuzzTicketRequest holds the door to three promises about foreign bytes: no internal error, no
// acceptance of what the canonical form refuses, and a problem document for every refusal.
func FuzzTicketRequest(f *testing.F) {
	f.Add(ticketBody("o1/1", "grill", "burger"))
	f.Add(`{"id":"o/1","kitchen":"main","station":"grill","kind":"void"}`)
	f.Add(`{"id":1}`)
	f.Add(`[[[[`)
	f.Add("\xff\xfe")
	f.Fuzz(func(t *testing.T, body string) {
		m := &memory{byID: map[string]Ticket{}}
		door := New(Config{Desk: m, Tokens: TokenList{{SHA256: TokenDigest(token), Tenant: "t1"}}})
		w := call(door, "POST", "/v1/tickets", body)
		_, _, err := wire.Canonical([]byte(body))
		switch {
		case w.Code == 202 && err != nil:
			t.Fatalf("accepted what is not canonical: %v", err)
		case w.Code == 202, w.Code == 413 || w.Code == 422:
		default:
			t.Fatalf("status %d: %s", w.Code, w.Body)
		}
		if w.Code != 202 && !json.Valid(w.Body.Bytes()) {
			t.Fatalf("a refusal that is not JSON: %q", w.Body)
		}
	})
}
