package service

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"chit/broker/desk"
	"chit/broker/entity"
	"chit/broker/intake"
	"chit/broker/store"
	"chit/broker/store/bolt"
	"chit/device/wire"
)

// slowStore is a store whose disk stands still until it is let go.
type slowStore struct {
	store.Store
	flushing chan struct{} // one message for each commit that began
	letGo    chan struct{}
}

func (s *slowStore) Commit(commits []entity.Commit) error {
	s.flushing <- struct{}{}
	<-s.letGo
	return s.Store.Commit(commits)
}

func TestAFullQueueIsAnswered503AndReadsGoOn(t *testing.T) {
	base, err := bolt.Open(filepath.Join(t.TempDir(), "broker.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	slow := &slowStore{Store: base, flushing: make(chan struct{}, 64), letGo: make(chan struct{})}
	d := desk.New(desk.Config{Store: slow, QueueMax: 1, BatchMax: 1})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	kitchens, err := newKitchens([]Kitchen{{ID: "main", Tenant: "main", Zone: "UTC",
		Stations: []Station{{ID: "grill"}}}})
	if err != nil {
		t.Fatal(err)
	}
	door := intake.New(intake.Config{
		Desk:   &tickets{desk: d, store: slow, kitchens: kitchens, now: time.Now},
		Tokens: intake.TokenList{{SHA256: intake.TokenDigest("secret"), Tenant: "main", Who: "owner"}},
	})
	post := func(n int) *httptest.ResponseRecorder {
		c := wire.Content{ID: fmt.Sprintf("busy-%d/1", n), Kitchen: "main", Station: "grill",
			Kind: wire.KindNew, Order: "41", Items: []wire.Item{{Quantity: 1, Name: "Margherita"}}}
		body, err := wire.CanonicalContent(c)
		if err != nil {
			t.Error(err)
		}
		return ask(door, "POST", "/v1/tickets", body)
	}

	// More than fit: one is being flushed, one is decided and one waits; the next has no room.
	const posts = 8
	var mu sync.Mutex
	statuses := map[int]int{} // ticket → status
	busy := make(chan struct{}, posts)
	var posting sync.WaitGroup
	for n := range posts {
		posting.Go(func() {
			w := post(n)
			if w.Code == http.StatusServiceUnavailable {
				if w.Header().Get("Retry-After") == "" {
					t.Error("503 without Retry-After")
				}
				busy <- struct{}{}
			}
			mu.Lock()
			defer mu.Unlock()
			statuses[n] = w.Code
		})
	}
	<-slow.flushing
	<-busy
	if w := ask(door, "GET", "/v1/tickets/busy-0/1", nil); w.Code != http.StatusNotFound {
		t.Errorf("a read while the disk stands still: status %d, want 404 of what is not durable", w.Code)
	}
	close(slow.letGo)
	posting.Wait()
	for n, status := range statuses {
		want := http.StatusOK // Answered 202 before, so the repetition is known.
		switch status {
		case http.StatusAccepted:
		case http.StatusServiceUnavailable:
			want = http.StatusAccepted // Nothing was decided.
		default:
			t.Errorf("post %d: status %d, want 202 or 503", n, status)
		}
		if w := post(n); w.Code != want {
			t.Errorf("post %d, answered %d, sent again: status %d, want %d: %s", n, status, w.Code, want,
				w.Body)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if w := post(posts); w.Code != http.StatusServiceUnavailable {
		t.Errorf("after the desk's end: status %d, want 503", w.Code)
	}
	if err := base.Close(); err != nil {
		t.Error(err)
	}
}

func ask(door http.Handler, method, path string, body []byte) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, path, bytes.NewReader(body))
	request.Header.Set("Authorization", "Bearer secret")
	w := httptest.NewRecorder()
	door.ServeHTTP(w, request)
	return w
}
