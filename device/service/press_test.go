package service

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"chit/device/panel"
	"chit/device/wire"
)

// finger is a button that a test presses.
type finger struct{ down chan struct{} }

func (f finger) Watch(ctx context.Context, pressed func(bool)) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-f.down:
			pressed(false)
		}
	}
}

// untilEvidence waits for an answer about a ticket with this evidence.
func (p *phone) untilEvidence(ticket string, e wire.Evidence) {
	p.t.Helper()
	p.until(ticket+" "+string(e), func() bool {
		for _, a := range p.acks {
			if a.Ticket == ticket && a.Evidence == e && a.Outcome == wire.OutcomePrinted {
				return true
			}
		}
		return false
	})
}

// untilListens waits for a socket.
func untilListens(t *testing.T, socket string) {
	t.Helper()
	late, again := time.After(patience), time.NewTicker(5*time.Millisecond)
	defer again.Stop()
	for {
		if c, err := net.Dial("unix", socket); err == nil {
			c.Close()
			return
		}
		select {
		case <-again.C:
		case <-late:
			t.Fatalf("nobody listens at %s", socket)
		}
	}
}

// restart runs the daemon anew with another configuration.
func (k *kitchen) restart(change func(*Config)) {
	k.t.Helper()
	k.stop()
	change(&k.conf)
	k.start()
}

func TestThePressOfTheButtonIsToldAsSeen(t *testing.T) {
	k := newKitchen(t)
	f := finger{down: make(chan struct{})}
	k.restart(func(c *Config) { c.Hardware = &panel.Hardware{Button: f} })
	k.sends("1", 1)
	k.phone.untilSaid("printed 1/1@grill")
	f.down <- struct{}{}
	k.phone.untilEvidence("1/1@grill", wire.EvidenceSeen)
}

func TestThePressAtTheLocalDoorSaysHowManyAreSeen(t *testing.T) {
	k := newKitchen(t)
	socket := filepath.Join(t.TempDir(), "http")
	k.restart(func(c *Config) { c.Listen = "unix:" + socket })
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		}}}
	ask := func(method, origin string) (int, string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, "http://chitd/seen", nil)
		if err != nil {
			t.Fatal(err)
		}
		if origin != "" {
			request.Header.Set("Origin", origin)
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, strings.TrimSpace(string(body))
	}
	k.sends("1", 1)
	k.sends("2", 1)
	k.phone.untilSaid("printed 1/1@grill", "printed 2/1@grill")
	untilListens(t, socket)
	if code, _ := ask(http.MethodPost, "http://evil.example"); code != http.StatusForbidden {
		t.Errorf("a page of a browser: %d, want 403", code)
	}
	if code, _ := ask(http.MethodGet, ""); code != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d, want 405", code)
	}
	if code, body := ask(http.MethodPost, ""); code != 200 || body != `{"seen":2}` {
		t.Errorf("got %d %s, want {\"seen\":2}", code, body)
	}
	k.phone.untilEvidence("1/1@grill", wire.EvidenceSeen)
	k.phone.untilEvidence("2/1@grill", wire.EvidenceSeen)
	if code, body := ask(http.MethodPost, ""); code != 200 || body != `{"seen":0}` {
		t.Errorf("once more: %d %s, want {\"seen\":0}", code, body)
	}
}

func TestAPressIsAnsweredAlsoWhereTheJournalFails(t *testing.T) {
	k := newKitchen(t)
	k.sends("1", 1)
	k.phone.untilSaid("printed 1/1@grill")
	k.fail.Store(true)
	seen, err := k.service.Press(t.Context())
	if err != nil || seen.Seen != 0 {
		t.Errorf("pressed with a broken card: %v, %v; want none seen", seen, err)
	}
	k.fail.Store(false)
	k.phone.mu.Lock()
	defer k.phone.mu.Unlock()
	for _, a := range k.phone.acks {
		if a.Evidence == wire.EvidenceSeen {
			t.Errorf("%s is said to be seen, and nothing is on disk", a.Ticket)
		}
	}
}

func TestAPressAtADaemonThatEndsIsNotWaitedFor(t *testing.T) {
	k := newKitchen(t)
	k.stop()
	began := time.Now()
	if _, err := k.service.Press(t.Context()); err == nil {
		t.Error("no error")
	}
	if took := time.Since(began); took > pressMax/2 {
		t.Errorf("waited for %s", took)
	}
}

func TestInsistIsNoughtOrAPauseThatPeopleCanBear(t *testing.T) {
	for pause, good := range map[time.Duration]bool{
		0: true, 20 * time.Second: true, insistMin: true, insistMax: true,
		time.Second: false, -time.Second: false, time.Hour: false,
	} {
		err := Panel{Insist: pause}.validate()
		if (err == nil) != good {
			t.Errorf("%s: %v", pause, err)
		}
	}
}
