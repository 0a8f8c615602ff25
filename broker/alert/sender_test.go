package alert

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func message() Message {
	at := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	return Message{ID: "alarm_1", What: "began", Cause: "late/grill", Tenant: "t1", Kitchen: "main",
		Station: "grill", Severity: "P1", Level: 1, Count: 2, RaisedAt: at, At: at,
		Text: "2 tickets without paper at grill", Link: "https://chit.example/alarms/late/grill"}
}

// receiver is what a customer runs: it verifies as Standard Webhooks 1.0.0 says, and keeps what
// passed.
type receiver struct {
	answer  int
	bodies  []string
	headers []http.Header
	bad     []string
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	key, keyErr := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	h := request.Header
	at, timeErr := strconv.ParseInt(h.Get("webhook-timestamp"), 10, 64)
	want := "v1," + Sign(key, h.Get("webhook-id"), h.Get("webhook-timestamp"), body)
	age := time.Since(time.Unix(at, 0)).Abs()
	if err = errors.Join(err, keyErr, timeErr); err != nil || age > 5*time.Minute ||
		h.Get("webhook-signature") != want {
		r.bad = append(r.bad, string(body))
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	r.bodies, r.headers = append(r.bodies, string(body)), append(r.headers, h)
	if r.answer/100 == 3 {
		w.Header().Set("Location", "/elsewhere")
	}
	w.WriteHeader(r.answer)
}

// TestASignatureIsTheSpecificationsOwn checks against the example of the reference libraries
// (standard-webhooks/standard-webhooks, libraries' tests).
func TestASignatureIsTheSpecificationsOwn(t *testing.T) {
	key, err := WebhookKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	got := Sign(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`))
	if want := "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("signature %s, want %s", got, want)
	}
}

func TestAWebhookIsSignedAndSaysNothingButTheAlarm(t *testing.T) {
	r := &receiver{answer: http.StatusNoContent}
	server := httptest.NewTLSServer(r)
	defer server.Close()
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	hook, err := NewWebhook(server.URL+"/hook", secret, true, pool, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := hook.Send(t.Context(), message()); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.bad) > 0 || len(r.bodies) != 2 {
		t.Fatalf("%d good, %d bad", len(r.bodies), len(r.bad))
	}
	if id := r.headers[0].Get("webhook-id"); id != "alarm_1" || id != r.headers[1].Get("webhook-id") {
		t.Errorf("ids %q, %q", id, r.headers[1].Get("webhook-id"))
	}
	var body struct {
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Data      Message   `json:"data"`
	}
	if err := json.Unmarshal([]byte(r.bodies[0]), &body); err != nil {
		t.Fatal(err)
	}
	if body.Type != "alarm.raised" || body.Data != message() || body.Timestamp.IsZero() {
		t.Errorf("%+v", body)
	}
}

func TestOnlyA2xxIsAnAnswer(t *testing.T) {
	for status, want := range map[int]string{200: "", 204: "", 302: "answered 302",
		307: "answered 307", 400: "answered 400", 410: "refused for good", 500: "answered 500"} {
		r := &receiver{answer: status}
		server := httptest.NewServer(r)
		hook, err := NewWebhook(server.URL, secret, true, nil, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		err = hook.Send(t.Context(), message())
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%d: %v, want %q", status, err, want)
		case errors.Is(err, ErrRefused) != (status == 410):
			t.Errorf("%d: refused for good: %v", status, err)
		case len(r.bodies) != 1:
			t.Errorf("%d: called %d times", status, len(r.bodies))
		}
		server.Close()
	}
}

func TestAnAddressThatIsNotPublicIsNotCalled(t *testing.T) {
	r := &receiver{answer: 200}
	server := httptest.NewTLSServer(r)
	defer server.Close()
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "https://"), ":")
	// By address, and by a name that leads to one.
	for _, at := range []string{server.URL, "https://localhost:" + port} {
		hook, err := NewWebhook(at+"/secret-path", secret, false, pool, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		err = hook.Send(t.Context(), message())
		if !errors.Is(err, ErrPrivate) {
			t.Errorf("%s: %v, want %v", at, err, ErrPrivate)
		}
		if err != nil && strings.Contains(err.Error(), "secret-path") {
			t.Errorf("the error tells the address: %v", err)
		}
	}
	if len(r.bodies)+len(r.bad) > 0 {
		t.Error("it was called")
	}
}

func TestWhichAddressesArePublic(t *testing.T) {
	for _, at := range []string{"93.184.216.34:443", "[2606:2800:220:1::1]:443", "172.32.0.1:1",
		"100.128.0.1:1"} {
		if err := public(at); err != nil {
			t.Errorf("%s: %v", at, err)
		}
	}
	for _, at := range []string{"127.0.0.1:443", "10.1.2.3:443", "192.168.1.1:443", "172.16.0.1:1",
		"169.254.169.254:80", "100.64.0.1:1", "0.0.0.0:1", "224.0.0.1:1", "255.255.255.255:1",
		"240.0.0.1:1", "198.18.0.1:1", "[::1]:1", "[::]:1", "[fe80::1%eth0]:1", "[fd00::1]:1",
		"[ff02::1]:1", "[::ffff:127.0.0.1]:1", "[::127.0.0.1]:1", "[64:ff9b::7f00:1]:1",
		"[2002:7f00:1::]:1", "[2001::1]:1", "nonsense"} {
		if err := public(at); !errors.Is(err, ErrPrivate) {
			t.Errorf("%s: %v", at, err)
		}
	}
}

func TestAReceiverThatDoesNotAnswerIsGivenUpInTime(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		<-release
	}))
	defer server.Close()
	defer close(release)
	hook, err := NewWebhook(server.URL, secret, true, nil, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := hook.Send(ctx, message()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want %v", err, context.DeadlineExceeded)
	}
}

func TestSecretsAndAddressesThatCannotBeAreRefused(t *testing.T) {
	for _, s := range []string{"", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_", "whsec_c2hvcnQ=",
		"whsec_???"} {
		if _, err := WebhookKey(s); err == nil {
			t.Errorf("secret %q was taken", s)
		}
	}
	for _, at := range []string{"", "http://example.org/x", "ftp://example.org", "https://",
		"https://user:word@example.org/"} {
		if err := CheckURL(at, false); err == nil {
			t.Errorf("address %q was taken", at)
		}
	}
}

func TestAPushHasTitlePriorityTagsAndToken(t *testing.T) {
	var headers http.Header
	var path, body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		headers, path, body = r.Header, r.URL.Path, string(raw)
	}))
	defer server.Close()
	push, err := NewNtfy(server.URL+"/kitchen-alarms", "tk_1", true, nil)
	if err != nil {
		t.Fatal(err)
	}
	over, test := message(), message()
	over.What, test.What = "ended", WhatTest
	p2 := message()
	p2.Severity = "P2"
	for _, c := range []struct {
		m                    Message
		title, priority, tag string
	}{
		{message(), "P1: late/grill", "5", "rotating_light"},
		{p2, "P2: late/grill", "4", "warning"},
		{over, "Over: late/grill", "3", "white_check_mark"},
		{test, "Chit: a test of the alarms", "3", "test_tube"},
	} {
		if err := push.Send(t.Context(), c.m); err != nil {
			t.Fatal(err)
		}
		if headers.Get("Title") != c.title || headers.Get("Priority") != c.priority ||
			headers.Get("Tags") != c.tag || headers.Get("Authorization") != "Bearer tk_1" ||
			headers.Get("Click") != c.m.Link || path != "/kitchen-alarms" {
			t.Errorf("%s: %v", path, headers)
		}
		if !strings.Contains(body, c.m.Text) {
			t.Errorf("body %q", body)
		}
	}
}

// pemOf is a server's certificate as a file holds it.
func pemOf(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}
