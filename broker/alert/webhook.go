package alert

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Webhook posts messages as JSON, signed by Standard Webhooks 1.0.0.
type Webhook struct {
	url    string
	key    []byte
	client *http.Client
	now    func() time.Time
}

// NewWebhook makes a sender. secret is "whsec_" and the base64 of 24 to 64 random bytes; ca are
// trusted authorities, the machine's where nil. Private allows addresses that are not public, and
// clear text.
func NewWebhook(url, secret string, private bool, ca *x509.CertPool, now func() time.Time) (
	*Webhook, error) {
	if err := CheckURL(url, private); err != nil {
		return nil, err
	}
	key, err := WebhookKey(secret)
	if err != nil {
		return nil, err
	}
	return &Webhook{url: url, key: key, client: client(private, ca), now: now}, nil
}

// WebhookKey reads a secret (Standard Webhooks 1.0.0, "Signature scheme").
func WebhookKey(secret string) ([]byte, error) {
	text, ok := strings.CutPrefix(secret, "whsec_")
	key, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(key) < 24 || len(key) > 64 {
		return nil, errors.New("expected whsec_ and the base64 of 24 to 64 bytes, such as " +
			"echo whsec_$(head -c 32 /dev/urandom | base64)")
	}
	return key, nil
}

// Send implements [Sender].
func (w *Webhook) Send(ctx context.Context, m Message) error {
	body, err := json.Marshal(map[string]any{"type": m.typeOf(), "timestamp": m.At, "data": m})
	if err != nil {
		return fmt.Errorf("encoding: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return errors.New("posting: bad address")
	}
	// The time is of this try: receivers refuse old ones, also of a message that took long.
	at := strconv.FormatInt(w.now().Unix(), 10)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "chit-broker")
	request.Header.Set("webhook-id", m.ID)
	request.Header.Set("webhook-timestamp", at)
	request.Header.Set("webhook-signature", "v1,"+Sign(w.key, m.ID, at, body))
	return post(w.client, request)
}

// Sign is the base64 HMAC-SHA256 of "<id>.<timestamp>.<body>".
func Sign(key []byte, id, at string, body []byte) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.", id, at) // Never fails (hash.Hash).
	mac.Write(body)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
