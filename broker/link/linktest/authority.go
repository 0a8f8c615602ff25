package linktest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority is a throw-away CA for one test.
type Authority struct {
	tb   testing.TB
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	pool *x509.CertPool
}

// NewAuthority makes a CA.
func NewAuthority(tb testing.TB) *Authority {
	tb.Helper()
	a := &Authority{tb: tb, key: newKey(tb), pool: x509.NewCertPool()}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "throw-away"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.cert = a.sign(template, template, &a.key.PublicKey)
	a.pool.AddCert(a.cert)
	return a
}

func newKey(tb testing.TB) *ecdsa.PrivateKey {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return key
}

func (a *Authority) sign(
	template, parent *x509.Certificate, key *ecdsa.PublicKey,
) *x509.Certificate {
	a.tb.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key, a.key)
	if err != nil {
		a.tb.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.tb.Fatal(err)
	}
	return cert
}

func (a *Authority) issue(name string, usage x509.ExtKeyUsage) tls.Certificate {
	a.tb.Helper()
	key := newKey(a.tb)
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		a.tb.Fatal(err)
	}
	cert := a.sign(&x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{usage},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
	}, a.cert, &key.PublicKey)
	return tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key, Leaf: cert}
}

// Server is the configuration of a listener that wants client certificates of this CA.
func (a *Authority) Server() *tls.Config {
	a.tb.Helper()
	return &tls.Config{
		Certificates: []tls.Certificate{a.issue("localhost", x509.ExtKeyUsageServerAuth)},
		ClientCAs:    a.pool, ClientAuth: tls.RequireAndVerifyClientCert,
		MinVersion: tls.VersionTLS12,
	}
}

// Client is the configuration of a client whose certificate names it name.
func (a *Authority) Client(name string) *tls.Config {
	a.tb.Helper()
	return &tls.Config{
		Certificates: []tls.Certificate{a.issue(name, x509.ExtKeyUsageClientAuth)},
		RootCAs:      a.pool, ServerName: "localhost", MinVersion: tls.VersionTLS12,
	}
}

// write puts ca.pem, server.pem and server.key into dir.
func (a *Authority) write(dir string) {
	a.tb.Helper()
	server := a.issue("localhost", x509.ExtKeyUsageServerAuth)
	key, err := x509.MarshalPKCS8PrivateKey(server.PrivateKey)
	if err != nil {
		a.tb.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"ca.pem":     {Type: "CERTIFICATE", Bytes: a.cert.Raw},
		"server.pem": {Type: "CERTIFICATE", Bytes: server.Certificate[0]},
		"server.key": {Type: "PRIVATE KEY", Bytes: key},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			a.tb.Fatal(err)
		}
	}
}
