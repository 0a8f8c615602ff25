package service_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"chit/broker/service"
)

// lines is a log that tells when a line is written.
type lines struct {
	mu      sync.Mutex
	text    bytes.Buffer
	written chan struct{}
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.written <- struct{}{}:
	default:
	}
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func TestWhatTheHTTPServersSayGoesThroughTheLog(t *testing.T) {
	log := &lines{written: make(chan struct{}, 1)}
	s, err := service.New(service.Config{Data: t.TempDir(),
		HTTPS: service.HTTPS{Listen: "127.0.0.1:0"},
		MQTT:  service.MQTT{Listen: "127.0.0.1:0", Names: []string{"127.0.0.1"}},
	}, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	<-s.Started()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.Addresses().HTTPS, "https://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("no handshake at all\n")); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(log.String(), `level=INFO msg="http: TLS handshake error`) {
		select {
		case <-log.written:
		case <-time.After(10 * time.Second):
			t.Fatal("nothing was logged of a broken handshake")
		}
	}
}
