package serve

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
)

// ErrControl says that the control is not on loopback: whoever reaches it can cut the power.
var ErrControl = errors.New("control address is not on loopback")

func loopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("serve: control address %q: %w", address, err)
	}
	if onLoopback(host) {
		return nil
	}
	return fmt.Errorf("serve: %w: found %q, expected 127.0.0.1, [::1] or localhost", ErrControl, host)
}

func onLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// policy lets the page load its own files and nothing else, and be shown in no other page.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guarded keeps other web pages away from the hands: a POST must come from the page itself or from
// no browser, no other page may show or read anything here, and a name that somebody else made to
// point at this machine is not answered (DNS rebinding).
func (s *Server) guarded(inner http.Handler) http.Handler {
	same := http.NewCrossOriginProtection().Handler(inner)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.conf.Anywhere && !onLoopback(hostOf(r.Host)) {
			http.Error(w, fmt.Sprintf("found host %q, expected this machine's own address", r.Host),
				http.StatusForbidden)
			return
		}
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		same.ServeHTTP(w, r)
	})
}

// hostOf is the host of a Host header, without port and brackets.
func hostOf(header string) string {
	if host, _, err := net.SplitHostPort(header); err == nil {
		return host
	}
	if n := len(header); n > 2 && header[0] == '[' && header[n-1] == ']' {
		return header[1 : n-1]
	}
	return header
}
