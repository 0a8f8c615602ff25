package program

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pressing runs chitd press with this listen address.
func pressing(t *testing.T, listen string) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "device.toml")
	conf := fmt.Sprintf("listen = %q\n[[printers]]\nurl = \"file:///dev/null\"\n", listen)
	if err := os.WriteFile(path, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err := Run(t.Context(), "chitd", "1", []string{"press", "--config", path}, &out, &out)
	return out.String(), err
}

func TestPressAsksTheRunningDaemonAndTellsWhatItDid(t *testing.T) {
	answer := func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/seen" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintln(w, `{"seen":3}`)
	}
	overTCP := httptest.NewServer(http.HandlerFunc(answer))
	defer overTCP.Close()
	socket := filepath.Join(t.TempDir(), "http")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	overUnix := &httptest.Server{Listener: listener,
		Config: &http.Server{Handler: http.HandlerFunc(answer)}}
	overUnix.Start()
	defer overUnix.Close()
	for _, listen := range []string{"unix:" + socket, strings.TrimPrefix(overTCP.URL, "http://")} {
		if out, err := pressing(t, listen); err != nil || out != "tickets seen: 3\n" {
			t.Errorf("%s: %q, %v", listen, out, err)
		}
	}
}

func TestPressSaysWhyNobodyTookIt(t *testing.T) {
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "the daemon does not take presses now", http.StatusServiceUnavailable)
	}))
	defer busy.Close()
	for listen, want := range map[string]string{
		"": "listen", "unix:" + filepath.Join(t.TempDir(), "none"): "where the daemon runs",
		strings.TrimPrefix(busy.URL, "http://"): "where the daemon runs",
	} {
		_, err := pressing(t, listen)
		if err == nil || errors.Is(err, ErrUsage) || !strings.Contains(Hint("chitd", err), want) {
			t.Errorf("%q: %v, hint %q", listen, err, Hint("chitd", err))
		}
	}
}
