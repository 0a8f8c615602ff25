// Package identity keeps who a device is: its keys, its certificate, and whom it believes.
//
// Two keys are made on the device and never leave it: an Ed25519 key that signs what the device
// says (hello, ack, reply, made) and a P-256 key for TLS. Enrolment over HTTPS brings a
// certificate, the installation's CA, the tenant's broker keys and the MQTT address. The first
// contact is not blind: the pairing string that the broker printed holds the fingerprint of the
// installation's CA, and the device speaks only to a server whose chain ends there.
//
//	id, err := identity.Open(dir)           // ErrNotEnrolled: print the pairing slip
//	id, err = identity.Enrol(ctx, identity.Request{Dir: dir, URL: url, Pairing: pairing})
//	conf := id.TLS(trusted)                 // for device/link
//	signer := id.Signer()                   // for what device/link publishes
//
// Everything is one directory, files 0600, each replaced as a whole: temporary file, fsync, rename,
// fsync of the directory. A directory belongs to one process at a time.
//
// The clock: a Pi wakes without the time. Until the caller says that its clock is trusted, the
// chain to the pinned CA, the name and the key usage are checked and the dates are not (DESIGN
// section 8).
package identity

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"maps"
	"net/url"
	"slices"
	"sync"
	"time"

	"chit/device/wire"
	"chit/device/wire/pairing"
)

// What a caller must tell apart.
var (
	// ErrNotEnrolled says that the directory holds no enrolment; keys may exist already.
	ErrNotEnrolled = errors.New("device is not enrolled")
	// ErrEnrolled says that the device belongs to somebody: [Retire] must come first.
	ErrEnrolled = errors.New("device is enrolled already")
	// ErrNotPinned says that the server's certificates do not end at the pinned CA.
	ErrNotPinned = errors.New("server does not belong to the pinned installation")
	// ErrRefused says that the broker answered no: wrong or used code, revoked device.
	ErrRefused = errors.New("broker refused")
	// ErrAnswer says that the broker's answer cannot be what it must be.
	ErrAnswer = errors.New("broker's answer is not valid")
	// ErrCorrupt says that a file of the identity cannot be read as what it must be. It is never
	// replaced by the program; a person must look, and may [Retire] it.
	ErrCorrupt = errors.New("identity is damaged")
)

// Station is one station that the broker has bound to a printer of this device.
type Station = pairing.Station

// Identity is an enrolled device. Its methods may be called from any goroutine.
type Identity struct {
	dir    string
	keys   *keys
	signer *wire.Signer

	// renewing lets one renewal run at a time; mu is never held over the network or the disk.
	renewing sync.Mutex
	mu       sync.RWMutex
	// now is the enrolment in force; renewals replace it as a whole.
	now *enrolment
}

// Open reads the identity in dir. ErrNotEnrolled means that [Enrol] must come first: there is no
// enrolment, or the keys that it speaks of are gone.
func Open(dir string) (*Identity, error) {
	k, err := readKeys(dir)
	if err != nil {
		return nil, err
	}
	e, err := readEnrolment(dir)
	if err != nil {
		return nil, err
	}
	if k == nil || e == nil {
		return nil, ErrNotEnrolled
	}
	if err := e.check(k); err != nil {
		return nil, errors.Join(ErrCorrupt, err)
	}
	return assemble(dir, k, e)
}

func assemble(dir string, k *keys, e *enrolment) (*Identity, error) {
	signer, err := wire.NewSigner(k.ack)
	if err != nil {
		return nil, err
	}
	return &Identity{dir: dir, keys: k, signer: signer, now: e}, nil
}

// Fingerprint makes the keys in dir if there are none and returns the name people know them by; the
// pairing slip shows it.
func Fingerprint(dir string) (string, error) {
	k, err := ensureKeys(dir)
	if err != nil {
		return "", err
	}
	return k.fingerprint()
}

func (i *Identity) enrolment() *enrolment {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.now
}

// Tenant is who owns the device.
func (i *Identity) Tenant() string { return i.enrolment().Tenant }

// Device is the id the broker gave, also the MQTT client id and user name.
func (i *Identity) Device() string { return i.enrolment().Device }

// MQTT is the address of the broker's MQTT listener, such as "tls://broker.example:8883".
func (i *Identity) MQTT() string { return i.enrolment().MQTT }

// URL is the broker's door, where the device paired and where it renews its certificate, such as
// "https://broker.example:8443".
func (i *Identity) URL() string { return i.enrolment().URL }

// Stations are the stations bound to this device's printers when it enrolled or last renewed.
func (i *Identity) Stations() []Station { return slices.Clone(i.enrolment().Stations) }

// BrokerKeys are the tenant's broker keys by kid; wire.Keys opens what they signed.
func (i *Identity) BrokerKeys() wire.Keys { return maps.Clone(i.enrolment().brokerKeys) }

// Signer signs what the device says.
func (i *Identity) Signer() *wire.Signer { return i.signer }

// AckKey is the public half of the key behind [Identity.Signer].
func (i *Identity) AckKey() ed25519.PublicKey { return i.signer.Public() }

// Ends is when the certificate ends. A renewal is due when a third of its life is left, and works
// also after the end.
func (i *Identity) Ends() time.Time { return i.enrolment().leaf.NotAfter }

// Due tells whether a renewal is due at now, which must be trusted time.
func (i *Identity) Due(now time.Time) bool {
	leaf := i.enrolment().leaf
	return now.After(leaf.NotAfter.Add(-leaf.NotAfter.Sub(leaf.NotBefore) / 3))
}

// TLS is the client configuration for the MQTT listener: the device's certificate, the pinned CA,
// and dates judged only where trusted returns true. A renewed certificate is used from the next
// connection on.
func (i *Identity) TLS(trusted func() bool) *tls.Config {
	host := ""
	if u, err := url.Parse(i.MQTT()); err == nil {
		host = u.Hostname()
	}
	return i.TLSFor(host, trusted)
}

// TLSFor is [Identity.TLS] for a listener that is reached by another name.
func (i *Identity) TLSFor(host string, trusted func() bool) *tls.Config {
	conf := i.verifying(host, trusted)
	conf.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		e := i.enrolment()
		return &tls.Certificate{
			Certificate: [][]byte{e.Certificate}, PrivateKey: i.keys.tls, Leaf: e.leaf,
		}, nil
	}
	return conf
}

// verifying checks the server without showing the device's certificate.
func (i *Identity) verifying(host string, trusted func() bool) *tls.Config {
	ca := i.enrolment().ca
	return pinned(host, func(chain []*x509.Certificate) error {
		var at time.Time
		if trusted != nil && trusted() {
			at = time.Now()
		}
		return verify(chain, ca, host, at)
	})
}

// pinned leaves all checking of the server to check, which gets the presented chain, leaf first.
func pinned(host string, check func([]*x509.Certificate) error) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		ServerName: host,
		// Go's own check cannot leave dates out or find the pinned CA in the chain; VerifyConnection
		// runs on every handshake, also on a resumed one, and has no way round it.
		InsecureSkipVerify: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			return check(state.PeerCertificates)
		},
	}
}

// verify checks that chain's leaf is a server's, for host, signed by ca. The zero at leaves dates
// out.
func verify(chain []*x509.Certificate, ca *x509.Certificate, host string, at time.Time) error {
	if len(chain) == 0 {
		return ErrNotPinned
	}
	leaf := chain[0]
	roots := x509.NewCertPool()
	roots.AddCert(ca)
	if at.IsZero() {
		at = inside(leaf, ca)
	}
	if _, err := leaf.Verify(x509.VerifyOptions{
		Roots: roots, DNSName: host, CurrentTime: at,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}); err != nil {
		return errors.Join(ErrNotPinned, err)
	}
	return nil
}

// inside is an instant at which both certificates are valid, so that dates decide nothing.
func inside(leaf, ca *x509.Certificate) time.Time {
	if leaf.NotBefore.After(ca.NotBefore) {
		return leaf.NotBefore
	}
	return ca.NotBefore
}

func ecdsaKey(cert *x509.Certificate) *ecdsa.PublicKey {
	key, _ := cert.PublicKey.(*ecdsa.PublicKey)
	return key
}
