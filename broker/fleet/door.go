package fleet

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"strings"

	"chit/device/wire/pairing"
)

// problem is an RFC 9457 answer; its types are part of the interface.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
}

// PairHandler serves POST /v1/devices/pair. It needs no token: the code is one.
func (f *Fleet) PairHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var ask pairing.Request
		if err := f.read(r, f.pairs, &ask); err != nil {
			f.fail(w, r, err)
			return
		}
		answer, err := f.Pair(r.Context(), ask)
		f.answer(w, r, answer, err)
	})
}

// RenewHandler serves POST /v1/devices/renew. It needs no certificate: the old one may have ended,
// and the signatures in the request prove both keys.
func (f *Fleet) RenewHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var ask pairing.Renewal
		if err := f.read(r, f.renewals, &ask); err != nil {
			f.fail(w, r, err)
			return
		}
		answer, err := f.Renew(r.Context(), ask)
		f.answer(w, r, answer, err)
	})
}

// read counts the try and reads a bounded, strict JSON body.
func (f *Fleet) read(r *http.Request, by *tries, into any) error {
	// An address that cannot be read is the zero one; all such share one count.
	address, _ := netip.ParseAddrPort(r.RemoteAddr)
	if !by.allow(address.Addr(), f.conf.Now()) {
		return ErrRate
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, pairing.BodyMax+1))
	if err != nil {
		return errors.Join(ErrRequest, err)
	}
	if len(raw) > pairing.BodyMax {
		return errTooLarge
	}
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return errors.Join(ErrRequest, err)
	}
	if decoder.More() {
		return errors.Join(ErrRequest, errors.New("more than one JSON value"))
	}
	return nil
}

var errTooLarge = errors.New("request is too large")

func (f *Fleet) answer(w http.ResponseWriter, r *http.Request, answer pairing.Answer, err error) {
	if err != nil {
		f.fail(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	f.write(w, "application/json", http.StatusOK, answer)
}

// fail answers an error. What is wrong with a code or a device is said to the log alone.
func (f *Fleet) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := problem{Type: "internal", Status: http.StatusInternalServerError}
	switch {
	case errors.Is(err, ErrRate):
		p = problem{Type: "rate", Status: http.StatusTooManyRequests, Detail: ErrRate.Error()}
		w.Header().Set("Retry-After", "3600")
	case errors.Is(err, errTooLarge):
		p = problem{Type: "too-large", Status: http.StatusRequestEntityTooLarge}
	case errors.Is(err, ErrCode):
		p = problem{Type: "pairing-code", Status: http.StatusForbidden, Detail: ErrCode.Error()}
	case errors.Is(err, ErrRevoked), errors.Is(err, ErrNoRecord):
		p = problem{Type: "device", Status: http.StatusForbidden, Detail: "device is not admitted"}
	case errors.Is(err, ErrRequest):
		p = problem{Type: "malformed", Status: http.StatusUnprocessableEntity, Detail: err.Error()}
	case errors.Is(err, ErrConflict):
		p = problem{Type: "busy", Status: http.StatusServiceUnavailable}
		w.Header().Set("Retry-After", "1")
	}
	if p.Status == http.StatusInternalServerError {
		f.conf.Log.Error("device request failed", "path", r.URL.Path, "err", err)
	} else {
		f.conf.Log.Warn("device request refused", "path", r.URL.Path, "reason", p.Type)
	}
	p.Type, p.Title = "urn:chit:problem:"+p.Type, http.StatusText(p.Status)
	f.write(w, "application/problem+json", p.Status, p)
}

func (f *Fleet) write(w http.ResponseWriter, kind string, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		f.conf.Log.Error("answer not encoded", "err", err)
		status, body = http.StatusInternalServerError, []byte("{}")
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	// The peer may be gone; it asks again with the same code and keys.
	_, _ = w.Write(append(body, '\n'))
}
