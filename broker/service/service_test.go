package service_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"chit/broker/intake"
	"chit/broker/service"
	"chit/device/wire"
)

const token = "a-token-for-tests-only-0123456789"

// broker is a service with its HTTP door, on a folder that outlives it.
type broker struct {
	*testing.T
	dir  string
	url  string
	stop func() error
}

// open starts a service on dir and waits until it serves.
func open(t *testing.T, dir string, change func(*service.Service)) *broker {
	t.Helper()
	s, err := service.New(service.Config{
		Data: dir, HTTP: service.HTTP{Listen: "127.0.0.1:0"},
		MQTT:   service.MQTT{Listen: "127.0.0.1:0", Names: []string{"127.0.0.1"}},
		Tokens: []service.Token{{SHA256: intake.TokenDigest(token), Tenant: "main", Who: "owner"}},
		Kitchens: []service.Kitchen{{ID: "main", Tenant: "main", Zone: "UTC", Lease: 30 * time.Second,
			Stations: []service.Station{{ID: "grill", Printer: "grill"}}}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(s)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	select {
	case <-s.Started():
	case err := <-done:
		cancel()
		t.Fatal("the service ended:", err)
	}
	b := &broker{T: t, dir: dir, url: s.Addresses().HTTP,
		stop: sync.OnceValue(func() error { cancel(); return <-done })}
	t.Cleanup(func() {
		if err := b.stop(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// again stops the service and starts another on the same folder.
func (b *broker) again() *broker {
	b.Helper()
	if err := b.stop(); err != nil {
		b.Fatal(err)
	}
	return open(b.T, b.dir, nil)
}

// call may be called from several goroutines; the answer to a call that failed is empty.
func (b *broker) call(method, path string, body []byte) (*http.Response, []byte) {
	b.Helper()
	request, err := http.NewRequest(method, b.url+path, bytes.NewReader(body))
	if err != nil {
		b.Error(err)
		return &http.Response{}, nil
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		b.Error(err)
		return &http.Response{}, nil
	}
	raw, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		b.Error(err)
	}
	return response, raw
}

// post posts a ticket and wants a status.
func (b *broker) post(c wire.Content, want int) intake.Ticket {
	b.Helper()
	body, err := wire.CanonicalContent(c)
	if err != nil {
		b.Fatal(err)
	}
	response, raw := b.call("POST", "/v1/tickets", body)
	if response.StatusCode != want {
		b.Fatalf("posting %s: status %d, want %d: %s", c.ID, response.StatusCode, want, raw)
	}
	var ticket intake.Ticket
	if err := json.Unmarshal(raw, &ticket); err != nil {
		b.Fatal(err)
	}
	return ticket
}

func ticket(seq int) wire.Content {
	return wire.Content{ID: fmt.Sprintf("shop-1/%d", seq), Kitchen: "main", Station: "grill",
		Kind: wire.KindNew, Order: "41", Items: []wire.Item{{Quantity: 1, Name: "Margherita"}}}
}

func TestARestartOnTheSameFolderForgetsNothing(t *testing.T) {
	b := open(t, t.TempDir(), nil)
	first := b.post(ticket(1), http.StatusAccepted)
	_, before := b.call("GET", "/v1/tickets/shop-1/1", nil)
	b = b.again()

	_, after := b.call("GET", "/v1/tickets/shop-1/1", nil)
	var was, is intake.Ticket
	if err := errors.Join(json.Unmarshal(before, &was), json.Unmarshal(after, &is)); err != nil {
		t.Fatal(err)
	}
	if is.Ticket != first.Ticket || is.Digest != first.Digest ||
		!is.AcceptedAt.Equal(first.AcceptedAt) {
		t.Errorf("after the restart %s, before %s", after, before)
	}
	if len(is.Timeline) < len(was.Timeline) {
		t.Errorf("the timeline shrank from %d to %d moments", len(was.Timeline), len(is.Timeline))
	}
	if repeat := b.post(ticket(1), http.StatusOK); repeat.Ticket != first.Ticket ||
		repeat.State != is.State {
		t.Errorf("the repetition answers %s %s, want %s %s", repeat.Ticket, repeat.State, is.Ticket,
			is.State)
	}
}

func TestOtherContentUnderAKnownIDIsRefusedAlsoAfterARestart(t *testing.T) {
	b := open(t, t.TempDir(), nil)
	b.post(ticket(1), http.StatusAccepted)
	other := ticket(1)
	other.Note = "with chips"
	b.post(other, http.StatusConflict)
	b = b.again()
	b.post(other, http.StatusConflict)
	// Nothing of it was taken: the first content is still the known one.
	b.post(ticket(1), http.StatusOK)
}

func TestTheBrokersKeysSurviveARestart(t *testing.T) {
	b := open(t, t.TempDir(), nil)
	code := func(b *broker) intake.Code {
		response, raw := b.call("POST", "/v1/devices/codes", nil)
		var code intake.Code
		if err := json.Unmarshal(raw, &code); err != nil || response.StatusCode != http.StatusCreated {
			t.Fatalf("status %d, %v: %s", response.StatusCode, err, raw)
		}
		return code
	}
	// Behind the dot is the fingerprint of the installation's CA.
	first := code(b)
	b = b.again()
	second := code(b)
	if f, s := fingerprint(first), fingerprint(second); f == "" || f != s {
		t.Errorf("the installation was %q and is %q", f, s)
	}
}

func fingerprint(c intake.Code) string {
	_, fingerprint, _ := bytes.Cut([]byte(c.Pairing), []byte("."))
	return string(fingerprint)
}

func TestReadyWaitsForWhatItIsTold(t *testing.T) {
	missing := make(chan error, 1)
	missing <- errors.New("no printer yet")
	b := open(t, t.TempDir(), func(s *service.Service) {
		s.ReadyToo = func(context.Context) error {
			select {
			case err := <-missing:
				return err
			default:
				return nil
			}
		}
	})
	response, raw := b.call("GET", "/readyz", nil)
	if response.StatusCode != http.StatusServiceUnavailable ||
		response.Header.Get("Retry-After") == "" || !bytes.Contains(raw, []byte("no printer yet")) {
		t.Errorf("status %d: %s, want 503 with the reason and Retry-After", response.StatusCode, raw)
	}
	if response, raw := b.call("GET", "/readyz", nil); response.StatusCode != http.StatusOK {
		t.Errorf("status %d: %s, want 200", response.StatusCode, raw)
	}
	if response, _ := b.call("GET", "/healthz", nil); response.StatusCode != http.StatusOK {
		t.Errorf("/healthz: status %d, want 200", response.StatusCode)
	}
}

func TestEveryPostOfManyAtOnceIsAnsweredAndKept(t *testing.T) {
	b := open(t, t.TempDir(), nil)
	const producers, each = 16, 8
	var posts sync.WaitGroup
	for p := range producers {
		posts.Go(func() {
			for i := range each {
				c := ticket(i + 1)
				c.ID = fmt.Sprintf("many-%d/%d", p, i+1)
				body, err := wire.CanonicalContent(c)
				if err != nil {
					t.Error(err)
					return
				}
				response, raw := b.call("POST", "/v1/tickets", body)
				if response.StatusCode != http.StatusAccepted {
					t.Errorf("%s: status %d: %s", c.ID, response.StatusCode, raw)
				}
			}
		})
	}
	posts.Wait()
	b = b.again()
	for p := range producers {
		for i := range each {
			path := fmt.Sprintf("/v1/tickets/many-%d/%d", p, i+1)
			if response, raw := b.call("GET", path, nil); response.StatusCode != http.StatusOK {
				t.Errorf("%s: status %d: %s", path, response.StatusCode, raw)
			}
		}
	}
}
