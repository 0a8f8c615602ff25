// Package fleet keeps the installation's devices and the keys that speak for it.
//
// It owns the installation's CA, the certificate of its listeners, each tenant's signing keys, the
// pairing codes and the device records. It decides who is let in; what a device has printed is the
// relay's business. Records live in the broker's store behind the small interface [Records]; the
// CA's key lives in the data directory, 0600, and nowhere else.
//
//	f, err := fleet.Open(ctx, fleet.Config{Dir: dir, Names: names, Records: records, Now: now})
//	code, err := f.NewCode(ctx, fleet.CodeRequest{Tenant: "t1", Stations: stations})
//	mux.Handle("POST "+pairing.PathPair, f.PairHandler())
//	mux.Handle("POST "+pairing.PathRenew, f.RenewHandler())
//	tenant, device, err := f.Admit(peer)
//
// Reads (Admit, Keys, Device, Devices, Serving) answer from memory; writes go through to the
// records first. Another replica's writes are seen after [Fleet.Reload].
package fleet

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"chit/device/wire/pairing"
)

// What a caller must tell apart.
var (
	// ErrNoRecord says that the key is not in the store.
	ErrNoRecord = errors.New("no such record")
	// ErrConflict says that the record is at another version than the one that was written over.
	ErrConflict = errors.New("record has changed")
	// ErrNotAdmitted says that a certificate is no living device's.
	ErrNotAdmitted = errors.New("certificate is not admitted")
	// ErrCode says that a pairing code is wrong, used, over or out of tries. Which of them is logged
	// and never told to the caller.
	ErrCode = errors.New("pairing code is not valid")
	// ErrRate says that an address has tried too often.
	ErrRate = errors.New("too many tries from this address")
	// ErrRevoked says that the device was revoked.
	ErrRevoked = errors.New("device is revoked")
	// ErrRequest says that a pair or renew request is malformed or its proof is wrong.
	ErrRequest = errors.New("request is not valid")
	// ErrCorrupt says that a record or a file is not what it must be; nothing replaces it.
	ErrCorrupt = errors.New("fleet data is damaged")
)

// Record is one stored value and its version.
type Record struct {
	Key     string
	Value   []byte
	Version uint64
}

// Records is what fleet needs of the broker's store; fleettest.Exercise is its exam. Keys are
// "fleet/…", values are JSON.
type Records interface {
	// Get returns the record or [ErrNoRecord].
	Get(ctx context.Context, key string) (Record, error)
	// Put writes value where the stored version is version, 0 meaning there must be none, together
	// with what a person did to make it so, and returns when both are on disk. [ErrConflict] means
	// that somebody else wrote first.
	Put(ctx context.Context, key string, value []byte, version uint64, did ...Deed) error
	// List returns all records whose key begins with prefix, by key.
	List(ctx context.Context, prefix string) ([]Record, error)
}

// Deed is what a person did to a device, for the tenant's audit.
type Deed struct {
	Tenant, Device string
	What           string // Revoked or Bound
	Who, Why       string
}

// What a person does to a device.
const (
	Revoked = "revoked"
	Bound   = "bound"
)

// Prefixes of the records' keys.
const (
	prefixDevice = "fleet/device/"
	prefixTenant = "fleet/tenant/"
	prefixCode   = "fleet/code/"
)

// Config is what a fleet is made of. Dir, Records and Now are required.
type Config struct {
	// Dir holds ca.key, ca.pem, server.key and server.pem.
	Dir string
	// Names are the DNS names and IP addresses that the listeners are reached by.
	Names []string
	// MQTT is the address told to devices, such as "tls://broker.example:8883".
	MQTT    string
	Records Records
	Now     func() time.Time
	Log     *slog.Logger // nil discards
	// Random is crypto/rand's Reader where nil; tests give another.
	Random io.Reader
}

// Fleet is the devices of one installation. Its methods may be called from any goroutine.
type Fleet struct {
	conf Config
	ca   *authority
	// Pairing and renewing are counted apart, so that neither can shut the other out.
	pairs, renewals *tries

	// writing lets one change of a record run at a time; it is held over the store, mu never is.
	writing sync.Mutex
	mu      sync.RWMutex
	devices map[string]stored[Device]
	tenants map[string]stored[tenantKeys]
}

// stored is a decoded record and its version, 0 where it is not in the store yet.
type stored[T any] struct {
	value   T
	version uint64
}

// Open reads the records and makes what is missing: the CA, the server's certificate (renewed when
// a third of its life is left or the names changed).
func Open(ctx context.Context, c Config) (*Fleet, error) {
	switch {
	case c.Dir == "" || c.Records == nil || c.Now == nil:
		return nil, errors.New("fleet: Dir, Records and Now are required")
	case len(c.Names) == 0:
		return nil, errors.New("fleet: names: found none, expected what devices reach the broker by")
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	ca, err := openAuthority(c)
	if err != nil {
		return nil, err
	}
	f := &Fleet{conf: c, ca: ca, pairs: newTries(), renewals: newTries()}
	return f, f.Reload(ctx)
}

// Reload reads all records again.
func (f *Fleet) Reload(ctx context.Context) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	devices, err := list[Device](ctx, f.conf.Records, prefixDevice)
	if err != nil {
		return err
	}
	tenants, err := list[tenantKeys](ctx, f.conf.Records, prefixTenant)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.devices, f.tenants = devices, tenants
	return nil
}

func list[T any](ctx context.Context, r Records, prefix string) (map[string]stored[T], error) {
	records, err := r.List(ctx, prefix)
	if err != nil {
		return nil, fmt.Errorf("fleet: listing %s: %w", prefix, err)
	}
	all := make(map[string]stored[T], len(records))
	for _, record := range records {
		s, err := decode[T](record)
		if err != nil {
			return nil, err
		}
		all[strings.TrimPrefix(record.Key, prefix)] = s
	}
	return all, nil
}

func decode[T any](record Record) (stored[T], error) {
	s := stored[T]{version: record.Version}
	if err := json.Unmarshal(record.Value, &s.value); err != nil {
		return s, fmt.Errorf("%w: record %s: %w", ErrCorrupt, record.Key, err)
	}
	return s, nil
}

// put writes a record over the version it was read at and reads it back with its new version.
func put[T any](ctx context.Context, r Records, key string, s stored[T], did ...Deed) (
	stored[T], error) {
	raw, err := json.Marshal(s.value)
	if err != nil {
		return s, fmt.Errorf("fleet: encoding %s: %w", key, err)
	}
	if err := r.Put(ctx, key, raw, s.version, did...); err != nil {
		return s, fmt.Errorf("fleet: writing %s: %w", key, err)
	}
	record, err := r.Get(ctx, key)
	if err != nil {
		return s, fmt.Errorf("fleet: reading %s back: %w", key, err)
	}
	return decode[T](record)
}

// Station is one station bound to a printer of a device.
type Station = pairing.Station

// Device is one device's record.
type Device struct {
	ID          string   `json:"id"`
	Tenant      string   `json:"tenant"`
	Fingerprint string   `json:"fingerprint"`
	Serial      string   `json:"serial,omitempty"`
	Version     string   `json:"version,omitempty"`
	Printers    []string `json:"printers,omitempty"`
	// Stations are what this device serves; a station that two devices have belongs to the one that
	// was bound last.
	Stations []Station `json:"stations"`
	Paired   time.Time `json:"paired"`
	Bound    time.Time `json:"bound"`
	// Revoked is the reason, "" for a living device.
	Revoked string `json:"revoked,omitempty"`
	// AckKeys are raw public keys, newest last.
	AckKeys [][]byte `json:"ack_keys"`
	// Certificates are the serial numbers that may connect, newest last.
	Certificates []string `json:"certificates"`
	// Requests are SHA-256 of the newest renewals' CSRs. A device makes a new one each time, so one
	// that comes again was overheard: answered, it would push the certificates in use off the list.
	Requests [][]byte `json:"requests,omitempty"`
	// TLSKey is the DER SubjectPublicKeyInfo that renewals are made for.
	TLSKey []byte `json:"tls_key"`
}

// certificatesMax is how many serial numbers of one device may connect: the newest and those whose
// answer may have been lost on the way.
const certificatesMax = 4

// requestsMax is how many renewals are remembered: some years of them.
const requestsMax = 32

// Device returns one record, revoked or not, or [ErrNoRecord].
func (f *Fleet) Device(_ context.Context, id string) (Device, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	d, ok := f.devices[id]
	if !ok {
		return Device{}, fmt.Errorf("device %q: %w", id, ErrNoRecord)
	}
	return d.value.clone(), nil
}

// clone lets a caller do as he likes with the lists.
func (d Device) clone() Device {
	d.Printers, d.Stations = slices.Clone(d.Printers), slices.Clone(d.Stations)
	d.AckKeys, d.Certificates = slices.Clone(d.AckKeys), slices.Clone(d.Certificates)
	return d
}

// Devices lists a tenant's devices by id, "" for all tenants, revoked ones included.
func (f *Fleet) Devices(_ context.Context, tenant string) ([]Device, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	var all []Device
	for _, d := range f.devices {
		if tenant == "" || d.value.Tenant == tenant {
			all = append(all, d.value.clone())
		}
	}
	slices.SortFunc(all, func(a, b Device) int { return strings.Compare(a.ID, b.ID) })
	return all, nil
}

// Serving resolves a station to the device and printer that serve it now.
func (f *Fleet) Serving(tenant, station string) (device, printer string, ok bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	var best Device
	for _, d := range f.devices {
		if d.value.Tenant != tenant || d.value.Revoked != "" {
			continue
		}
		i := slices.IndexFunc(d.value.Stations, func(s Station) bool { return s.Station == station })
		if i >= 0 && (!ok || d.value.newer(best)) {
			best, device, printer, ok = d.value, d.value.ID, d.value.Stations[i].Printer, true
		}
	}
	return device, printer, ok
}

func (d Device) newer(than Device) bool {
	if !d.Bound.Equal(than.Bound) {
		return d.Bound.After(than.Bound)
	}
	return d.ID > than.ID
}

// Keys are the public ack keys of a device by kid, old ones included: acks made before a change of
// key stay valid as long as the events they answer. An unknown device is [ErrNoRecord], a revoked
// one [ErrRevoked].
func (f *Fleet) Keys(device string) (map[string]ed25519.PublicKey, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	d, ok := f.devices[device]
	switch {
	case !ok:
		return nil, fmt.Errorf("device %q: %w", device, ErrNoRecord)
	case d.value.Revoked != "":
		return nil, fmt.Errorf("device %q: %w", device, ErrRevoked)
	}
	keys := make(map[string]ed25519.PublicKey, len(d.value.AckKeys))
	for _, raw := range d.value.AckKeys {
		keys[kid(raw)] = raw
	}
	return keys, nil
}

// Admit says whose certificate peer is. The TLS layer has checked the chain; Admit checks the
// record: known, not revoked, this serial, this key. Every refusal wraps [ErrNotAdmitted].
func (f *Fleet) Admit(peer *x509.Certificate) (tenant, device string, err error) {
	if peer == nil {
		return "", "", fmt.Errorf("%w: there is none", ErrNotAdmitted)
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	d, ok := f.devices[peer.Subject.CommonName]
	switch {
	case !ok:
		return "", "", fmt.Errorf("%w: no device %q", ErrNotAdmitted, peer.Subject.CommonName)
	case d.value.Revoked != "":
		return "", "", fmt.Errorf("%w: device %s: %w", ErrNotAdmitted, d.value.ID, ErrRevoked)
	case !slices.Contains(d.value.Certificates, peer.SerialNumber.Text(16)),
		string(d.value.TLSKey) != string(peer.RawSubjectPublicKeyInfo):
		return "", "", fmt.Errorf("%w: device %s: not its certificate", ErrNotAdmitted, d.value.ID)
	}
	return d.value.Tenant, d.value.ID, nil
}

// Bind replaces the stations of a device. who is the person that wants it, "" for the program.
func (f *Fleet) Bind(ctx context.Context, device string, stations []Station, who string) error {
	return f.change(ctx, device, func(d *Device) (*Deed, error) {
		if d.Revoked != "" {
			return nil, ErrRevoked
		}
		d.Stations, d.Bound = slices.Clone(stations), f.conf.Now()
		if who == "" {
			return nil, nil
		}
		var names []string
		for _, s := range stations {
			names = append(names, s.Station)
		}
		return &Deed{Tenant: d.Tenant, Device: d.ID, What: Bound, Who: who,
			Why: strings.Join(names, ", ")}, nil
	})
}

// Revoke ends a device for good; who wants that, and why, is in the audit. Whoever holds its
// connection must close it after this returns.
func (f *Fleet) Revoke(ctx context.Context, device, reason, who string) error {
	if reason == "" {
		reason = "revoked"
	}
	err := f.change(ctx, device, func(d *Device) (*Deed, error) {
		if d.Revoked != "" {
			return nil, nil
		}
		d.Revoked = reason
		return &Deed{Tenant: d.Tenant, Device: d.ID, What: Revoked, Who: who, Why: reason}, nil
	})
	if err == nil {
		f.conf.Log.Warn("device revoked", "device", device, "reason", reason)
	}
	return err
}

// changesMax bounds how often a change is tried again because another replica wrote first.
const changesMax = 5

// change applies a change to one device's record, in the store first and then in memory. What a
// person did, where apply says so, is written with it.
func (f *Fleet) change(ctx context.Context, device string,
	apply func(*Device) (*Deed, error)) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	for try := 1; ; try++ {
		f.mu.RLock()
		d, ok := f.devices[device]
		f.mu.RUnlock()
		if !ok {
			return fmt.Errorf("device %q: %w", device, ErrNoRecord)
		}
		d.value = d.value.clone()
		did, err := apply(&d.value)
		if err != nil {
			return fmt.Errorf("device %s: %w", device, err)
		}
		if did != nil {
			err = f.putDevice(ctx, d, *did)
		} else {
			err = f.putDevice(ctx, d)
		}
		if !errors.Is(err, ErrConflict) || try == changesMax {
			return err
		}
		if err := f.reread(ctx, device); err != nil {
			return err
		}
	}
}

// putDevice writes a device's record; f.writing is held.
func (f *Fleet) putDevice(ctx context.Context, d stored[Device], did ...Deed) error {
	d, err := put(ctx, f.conf.Records, prefixDevice+d.value.ID, d, did...)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.devices[d.value.ID] = d
	return nil
}

func (f *Fleet) reread(ctx context.Context, device string) error {
	record, err := f.conf.Records.Get(ctx, prefixDevice+device)
	if err != nil {
		return fmt.Errorf("fleet: reading device %s: %w", device, err)
	}
	d, err := decode[Device](record)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.devices[device] = d
	return nil
}
