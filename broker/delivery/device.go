package delivery

import (
	"fmt"
	"slices"
	"time"

	"chit/broker/entity"
	"chit/device/wire"
)

// Device is what the broker remembers of a device's sessions and memory.
type Device struct {
	Format  int    `json:"v"`
	Session string `json:"session"`
	// Epoch counts the sessions; leases of older ones have ended.
	Epoch   uint64 `json:"epoch"`
	Journal string `json:"journal"`
	Boot    uint64 `json:"boot"`
	// N is the highest n of Journal that counted: n_seen.
	N uint64 `json:"n"`
	// Memory counts the losses of memory: another journal, or an n below the record.
	Memory  uint64    `json:"memory"`
	Serial  string    `json:"serial,omitempty"`
	Version string    `json:"version,omitempty"`
	Wire    int       `json:"wire,omitempty"`
	At      time.Time `json:"at"` // of the hello
	// Past are the sessions before this one, oldest first, at most PastMax: sessions are random and
	// never come again, so a hello of one of them is an old message.
	Past []string `json:"past,omitempty"`
	// Copies tells of another device that uses the same identity.
	Copies Copies `json:"copies,omitzero"`
}

// PastMax is how many sessions before the present one are remembered.
const PastMax = 16

func deviceKey(tenant, device string) entity.Key {
	return entity.Key{Tenant: tenant, Kind: KindDevice, ID: device}
}

func loadDevice(view entity.View, tenant, device string) (Device, uint64, error) {
	var d Device
	version, err := load(view, deviceKey(tenant, device), &d)
	return d, version, err
}

// LoadDevice reads a device's record; version 0 means that it never said hello.
func LoadDevice(view entity.View, tenant, device string) (Device, uint64, error) {
	return loadDevice(view, tenant, device)
}

// Greet takes a device's hello, its signature verified: it raises the session epoch and so ends the
// leases of older sessions. Its effect is [Greeted].
type Greet struct {
	Tenant string
	Hello  wire.Hello
}

// Greeted is the effect of a durable hello.
type Greeted struct {
	Tenant, ID string
	Device     Device
	// Restarted is true where the device's process is another one than at the last hello, Forgot
	// where its memory was lost.
	Restarted, Forgot bool
	// Copied is true where the hello shows that two devices use one identity.
	Copied bool
}

// Identity implements [entity.Command].
func (g Greet) Identity() entity.Identity { return entity.Identity{} }

// Name implements desk.Named.
func (g Greet) Name() string { return "hello" }

// Decide implements [entity.Command]. The hello of the session on record, repeated by the engine,
// is answered again and raises nothing. That of a session before it is told again by an engine or a
// stranger, not by the device: it is ignored, and the answer is the word why.
func (g Greet) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	h := g.Hello
	was, version, err := loadDevice(view, g.Tenant, h.Device)
	if err != nil {
		return entity.Commit{}, err
	}
	is := Device{Format: Format, Session: h.Session, Epoch: was.Epoch, Journal: h.Journal,
		Boot: h.Boot, N: was.N, Memory: was.Memory, Serial: h.Serial, Version: h.Version,
		Wire: h.Format, At: now}
	effect := Greeted{Tenant: g.Tenant, ID: h.Device}
	if version > 0 && was.Session == h.Session && was.Journal == h.Journal && was.Boot == h.Boot {
		effect.Device = was
		return entity.Commit{Effects: []entity.Effect{effect}, Repeat: true}, nil
	}
	if slices.Contains(was.Past, h.Session) {
		return entity.Commit{Answer: []byte("old-session"), Repeat: true}, nil
	}
	is.Epoch++
	if is.Past = was.Past; version > 0 && was.Session != h.Session {
		is.Past = append(slices.Clone(was.Past), was.Session)
		is.Past = is.Past[max(0, len(is.Past)-PastMax):]
	}
	if version > 0 {
		effect.Restarted = was.Journal != h.Journal || was.Boot != h.Boot
		effect.Forgot = was.Journal != h.Journal || h.N < was.N
	}
	if effect.Forgot {
		is.Memory++
	}
	// n_seen speaks of the journal that is told: of another one nothing was seen, and of one that
	// fell back the numbers above its own will come again.
	if was.Journal != h.Journal {
		is.N = 0
	} else {
		is.N = min(is.N, h.N)
	}
	is.Copies, effect.Copied = was.copies(h, now)
	effect.Device = is
	commit := entity.Commit{Effects: []entity.Effect{effect}}
	if err := change(&commit, deviceKey(g.Tenant, h.Device), version, is, time.Time{}); err != nil {
		return entity.Commit{}, fmt.Errorf("delivery: hello of %s: %w", h.Device, err)
	}
	return commit, nil
}
