// Package relay carries the outbox out: it hands tickets to devices and takes in what they answer.
package relay

import (
	"context"
	"crypto/ed25519"
	"log/slog"
	"time"

	"chit/broker/desk"
	"chit/broker/entity"
	"chit/broker/store"
	"chit/device/wire"
)

// Publisher sends one message to a topic; a nil error proves nothing about delivery. link.Engine is
// one. It must not block for longer than a write deadline.
type Publisher interface {
	Publish(ctx context.Context, topic string, payload []byte, retain bool) error
}

// Devices is what the relay needs to know of the fleet. Its methods are asked for every dispatch and
// every ack: they must answer from memory.
type Devices interface {
	// Keys are the public ack keys of a device by kid, and the tenant it belongs to; ok is false for
	// an unknown or revoked device.
	Keys(device string) (keys map[string]ed25519.PublicKey, tenant string, ok bool)
	// Station resolves a station to who serves it now; ok is false for an unknown station. Device is
	// empty where the station has none.
	Station(tenant, station string) (s Station, ok bool)
	// Signer signs for a tenant.
	Signer(tenant string) (*wire.Signer, error)
}

// Station is how one station is served now. Zero durations mean the defaults of package delivery.
type Station struct {
	Device, Printer string
	Lease           time.Duration
	StaleAfter      time.Duration
	Zone            *time.Location // of the kitchen; UTC where nil
	DayCut          time.Duration
}

// Config is what a relay works with.
type Config struct {
	Desk      *desk.Desk
	Store     store.Store
	Devices   Devices
	Publisher Publisher
	// Host is the broker's epoch, random and new at every start, said in each welcome.
	Host string
	// Now is the store's clock; time.Now where nil.
	Now func() time.Time
	// Rand draws from [0, 1); math/rand/v2 where nil.
	Rand func() float64
	// Rate bounds the dispatches per second and tenant; 200 where 0. Burst is as many at once; 50.
	Rate  float64
	Burst int
	Log   *slog.Logger
}

// Relay carries deliveries out. Everything but its mailbox belongs to Run's goroutine.
type Relay struct{}

// New makes a relay. Its Effects must be given to the desk as Config.Effects, so the desk is set
// later, by Attach.
func New(conf Config) *Relay { return &Relay{} }

// Attach names the desk, where Config could not.
func (r *Relay) Attach(d *desk.Desk) {}

// Run loads what is open from the store and carries it out until ctx ends.
func (r *Relay) Run(ctx context.Context) error { return nil }

// Effects takes the effects of durable Commits from the desk. It never blocks.
func (r *Relay) Effects(effects []entity.Effect) {}

// Heard takes a message from a device: leaf is the topic's last level (ack, status, telemetry). It
// never waits for the store; the payload is kept.
func (r *Relay) Heard(tenant, device, leaf string, payload []byte, retained bool) {}

// Counters are a relay's counts since its start.
type Counters struct {
	Sent, Unsent uint64            // tickets published; publishes that failed
	Acks         map[string]uint64 // acks that counted, by outcome
	BadAcks      map[string]uint64 // acks and hellos that changed nothing, by reason
	Hellos       uint64
	Events       map[string]uint64 // deliveries' events by word: settled, dead, parked …
	Present      int               // devices with an open session
	Open         int               // deliveries waiting, leased, parked or stale
	Leased       int
}

// Counters is a snapshot.
func (r *Relay) Counters() Counters { return Counters{} }

// DeviceState is a device as the relay sees it.
type DeviceState struct {
	Tenant, Device string
	Present        bool
	Session        string
	Status         wire.Status // the last hint
	Telemetry      *wire.Telemetry
	Seen           time.Time
	Leased         int
}

// Devices lists what is known of every device heard since the start, by tenant and id.
func (r *Relay) Devices() []DeviceState { return nil }
