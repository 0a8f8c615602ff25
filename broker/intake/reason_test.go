package intake

import (
	"context"
	"net/http"
	"strings"
	"testing"
)

// revoker is a Fleet that remembers why devices were revoked.
type revoker struct {
	noFleet
	why []string
}

func (r *revoker) Revoke(_ context.Context, _, _, reason, _ string) error {
	r.why = append(r.why, reason)
	return nil
}

// A reason stands in the audit: a line break in it would forge a line there.
func TestNoDoorTakesAReasonThatIsMoreThanOneLine(t *testing.T) {
	office, fleet := &papers{}, &revoker{}
	d := New(Config{Desk: &memory{byID: map[string]Ticket{}}, Alarms: &bell{}, Stale: &wishes{},
		BackOffice: office, Fleet: fleet,
		Tokens: TokenList{{SHA256: TokenDigest(token), Tenant: "t1", Who: "owner"}}})
	for _, door := range []struct{ path, before string }{
		{"/v1/tickets/o1/1/cancel", ""},
		{"/v1/dead-letters/o1%2F1@grill/discard", ""},
		{"/v1/dead-letters/o1%2F1@grill/redrive", ""},
		{"/v1/dead-letters/redrive", `"filter":{},`},
		{"/v1/stale/answer", `"station":"grill","answer":"print",`},
		{"/v1/alarms/late%2Fgrill/acknowledge", ""},
		{"/v1/devices/dev-1/revoke", ""},
	} {
		for reason, found := range map[string]string{
			`x\n4212  owner`: "U+000A", `x\ry`: "U+000D", `x\ty`: "U+0009", `x\u001b[2J`: "U+001B",
			`x\u007f`: "U+007F", `x\u009b`: "U+009B", `x\u202ey`: "U+202E", `x\u2066y`: "U+2066",
			`x\u200fy`: "U+200F", `x\u061cy`: "U+061C", `x\u2028y`: "U+2028", "   ": "3 characters",
			strings.Repeat("x", ReasonMax+1): "201 characters",
		} {
			w := call(d, http.MethodPost, door.path, `{`+door.before+`"reason":"`+reason+`"}`)
			if says := w.Body.String(); w.Code != 422 || !strings.Contains(says, `"reason"`) ||
				!strings.Contains(says, found) {
				t.Errorf("%s, reason %q: %d %s, want 422 and %s", door.path, reason, w.Code, says, found)
			}
		}
		w := call(d, http.MethodPost, door.path, `{`+door.before+`"reason":"Gäste weg · 花 👨‍🍳"}`)
		if w.Code == 422 {
			t.Errorf("%s refuses words: %s", door.path, w.Body)
		}
	}
	if len(office.asked) != 3 || len(fleet.why) != 1 {
		t.Errorf("asked for %q, revoked for %q", office.asked, fleet.why)
	}
}
