package fleet_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"chit/broker/fleet"
	"chit/device/wire/pairing"
)

func (b *bench) post(h http.Handler, from string, body any) *httptest.ResponseRecorder {
	b.t.Helper()
	raw, ok := body.([]byte)
	if !ok {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			b.t.Fatal(err)
		}
	}
	r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(raw))
	r.RemoteAddr = from
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestTheDoorAnswersByStatusAndProblemType(t *testing.T) {
	b, k := newBench(t), newKit(t)
	code := b.code(fleet.CodeRequest{})
	wrong := code[:4] + "-2222"
	door, renew := b.PairHandler(), b.RenewHandler()
	w := b.post(door, "192.0.2.1:5", k.request(t, code))
	var a pairing.Answer
	if err := json.Unmarshal(w.Body.Bytes(), &a); w.Code != 200 || err != nil || a.Device == "" {
		t.Fatalf("pairing: %d %s", w.Code, w.Body)
	}
	for _, test := range []struct {
		name   string
		door   http.Handler
		body   any
		status int
		kind   string
	}{
		{"wrong code", door, k.request(t, wrong), 403, "pairing-code"},
		{"no JSON", door, []byte("x"), 422, "malformed"},
		{"two values", door, []byte("{} {}"), 422, "malformed"},
		{"unknown field", door, []byte(`{"codes":""}`), 422, "malformed"},
		{"too large", door, bytes.Repeat([]byte(" "), pairing.BodyMax+1), 413, "too-large"},
		{"renewal", renew, k.renewal(t, a.Device), 200, ""},
		{"renewal of nobody", renew, k.renewal(t, "dev-x"), 403, "device"},
		{"renewal by another", renew, newKit(t).renewal(t, a.Device), 422, "malformed"},
	} {
		w := b.post(test.door, "192.0.2.2:5", test.body)
		var p struct{ Type string }
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != test.status ||
			test.kind != "" && p.Type != "urn:chit:problem:"+test.kind {
			t.Errorf("%s: got %d %s", test.name, w.Code, w.Body)
		}
		if strings.Contains(w.Body.String(), code) || strings.Contains(w.Body.String(), wrong) {
			t.Errorf("%s: the answer repeats a code: %s", test.name, w.Body)
		}
	}
}

func TestAnAddressHasTwentyTriesAnHour(t *testing.T) {
	b := newBench(t)
	door := b.PairHandler()
	try := func(from string) int { return b.post(door, from, []byte("{}")).Code }
	for i := range 20 {
		if code := try("192.0.2.1:5"); code != 422 {
			t.Fatalf("try %d: %d", i+1, code)
		}
		b.clock.pass(time.Minute)
	}
	if got := try("192.0.2.1:6"); got != 429 {
		t.Errorf("try 21: %d, want 429", got)
	}
	if got := try("192.0.2.2:5"); got != 422 {
		t.Errorf("another address: %d, want 422", got)
	}
	if got := b.post(b.RenewHandler(), "192.0.2.1:5", []byte("{}")).Code; got == 429 {
		t.Error("tries to pair count against renewals")
	}
	b.clock.pass(40 * time.Minute)
	if got := try("192.0.2.1:5"); got != 422 {
		t.Errorf("an hour after the first try: %d, want 422", got)
	}
	if got := try("192.0.2.1:5"); got != 429 {
		t.Errorf("an hour after the first try, twice: %d, want 429", got)
	}
	for i := range 21 {
		want := 422
		if i == 20 {
			want = 429
		}
		from := "[2001:db8::" + string("0123456789abcdef"[i%16]) + "]:5"
		if got := try(from); got != want {
			t.Errorf("IPv6 try %d: %d, want %d: a /64 is one address", i+1, got, want)
		}
	}
}

func FuzzPair(f *testing.F) {
	f.Add([]byte(`{"code":"ABCD-EFGH","csr":"","ack_key":"","proof":""}`))
	f.Add([]byte(`{"code":"ABCD-EFGH","printers":["a"],"serial":"x","version":"y"}`))
	f.Add([]byte(`[]`))
	b := newBench(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		b.t = t
		b.clock.pass(time.Hour)
		w := b.post(b.PairHandler(), "192.0.2.1:5", body)
		if w.Code != 422 && w.Code != 413 {
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
	})
}
