package fleet_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"chit/broker/fleet"
)

// shown is the leaf that the listeners show now.
func (b *bench) shown() *x509.Certificate {
	b.t.Helper()
	cert, err := b.ServerTLS(false).GetCertificate(&tls.ClientHelloInfo{})
	if err != nil {
		b.t.Fatal(err)
	}
	return cert.Leaf
}

func TestTheServerCertificateIsKeptUntilAThirdIsLeft(t *testing.T) {
	b := newBench(t)
	first := b.shown()
	b.restart()
	if !b.shown().Equal(first) {
		t.Error("a restart made another certificate")
	}
	b.clock.pass(first.NotAfter.Sub(first.NotBefore) * 2 / 3)
	second := b.shown()
	if second.Equal(first) || !second.NotAfter.After(first.NotAfter) {
		t.Error("a running broker did not renew its certificate")
	}
	b.restart()
	if !b.shown().Equal(second) {
		t.Error("the renewed certificate was not kept")
	}
	b.conf.Names = append(b.conf.Names, "broker.example")
	b.restart()
	third := b.shown()
	if third.VerifyHostname("broker.example") != nil || third.VerifyHostname("127.0.0.1") != nil {
		t.Error("a new name is not in the certificate")
	}
	options := x509.VerifyOptions{Roots: b.CAPool(), CurrentTime: b.clock.now()}
	if _, err := third.Verify(options); err != nil {
		t.Errorf("not the CA's: %v", err)
	}
}

func TestPrivateKeysAreForTheOwnerAlone(t *testing.T) {
	b := newBench(t)
	files, err := os.ReadDir(b.conf.Dir)
	if err != nil || len(files) != 4 {
		t.Fatalf("%v %v", files, err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v, want 0600", f.Name(), info.Mode(), err)
		}
	}
}

func TestADamagedCAIsNeverReplaced(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "garbage": "-----BEGIN X-----\nx"} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			path := filepath.Join(b.conf.Dir, "ca.key")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := fleet.Open(context.Background(), b.conf); !errors.Is(err, fleet.ErrCorrupt) {
				t.Errorf("got %v, want ErrCorrupt", err)
			}
			if raw, err := os.ReadFile(path); err != nil || string(raw) != text {
				t.Error("the damaged file was written over")
			}
		})
	}
}

func TestDamagedRecordsStopTheFleet(t *testing.T) {
	b := newBench(t)
	ctx := context.Background()
	if err := b.records.Put(ctx, "fleet/device/dev-x", []byte("{"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := fleet.Open(ctx, b.conf); !errors.Is(err, fleet.ErrCorrupt) {
		t.Errorf("got %v, want ErrCorrupt", err)
	}
}

func TestAFleetNeedsItsConfiguration(t *testing.T) {
	good := newBench(t).conf
	for name, change := range map[string]func(*fleet.Config){
		"folder":  func(c *fleet.Config) { c.Dir = "" },
		"names":   func(c *fleet.Config) { c.Names = nil },
		"records": func(c *fleet.Config) { c.Records = nil },
		"clock":   func(c *fleet.Config) { c.Now = nil },
	} {
		conf := good
		change(&conf)
		if _, err := fleet.Open(context.Background(), conf); err == nil {
			t.Errorf("without %s: opened", name)
		}
	}
	if d := good.Now().Sub(time.Time{}); d == 0 {
		t.Error("the test's clock stands at zero")
	}
}

func TestAnInstallationMadeByAWrongClockLivesOn(t *testing.T) {
	b := newBench(t)
	b.conf.Dir = filepath.Join(t.TempDir(), "another")
	right := b.clock.now()
	b.clock.pass(time.Unix(3600, 0).Sub(right))
	b.restart()
	k := newKit(t)
	a := b.pair(k)
	b.clock.pass(right.Sub(b.clock.now()))
	if _, err := b.shown().Verify(x509.VerifyOptions{
		Roots: b.CAPool(), CurrentTime: right, DNSName: "localhost",
	}); err != nil {
		t.Errorf("the server's certificate was not renewed: %v", err)
	}
	fresh, err := b.Renew(context.Background(), k.renewal(t, a.Device))
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(fresh.Certificate)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cert.Verify(x509.VerifyOptions{
		Roots: b.CAPool(), CurrentTime: right,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}); err != nil {
		t.Errorf("a renewed device is not let in: %v", err)
	}
}
