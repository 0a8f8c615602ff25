package alert

import (
	"context"
	"crypto/x509"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"chit/broker/alarm"
)

// Ntfy pushes messages to a topic of ntfy or a server that speaks its HTTP.
//
// Source: docs.ntfy.sh/publish, "Publishing": the body is the text; headers Title, Priority (1 to
// 5), Tags and Click; Authorization: Bearer for protected topics.
type Ntfy struct {
	url, token string
	client     *http.Client
}

// NewNtfy makes a sender; url is that of the topic, token may be empty.
func NewNtfy(url, token string, private bool, ca *x509.CertPool) (*Ntfy, error) {
	if err := CheckURL(url, private); err != nil {
		return nil, err
	}
	if !hasTopic(url) {
		return nil, errors.New("expected https://host/topic: a push needs a topic")
	}
	return &Ntfy{url: url, token: token, client: client(private, ca)}, nil
}

// hasTopic is true for an address with a path.
func hasTopic(text string) bool {
	u, err := url.Parse(text)
	return err == nil && strings.Trim(u.Path, "/") != ""
}

// Send implements [Sender].
func (n *Ntfy) Send(ctx context.Context, m Message) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, n.url,
		strings.NewReader(m.Body()))
	if err != nil {
		return errors.New("posting: bad address")
	}
	priority, tag := "4", "warning"
	switch {
	case m.Over():
		priority, tag = "3", "white_check_mark"
	case m.What == WhatTest:
		priority, tag = "3", "test_tube"
	case m.Severity == string(alarm.P1):
		priority, tag = "5", "rotating_light"
	}
	request.Header.Set("Content-Type", "text/plain; charset=utf-8")
	request.Header.Set("User-Agent", "chit-broker")
	request.Header.Set("Title", mime.QEncoding.Encode("utf-8", m.Title()))
	request.Header.Set("Priority", priority)
	request.Header.Set("Tags", tag)
	if m.Link != "" {
		request.Header.Set("Click", m.Link)
	}
	if n.token != "" {
		request.Header.Set("Authorization", "Bearer "+n.token)
	}
	return post(n.client, request)
}
