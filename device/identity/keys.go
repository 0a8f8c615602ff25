package identity

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"chit/device/wire"
	"chit/device/wire/pairing"
)

// Files of an identity.
const (
	keysFile      = "keys.json"
	enrolmentFile = "enrolment.json"
	retiredFile   = "enrolment.retired.json"
)

// keys are the two private keys of a device.
type keys struct {
	ack ed25519.PrivateKey
	tls *ecdsa.PrivateKey
}

// storedKeys is keys as a file; both are PKCS #8 DER.
type storedKeys struct {
	Format int    `json:"format"`
	Ack    []byte `json:"ack"`
	TLS    []byte `json:"tls"`
}

// format is the version of both files. A program that meets a newer one leaves it alone.
const format = 1

// readKeys returns nil where there are none.
func readKeys(dir string) (*keys, error) {
	var stored storedKeys
	if found, err := readFile(dir, keysFile, &stored); !found || err != nil {
		return nil, err
	}
	if stored.Format != format {
		return nil, fmt.Errorf("%w: %s has format %d, expected %d", ErrCorrupt, keysFile,
			stored.Format, format)
	}
	ack, err := x509.ParsePKCS8PrivateKey(stored.Ack)
	if err != nil {
		return nil, fmt.Errorf("%w: ack key in %s: %w", ErrCorrupt, keysFile, err)
	}
	tlsKey, err := x509.ParsePKCS8PrivateKey(stored.TLS)
	if err != nil {
		return nil, fmt.Errorf("%w: TLS key in %s: %w", ErrCorrupt, keysFile, err)
	}
	var k keys
	var okAck, okTLS bool
	k.ack, okAck = ack.(ed25519.PrivateKey)
	k.tls, okTLS = tlsKey.(*ecdsa.PrivateKey)
	if !okAck || !okTLS {
		return nil, fmt.Errorf("%w: %s holds %T and %T, expected Ed25519 and ECDSA", ErrCorrupt,
			keysFile, ack, tlsKey)
	}
	return &k, nil
}

// ensureKeys reads the keys or makes them; new keys are on disk before it returns. A daemon that
// waits for its pairing and the command that pairs may do so at the same time: both get the same
// keys.
func ensureKeys(dir string) (*keys, error) {
	k, err := readKeys(dir)
	if k != nil || err != nil {
		return k, err
	}
	k = &keys{}
	if _, k.ack, err = ed25519.GenerateKey(rand.Reader); err != nil {
		return nil, fmt.Errorf("identity: making the ack key: %w", err)
	}
	if k.tls, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, fmt.Errorf("identity: making the TLS key: %w", err)
	}
	stored := storedKeys{Format: format}
	if stored.Ack, err = x509.MarshalPKCS8PrivateKey(k.ack); err != nil {
		return nil, fmt.Errorf("identity: encoding the ack key: %w", err)
	}
	if stored.TLS, err = x509.MarshalPKCS8PrivateKey(k.tls); err != nil {
		return nil, fmt.Errorf("identity: encoding the TLS key: %w", err)
	}
	err = writeNewFile(dir, keysFile, stored)
	if errors.Is(err, fs.ErrExist) {
		return readKeys(dir) // Somebody was faster.
	}
	return k, err
}

func (k *keys) ackPublic() ed25519.PublicKey { return k.ack.Public().(ed25519.PublicKey) }

func (k *keys) fingerprint() (string, error) {
	spki, err := x509.MarshalPKIXPublicKey(k.tls.Public())
	if err != nil {
		return "", fmt.Errorf("identity: encoding the TLS key: %w", err)
	}
	return pairing.Keys(spki, k.ackPublic()), nil
}

// csr is the certificate request that both keys stand behind (package pairing).
func (k *keys) csr() ([]byte, error) {
	name, err := k.fingerprint()
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: name},
	}, k.tls)
	if err != nil {
		return nil, fmt.Errorf("identity: making the certificate request: %w", err)
	}
	return der, nil
}

// enrolment is what the broker answered, and where.
type enrolment struct {
	Format int    `json:"format"`
	URL    string `json:"url"`
	pairing.Answer

	leaf, ca   *x509.Certificate
	brokerKeys wire.Keys
}

// readEnrolment returns nil where there is none. The result is parsed but not checked against keys.
func readEnrolment(dir string) (*enrolment, error) {
	var e enrolment
	if found, err := readFile(dir, enrolmentFile, &e); !found || err != nil {
		return nil, err
	}
	if e.Format != format {
		return nil, fmt.Errorf("%w: %s has format %d, expected %d", ErrCorrupt, enrolmentFile,
			e.Format, format)
	}
	if err := e.parse(); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrCorrupt, enrolmentFile, err)
	}
	return &e, nil
}

// parse reads certificates and keys out of the answer and checks every field.
func (e *enrolment) parse() error {
	if err := wire.CheckID(e.Tenant); err != nil {
		return fmt.Errorf("tenant: %w", err)
	}
	if err := wire.CheckID(e.Device); err != nil {
		return fmt.Errorf("device: %w", err)
	}
	var err error
	if e.leaf, err = x509.ParseCertificate(e.Certificate); err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	if e.ca, err = x509.ParseCertificate(e.CA); err != nil {
		return fmt.Errorf("ca: %w", err)
	}
	if len(e.BrokerKeys) == 0 {
		return errors.New("broker_keys: found none, expected at least one")
	}
	public := make([]ed25519.PublicKey, len(e.BrokerKeys))
	for i, raw := range e.BrokerKeys {
		public[i] = raw
	}
	if e.brokerKeys, err = wire.NewKeys(public...); err != nil {
		return fmt.Errorf("broker_keys: %w", err)
	}
	return checkAddress(e.MQTT)
}

// check tells whether the certificate is ours and the installation's, dates left out.
func (e *enrolment) check(k *keys) error {
	if key := ecdsaKey(e.leaf); key == nil || !key.Equal(k.tls.Public()) {
		return errors.New("certificate: is for another key")
	}
	if e.leaf.Subject.CommonName != e.Device {
		return fmt.Errorf("certificate: common name %q, expected %q", e.leaf.Subject.CommonName, e.Device)
	}
	roots := x509.NewCertPool()
	roots.AddCert(e.ca)
	_, err := e.leaf.Verify(x509.VerifyOptions{
		Roots: roots, CurrentTime: inside(e.leaf, e.ca),
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	return nil
}

// Retire ends the identity in dir: the private keys are deleted first, so that no crash can leave
// them to another tenant, and the enrolment without them is kept aside for whoever must look later.
// It may be called again, and on a directory without an identity.
func Retire(dir string) error {
	if err := os.Remove(filepath.Join(dir, keysFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("identity: deleting keys: %w", err)
	}
	if err := syncDir(dir); err != nil {
		return err
	}
	from, to := filepath.Join(dir, enrolmentFile), filepath.Join(dir, retiredFile)
	if err := os.Rename(from, to); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("identity: retiring the enrolment: %w", err)
	}
	return syncDir(dir)
}

func readFile(dir, name string, into any) (found bool, err error) {
	raw, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("identity: reading %s: %w", name, err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return true, fmt.Errorf("%w: %s: %w", ErrCorrupt, name, err)
	}
	return true, nil
}
