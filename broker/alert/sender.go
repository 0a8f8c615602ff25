package alert

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
)

var (
	// ErrRefused is returned for a message that the destination will never take: HTTP 410.
	ErrRefused = errors.New("refused for good")
	// ErrPrivate is returned where a name leads to an address that is not public.
	ErrPrivate = errors.New("not a public address")
)

// Sender brings one message to one destination. A nil error says that the destination has taken it.
// Its errors name no secrets: neither addresses with their paths nor tokens.
type Sender interface {
	Send(ctx context.Context, m Message) error
}

// drainMax is how much of an answer is read, so that the connection can be used again.
const drainMax = 16 << 10

// client is an HTTP client that follows no redirects, uses no proxy and, unless private is true,
// calls public addresses only: what a name leads to is checked when the connection is made, so that
// no answer of a name server can change it in between (DESIGN.md section 8).
func client(private bool, ca *x509.CertPool) *http.Client {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	if !private {
		dialer.Control = func(_, address string, _ syscall.RawConn) error { return public(address) }
	}
	return &http.Client{
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSHandshakeTimeout: 10 * time.Second,
			TLSClientConfig:   &tls.Config{RootCAs: ca, MinVersion: tls.VersionTLS12},
			ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute,
			ResponseHeaderTimeout: 15 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// notPublic are the networks that are not on the Internet (IANA special-purpose address
// registries), beside those that package netip knows.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	// These lead to IPv4 addresses that are not looked at here.
	netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("2001::/32"),
	netip.MustParsePrefix("100::/64"), netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("::/96"),
}

// public is nil for "address:port" of the Internet.
func public(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %q", ErrPrivate, address)
	}
	ip := at.Addr().Unmap()
	bad := !ip.IsGlobalUnicast() || ip.IsPrivate()
	for _, network := range notPublic {
		bad = bad || network.Contains(ip)
	}
	if bad {
		return fmt.Errorf("%w: %s", ErrPrivate, ip)
	}
	return nil
}

// CheckURL is nil for an address that messages may be posted to; clear text is for private
// networks.
func CheckURL(text string, private bool) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("expected https://host/path")
	case u.Scheme == "http" && !private:
		return errors.New("expected https://host/path; http:// only with private = true")
	}
	return checkPort(u)
}

// checkPort is nil for an address without a port, and for a port that exists.
func checkPort(u *url.URL) error {
	if u.Port() == "" {
		return nil
	}
	if n, err := strconv.ParseUint(u.Port(), 10, 16); err != nil || n == 0 {
		return fmt.Errorf("expected a port of 1 to 65535, not %s", u.Port())
	}
	return nil
}

// CheckHost finds a host that is written as an address which is not public, or as localhost: no
// message would ever be sent there, and that is better said when the broker starts. What other
// names lead to is looked at with each connection.
func CheckHost(text string, private bool) error {
	u, err := url.Parse(text)
	if err != nil || private {
		return nil // [CheckURL] judges the rest.
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	bad := host == "localhost" || strings.HasSuffix(host, ".localhost")
	if ip, err := netip.ParseAddr(host); err == nil {
		bad = public(netip.AddrPortFrom(ip, 443).String()) != nil
	}
	if bad {
		return errors.New("expected a host on the Internet, or private = true for one in your own " +
			"network")
	}
	return nil
}

// post sends a request and judges the answer: 2xx alone is success, a redirect is none (Standard
// Webhooks 1.0.0, "Retry and back-off").
func post(c *http.Client, request *http.Request) error {
	response, err := c.Do(request)
	if err != nil {
		var wrapped *url.Error // It names the whole address, which may be a secret.
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return fmt.Errorf("posting: %w", err)
	}
	_, readErr := io.CopyN(io.Discard, response.Body, drainMax)
	if errors.Is(readErr, io.EOF) {
		readErr = nil
	}
	closeErr := response.Body.Close()
	switch {
	case response.StatusCode == http.StatusGone:
		return fmt.Errorf("%w: answered %d", ErrRefused, response.StatusCode)
	case response.StatusCode/100 != 2:
		return fmt.Errorf("answered %d", response.StatusCode)
	}
	// The answer's head says that it was taken; what went wrong behind it changes nothing.
	_ = errors.Join(readErr, closeErr)
	return nil
}
