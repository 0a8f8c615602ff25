package intake

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// calendar knows one station, grill.
type calendar struct{}

func (calendar) Days(_ context.Context, tenant, day, station string) ([]Day, error) {
	if station != "" && station != "grill" {
		return nil, fmt.Errorf("%w %q", ErrStation, station)
	}
	return []Day{{Station: "grill", Day: day, First: 1, Last: 2, Count: 2, Slip: tenant}}, nil
}

func (c calendar) PrintDays(ctx context.Context, tenant, day, station string) ([]Slip, error) {
	_, err := c.Days(ctx, tenant, day, station)
	return []Slip{{Station: "grill", Day: day, ID: "day-1/1"}}, err
}

func TestTheDoorPrintsADay(t *testing.T) {
	tokens := TokenList{{SHA256: TokenDigest(token), Tenant: "t1", Who: "owner"}}
	d := New(Config{Desk: &memory{}, Tokens: tokens, Days: calendar{}})
	w := call(d, http.MethodPost, "/v1/days/today/print?station=grill", "")
	if w.Code != http.StatusAccepted || !strings.Contains(w.Body.String(), `"id":"day-1/1"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	wantProblem(t, call(d, http.MethodPost, "/v1/days/tomorrow/print", ""), "invalid", "day")
	if w := call(d, http.MethodPost, "/v1/days/today/print?station=bar", ""); w.Code !=
		http.StatusUnprocessableEntity {
		t.Errorf("an unknown station: %d %s", w.Code, w.Body)
	}
}

func TestTheDoorTellsADayOfNumbers(t *testing.T) {
	tokens := TokenList{{SHA256: TokenDigest(token), Tenant: "t1", Who: "owner"}}
	d := New(Config{Desk: &memory{}, Tokens: tokens, Days: calendar{}})
	for _, path := range []string{"/v1/days/2026-12-01", "/v1/days/yesterday",
		"/v1/days/today?station=grill"} {
		w := call(d, http.MethodGet, path, "")
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"station":"grill"`) ||
			!strings.Contains(w.Body.String(), `"slip":"t1"`) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	wantProblem(t, call(d, http.MethodGet, "/v1/days/tomorrow", ""), "invalid", "day")
	w := call(d, http.MethodGet, "/v1/days/today?station=bar", "")
	if w.Code != http.StatusUnprocessableEntity {
		t.Errorf("an unknown station: %d %s", w.Code, w.Body)
	}
}
