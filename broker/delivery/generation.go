package delivery

import (
	"time"

	"chit/broker/entity"
	"chit/device/wire"
)

const (
	// KindGeneration is what a tenant knows of restores of its store; there is one, with the id
	// "store".
	KindGeneration = "generation"
	// NumberJump is by how much a station's numbers jump for each restore: more than any station
	// gives in the time that a restore can lose.
	NumberJump = 1000
	// madePerGeneration keeps the ids that the broker makes apart from those of the lost time.
	madePerGeneration = 1_000_000
)

// Generation counts the restores of the store (DESIGN.md section 7). What happened between the copy
// and the restore is lost: orders were accepted, numbers given and ids made of which the store
// knows nothing, and paper of them may exist.
type Generation struct {
	Format int `json:"v"`
	// Number is 1, or 0 where none is stored, for a store that was never restored.
	Number uint64 `json:"number"`
	// At is when the store was restored last.
	At time.Time `json:"at"`
}

func generationKey(tenant string) entity.Key {
	return entity.Key{Tenant: tenant, Kind: KindGeneration, ID: "store"}
}

// LoadGeneration reads what a tenant knows of restores, the zero value where there was none.
func LoadGeneration(view entity.View, tenant string) (Generation, error) {
	var g Generation
	_, err := load(view, generationKey(tenant), &g)
	return g, err
}

// lost reports whether something wanted since then may have happened in the lost time.
func (g Generation) lost(since time.Time) bool { return g.Number > 1 && since.Before(g.At) }

// madeBase is below every k of an id /r<k> that this generation makes.
func (g Generation) madeBase() int { return int(max(g.Number, 1)-1) * madePerGeneration }

// Restore tells a tenant that the store was restored at At and is of generation Number from now on.
// It comes before anything else is decided, and repeated changes nothing.
type Restore struct {
	Tenant string
	Number uint64
	At     time.Time
	Why    string // how that was noticed, for people
}

// Restored is the event of [Restore].
type Restored struct {
	Format     int       `json:"v"`
	Who        string    `json:"who"` // "broker": the audit has it
	Reason     string    `json:"reason"`
	Generation uint64    `json:"generation"`
	At         time.Time `json:"at"`
}

// Identity implements [entity.Command].
func (c Restore) Identity() entity.Identity { return entity.Identity{} }

// Name implements desk.Named.
func (c Restore) Name() string { return "restore" }

// Decide implements [entity.Command].
func (c Restore) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	var was Generation
	key := generationKey(c.Tenant)
	version, err := load(view, key, &was)
	if err != nil || c.Number <= max(was.Number, 1) {
		return entity.Commit{}, err
	}
	data, err := marshal("event", Restored{Format: Format, Who: "broker", Reason: c.Why,
		Generation: c.Number, At: c.At})
	if err != nil {
		return entity.Commit{}, err
	}
	commit := entity.Commit{Events: []entity.Event{{Key: key, Type: "store.restored", At: now,
		Data: data}}}
	is := Generation{Format: Format, Number: c.Number, At: c.At}
	err = change(&commit, key, version, is, time.Time{})
	return commit, err
}

// earlierFor is how long after a restore an order may come again that the lost time has printed.
const earlierFor = 24 * time.Hour

// earlier lets the station's next ticket tell of a number that is on no paper: its ticket was
// printed in the lost time, under the number that it had then.
func (f *draft) earlier(d Delivery, now time.Time) error {
	g, err := LoadGeneration(f, d.Tenant)
	if err != nil || g.Number <= 1 || now.Sub(g.At) >= earlierFor || d.Number == "" {
		return err
	}
	s, version, err := loadStation(f, d.Tenant, d.Station)
	if err != nil || version == 0 || d.Day != s.Day || len(s.Gaps) >= gapsMax {
		return err
	}
	s.Gaps = append(s.Gaps, wire.Gap{Number: d.Number, What: wire.GapEarlier})
	var c entity.Commit
	if err := change(&c, stationKey(d.Tenant, d.Station), version, s, time.Time{}); err != nil {
		return err
	}
	f.add(c)
	return nil
}
