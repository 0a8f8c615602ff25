package identity

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"chit/device/wire/pairing"
)

// fakeBroker answers pair and renew as a broker does, and as wrongly as a test wants.
type fakeBroker struct {
	t      testing.TB
	key    *ecdsa.PrivateKey
	ca     *x509.Certificate
	signer ed25519.PublicKey
	url    string

	mu sync.Mutex
	// alter changes an answer before it is sent; status, where set, is answered with raw instead.
	alter  func(*pairing.Answer)
	status int
	raw    []byte
	asked  int
}

func newFakeBroker(t testing.TB) *fakeBroker {
	t.Helper()
	b := &fakeBroker{t: t}
	b.key, b.ca = makeCA(t)
	b.signer, _, _ = ed25519.GenerateKey(rand.Reader)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{b.serverCert(time.Now(), "127.0.0.1")},
	})
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: b, ErrorLog: log.New(io.Discard, "", 0)}
	var group sync.WaitGroup
	group.Go(func() { _ = server.Serve(l) })
	t.Cleanup(func() { _ = server.Close(); group.Wait() })
	b.url = "https://" + l.Addr().String()
	return b
}

func makeCA(t testing.TB) (*ecdsa.PrivateKey, *x509.Certificate) {
	t.Helper()
	return sign(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "test CA"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour),
	}, nil, nil, nil)
}

// sign makes a certificate; a nil parent signs itself and a nil public makes a key.
func sign(t testing.TB, template, parent *x509.Certificate, by *ecdsa.PrivateKey, public any) (
	*ecdsa.PrivateKey, *x509.Certificate,
) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if public == nil {
		public = key.Public()
	}
	if parent == nil {
		parent, by = template, key
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, by)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return key, cert
}

func (b *fakeBroker) serverCert(from time.Time, ip string) tls.Certificate {
	key, cert := sign(b.t, &x509.Certificate{
		NotBefore: from, NotAfter: from.Add(time.Minute), IPAddresses: []net.IP{net.ParseIP(ip)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, b.ca, b.key, nil)
	return tls.Certificate{Certificate: [][]byte{cert.Raw, b.ca.Raw}, PrivateKey: key}
}

func (b *fakeBroker) deviceCert(name string, public any, life time.Duration) []byte {
	_, cert := sign(b.t, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Minute),
		NotAfter:    time.Now().Add(life),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, b.ca, b.key, public)
	return cert.Raw
}

func (b *fakeBroker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked++
	if b.status != 0 {
		w.WriteHeader(b.status)
		_, _ = w.Write(b.raw)
		return
	}
	var ask struct{ CSR []byte }
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
		b.t.Error(err)
	}
	csr, err := x509.ParseCertificateRequest(ask.CSR)
	if err != nil {
		b.t.Error(err)
		return
	}
	a := pairing.Answer{
		Tenant: "bistro", Device: "dev-1", CA: b.ca.Raw, BrokerKeys: [][]byte{b.signer},
		Certificate: b.deviceCert("dev-1", csr.PublicKey, time.Hour), MQTT: "tls://127.0.0.1:8883",
		Stations: []Station{{Station: "grill", Name: "Grill", Printer: "main"}},
	}
	if b.alter != nil {
		b.alter(&a)
	}
	if err := json.NewEncoder(w).Encode(a); err != nil {
		b.t.Error(err)
	}
}

func (b *fakeBroker) pairing() string {
	return pairing.Join("ABCD-EFGH", pairing.Installation(b.ca.RawSubjectPublicKeyInfo))
}

func (b *fakeBroker) enrol(dir string) (*Identity, error) {
	return Enrol(context.Background(), Request{Dir: dir, URL: b.url, Pairing: b.pairing()})
}
