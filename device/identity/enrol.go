package identity

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"chit/device/wire/pairing"
)

// callMax is the longest one call to the broker may take.
const callMax = 30 * time.Second

// Request is what [Enrol] needs.
type Request struct {
	Dir string
	// URL of the broker's door, such as "https://broker.example:8443".
	URL string
	// Pairing is the pairing string "ABCD-EFGH.<installation>" as the broker printed it, or the code
	// alone where CASHA256 is given.
	Pairing string
	// CASHA256 is the hex SHA-256 of the CA's public key (SubjectPublicKeyInfo), "" if Pairing has it.
	CASHA256 string
	// Serial of the machine and Version of the program, for the broker's list of devices.
	Serial, Version string
	// Printers are the names of the printers that this device has.
	Printers []string
}

// Enrol pairs the device and stores what the broker answered.
//
// It may be repeated with the same code while the code lives: the keys stay and a lost answer costs
// nothing. An enrolled device is refused with [ErrEnrolled]; after [Retire] new keys are made, so
// that no key ever speaks for two tenants. The device's journal must be retired with them.
func Enrol(ctx context.Context, r Request) (*Identity, error) {
	if _, err := Open(r.Dir); !errors.Is(err, ErrNotEnrolled) {
		if err == nil {
			err = ErrEnrolled
		}
		return nil, err
	}
	code, pin, err := r.pin()
	if err != nil {
		return nil, err
	}
	base, err := door(r.URL)
	if err != nil {
		return nil, err
	}
	k, err := ensureKeys(r.Dir)
	if err != nil {
		return nil, err
	}
	ask := pairing.Request{
		Code: code, AckKey: k.ackPublic(), Serial: r.Serial, Version: r.Version, Printers: r.Printers,
	}
	if ask.CSR, err = k.csr(); err != nil {
		return nil, err
	}
	ask.Proof = ed25519.Sign(k.ack, ask.Signed())
	conf := pinned(base.Hostname(), func(chain []*x509.Certificate) error {
		return pin.verify(chain, base.Hostname())
	})
	e := enrolment{Format: format, URL: base.String()}
	if err := call(ctx, conf, base.JoinPath(pairing.PathPair), ask, &e.Answer); err != nil {
		return nil, err
	}
	if err := e.accept(k); err != nil {
		return nil, err
	}
	if !pin.is(e.ca) {
		return nil, fmt.Errorf("%w: ca: is not the one that was pinned", ErrAnswer)
	}
	if err := writeFile(r.Dir, enrolmentFile, e); err != nil {
		return nil, err
	}
	return assemble(r.Dir, k, &e)
}

// accept parses an answer and checks that it is for these keys.
func (e *enrolment) accept(k *keys) error {
	if err := e.parse(); err != nil {
		return fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	if err := e.check(k); err != nil {
		return fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	return nil
}

// Renew asks for a new certificate by proof of possession; it also works after the old one ended.
// Tenant, device and CA cannot change by it; broker keys, address and stations can.
func (i *Identity) Renew(ctx context.Context, trusted func() bool) error {
	i.renewing.Lock()
	defer i.renewing.Unlock()
	old := i.enrolment()
	base, err := door(old.URL)
	if err != nil {
		return err
	}
	csr, err := i.keys.csr()
	if err != nil {
		return err
	}
	ask := pairing.Renewal{Device: old.Device, CSR: csr}
	ask.Proof = ed25519.Sign(i.keys.ack, ask.Signed())
	e := enrolment{Format: format, URL: old.URL}
	conf := i.verifying(base.Hostname(), trusted)
	if err := call(ctx, conf, base.JoinPath(pairing.PathRenew), ask, &e.Answer); err != nil {
		return err
	}
	if err := e.accept(i.keys); err != nil {
		return err
	}
	if e.Tenant != old.Tenant || e.Device != old.Device || !e.ca.Equal(old.ca) {
		return fmt.Errorf("%w: a renewal must not change tenant, device or ca", ErrAnswer)
	}
	if err := writeFile(i.dir, enrolmentFile, e); err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.now = &e
	return nil
}

// pin is the CA that the owner vouched for: one of two spellings of its fingerprint.
type pin struct {
	installation string
	sha256       string
}

func (r Request) pin() (code string, p pin, err error) {
	code, p.installation, err = pairing.Split(r.Pairing)
	if err != nil {
		return "", p, fmt.Errorf("identity: pairing: %w", err)
	}
	p.sha256 = strings.ToLower(strings.ReplaceAll(strings.TrimSpace(r.CASHA256), ":", ""))
	if raw, err := hex.DecodeString(p.sha256); err != nil || len(raw) != 0 && len(raw) != sha256.Size {
		return "", p, fmt.Errorf("identity: ca-sha256: found %d characters, expected 64 hex digits",
			len(p.sha256))
	}
	if p.installation == "" && p.sha256 == "" {
		return "", p, fmt.Errorf("identity: pairing: %w: found a code alone, expected the code, a "+
			"dot and the installation's fingerprint, or ca-sha256 beside it", ErrNotPinned)
	}
	return code, p, nil
}

// is tells whether cert has the pinned key; where both spellings are given both must fit.
func (p pin) is(cert *x509.Certificate) bool {
	sum := sha256.Sum256(cert.RawSubjectPublicKeyInfo)
	if p.installation != "" && pairing.Installation(cert.RawSubjectPublicKeyInfo) != p.installation {
		return false
	}
	return p.sha256 == "" || hex.EncodeToString(sum[:]) == p.sha256
}

// verify finds the pinned CA among the certificates that the server showed and checks the leaf
// against it. Dates are left out: at the first contact the device has no time to trust.
func (p pin) verify(chain []*x509.Certificate, host string) error {
	for _, cert := range chain {
		if cert.IsCA && p.is(cert) {
			return verify(chain, cert, host, time.Time{})
		}
	}
	return ErrNotPinned
}

// door reads the broker's URL.
func door(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" {
		return nil, fmt.Errorf("identity: url: found %q, expected https://host[:port]", s)
	}
	return u, nil
}

// checkAddress takes TLS only: the certificate is the device's identity at the listener.
func checkAddress(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "tls" || u.Port() == "" || u.Hostname() == "" {
		return fmt.Errorf("mqtt: found %q, expected tls://host:port", s)
	}
	return nil
}

// call posts ask as JSON and reads the answer. Each call has a connection of its own.
func call(ctx context.Context, conf *tls.Config, u *url.URL, ask, answer any) error {
	body, err := json.Marshal(ask)
	if err != nil {
		return fmt.Errorf("identity: encoding the request: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, callMax)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("identity: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	dialer := net.Dialer{Timeout: callMax}
	client := http.Client{
		Transport: &http.Transport{
			TLSClientConfig: conf, DialContext: dialer.DialContext, DisableKeepAlives: true,
			Proxy: http.ProxyFromEnvironment,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("identity: calling the broker: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(response.Body, pairing.BodyMax+1))
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return fmt.Errorf("identity: reading the answer: %w", err)
	}
	return readAnswer(response, raw, answer)
}

func readAnswer(response *http.Response, raw []byte, answer any) error {
	if response.StatusCode != http.StatusOK {
		var problem struct {
			Title  string `json:"title"`
			Detail string `json:"detail"`
		}
		// A body that is no problem document leaves both empty; the status says enough.
		_ = json.Unmarshal(raw, &problem)
		err := fmt.Errorf("identity: %s: %s %s", response.Status, problem.Title, problem.Detail)
		if response.StatusCode >= 400 && response.StatusCode < 500 {
			return fmt.Errorf("%w: %w", ErrRefused, err)
		}
		return err
	}
	if len(raw) > pairing.BodyMax {
		return fmt.Errorf("%w: found over %d bytes", ErrAnswer, pairing.BodyMax)
	}
	if err := json.Unmarshal(raw, answer); err != nil {
		return fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	return nil
}
