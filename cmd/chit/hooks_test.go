package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"chit/broker/alert"
)

// hooks is "hooks ADDRESS SECRET FILE": a receiver of webhooks and pushes. It verifies each webhook
// as Standard Webhooks 1.0.0 says and writes a line for it, "webhook TYPE CAUSE LEVEL ID"; what
// does not verify is refused. A push is "push PRIORITY TITLE".
func hooks(ctx context.Context, args []string) error {
	key, err := alert.WebhookKey(args[1])
	if err != nil {
		return err
	}
	lines := writer(args[2])
	mux := http.NewServeMux()
	mux.HandleFunc("POST /hook", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		id, at := r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp")
		var event struct {
			Type string        `json:"type"`
			Data alert.Message `json:"data"`
		}
		if err = errors.Join(err, json.Unmarshal(body, &event)); err != nil ||
			r.Header.Get("webhook-signature") != "v1,"+alert.Sign(key, id, at, body) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		lines("webhook %s %s %d %s", event.Type, event.Data.Cause, event.Data.Level, id)
	})
	mux.HandleFunc("POST /topic", func(_ http.ResponseWriter, r *http.Request) {
		lines("push %s %s", r.Header.Get("Priority"), r.Header.Get("Title"))
	})
	server := &http.Server{Addr: args[0], Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// mailbox is "mailbox ADDRESS FILE": a mail server (RFC 5321) that takes everything and writes a
// line "mail RECIPIENT SUBJECT" for each.
func mailbox(ctx context.Context, args []string) error {
	l, err := net.Listen("tcp", args[0])
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	lines := writer(args[1])
	for {
		conn, err := l.Accept()
		if err != nil {
			return nil
		}
		dialogue(conn, lines)
		if err := conn.Close(); err != nil {
			return err
		}
	}
}

func dialogue(conn net.Conn, lines func(string, ...any)) {
	say := func(words string) { fmt.Fprintf(conn, "%s\r\n", words) }
	say("220 test")
	in := bufio.NewScanner(conn)
	to, data := "", false
	for in.Scan() {
		line := in.Text()
		subject, isSubject := strings.CutPrefix(line, "Subject: ")
		switch {
		case data && isSubject:
			lines("mail %s %s", to, subject)
		case data && line == ".":
			data = false
			say("250 taken")
		case data:
		case strings.HasPrefix(line, "RCPT"):
			to = strings.Trim(strings.TrimPrefix(line, "RCPT TO:"), "<>")
			say("250 ok")
		case line == "DATA":
			data = true
			say("354 go")
		case line == "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

// writer appends lines to a file, each in one write.
func writer(name string) func(string, ...any) {
	var mu sync.Mutex
	return func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = fmt.Fprintf(f, format+"\n", args...)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			panic(err)
		}
	}
}
