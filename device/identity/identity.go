// Package identity keeps who a device is: its keys, its certificate, and whom it believes.
//
// Two keys are made on the device and never leave it: an Ed25519 key that signs what the device says
// (hello, ack, reply, made) and a P-256 key for TLS. Enrolment over HTTPS brings a certificate, the
// installation's CA, the tenant's broker keys and the MQTT address. The first contact is not blind:
// the pairing string that the broker printed holds the fingerprint of the installation's CA, and the
// device speaks only to a server whose chain ends there.
//
//	id, err := identity.Open(dir)           // ErrNotEnrolled: print the pairing slip
//	id, err = identity.Enrol(ctx, identity.Request{Dir: dir, URL: url, Pairing: code})
//	conf := id.TLS(clock)                   // for device/link
//	id.Sign(message)                        // device/wire's Signer
//
// Everything is one directory, files 0600, each replaced as a whole: temporary file, fsync, rename,
// fsync of the directory. A directory belongs to one process at a time.
package identity

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"errors"
	"log/slog"
	"net/http"
)

// What a caller must tell apart.
var (
	// ErrNotEnrolled says that the directory holds no enrolment; keys may exist already.
	ErrNotEnrolled = errors.New("device is not enrolled")
	// ErrPairing says that the pairing string is no code and fingerprint.
	ErrPairing = errors.New("pairing string is not valid")
	// ErrNotPinned says that the server's certificates do not end at the pinned CA.
	ErrNotPinned = errors.New("server does not belong to the pinned installation")
	// ErrRefused says that the broker answered no: wrong or used code, revoked device.
	ErrRefused = errors.New("broker refused")
	// ErrCorrupt says that a file of the identity cannot be read as what it must be. It is never
	// replaced by the program.
	ErrCorrupt = errors.New("identity is damaged")
)

// Station is one station that the broker has bound to a printer of this device.
type Station struct {
	Station string `json:"station"` // id
	Name    string `json:"name"`    // for people
	Printer string `json:"printer"` // the device's printer name
}

// Identity is an enrolled device. Its methods may be called from any goroutine.
type Identity struct{}

// Open reads the identity in dir. ErrNotEnrolled means that [Enrol] must come first.
func Open(dir string) (*Identity, error) { return nil, ErrNotEnrolled }

// Fingerprint makes the keys in dir if there are none and returns the name people know them by:
// eight groups of four from the SHA-256 of both public keys. The pairing slip shows it.
func Fingerprint(dir string) (string, error) { return "", nil }

// Request is what [Enrol] needs.
type Request struct {
	Dir string
	// URL of the broker's door, such as "https://broker.example:8443".
	URL string
	// Pairing is the pairing string "ABCD-EFGH.FINGERPRINT" as the broker printed it, or the code
	// alone where CASHA256 is given.
	Pairing string
	// CASHA256 is the hex SHA-256 of the CA's public key (SubjectPublicKeyInfo), "" if Pairing has it.
	CASHA256 string
	// Serial of the machine and Version of the program, for the broker's list of devices.
	Serial, Version string
	// Printers are the names of the printers that this device has.
	Printers []string
	Log      *slog.Logger
}

// Enrol pairs the device and stores what the broker answered. The request may be repeated with the
// same code and keys: a lost answer does not cost the code. A change of tenant retires the old keys
// first (they move to a dated folder and are never used again).
func Enrol(ctx context.Context, r Request) (*Identity, error) { return nil, ErrNotEnrolled }

// Tenant is who owns the device.
func (i *Identity) Tenant() string { return "" }

// Device is the id the broker gave, also the MQTT client id and user name.
func (i *Identity) Device() string { return "" }

// MQTT is the address of the broker's MQTT listener, such as "tls://broker.example:8883".
func (i *Identity) MQTT() string { return "" }

// Stations are the stations bound to this device's printers when it enrolled or last renewed.
func (i *Identity) Stations() []Station { return nil }

// BrokerKeys are the tenant's broker keys, by kid.
func (i *Identity) BrokerKeys() map[string]ed25519.PublicKey { return nil }

// KID names the ack key: the first 16 characters of base64url(SHA-256(raw public key)).
func (i *Identity) KID() string { return "" }

// Sign signs message with the ack key.
func (i *Identity) Sign(message []byte) ([]byte, error) { return nil, nil }

// AckKey is the private key that signs what the device says.
func (i *Identity) AckKey() ed25519.PrivateKey { return nil }

// TLS is the client configuration for MQTT and HTTPS: the device's certificate, the pinned CA, and
// dates judged only where trusted returns true (DESIGN section 8).
func (i *Identity) TLS(trusted func() bool) *tls.Config { return nil }

// Renew asks for a new certificate by proof of possession; it also works after the old one expired.
func (i *Identity) Renew(ctx context.Context, client *http.Client) error { return nil }
