package intake

import (
	"net/http"
	"strings"
	"testing"
)

func TestABodyThatIsTooLongIsToldTheLimitOfItsDoor(t *testing.T) {
	d := New(Config{Desk: &memory{}, Alarms: &bell{}, Stale: &wishes{},
		Tokens: TokenList{{SHA256: TokenDigest(token), Tenant: "t1", Who: "owner"}}})
	const small = `"detail":"this request's body is at most 4096 bytes"`
	for _, c := range []struct {
		path  string
		bytes int
		want  string
	}{
		{"/v1/alarms/late/grill/acknowledge", 20_000, small},
		{"/v1/alarms/test", 4097, small},
		{"/v1/dead-letters/o1%2F1@grill/redrive", 4097, small},
		{"/v1/stale/answer", 40_961, `"detail":"an answer about stale tickets is at most 40960 bytes"`},
		{"/v1/tickets", 40_961, `"detail":"a ticket's body is at most 40960 bytes"`},
	} {
		body := func(length int) string {
			return `{"reason":"` + strings.Repeat("x", length-len(`{"reason":""}`)) + `"}`
		}
		w := call(d, http.MethodPost, c.path, body(c.bytes))
		if w.Code != http.StatusRequestEntityTooLarge || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s with %d bytes: %d %s, want %s", c.path, c.bytes, w.Code, w.Body, c.want)
		}
		// At its limit a body is read.
		if w := call(d, http.MethodPost, c.path, body(4096)); w.Code == 413 {
			t.Errorf("%s with 4096 bytes: %d %s", c.path, w.Code, w.Body)
		}
	}
}
