package intake

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// papers is a BackOffice that remembers what it was asked.
type papers struct {
	asked   []string
	request RedriveRequest
	fail    error
}

func (p *papers) Cancel(_ context.Context, tenant, order string, seq int, station, who,
	why string) (Cancellation, error) {
	p.asked = append(p.asked, fmt.Sprintf("cancel %s %s/%d %q %s: %s", tenant, order, seq, station,
		who, why))
	return Cancellation{ID: order, Stations: []CancelledHere{{Outcome: "recalled"}}}, p.fail
}

func (p *papers) Discard(_ context.Context, tenant, id, who, why string) (Ticket, error) {
	p.asked = append(p.asked, fmt.Sprint("discard ", tenant, " ", id, " ", who, ": ", why))
	return Ticket{Ticket: id, State: "cancelled"}, p.fail
}

func (p *papers) Redrivable(_ context.Context, tenant string, f Filter) (int, []string, error) {
	p.asked = append(p.asked, "dry run")
	return 2, []string{"o1/1@grill", "o2/1@grill"}, p.fail
}

func (p *papers) PlanRedrive(_ context.Context, _, who string, r RedriveRequest) (RedriveJob,
	error) {
	p.asked, p.request = append(p.asked, "plan by "+who), r
	return RedriveJob{ID: "j1", State: "running", Filter: *r.Filter}, p.fail
}

func (p *papers) RedriveJob(_ context.Context, _, id string) (RedriveJob, error) {
	if id != "j1" {
		return RedriveJob{}, fmt.Errorf("%w: no such redrive", ErrNotFound)
	}
	return RedriveJob{ID: id, State: "done"}, nil
}

func (p *papers) Audit(_ context.Context, _ string, since uint64, limit int) ([]Entry, uint64, bool,
	error) {
	p.asked = append(p.asked, fmt.Sprint("audit ", since, " ", limit))
	return []Entry{{Position: since + 1, What: "delivery.redriven"}}, since + 1, true, p.fail
}

func newOffice(t *testing.T) (*Door, *papers) {
	t.Helper()
	p := &papers{}
	tokens := TokenList{{SHA256: TokenDigest(token), Tenant: "t1", Who: "owner"}}
	return New(Config{Desk: &memory{byID: map[string]Ticket{}}, Tokens: tokens, BackOffice: p}), p
}

func TestEveryAnswerOfTheDeadLetterDoors(t *testing.T) {
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		asked, says              string
	}{
		{"discard", "POST", "/v1/dead-letters/o1/1@grill/discard", `{"reason":"refunded"}`, 200,
			"discard t1 o1/1@grill owner: refunded", `"cancelled"`},
		{"discard with the slash escaped", "POST", "/v1/dead-letters/o1%2F1@grill/discard",
			`{"reason":"refunded"}`, 200, "discard t1 o1/1@grill owner: refunded", ""},
		{"discard without a reason", "POST", "/v1/dead-letters/o1/1@grill/discard", "", 422, "",
			`"field":"reason"`},
		{"discard for spaces", "POST", "/v1/dead-letters/o1/1@grill/discard", `{"reason":"  "}`, 422,
			"", `"field":"reason"`},
		{"discard with a long reason", "POST", "/v1/dead-letters/o1/1@grill/discard",
			`{"reason":"` + strings.Repeat("ü", 201) + `"}`, 422, "", "201 characters"},
		{"discard with the longest reason", "POST", "/v1/dead-letters/o1/1@grill/discard",
			`{"reason":"` + strings.Repeat("ü", 200) + `"}`, 200, "discard", ""},
		{"redrive of one still works", "POST", "/v1/dead-letters/o1/1@grill/redrive", "", 202, "", ""},
		{"nothing else may be done to one", "POST", "/v1/dead-letters/o1/1@grill/burn", "", 404, "", ""},

		{"cancel", "POST", "/v1/tickets/o1/2/cancel", `{"reason":"guest left"}`, 200,
			`cancel t1 o1/2 "" owner: guest left`, `"outcome":"recalled"`},
		{"cancel at one station", "POST", "/v1/tickets/o1/2/cancel",
			`{"reason":"guest left","station":"bar"}`, 200, `cancel t1 o1/2 "bar" owner`, ""},
		{"cancel without a reason", "POST", "/v1/tickets/o1/2/cancel", `{}`, 422, "",
			`"field":"reason"`},
		{"cancel of no seq", "POST", "/v1/tickets/o1/0/cancel", `{"reason":"x"}`, 422, "",
			`"field":"seq"`},
		{"cancel is not read", "GET", "/v1/tickets/o1/2/cancel", "", 404, "", ""},

		{"dry run", "POST", "/v1/dead-letters/redrive", `{"filter":{},"dry_run":true}`, 200, "dry run",
			`"matched":2`},
		{"plan", "POST", "/v1/dead-letters/redrive", `{"filter":{"station":"grill"}}`, 202,
			"plan by owner", `"state":"running"`},
		{"no filter", "POST", "/v1/dead-letters/redrive", `{}`, 422, "", `"field":"filter"`},
		{"a filter that is misspelt", "POST", "/v1/dead-letters/redrive",
			`{"filter":{"stations":"grill"}}`, 422, "", `"field":"filter.stations"`},
		{"a field that is misspelt", "POST", "/v1/dead-letters/redrive",
			`{"filter":{},"dryrun":true}`, 422, "", `"field":"dryrun"`},
		{"too fast", "POST", "/v1/dead-letters/redrive", `{"filter":{},"per_second":101}`, 422, "",
			`"field":"per_second"`},
		{"a name that is none", "POST", "/v1/dead-letters/redrive", `{"filter":{},"id":"a b"}`, 422, "",
			`"field":"id"`},
		{"a time that is none", "POST", "/v1/dead-letters/redrive", `{"filter":{"since":"noon"}}`, 422,
			"", "noon"},
		{"a job", "GET", "/v1/dead-letters/redrive/j1", "", 200, "", `"done"`},
		{"no such job", "GET", "/v1/dead-letters/redrive/j2", "", 404, "", ""},
		{"a dead letter of an order called redrive", "GET", "/v1/dead-letters/redrive/1@grill", "", 404,
			"", "no dead letter"},
		{"what is no job", "DELETE", "/v1/dead-letters/redrive/j1", "", 405, "", ""},

		{"audit", "GET", "/v1/audit", "", 200, "audit 0 100", `"next":1`},
		{"audit from a place", "GET", "/v1/audit?since=41&limit=7", "", 200, "audit 41 7",
			`"more":true`},
		{"audit from nowhere", "GET", "/v1/audit?since=-1", "", 422, "", `"field":"since"`},
		{"audit of too much", "GET", "/v1/audit?limit=1001", "", 422, "", `"field":"limit"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			door, p := newOffice(t)
			w := call(door, c.method, c.path, c.body)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
				t.Fatalf("status %d, want %d and %q: %s", w.Code, c.status, c.says, w.Body)
			}
			if asked := strings.Join(p.asked, "; "); !strings.HasPrefix(asked, c.asked) ||
				(c.asked == "") != (asked == "") {
				t.Errorf("asked %q, want %q", asked, c.asked)
			}
		})
	}
}

func TestARedriveIsPlannedAsItWasAskedFor(t *testing.T) {
	door, p := newOffice(t)
	w := call(door, "POST", "/v1/dead-letters/redrive", `{"filter":{"kitchen":"main",`+
		`"reason":"window","order":"o1","since":"2026-03-14T18:00:00+01:00"},`+
		`"reason":"mended","id":"march"}`)
	since := time.Date(2026, 3, 14, 17, 0, 0, 0, time.UTC)
	got, r := p.request, p.request.Filter
	if w.Code != 202 || got.ID != "march" || got.Reason != "mended" ||
		got.PerSecond != PerSecondDefault || r.Kitchen != "main" || r.Reason != "window" ||
		r.Order != "o1" || !r.Since.Equal(since) || r.Until != nil {
		t.Errorf("status %d, planned %+v %+v", w.Code, got, r)
	}
	if at := w.Header().Get("Location"); at != "/v1/dead-letters/redrive/j1" {
		t.Errorf("Location %q", at)
	}
	p.fail = ErrConflict
	w = call(door, "POST", "/v1/dead-letters/redrive", `{"filter":{},"id":"march"}`)
	var said struct{ Type, Detail string }
	if err := json.Unmarshal(w.Body.Bytes(), &said); err != nil || w.Code != 409 ||
		said.Type != "urn:chit:problem:id-conflict" || !strings.Contains(said.Detail, "redrive") {
		t.Errorf("the same id for another: %d %s", w.Code, w.Body)
	}
}
