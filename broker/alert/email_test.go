package alert

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime/quotedprintable"
	"net"
	"net/http/httptest"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"
)

// mailServer is a small SMTP server (RFC 5321), with STARTTLS (RFC 3207) where it has a
// certificate, and AUTH PLAIN (RFC 4954) where it wants a password.
type mailServer struct {
	listener net.Listener
	tls      *tls.Config
	password string
	implicit bool
	refuse   string // a recipient that it does not know

	mu       sync.Mutex
	mails    []letter
	sessions sync.WaitGroup
}

type letter struct {
	from string
	to   []string
	data string
	tls  bool
}

func serveMail(t *testing.T, change func(*mailServer)) *mailServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &mailServer{listener: l}
	change(s)
	s.sessions.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.sessions.Go(func() {
				defer conn.Close()
				if s.implicit {
					conn = tls.Server(conn, s.tls)
				}
				_ = s.session(conn) // A client that goes away ends it with an error.
			})
		}
	})
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		s.sessions.Wait()
	})
	return s
}

func (s *mailServer) session(conn net.Conn) error {
	r := bufio.NewReader(conn)
	say := func(format string, args ...any) { fmt.Fprintf(conn, format+"\r\n", args...) }
	say("220 test ESMTP")
	authed, secured := s.password == "", s.implicit
	var mail letter
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return err
		}
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch strings.ToUpper(verb) {
		case "EHLO":
			say("250-test")
			if s.tls != nil && !secured {
				say("250-STARTTLS")
			}
			say("250 AUTH PLAIN")
		case "STARTTLS":
			say("220 go")
			conn = tls.Server(conn, s.tls)
			r, secured = bufio.NewReader(conn), true
		case "AUTH":
			raw, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(rest, "PLAIN "))
			if authed = string(raw) == "\x00chit\x00"+s.password; !authed {
				say("535 no")
				continue
			}
			say("235 yes")
		case "MAIL":
			if !authed {
				say("530 authenticate first")
				continue
			}
			mail = letter{from: rest, tls: secured}
			say("250 ok")
		case "RCPT":
			if s.refuse != "" && strings.Contains(rest, s.refuse) {
				say("550 nobody here")
				continue
			}
			mail.to = append(mail.to, rest)
			say("250 ok")
		case "DATA":
			say("354 go")
			for {
				line, err := r.ReadString('\n')
				if err != nil {
					return err
				}
				if line == ".\r\n" {
					break
				}
				mail.data += strings.TrimPrefix(line, ".")
			}
			s.mu.Lock()
			s.mails = append(s.mails, mail)
			s.mu.Unlock()
			say("250 taken")
		case "QUIT":
			say("221 bye")
			return nil
		default:
			say("502 what")
		}
	}
}

func (s *mailServer) config(scheme string) EmailConfig {
	return EmailConfig{URL: scheme + "://" + s.listener.Addr().String(), From: "chit@example.org",
		To: "ana@example.org", Now: time.Now}
}

// certificate borrows the one that httptest has for 127.0.0.1.
func certificate(t *testing.T) (*tls.Config, *x509.CertPool) {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pemOf(server.Certificate())) {
		t.Fatal("no certificate")
	}
	return &tls.Config{Certificates: server.TLS.Certificates}, pool
}

func sendMail(t *testing.T, c EmailConfig) error {
	t.Helper()
	e, err := NewEmail(c)
	if err != nil {
		t.Fatal(err)
	}
	return e.Send(t.Context(), message())
}

func TestAMailGoesThroughStartTLSWithAPassword(t *testing.T) {
	conf, pool := certificate(t)
	for _, scheme := range []string{"smtp", "smtps"} {
		s := serveMail(t, func(s *mailServer) {
			s.tls, s.password, s.implicit = conf, "open sesame", scheme == "smtps"
		})
		c := s.config(scheme)
		c.CA, c.User, c.Password = pool, "chit", "open sesame"
		if err := sendMail(t, c); err != nil {
			t.Fatal(scheme, err)
		}
		if len(s.mails) != 1 || !s.mails[0].tls || len(s.mails[0].to) != 1 {
			t.Fatalf("%s: %+v", scheme, s.mails)
		}
		read(t, s.mails[0])
		c.Password = "wrong"
		if err := sendMail(t, c); err == nil || !strings.Contains(err.Error(), "auth") {
			t.Errorf("%s: a wrong password: %v", scheme, err)
		}
		c.CA = nil // The machine does not trust this server.
		if err := sendMail(t, c); err == nil && scheme == "smtps" {
			t.Error("an unknown certificate was taken")
		}
	}
}

// read checks that a mail is one that people and programs can read.
func read(t *testing.T, l letter) {
	t.Helper()
	m, err := mail.ReadMessage(strings.NewReader(l.data))
	if err != nil {
		t.Fatal(err)
	}
	for header, want := range map[string]string{"From": "chit@example.org",
		"To": "ana@example.org", "Subject": "P1: late/grill",
		"Message-Id": "<alarm_1@chit-broker>", "Auto-Submitted": "auto-generated"} {
		if got := m.Header.Get(header); got != want {
			t.Errorf("%s: %q, want %q", header, got, want)
		}
	}
	if _, err := m.Header.Date(); err != nil {
		t.Error(err)
	}
	body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{message().Text, "chit alarms ack late/grill", message().Link} {
		if !strings.Contains(string(body), want) {
			t.Errorf("body %q lacks %q", body, want)
		}
	}
}

func TestMailInClearGoesToThisMachineOnly(t *testing.T) {
	s := serveMail(t, func(*mailServer) {})
	if err := sendMail(t, s.config("smtp")); err != nil || len(s.mails) != 1 || s.mails[0].tls {
		t.Errorf("on loopback: %v, %+v", err, s.mails)
	}
	e, err := NewEmail(s.config("smtp"))
	if err != nil {
		t.Fatal(err)
	}
	e.loopback = false
	if err := e.Send(t.Context(), message()); err == nil || !strings.Contains(err.Error(),
		"starttls") || len(s.mails) != 1 {
		t.Errorf("elsewhere: %v, %d mails", err, len(s.mails))
	}
}

func TestAMailForNobodyIsAnError(t *testing.T) {
	s := serveMail(t, func(s *mailServer) { s.refuse = "ana@" })
	if err := sendMail(t, s.config("smtp")); err == nil || len(s.mails) != 0 {
		t.Errorf("%v, %d mails", err, len(s.mails))
	}
}

func TestAMailServerThatSaysNothingIsGivenUpInTime(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // Accepts by the kernel, and says nothing.
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	e, err := NewEmail(EmailConfig{URL: "smtp://" + l.Addr().String(), From: "a@b", To: "c@d",
		Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var timeout net.Error
	if err := e.Send(ctx, message()); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("%v, want a timeout", err)
	}
}

func TestTextCannotAddHeaders(t *testing.T) {
	e := &Email{from: "a@example.org", to: "b@example.org", now: time.Now}
	m := message()
	m.Cause = "late/x\r\nBcc: eve@example.org"
	m.Text = "x\r\n.\r\nQUIT"
	parsed, err := mail.ReadMessage(strings.NewReader(string(e.message(m))))
	if err != nil {
		t.Fatal(err)
	}
	if parsed.Header.Get("Bcc") != "" || !strings.Contains(parsed.Header.Get("Subject"), "late/x") {
		t.Errorf("%v", parsed.Header)
	}
}

func TestMailAddressesThatCannotBeAreRefused(t *testing.T) {
	for _, at := range []string{"", "mail.example.org:25", "smtp://mail.example.org",
		"http://mail.example.org:25", "smtp://a:b@mail.example.org:25", "smtp://:25",
		"smtp://mail.example.org:25/x"} {
		if _, err := NewEmail(EmailConfig{URL: at}); err == nil {
			t.Errorf("%q was taken", at)
		}
	}
	for _, box := range []string{"", "ana", "Ana <ana@example.org>", "a@b, c@d", "a@b\r\nBcc: c@d"} {
		if err := CheckMailbox(box); err == nil {
			t.Errorf("%q was taken", box)
		}
	}
}
