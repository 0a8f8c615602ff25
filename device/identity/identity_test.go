package identity

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"chit/device/wire"
	"chit/device/wire/pairing"
)

func TestAnEnrolmentSurvivesARestart(t *testing.T) {
	b, dir := newFakeBroker(t), t.TempDir()
	print, err := Fingerprint(dir)
	if err != nil {
		t.Fatal(err)
	}
	first, err := b.enrol(dir)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Fingerprint(dir)
	if again != print || err != nil {
		t.Errorf("fingerprint %q, %v, want %q", again, err, print)
	}
	for _, id := range []*Identity{first, second} {
		if id.Tenant() != "bistro" || id.Device() != "dev-1" || id.MQTT() != "tls://127.0.0.1:8883" ||
			len(id.Stations()) != 1 || len(id.BrokerKeys()) != 1 ||
			!id.AckKey().Equal(first.AckKey()) || id.Signer().KID() != wire.KID(first.AckKey()) {
			t.Errorf("got %+v", id.enrolment())
		}
	}
	if second.Due(time.Now()) || !second.Due(second.Ends().Add(-time.Minute)) {
		t.Error("a renewal is due too early or not at all")
	}
}

func TestFilesAreForTheOwnerAloneAndNothingElseIsLeft(t *testing.T) {
	b, dir := newFakeBroker(t), t.TempDir()
	if _, err := b.enrol(dir); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 {
		t.Fatalf("got %v, %v, want keys and enrolment", files, err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v, want 0600", f.Name(), info.Mode(), err)
		}
	}
}

func TestRetiringDeletesPrivateKeysAndMayBeRepeated(t *testing.T) {
	b, dir := newFakeBroker(t), t.TempDir()
	for range 2 {
		if err := Retire(dir); err != nil {
			t.Errorf("retiring nothing: %v", err)
		}
	}
	id, err := b.enrol(dir)
	if err != nil {
		t.Fatal(err)
	}
	old := id.Signer().KID()
	t.Log("# the power goes after the keys are deleted")
	if err := os.Remove(filepath.Join(dir, keysFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); !errors.Is(err, ErrNotEnrolled) {
		t.Errorf("opening without keys: %v", err)
	}
	for range 2 {
		if err := Retire(dir); err != nil {
			t.Error(err)
		}
	}
	if id, err = b.enrol(dir); err != nil || id.Signer().KID() == old {
		t.Errorf("enrolled again with %v, %v", id, err)
	}
	if err := Retire(filepath.Join(dir, "none")); err != nil {
		t.Errorf("retiring a folder that is not there: %v", err)
	}
}

func TestDamagedFilesAreToldAndKept(t *testing.T) {
	b := newFakeBroker(t)
	for _, test := range []struct{ name, file, text string }{
		{"keys are no JSON", keysFile, "{"},
		{"keys are empty", keysFile, ""},
		{"keys are another's format", keysFile, `{"format":2}`},
		{"keys are none", keysFile, `{"format":1,"ack":"AAAA","tls":"AAAA"}`},
		{"enrolment is no JSON", enrolmentFile, "x"},
		{"enrolment is another's format", enrolmentFile, `{"format":9}`},
		{"enrolment says nothing", enrolmentFile, `{"format":1}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			if _, err := b.enrol(dir); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, test.file)
			if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(dir); !errors.Is(err, ErrCorrupt) {
				t.Errorf("opening: %v, want ErrCorrupt", err)
			}
			if _, err := b.enrol(dir); !errors.Is(err, ErrCorrupt) {
				t.Errorf("enrolling over it: %v, want ErrCorrupt", err)
			}
			if raw, err := os.ReadFile(path); err != nil || string(raw) != test.text {
				t.Error("the damaged file was written over")
			}
		})
	}
}

func TestKeysOfAnotherDeviceAreNotUsed(t *testing.T) {
	b, mine, other := newFakeBroker(t), t.TempDir(), t.TempDir()
	for _, dir := range []string{mine, other} {
		if _, err := b.enrol(dir); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(filepath.Join(other, keysFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(mine, keysFile), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(mine); !errors.Is(err, ErrCorrupt) {
		t.Errorf("got %v, want ErrCorrupt", err)
	}
}

func TestAnAnswerThatCannotBeIsRefusedAndNotStored(t *testing.T) {
	b := newFakeBroker(t)
	_, otherCA := makeCA(t)
	for name, alter := range map[string]func(a *pairing.Answer){
		"tenant":      func(a *pairing.Answer) { a.Tenant = "No Id" },
		"device":      func(a *pairing.Answer) { a.Device = "" },
		"common name": func(a *pairing.Answer) { a.Device = "dev-2" },
		"certificate": func(a *pairing.Answer) { a.Certificate = []byte("x") },
		"another key": func(a *pairing.Answer) {
			a.Certificate = b.deviceCert("dev-1", b.key.Public(), 1)
		},
		"ca":         func(a *pairing.Answer) { a.CA = otherCA.Raw },
		"no ca":      func(a *pairing.Answer) { a.CA = nil },
		"no keys":    func(a *pairing.Answer) { a.BrokerKeys = nil },
		"short key":  func(a *pairing.Answer) { a.BrokerKeys = [][]byte{{1}} },
		"plain mqtt": func(a *pairing.Answer) { a.MQTT = "tcp://127.0.0.1:1883" },
		"no port":    func(a *pairing.Answer) { a.MQTT = "tls://127.0.0.1" },
	} {
		b.alter = alter
		dir := t.TempDir()
		if _, err := b.enrol(dir); !errors.Is(err, ErrAnswer) {
			t.Errorf("%s: got %v, want ErrAnswer", name, err)
		}
		if _, err := Open(dir); !errors.Is(err, ErrNotEnrolled) {
			t.Errorf("%s: left %v", name, err)
		}
	}
	b.alter = nil
	for status, want := range map[int]error{403: ErrRefused, 429: ErrRefused, 200: ErrAnswer} {
		b.status, b.raw = status, []byte(`no JSON`)
		if _, err := b.enrol(t.TempDir()); !errors.Is(err, want) {
			t.Errorf("status %d: got %v, want %v", status, err, want)
		}
	}
	for _, status := range []int{302, 500, 503} {
		b.status = status
		if _, err := b.enrol(t.TempDir()); err == nil || errors.Is(err, ErrRefused) {
			t.Errorf("status %d: got %v, want an error to try again after", status, err)
		}
	}
	b.status, b.raw = 200, []byte(`{"tenant":"`+strings.Repeat("x", pairing.BodyMax)+`"}`)
	if _, err := b.enrol(t.TempDir()); !errors.Is(err, ErrAnswer) {
		t.Errorf("a large answer: %v", err)
	}
}

func TestWrongWishesAreToldBeforeAnybodyIsAsked(t *testing.T) {
	b := newFakeBroker(t)
	for name, r := range map[string]Request{
		"no pairing":    {URL: b.url},
		"no dot":        {URL: b.url, Pairing: "ABCD-EFGH"},
		"short ca":      {URL: b.url, Pairing: "ABCD-EFGH", CASHA256: "abcd"},
		"plain http":    {URL: "http://127.0.0.1", Pairing: b.pairing()},
		"no url":        {Pairing: b.pairing()},
		"url is no URL": {URL: "https://%zz", Pairing: b.pairing()},
	} {
		r.Dir = t.TempDir()
		if _, err := Enrol(context.Background(), r); err == nil {
			t.Errorf("%s: enrolled", name)
		}
	}
	if b.asked != 0 {
		t.Errorf("the broker was asked %d times", b.asked)
	}
}

func TestDatesCountOnlyWhileTheClockIsTrusted(t *testing.T) {
	b := newFakeBroker(t)
	id, err := b.enrol(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	other := newFakeBroker(t)
	now, local := time.Now(), "127.0.0.1"
	for _, test := range []struct {
		name    string
		chain   tls.Certificate
		host    string
		trusted bool
		good    bool
	}{
		{"valid", b.serverCert(now.Add(-time.Second), local), local, true, true},
		{"ended, trusted", b.serverCert(now.Add(-time.Hour), local), local, true, false},
		{"ended, not trusted", b.serverCert(now.Add(-time.Hour), local), local, false, true},
		{"not yet, not trusted", b.serverCert(now.Add(time.Minute), local), local, false, true},
		{"other name, not trusted", b.serverCert(now, "127.0.0.2"), local, false, false},
		{"other CA, not trusted", other.serverCert(now, local), local, false, false},
		{"no certificate", tls.Certificate{}, local, false, false},
	} {
		var chain []*x509.Certificate
		for _, der := range test.chain.Certificate {
			cert, err := x509.ParseCertificate(der)
			if err != nil {
				t.Fatal(err)
			}
			chain = append(chain, cert)
		}
		conf := id.TLSFor(test.host, func() bool { return test.trusted })
		err := conf.VerifyConnection(tls.ConnectionState{PeerCertificates: chain})
		if (err == nil) != test.good || err != nil && !errors.Is(err, ErrNotPinned) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestAClientCertificateIsNoServer(t *testing.T) {
	b := newFakeBroker(t)
	id, err := b.enrol(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	leaf := id.enrolment().leaf
	err = id.TLSFor("", nil).VerifyConnection(tls.ConnectionState{
		PeerCertificates: []*x509.Certificate{leaf, b.ca},
	})
	if !errors.Is(err, ErrNotPinned) {
		t.Errorf("another device could play the broker: %v", err)
	}
}

func TestARenewalChangesNeitherOwnerNorDevice(t *testing.T) {
	b, dir := newFakeBroker(t), t.TempDir()
	id, err := b.enrol(dir)
	if err != nil {
		t.Fatal(err)
	}
	before := id.enrolment()
	b.alter = func(a *pairing.Answer) { a.Tenant = "thief" }
	if err := id.Renew(context.Background(), nil); !errors.Is(err, ErrAnswer) {
		t.Errorf("another tenant: %v", err)
	}
	if id.enrolment() != before {
		t.Error("a refused renewal changed the identity")
	}
	b.alter = func(a *pairing.Answer) { a.MQTT = "tls://127.0.0.1:9999" }
	if err := id.Renew(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	again, err := Open(dir)
	if err != nil || id.MQTT() != "tls://127.0.0.1:9999" || again.MQTT() != id.MQTT() {
		t.Errorf("the renewal is not in force or not stored: %v", err)
	}
}

func TestManyReadersAndRenewalsAtOnce(t *testing.T) {
	b, dir := newFakeBroker(t), t.TempDir()
	id, err := b.enrol(dir)
	if err != nil {
		t.Fatal(err)
	}
	conf := id.TLS(nil)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if err := id.Renew(context.Background(), nil); err != nil {
				t.Error(err)
			}
		})
		group.Go(func() {
			cert, err := conf.GetClientCertificate(nil)
			if err != nil || cert.Leaf.Subject.CommonName != id.Device() {
				t.Error("no whole certificate")
			}
			id.Stations()
			id.BrokerKeys()
		})
	}
	group.Wait()
	again, err := Open(dir)
	if err != nil || !again.enrolment().leaf.Equal(id.enrolment().leaf) {
		t.Errorf("memory and disk differ: %v", err)
	}
}

func FuzzEnrolment(f *testing.F) {
	b := newFakeBroker(f)
	dir := f.TempDir()
	if _, err := b.enrol(dir); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(dir, enrolmentFile))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add([]byte(`{"format":1}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if err := os.WriteFile(filepath.Join(dir, enrolmentFile), raw, 0o600); err != nil {
			t.Fatal(err)
		}
		id, err := Open(dir)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("got %v, want ErrCorrupt", err)
			}
			return
		}
		if wire.CheckID(id.Tenant()) != nil || len(id.BrokerKeys()) == 0 {
			t.Errorf("opened %+v", id.enrolment())
		}
	})
}
