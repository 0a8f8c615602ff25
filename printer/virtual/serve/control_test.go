package serve

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"chit/printer/virtual"
)

// control asks and returns status and body.
func control(t *testing.T, s *Server, method, path, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.HTTPAddr()+path,
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(b)
}

func TestAnotherProcessCanTakeThePaperAwayAndReadIt(t *testing.T) {
	s := start(t, Config{Printer: printer(), Listen: "127.0.0.1:0", HTTP: "127.0.0.1:0"})
	code, body := control(t, s, "POST", "/fault", `{"raise":"paper-out:after=1"}`)
	if code != http.StatusOK {
		t.Fatalf("%d %s", code, body)
	}
	c := dialTCP(t, s)
	write(t, c, "a\nb\n"+cut)
	waitState(t, s, func(st State) bool { return len(st.Wrong) == 1 && st.Wrong[0] == "paper-out" })
	if code, body = control(t, s, "POST", "/fault", `{"clear":"paper-out"}`); code != http.StatusOK {
		t.Fatalf("%d %s", code, body)
	}
	code, body = control(t, s, "GET", "/paper?count=1&wait=10s", "")
	var paper Paper
	if err := json.Unmarshal([]byte(body), &paper); code != http.StatusOK || err != nil {
		t.Fatalf("%d %v %s", code, err, body)
	}
	if len(paper.Sheets) != 1 || paper.Sheets[0].Text != "a\nb\n" {
		t.Fatalf("paper: %+v", paper)
	}
	code, body = control(t, s, "GET", "/paper/1", "")
	if code != http.StatusOK || !strings.HasPrefix(body, "\x89PNG") {
		t.Fatalf("picture: %d, %d bytes", code, len(body))
	}
}

func TestTheControlRefusesWhatItDoesNotUnderstand(t *testing.T) {
	s := start(t, Config{Printer: printer(), HTTP: "127.0.0.1:0"})
	for _, tt := range []struct {
		method, path, body string
		code               int
		says               string
	}{
		{"POST", "/fault", `{"raise":"fire"}`, 400, "expected one of paper-out"},
		{"POST", "/fault", `{"clear":"fire"}`, 400, "expected one of paper-out"},
		{"POST", "/fault", `{"what":"mute"}`, 400, "want"},
		{"POST", "/fault", `{}`, 400, "expected one of"},
		{"GET", "/paper/7", "", 404, "no such sheet"},
		{"GET", "/paper/x", "", 400, "number"},
	} {
		code, body := control(t, s, tt.method, tt.path, tt.body)
		if code != tt.code || !strings.Contains(body, tt.says) {
			t.Errorf("%s %s %s: %d %s", tt.method, tt.path, tt.body, code, body)
		}
	}
}

func TestAWebPageMayNotSwitchThePrinterOff(t *testing.T) {
	s := start(t, Config{Printer: printer(), HTTP: "127.0.0.1:0"})
	r, _ := http.NewRequest("POST", "http://"+s.HTTPAddr()+"/fault",
		strings.NewReader(`{"raise":"power-off"}`))
	r.Header.Set("Origin", "https://example.com")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if st, err := s.State(); answer.StatusCode != http.StatusForbidden || err != nil || !st.On {
		t.Fatalf("answer %d, state %+v, %v", answer.StatusCode, st, err)
	}
}

func TestTheControlIsOnLoopbackOnly(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":9180", "192.0.2.1:80", "nonsense"} {
		if s, err := Start(t.Context(), Config{Printer: printer(), HTTP: address}); err == nil {
			s.Close()
			t.Errorf("%s was accepted", address)
		}
	}
	_, err := Start(t.Context(), Config{Printer: printer(), HTTP: "0.0.0.0:0"})
	if !errors.Is(err, ErrControl) {
		t.Errorf("error %v, want ErrControl", err)
	}
}

func TestFlagsNameTheWrongOne(t *testing.T) {
	if _, err := (Flags{Faults: []string{"fire"}}).Config(nil); !errors.Is(err, virtual.ErrFault) ||
		!strings.HasPrefix(err.Error(), "--fault") {
		t.Errorf("bad fault: %v", err)
	}
	if _, err := (Flags{Profile: "teapot"}).Config(nil); err == nil ||
		!strings.HasPrefix(err.Error(), "--profile") {
		t.Errorf("bad profile: %v", err)
	}
}
