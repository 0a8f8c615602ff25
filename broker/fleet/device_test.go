package fleet_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"chit/broker/fleet"
	"chit/device/identity"
	"chit/device/wire/pairing"
)

// serve is the broker's HTTPS door as devices meet it.
func (b *bench) serve() string {
	b.t.Helper()
	mux := http.NewServeMux()
	mux.Handle("POST "+pairing.PathPair, b.PairHandler())
	mux.Handle("POST "+pairing.PathRenew, b.RenewHandler())
	l, err := tls.Listen("tcp", "127.0.0.1:0", b.ServerTLS(false))
	if err != nil {
		b.t.Fatal(err)
	}
	server := &http.Server{Handler: mux, ErrorLog: log.New(io.Discard, "", 0)}
	var group sync.WaitGroup
	group.Go(func() { _ = server.Serve(l) })
	b.t.Cleanup(func() { _ = server.Close(); group.Wait() })
	return "https://" + l.Addr().String()
}

// listen is the broker's MQTT listener: it says hello to whom it admits and closes on others.
func (b *bench) listen() string {
	b.t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", b.ServerTLS(true))
	if err != nil {
		b.t.Fatal(err)
	}
	var group sync.WaitGroup
	group.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			tc := conn.(*tls.Conn)
			if tc.Handshake() == nil {
				_, device, err := b.Admit(tc.ConnectionState().PeerCertificates[0])
				if err == nil {
					_, _ = io.WriteString(tc, "hello "+device)
				}
			}
			_ = tc.Close()
		}
	})
	b.t.Cleanup(func() { _ = l.Close(); group.Wait() })
	return l.Addr().String()
}

func dial(address string, conf *tls.Config) (string, error) {
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: 10 * time.Second}, "tcp", address, conf)
	if err != nil {
		return "", err
	}
	raw, err := io.ReadAll(conn)
	return string(raw), errors.Join(err, conn.Close())
}

func TestADeviceAndABrokerMeetAndMeetAgain(t *testing.T) {
	b := newBench(t)
	b.clock.at = time.Now()
	address := b.listen()
	b.conf.MQTT = "tls://" + address
	b.restart()
	url := b.serve()
	ctx := context.Background()
	code, err := b.NewCode(ctx, fleet.CodeRequest{
		Tenant: "bistro", Stations: []fleet.Station{{Station: "grill", Name: "Grill"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	request := identity.Request{
		Dir: dir, URL: url, Pairing: code.Pairing, Printers: []string{"main"}, Version: "1",
	}
	id, err := identity.Enrol(ctx, request)
	if err != nil {
		t.Fatal(err)
	}
	print, err := identity.Fingerprint(dir)
	record, recordErr := b.Device(ctx, id.Device())
	if err != nil || recordErr != nil || record.Fingerprint != print || id.Tenant() != "bistro" {
		t.Errorf("record %+v, fingerprint %q, %v %v", record, print, err, recordErr)
	}
	wantHello := func(trusted bool) {
		t.Helper()
		got, err := dial(address, id.TLS(func() bool { return trusted }))
		if got != "hello "+id.Device() || err != nil {
			t.Errorf("trusted %v: got %q, %v", trusted, got, err)
		}
	}
	wantHello(true)
	wantHello(false)

	t.Log("# the daemon starts again")
	if id, err = identity.Open(dir); err != nil {
		t.Fatal(err)
	}
	wantHello(true)

	t.Log("# the broker renews the certificate, rotates its key, and then revokes the device")
	if err := b.Announce(ctx, "bistro"); err != nil {
		t.Fatal(err)
	}
	if err := id.Renew(ctx, nil); err != nil {
		t.Fatal(err)
	}
	if len(id.BrokerKeys()) != 2 {
		t.Errorf("%d broker keys, want 2", len(id.BrokerKeys()))
	}
	wantHello(true)
	if err := b.Revoke(ctx, id.Device(), "lost", "ana"); err != nil {
		t.Fatal(err)
	}
	if got, _ := dial(address, id.TLS(nil)); got != "" {
		t.Errorf("a revoked device heard %q", got)
	}
	if err := id.Renew(ctx, nil); !errors.Is(err, identity.ErrRefused) {
		t.Errorf("a revoked device renewed: %v", err)
	}
}

func TestADeviceSpeaksToThePinnedInstallationOnly(t *testing.T) {
	b, other := newBench(t), newBench(t)
	ctx := context.Background()
	code, err := b.NewCode(ctx, fleet.CodeRequest{Tenant: "bistro"})
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]identity.Request{
		"string of one, door of the other": {URL: other.serve(), Pairing: code.Pairing},
		"other CA beside the code": {
			URL: b.serve(), Pairing: code.Code, CASHA256: other.CASHA256(),
		},
		"CAs that differ": {
			URL: b.serve(), Pairing: code.Pairing, CASHA256: other.CASHA256(),
		},
		"no CA at all": {URL: b.serve(), Pairing: code.Code},
	} {
		r.Dir = t.TempDir()
		if _, err := identity.Enrol(ctx, r); !errors.Is(err, identity.ErrNotPinned) {
			t.Errorf("%s: got %v, want ErrNotPinned", name, err)
		}
		if _, err := identity.Open(r.Dir); !errors.Is(err, identity.ErrNotEnrolled) {
			t.Errorf("%s: left %v", name, err)
		}
	}
	t.Log("# and the code was not spent on any of them")
	r := identity.Request{
		Dir: t.TempDir(), URL: b.serve(), Pairing: code.Code, CASHA256: b.CASHA256(),
	}
	if _, err := identity.Enrol(ctx, r); err != nil {
		t.Error(err)
	}
}

func TestARetiredDeviceComesBackWithNewKeys(t *testing.T) {
	b := newBench(t)
	ctx := context.Background()
	dir, url := t.TempDir(), b.serve()
	enrol := func() (*identity.Identity, error) {
		code, err := b.NewCode(ctx, fleet.CodeRequest{Tenant: "bistro"})
		if err != nil {
			t.Fatal(err)
		}
		return identity.Enrol(ctx, identity.Request{Dir: dir, URL: url, Pairing: code.Pairing})
	}
	first, err := enrol()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := enrol(); !errors.Is(err, identity.ErrEnrolled) {
		t.Errorf("enrolling twice: %v", err)
	}
	if err := identity.Retire(dir); err != nil {
		t.Fatal(err)
	}
	second, err := enrol()
	if err != nil {
		t.Fatal(err)
	}
	if first.AckKey().Equal(second.AckKey()) || first.Device() == second.Device() {
		t.Error("a retired key or id came back")
	}
}
