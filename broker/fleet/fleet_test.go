package fleet_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"chit/broker/fleet"
	"chit/broker/fleet/fleettest"
	"chit/device/wire/pairing"
)

// clock is a broker's clock that a test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// bench is a fleet on memory records with a clock to move.
type bench struct {
	*fleet.Fleet
	t       testing.TB
	conf    fleet.Config
	clock   *clock
	records *fleettest.Memory
}

func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{
		t: t, records: &fleettest.Memory{},
		clock: &clock{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)},
	}
	b.conf = fleet.Config{
		Dir: filepath.Join(t.TempDir(), "broker"), Names: []string{"localhost", "127.0.0.1"},
		MQTT: "tls://localhost:8883", Records: b.records, Now: b.clock.now,
	}
	b.restart()
	return b
}

func (b *bench) restart() {
	b.t.Helper()
	f, err := fleet.Open(context.Background(), b.conf)
	if err != nil {
		b.t.Fatal(err)
	}
	b.Fleet = f
}

// kit is a device's two keys and what it asks with them.
type kit struct {
	tls *ecdsa.PrivateKey
	ack ed25519.PrivateKey
}

func newKit(t testing.TB) kit {
	t.Helper()
	tlsKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, ack, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return kit{tlsKey, ack}
}

func (k kit) public() ed25519.PublicKey { return k.ack.Public().(ed25519.PublicKey) }

func (k kit) fingerprint(t testing.TB) string {
	spki, err := x509.MarshalPKIXPublicKey(k.tls.Public())
	if err != nil {
		t.Fatal(err)
	}
	return pairing.Keys(spki, k.public())
}

func (k kit) csr(t testing.TB, name string) []byte {
	t.Helper()
	der, err := x509.CreateCertificateRequest(rand.Reader,
		&x509.CertificateRequest{Subject: pkix.Name{CommonName: name}}, k.tls)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func (k kit) request(t testing.TB, code string) pairing.Request {
	t.Helper()
	r := pairing.Request{
		Code: code, CSR: k.csr(t, k.fingerprint(t)), AckKey: k.public(), Printers: []string{"main"},
	}
	r.Proof = ed25519.Sign(k.ack, r.Signed())
	return r
}

func (k kit) renewal(t testing.TB, device string) pairing.Renewal {
	t.Helper()
	r := pairing.Renewal{Device: device, CSR: k.csr(t, k.fingerprint(t))}
	r.Proof = ed25519.Sign(k.ack, r.Signed())
	return r
}

func (b *bench) code(r fleet.CodeRequest) string {
	b.t.Helper()
	if r.Tenant == "" {
		r.Tenant = "bistro"
	}
	code, err := b.NewCode(context.Background(), r)
	if err != nil {
		b.t.Fatal(err)
	}
	return code.Code
}

func (b *bench) pair(k kit, stations ...fleet.Station) pairing.Answer {
	b.t.Helper()
	answer, err := b.Pair(context.Background(),
		k.request(b.t, b.code(fleet.CodeRequest{Stations: stations})))
	if err != nil {
		b.t.Fatal(err)
	}
	return answer
}

func (b *bench) wantAdmitted(a pairing.Answer, want bool) {
	b.t.Helper()
	cert, err := x509.ParseCertificate(a.Certificate)
	if err != nil {
		b.t.Fatal(err)
	}
	tenant, device, err := b.Admit(cert)
	if want && (tenant != "bistro" || device != a.Device || err != nil) {
		b.t.Errorf("admitting %s: got %q %q %v", a.Device, tenant, device, err)
	}
	if !want && (!errors.Is(err, fleet.ErrNotAdmitted) || tenant != "" || device != "") {
		b.t.Errorf("refusing %s: got %q %q %v", a.Device, tenant, device, err)
	}
}

func TestAPairedDeviceIsKnownAndStaysKnown(t *testing.T) {
	b, k := newBench(t), newKit(t)
	a := b.pair(k, fleet.Station{Station: "grill", Name: "Grill"})
	if a.Tenant != "bistro" || a.MQTT != "tls://localhost:8883" || len(a.BrokerKeys) != 1 ||
		len(a.Stations) != 1 || a.Stations[0].Printer != "main" {
		t.Errorf("answer %+v", a)
	}
	check := func() {
		b.wantAdmitted(a, true)
		keys, err := b.Keys(a.Device)
		if err != nil || len(keys) != 1 {
			t.Errorf("keys: %v, %v", keys, err)
		}
		for _, key := range keys {
			if !key.Equal(k.public()) {
				t.Error("keys: not the device's")
			}
		}
		device, printer, ok := b.Serving("bistro", "grill")
		if device != a.Device || printer != "main" || !ok {
			t.Errorf("serving: %q %q %v", device, printer, ok)
		}
		if _, _, ok := b.Serving("other", "grill"); ok {
			t.Error("another tenant's station is served")
		}
	}
	check()
	signer, err := b.Signer(context.Background(), "bistro")
	if err != nil || string(signer.Key.Public().(ed25519.PublicKey)) != string(a.BrokerKeys[0]) {
		t.Errorf("signer: %v", err)
	}
	t.Log("# the broker starts again on the same data")
	ca := b.CASHA256()
	b.restart()
	check()
	again, err := b.Signer(context.Background(), "bistro")
	if err != nil || again.KID != signer.KID || b.CASHA256() != ca {
		t.Errorf("after a restart: signer %v, CA kept %v", err, b.CASHA256() == ca)
	}
}

func TestARevokedDeviceIsOut(t *testing.T) {
	b, k := newBench(t), newKit(t)
	ctx := context.Background()
	a := b.pair(k, fleet.Station{Station: "grill"})
	if err := b.Revoke(ctx, a.Device, "stolen", "ana"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		b.wantAdmitted(a, false)
		if _, err := b.Keys(a.Device); !errors.Is(err, fleet.ErrRevoked) {
			t.Errorf("keys: %v", err)
		}
		if _, _, ok := b.Serving("bistro", "grill"); ok {
			t.Error("a revoked device serves a station")
		}
		if _, err := b.Renew(ctx, k.renewal(t, a.Device)); !errors.Is(err, fleet.ErrRevoked) {
			t.Errorf("renewing: %v", err)
		}
		if err := b.Bind(ctx, a.Device, nil, "ana"); !errors.Is(err, fleet.ErrRevoked) {
			t.Errorf("binding: %v", err)
		}
		if d, err := b.Device(ctx, a.Device); err != nil || d.Revoked != "stolen" {
			t.Errorf("record: %+v %v", d, err)
		}
		b.restart()
	}
	if err := b.Revoke(ctx, "dev-none", "", "ana"); !errors.Is(err, fleet.ErrNoRecord) {
		t.Errorf("revoking nobody: %v", err)
	}
}

func TestAStationBelongsToWhoWasBoundLast(t *testing.T) {
	b := newBench(t)
	grill := fleet.Station{Station: "grill"}
	first := b.pair(newKit(t), grill)
	b.clock.pass(time.Minute)
	second := b.pair(newKit(t), grill)
	if device, _, _ := b.Serving("bistro", "grill"); device != second.Device {
		t.Errorf("got %s, want the second", device)
	}
	b.clock.pass(time.Minute)
	if err := b.Bind(context.Background(), first.Device, []fleet.Station{grill}, "ana"); err != nil {
		t.Fatal(err)
	}
	if device, _, _ := b.Serving("bistro", "grill"); device != first.Device {
		t.Errorf("got %s, want the first again", device)
	}
	if all, err := b.Devices(context.Background(), "bistro"); len(all) != 2 || err != nil {
		t.Errorf("devices: %v %v", all, err)
	}
	if all, err := b.Devices(context.Background(), "other"); len(all) != 0 || err != nil {
		t.Errorf("another tenant's devices: %v %v", all, err)
	}
}

func TestRenewalGivesTheSameKeyAnotherCertificateAfterTheEnd(t *testing.T) {
	b, k := newBench(t), newKit(t)
	ctx := context.Background()
	a := b.pair(k)
	b.clock.pass(400 * 24 * time.Hour)
	fresh, err := b.Renew(ctx, k.renewal(t, a.Device))
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(fresh.Certificate)
	if err != nil || !cert.NotAfter.After(b.clock.now()) {
		t.Errorf("certificate ends %v, %v", cert.NotAfter, err)
	}
	b.wantAdmitted(fresh, true)
	b.wantAdmitted(a, true)
	t.Log("# only the newest few may connect")
	for range 4 {
		if _, err := b.Renew(ctx, k.renewal(t, a.Device)); err != nil {
			t.Fatal(err)
		}
	}
	b.wantAdmitted(fresh, false)
	t.Log("# strangers may not renew")
	stranger := newKit(t)
	for name, r := range map[string]pairing.Renewal{
		"another's keys": stranger.renewal(t, a.Device),
		"another's TLS key": func() pairing.Renewal {
			r := pairing.Renewal{Device: a.Device, CSR: stranger.csr(t, k.fingerprint(t))}
			r.Proof = ed25519.Sign(k.ack, r.Signed())
			return r
		}(),
		"no device": k.renewal(t, "dev-none"),
	} {
		if _, err := b.Renew(ctx, r); err == nil {
			t.Errorf("%s: renewed", name)
		}
	}
}

// An overheard renewal gives its thief no certificate that he could use. Told again and again it
// must not push those in use off the list either.
func TestARenewalToldAgainIsRefused(t *testing.T) {
	b, k := newBench(t), newKit(t)
	a := b.pair(k)
	overheard := k.renewal(t, a.Device)
	if _, err := b.Renew(context.Background(), overheard); err != nil {
		t.Fatal(err)
	}
	for range 6 {
		if _, err := b.Renew(context.Background(), overheard); !errors.Is(err, fleet.ErrRequest) {
			t.Fatalf("told again: %v", err)
		}
		b.restart()
	}
	b.wantAdmitted(a, true)
	if _, err := b.Renew(context.Background(), k.renewal(t, a.Device)); err != nil {
		t.Errorf("a new one: %v", err)
	}
}

func TestACertificateOfAnotherFleetOrDeviceIsNotAdmitted(t *testing.T) {
	b, other := newBench(t), newBench(t)
	a := b.pair(newKit(t))
	foreign := other.pair(newKit(t))
	b.wantAdmitted(foreign, false)
	other.wantAdmitted(a, false)
	if _, _, err := b.Admit(nil); !errors.Is(err, fleet.ErrNotAdmitted) {
		t.Errorf("no certificate: %v", err)
	}
}

func TestKeysRotateInTwoPhases(t *testing.T) {
	b, k := newBench(t), newKit(t)
	ctx := context.Background()
	a := b.pair(k)
	old, err := b.Signer(ctx, "bistro")
	if err != nil {
		t.Fatal(err)
	}
	told := func() int {
		answer, err := b.Renew(ctx, k.renewal(t, a.Device))
		if err != nil {
			t.Fatal(err)
		}
		return len(answer.BrokerKeys)
	}
	if err := b.Activate(ctx, "bistro"); !errors.Is(err, fleet.ErrNoAnnounced) {
		t.Errorf("activating nothing: %v", err)
	}
	for range 2 {
		if err := b.Announce(ctx, "bistro"); err != nil {
			t.Fatal(err)
		}
	}
	if now, _ := b.Signer(ctx, "bistro"); now.KID != old.KID || told() != 2 {
		t.Error("an announced key signs already, or devices are not told")
	}
	if err := b.Activate(ctx, "bistro"); err != nil {
		t.Fatal(err)
	}
	if now, _ := b.Signer(ctx, "bistro"); now.KID == old.KID || told() != 2 {
		t.Error("the old key signs still, or is forgotten too early")
	}
	b.clock.pass(31 * 24 * time.Hour)
	if told() != 1 {
		t.Error("a retired key is told after all its events ended")
	}
}

func TestMemoryFollowsAnotherReplicasRecords(t *testing.T) {
	b := newBench(t)
	ctx := context.Background()
	replica, err := fleet.Open(ctx, b.conf)
	if err != nil {
		t.Fatal(err)
	}
	a := b.pair(newKit(t))
	if _, err := replica.Device(ctx, a.Device); !errors.Is(err, fleet.ErrNoRecord) {
		t.Errorf("before Reload: %v", err)
	}
	if err := replica.Reload(ctx); err != nil {
		t.Fatal(err)
	}
	t.Log("# both write the same record; the later one reads again and wins")
	if err := b.Bind(ctx, a.Device, []fleet.Station{{Station: "bar"}}, "ana"); err != nil {
		t.Fatal(err)
	}
	if err := replica.Revoke(ctx, a.Device, "lost", "ana"); err != nil {
		t.Fatal(err)
	}
	d, err := replica.Device(ctx, a.Device)
	if err != nil || d.Revoked != "lost" || len(d.Stations) != 1 || d.Stations[0].Station != "bar" {
		t.Errorf("got %+v, %v", d, err)
	}
}

func TestManyCallersAtOnceSeeWholeRecords(t *testing.T) {
	b := newBench(t)
	ctx := context.Background()
	k := newKit(t)
	a := b.pair(k, fleet.Station{Station: "grill"})
	cert, err := x509.ParseCertificate(a.Certificate)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 4 {
		other := newKit(t)
		group.Go(func() {
			code, err := b.NewCode(ctx, fleet.CodeRequest{Tenant: "bistro"})
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := b.Pair(ctx, other.request(t, code.Code)); err != nil {
				t.Error(err)
			}
		})
		group.Go(func() {
			if err := b.Bind(ctx, a.Device, []fleet.Station{{Station: "grill"}}, "ana"); err != nil {
				t.Error(err)
			}
		})
		group.Go(func() {
			if _, _, err := b.Admit(cert); err != nil {
				t.Error(err)
			}
			if _, _, ok := b.Serving("bistro", "grill"); !ok {
				t.Error("the station lost its device")
			}
		})
		group.Go(func() {
			if _, err := b.Signer(ctx, "bistro"); err != nil {
				t.Error(err)
			}
			_ = b.Reload(ctx)
		})
	}
	group.Wait()
	if all, _ := b.Devices(ctx, ""); len(all) != 5 {
		t.Errorf("%d devices, want 5", len(all))
	}
}
