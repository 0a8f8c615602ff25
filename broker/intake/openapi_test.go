package intake

import (
	"context"
	"encoding/json"
	"net/http"
	"sort"
	"strings"
	"testing"
)

type noFleet struct{}

func (noFleet) PairHandler() http.Handler  { return http.NotFoundHandler() }
func (noFleet) RenewHandler() http.Handler { return http.NotFoundHandler() }
func (noFleet) NewCode(context.Context, string, []string) (Code, error) {
	return Code{}, nil
}
func (noFleet) Devices(context.Context, string) ([]Device, error) { return nil, nil }
func (noFleet) Bind(context.Context, string, string, []string, string) error {
	return nil
}
func (noFleet) Revoke(context.Context, string, string, string, string) error {
	return nil
}

type noStale struct{}

func (noStale) Stale(context.Context, string, Place, int) ([]Ticket, Place, error) {
	return nil, Place{}, nil
}

func (noStale) AnswerStale(context.Context, string, string, StaleAnswer) ([]Ticket, error) {
	return nil, nil
}

type noKitchens struct{}

func (noKitchens) Rhythm(context.Context, string, string) (Rhythm, error) { return Rhythm{}, nil }

func TestThePublishedDocumentListsExactlyTheRoutes(t *testing.T) {
	var doc struct {
		OpenAPI string                                `json:"openapi"`
		Paths   map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(openapi, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.OpenAPI != "3.1.0" {
		t.Errorf("openapi %q", doc.OpenAPI)
	}
	var published []string
	for path, methods := range doc.Paths {
		for method := range methods {
			if method != "parameters" {
				published = append(published, strings.ToUpper(method)+" "+path)
			}
		}
	}
	door := New(Config{Desk: &memory{}, Tokens: TokenList{}, Fleet: noFleet{}, Alarms: &bell{},
		BackOffice: &papers{}, Stale: noStale{}, Days: calendar{}, Kitchens: noKitchens{},
		Metrics: http.NotFoundHandler()})
	var routed []string
	for _, r := range door.routes() {
		p := strings.Replace(r.pattern, "{delivery...}", "{delivery}", 1)
		p = strings.Replace(p, "{alarm...}", "{alarm}", 1)
		switch {
		case p == "POST /v1/dead-letters/{delivery}": // An id holds slashes: what to do follows it.
			routed = append(routed, p+"/redrive")
			p += "/discard"
		case strings.HasPrefix(p, "POST /v1/alarms/"):
			p += "/acknowledge"
			routed = append(routed, "POST /v1/alarms/test")
		}
		routed = append(routed, p)
	}
	sort.Strings(published)
	sort.Strings(routed)
	if a, b := strings.Join(published, "\n"), strings.Join(routed, "\n"); a != b {
		t.Errorf("published:\n%s\n\nrouted:\n%s", a, b)
	}
}
