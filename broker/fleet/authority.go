package fleet

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"chit/device/wire/pairing"
)

// Lives of certificates. All begin a day early, because a device's clock may lag.
const (
	caLife     = 20 * 365 * 24 * time.Hour
	serverLife = 397 * 24 * time.Hour
	deviceLife = 365 * 24 * time.Hour
	early      = 24 * time.Hour
)

// The CA is made at the first start, when the clock may not have been set yet. A clock before
// caEpoch, when this was written, is wrong for sure and must not give the installation a CA that
// has ended when the clock is right; the CA begins before any clock that a machine may wake up
// with. Shorter lives need no such care: they are renewed when they do not fit the time.
var (
	caBegins = time.Unix(0, 0).UTC()
	caEpoch  = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

// serialBytes of randomness make a serial number (RFC 5280 section 4.1.2.2: at most 20).
const serialBytes = 16

// authority is the installation's CA and the certificate of its listeners.
type authority struct {
	key    *ecdsa.PrivateKey
	cert   *x509.Certificate
	conf   Config
	random io.Reader

	mu     sync.Mutex
	server *tls.Certificate
}

func openAuthority(c Config) (*authority, error) {
	a := &authority{conf: c, random: c.Random}
	if a.random == nil {
		a.random = rand.Reader
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("fleet: making the folder: %w", err)
	}
	key, cert, err := readPair(c.Dir, "ca")
	if err == nil && key == nil {
		key, cert, err = a.makeCA()
	}
	if err != nil {
		return nil, err
	}
	a.key, a.cert = key, cert
	key, cert, err = readPair(c.Dir, "server")
	if err != nil {
		return nil, err
	}
	if key != nil && a.fits(cert) {
		a.server = a.bundle(key, cert)
		return a, nil
	}
	return a, a.renew()
}

func (a *authority) makeCA() (*ecdsa.PrivateKey, *x509.Certificate, error) {
	return a.issueFor("ca", func(key *ecdsa.PrivateKey) ([]byte, error) {
		serial, err := a.serial()
		if err != nil {
			return nil, err
		}
		from := a.conf.Now()
		if from.Before(caEpoch) {
			from = caEpoch
		}
		template := &x509.Certificate{
			SerialNumber: serial,
			Subject:      pkix.Name{CommonName: "Chit installation " + serial.Text(36)[:8]},
			NotBefore:    caBegins, NotAfter: from.Add(caLife),
			KeyUsage: x509.KeyUsageCertSign, IsCA: true,
			BasicConstraintsValid: true, MaxPathLenZero: true,
		}
		return x509.CreateCertificate(a.random, template, template, key.Public(), key)
	})
}

// renew makes a new key and certificate for the listeners; a.mu is held or a is not shared yet.
func (a *authority) renew() error {
	key, cert, err := a.issueFor("server", func(key *ecdsa.PrivateKey) ([]byte, error) {
		serial, err := a.serial()
		if err != nil {
			return nil, err
		}
		now := a.conf.Now()
		template := &x509.Certificate{
			SerialNumber: serial, Subject: pkix.Name{CommonName: a.conf.Names[0]},
			NotBefore: now.Add(-early), NotAfter: now.Add(serverLife),
			KeyUsage:    x509.KeyUsageDigitalSignature,
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		}
		template.DNSNames, template.IPAddresses = names(a.conf.Names)
		return x509.CreateCertificate(a.random, template, a.cert, key.Public(), a.key)
	})
	if err != nil {
		return err
	}
	a.server = a.bundle(key, cert)
	return nil
}

// issueFor makes a key and a certificate and stores both; the certificate alone lies beside them
// for people and programs that need only that.
func (a *authority) issueFor(name string, sign func(*ecdsa.PrivateKey) ([]byte, error)) (
	*ecdsa.PrivateKey, *x509.Certificate, error,
) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), a.random)
	if err != nil {
		return nil, nil, fmt.Errorf("fleet: making the %s key: %w", name, err)
	}
	der, err := sign(key)
	if err != nil {
		return nil, nil, fmt.Errorf("fleet: signing the %s certificate: %w", name, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, nil, fmt.Errorf("fleet: reading the %s certificate: %w", name, err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, fmt.Errorf("fleet: encoding the %s key: %w", name, err)
	}
	// One file holds both, so that no crash can leave a key beside another key's certificate.
	both := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
	both = append(both, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	if err := replaceFile(a.conf.Dir, name+".key", both); err != nil {
		return nil, nil, err
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return key, cert, replaceFile(a.conf.Dir, name+".pem", public)
}

// readPair reads what issueFor wrote; a nil key means that there is none.
func readPair(dir, name string) (*ecdsa.PrivateKey, *x509.Certificate, error) {
	raw, err := os.ReadFile(filepath.Join(dir, name+".key"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("fleet: reading %s.key: %w", name, err)
	}
	keyBlock, rest := pem.Decode(raw)
	certBlock, _ := pem.Decode(rest)
	if keyBlock == nil || certBlock == nil {
		return nil, nil, fmt.Errorf("%w: %s.key: expected a PEM key and a certificate", ErrCorrupt, name)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(keyBlock.Bytes)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %s.key: %w", ErrCorrupt, name, err)
	}
	cert, err := x509.ParseCertificate(certBlock.Bytes)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %s.key: %w", ErrCorrupt, name, err)
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || !key.PublicKey.Equal(cert.PublicKey) {
		return nil, nil, fmt.Errorf("%w: %s.key: the certificate is not for the key", ErrCorrupt, name)
	}
	return key, cert, nil
}

// fits tells whether the listeners' certificate may stay: ours, for all names, two thirds unspent.
func (a *authority) fits(cert *x509.Certificate) bool {
	dns, ips := names(a.conf.Names)
	sameIP := slices.EqualFunc(cert.IPAddresses, ips, net.IP.Equal)
	third := cert.NotAfter.Sub(cert.NotBefore) / 3
	return cert.CheckSignatureFrom(a.cert) == nil && slices.Equal(cert.DNSNames, dns) && sameIP &&
		a.conf.Now().Before(cert.NotAfter.Add(-third)) && !a.conf.Now().Before(cert.NotBefore)
}

// current is the listeners' certificate, renewed when a third of its life is left. Where renewing
// fails the old one goes on: it is still valid, and the log says what to do.
func (a *authority) current() (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.fits(a.server.Leaf) {
		if err := a.renew(); err != nil {
			a.conf.Log.Error("server certificate not renewed", "err", err)
		}
	}
	return a.server, nil
}

// bundle sends the CA along: a device at its first contact finds the pinned one in the chain.
func (a *authority) bundle(key *ecdsa.PrivateKey, cert *x509.Certificate) *tls.Certificate {
	return &tls.Certificate{Certificate: [][]byte{cert.Raw, a.cert.Raw}, PrivateKey: key, Leaf: cert}
}

// issueDevice signs a client certificate for a device's key.
func (a *authority) issueDevice(tenant, device string, key any) (*x509.Certificate, error) {
	serial, err := a.serial()
	if err != nil {
		return nil, err
	}
	now := a.conf.Now()
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: device, Organization: []string{tenant}},
		NotBefore:    now.Add(-early), NotAfter: now.Add(deviceLife),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(a.random, template, a.cert, key, a.key)
	if err != nil {
		return nil, fmt.Errorf("fleet: signing the certificate of %s: %w", device, err)
	}
	return x509.ParseCertificate(der)
}

func (a *authority) serial() (*big.Int, error) {
	raw := make([]byte, serialBytes)
	if _, err := io.ReadFull(a.random, raw); err != nil {
		return nil, fmt.Errorf("fleet: drawing a serial number: %w", err)
	}
	raw[0] |= 0x40 // Never zero, never negative, always 16 bytes.
	raw[0] &= 0x7f
	return new(big.Int).SetBytes(raw), nil
}

func names(all []string) (dns []string, ips []net.IP) {
	for _, name := range all {
		if ip := net.ParseIP(name); ip != nil {
			ips = append(ips, ip)
		} else {
			dns = append(dns, name)
		}
	}
	return dns, ips
}

// ServerTLS is the configuration of the MQTT and HTTPS listeners. clientCerts asks every client for
// a device certificate (MQTT); without it none is asked (the HTTP door).
func (f *Fleet) ServerTLS(clientCerts bool) *tls.Config {
	conf := &tls.Config{
		MinVersion: tls.VersionTLS12,
		Time:       f.conf.Now,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return f.ca.current()
		},
	}
	if clientCerts {
		conf.ClientAuth, conf.ClientCAs = tls.RequireAndVerifyClientCert, f.CAPool()
	}
	return conf
}

// CAPool holds the installation's CA alone.
func (f *Fleet) CAPool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(f.ca.cert)
	return pool
}

// CASHA256 is the hex SHA-256 of the CA's public key (SubjectPublicKeyInfo), for --ca-sha256.
func (f *Fleet) CASHA256() string {
	sum := sha256.Sum256(f.ca.cert.RawSubjectPublicKeyInfo)
	return hex.EncodeToString(sum[:])
}

// Installation is the CA's fingerprint as pairing strings hold it.
func (f *Fleet) Installation() string {
	return pairing.Installation(f.ca.cert.RawSubjectPublicKeyInfo)
}

// replaceFile writes a file as a whole, 0600: temporary file, fsync, rename, fsync of the folder.
func replaceFile(dir, name string, content []byte) error {
	if old, err := os.ReadFile(filepath.Join(dir, name)); err == nil && bytes.Equal(old, content) {
		return nil
	}
	f, err := os.CreateTemp(dir, name+".tmp-*")
	if err != nil {
		return fmt.Errorf("fleet: writing %s: %w", name, err)
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		return fmt.Errorf("fleet: writing %s: %w", name, errors.Join(err, os.Remove(f.Name())))
	}
	folder, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("fleet: opening the folder: %w", err)
	}
	if err := errors.Join(folder.Sync(), folder.Close()); err != nil {
		return fmt.Errorf("fleet: flushing the folder: %w", err)
	}
	return nil
}
