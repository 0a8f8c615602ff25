// Package fleet keeps the installation's devices and the keys that speak for it.
//
// It owns the installation's CA, the certificate of its listeners, each tenant's signing keys, the
// pairing codes and the device records. It decides who is let in; what a device has printed is the
// relay's business. Records live in the broker's store behind the small interface [Records]; the
// CA's key lives in the data directory, 0600, and nowhere else.
//
//	f, err := fleet.Open(ctx, fleet.Config{Dir: dir, Names: names, Records: records, Now: now})
//	code, err := f.NewCode(ctx, fleet.CodeRequest{Tenant: "t1", Stations: stations})
//	mux.Handle("POST /v1/devices/pair", f.PairHandler())
//	mux.Handle("POST /v1/devices/renew", f.RenewHandler())
//	tenant, device, err := f.Admit(peer)
package fleet

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net/http"
	"time"
)

// What a caller must tell apart.
var (
	// ErrNoRecord says that the key is not in the store.
	ErrNoRecord = errors.New("no such record")
	// ErrConflict says that the record is at another version than the one that was written over.
	ErrConflict = errors.New("record has changed")
	// ErrNotAdmitted says that a certificate is no living device's.
	ErrNotAdmitted = errors.New("certificate is not admitted")
	// ErrCode says that a pairing code is wrong, used, over or out of tries. Which of them is logged
	// and never told to the caller.
	ErrCode = errors.New("pairing code is not valid")
	// ErrRate says that an address has tried too often.
	ErrRate = errors.New("too many tries from this address")
	// ErrRevoked says that the device was revoked.
	ErrRevoked = errors.New("device is revoked")
	// ErrRequest says that a pair or renew request is malformed or its proof is wrong.
	ErrRequest = errors.New("request is not valid")
)

// Record is one stored value and its version.
type Record struct {
	Key     string
	Value   []byte
	Version uint64
}

// Records is what fleet needs of the broker's store. Keys are "fleet/…", values are JSON.
type Records interface {
	// Get returns the record or [ErrNoRecord].
	Get(ctx context.Context, key string) (Record, error)
	// Put writes value where the stored version is version, 0 meaning there must be none, and
	// returns when it is on disk. [ErrConflict] means somebody else wrote first.
	Put(ctx context.Context, key string, value []byte, version uint64) error
	// List returns all records whose key begins with prefix, by key.
	List(ctx context.Context, prefix string) ([]Record, error)
}

// Config is what a fleet is made of. Dir, Records and Now are required.
type Config struct {
	// Dir holds ca.key, ca.pem, server.key and server.pem.
	Dir string
	// Names are the DNS names and IP addresses that the listeners are reached by.
	Names []string
	// MQTT is the address told to devices, such as "tls://broker.example:8883".
	MQTT    string
	Records Records
	Now     func() time.Time
	Log     *slog.Logger
}

// Fleet is the devices of one installation. Its methods may be called from any goroutine.
type Fleet struct{}

// Open makes what is missing: the CA, the server's certificate (renewed when a third of its life is
// left or the names changed).
func Open(ctx context.Context, c Config) (*Fleet, error) { return nil, nil }

// ServerTLS is the configuration of the MQTT and HTTPS listeners. clientCerts asks every client for
// a device certificate (MQTT); without it none is asked (the HTTP door).
func (f *Fleet) ServerTLS(clientCerts bool) *tls.Config { return nil }

// CAPool holds the installation's CA alone.
func (f *Fleet) CAPool() *x509.CertPool { return nil }

// CASHA256 is the hex SHA-256 of the CA's public key, for --ca-sha256.
func (f *Fleet) CASHA256() string { return "" }

// Admit says whose certificate peer is. The TLS layer has checked the chain; Admit checks the record:
// known, not revoked, this serial. Every refusal wraps [ErrNotAdmitted].
func (f *Fleet) Admit(peer *x509.Certificate) (tenant, device string, err error) {
	return "", "", ErrNotAdmitted
}

// Keys are the public ack keys of a device by kid, old ones included: acks made before a change of
// key stay valid as long as the events they answer.
func (f *Fleet) Keys(device string) (map[string]ed25519.PublicKey, error) { return nil, ErrNoRecord }

// Signer is the tenant's active signing key; it is made at the first call.
func (f *Fleet) Signer(ctx context.Context, tenant string) (Signer, error) { return Signer{}, nil }

// Signer is a tenant's signing key and its name.
type Signer struct {
	KID string
	Key ed25519.PrivateKey
}

// Station is one station bound to a printer of a device.
type Station struct {
	Station string `json:"station"`
	Name    string `json:"name"`
	Printer string `json:"printer"`
}

// Device is one device's record.
type Device struct {
	ID          string    `json:"id"`
	Tenant      string    `json:"tenant"`
	Fingerprint string    `json:"fingerprint"`
	Serial      string    `json:"serial,omitempty"`
	Version     string    `json:"version,omitempty"`
	Printers    []string  `json:"printers,omitempty"`
	Stations    []Station `json:"stations"`
	Paired      time.Time `json:"paired"`
	// Revoked is the reason, "" for a living device.
	Revoked string `json:"revoked,omitempty"`
	// AckKeys are raw public keys, newest last.
	AckKeys [][]byte `json:"ack_keys"`
	// Certificates are the serials that may connect, newest last.
	Certificates []string `json:"certificates"`
	// TLSKey is the DER SubjectPublicKeyInfo that renewals are made for.
	TLSKey []byte `json:"tls_key"`
}

// Device returns one record, revoked or not, or [ErrNoRecord].
func (f *Fleet) Device(ctx context.Context, id string) (Device, error) {
	return Device{}, ErrNoRecord
}

// Devices lists a tenant's devices, "" for all, revoked ones included.
func (f *Fleet) Devices(ctx context.Context, tenant string) ([]Device, error) { return nil, nil }

// DeviceFor resolves a station to the device and printer that serve it now, or [ErrNoRecord].
func (f *Fleet) DeviceFor(ctx context.Context, tenant, station string) (device, printer string,
	err error) {
	return "", "", ErrNoRecord
}

// Bind replaces the stations of a device.
func (f *Fleet) Bind(ctx context.Context, device string, stations []Station) error { return nil }

// Revoke ends a device for good. Whoever holds its connection must close it after this returns.
func (f *Fleet) Revoke(ctx context.Context, device, reason string) error { return nil }

// CodeRequest is what a pairing code is made for.
type CodeRequest struct {
	Tenant   string
	Stations []Station
	// Fingerprint binds the code to the keys on a device's slip. Where it is empty the first key
	// that presents the code binds it.
	Fingerprint string
}

// Code is a pairing code as it is shown to the owner.
type Code struct {
	Code    string // "ABCD-EFGH"
	Pairing string // "ABCD-EFGH.<CA fingerprint>", what chitd is given
	Expires time.Time
}

// NewCode makes a pairing code: 8 characters, 10 minutes, single use.
func (f *Fleet) NewCode(ctx context.Context, r CodeRequest) (Code, error) { return Code{}, nil }

// PairHandler serves POST /v1/devices/pair.
func (f *Fleet) PairHandler() http.Handler { return nil }

// RenewHandler serves POST /v1/devices/renew.
func (f *Fleet) RenewHandler() http.Handler { return nil }
