package fleet

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"chit/device/wire"
)

// keyState is where a tenant's signing key stands. Rotation has two phases: a new key is announced
// until the devices have learnt it (they are told all keys when they pair or renew), then
// activated.
//
//	Announced --Activate--> Active --Activate of the next--> Retired
type keyState string

const (
	keyAnnounced keyState = "announced"
	keyActive    keyState = "active"
	// keyRetired signs no more; what it signed stays valid as long as events live (30 days).
	keyRetired keyState = "retired"
)

// ErrNoAnnounced says that there is no announced key to activate.
var ErrNoAnnounced = errors.New("no announced key")

// tenantKeys is the record of one tenant's signing keys, oldest first.
type tenantKeys struct {
	Keys []tenantKey `json:"keys"`
}

type tenantKey struct {
	Seed  []byte    `json:"seed"` // RFC 8032 private key, 32 bytes
	State keyState  `json:"state"`
	Since time.Time `json:"since"`
}

func (k tenantKey) private() ed25519.PrivateKey { return ed25519.NewKeyFromSeed(k.Seed) }

// Signer is a tenant's signing key and its name.
type Signer struct {
	KID string
	Key ed25519.PrivateKey
}

func kid(public []byte) string { return wire.KID(ed25519.PublicKey(public)) }

// Signer is the tenant's active signing key; it is made and stored at the first call.
func (f *Fleet) Signer(ctx context.Context, tenant string) (Signer, error) {
	f.mu.RLock()
	t := f.tenants[tenant]
	f.mu.RUnlock()
	if key, ok := t.value.active(); ok {
		return signerOf(key), nil
	}
	if err := wire.CheckID(tenant); err != nil {
		return Signer{}, fmt.Errorf("fleet: tenant: %w", err)
	}
	err := f.changeTenant(ctx, tenant, func(t *tenantKeys) error {
		if _, ok := t.active(); ok {
			return nil
		}
		return f.addKey(t, keyActive)
	})
	if err != nil {
		return Signer{}, err
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	key, _ := f.tenants[tenant].value.active()
	return signerOf(key), nil
}

func signerOf(k tenantKey) Signer {
	private := k.private()
	return Signer{KID: kid(private.Public().(ed25519.PublicKey)), Key: private}
}

func (t tenantKeys) active() (tenantKey, bool) {
	i := slices.IndexFunc(t.Keys, func(k tenantKey) bool { return k.State == keyActive })
	if i < 0 {
		return tenantKey{}, false
	}
	return t.Keys[i], true
}

// Announce makes the tenant's next signing key, unless one is announced already. Devices learn it
// when they renew.
func (f *Fleet) Announce(ctx context.Context, tenant string) error {
	return f.changeTenant(ctx, tenant, func(t *tenantKeys) error {
		if slices.ContainsFunc(t.Keys, func(k tenantKey) bool { return k.State == keyAnnounced }) {
			return nil
		}
		return f.addKey(t, keyAnnounced)
	})
}

// Activate begins to sign with the announced key. A device that has not renewed since
// [Fleet.Announce] cannot read what is signed from now on; it renews and can.
func (f *Fleet) Activate(ctx context.Context, tenant string) error {
	return f.changeTenant(ctx, tenant, func(t *tenantKeys) error {
		i := slices.IndexFunc(t.Keys, func(k tenantKey) bool { return k.State == keyAnnounced })
		if i < 0 {
			return ErrNoAnnounced
		}
		for j := range t.Keys {
			if t.Keys[j].State == keyActive {
				t.Keys[j].State, t.Keys[j].Since = keyRetired, f.conf.Now()
			}
		}
		t.Keys[i].State, t.Keys[i].Since = keyActive, f.conf.Now()
		return nil
	})
}

func (f *Fleet) addKey(t *tenantKeys, state keyState) error {
	random := f.conf.Random
	if random == nil {
		random = rand.Reader
	}
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(random, seed); err != nil {
		return fmt.Errorf("fleet: making a signing key: %w", err)
	}
	t.Keys = append(t.Keys, tenantKey{Seed: seed, State: state, Since: f.conf.Now()})
	return nil
}

// changeTenant applies a change to one tenant's keys, in the store first and then in memory.
func (f *Fleet) changeTenant(ctx context.Context, tenant string,
	apply func(*tenantKeys) error,
) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	for try := 1; ; try++ {
		f.mu.RLock()
		t := f.tenants[tenant]
		f.mu.RUnlock()
		t.value.Keys = slices.Clone(t.value.Keys)
		if err := apply(&t.value); err != nil {
			return fmt.Errorf("tenant %s: %w", tenant, err)
		}
		t, err := put(ctx, f.conf.Records, prefixTenant+tenant, t)
		if errors.Is(err, ErrConflict) && try < changesMax {
			record, err := f.conf.Records.Get(ctx, prefixTenant+tenant)
			if err != nil {
				return fmt.Errorf("fleet: reading tenant %s: %w", tenant, err)
			}
			if t, err = decode[tenantKeys](record); err != nil {
				return err
			}
			f.keepTenant(tenant, t)
			continue
		}
		if err != nil {
			return err
		}
		f.keepTenant(tenant, t)
		return nil
	}
}

func (f *Fleet) keepTenant(tenant string, t stored[tenantKeys]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tenants[tenant] = t
}

// eventsLive is how long a retired key's signatures may still come (DESIGN I3).
const eventsLive = 30 * 24 * time.Hour

// publicKeys are what a device may see signatures of, now or soon.
func (f *Fleet) publicKeys(tenant string) [][]byte {
	f.mu.RLock()
	defer f.mu.RUnlock()
	var all [][]byte
	for _, k := range f.tenants[tenant].value.Keys {
		if k.State == keyRetired && !f.conf.Now().Before(k.Since.Add(eventsLive)) {
			continue
		}
		all = append(all, k.private().Public().(ed25519.PublicKey))
	}
	return all
}
