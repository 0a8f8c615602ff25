package delivery

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"chit/broker/entity"
	"chit/device/wire"
)

// Acknowledge takes a device's answer, its signature verified with that device's keys. Its answer
// is the word why it had no effect, empty where it had one.
type Acknowledge struct {
	Tenant, Device string
	Ack            wire.Ack
	Chance         float64 // as in Say
	// Known means that an ack for a ticket that is not known is not kept: this device has sent
	// enough of them.
	Known bool
}

// ErrDigest refuses a report whose data are not those of its digest.
var ErrDigest = errors.New("delivery: digest does not fit the data")

// StrayFor is how long acks for a ticket that is not known yet are kept (DESIGN.md section 4),
// StrayMax how many of one ticket.
const (
	StrayFor = 24 * time.Hour
	StrayMax = 8
)

// telling are the events by which a printer has or has not paper that it was thought to have.
var telling = []Word{Printed, Doubled, RecallAnswered, RecallEnded}

// Identity implements [entity.Command]: an ack is remembered by (journal, boot, n) in its delivery.
func (a Acknowledge) Identity() entity.Identity { return entity.Identity{} }

// Name implements desk.Named.
func (a Acknowledge) Name() string { return "ack" }

// Decide implements [entity.Command].
func (a Acknowledge) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	d, version, err := Load(view, a.Tenant, a.Ack.Ticket)
	if err != nil {
		return entity.Commit{}, err
	}
	if version == 0 {
		return a.stray(view, now)
	}
	device, deviceVersion, err := loadDevice(view, a.Tenant, a.Device)
	if err != nil {
		return entity.Commit{}, err
	}
	say := Say{Device: a.Device, Memory: device.Memory, Ack: a.Ack, Chance: a.Chance}
	after, events, commit, err := step(d, version, say, now)
	var ignored Ignored
	if errors.As(err, &ignored) {
		commit = entity.Commit{Answer: []byte(ignored.Reason)}
		if !ignored.Counts() {
			return commit, nil
		}
	} else if err != nil {
		return entity.Commit{}, err
	}
	if len(events) > 0 && slices.Contains(telling, events[0].What) {
		f := newDraft(view)
		f.add(commit)
		if err := f.papered(d, after, a.Device, events[0], now); err != nil {
			return entity.Commit{}, err
		}
		if a.Ack.Outcome == wire.OutcomeDuplicate && d.State != Settled {
			if err := f.earlier(d, now); err != nil {
				return entity.Commit{}, err
			}
		}
		commit = f.commit
	}
	err = seen(&commit, a.Tenant, a.Device, device, deviceVersion, a.Ack.Key())
	return commit, err
}

// seen raises n_seen.
func seen(c *entity.Commit, tenant, id string, device Device, version uint64,
	key wire.AckKey) error {
	if version == 0 || device.Journal != key.Journal || key.N <= device.N {
		return nil
	}
	device.N = key.N
	return change(c, deviceKey(tenant, id), version, device, time.Time{})
}

// strays are acks for one ticket that is not known yet.
type strays struct {
	Format int     `json:"v"`
	Acks   []stray `json:"acks"`
}

type stray struct {
	Device string    `json:"device"`
	Ack    wire.Ack  `json:"ack"`
	Until  time.Time `json:"until"`
}

func strayKey(tenant, ticket string) entity.Key {
	return entity.Key{Tenant: tenant, Kind: KindStray, ID: ticket}
}

// stray keeps the ack: the made message that it answers may still be on its way.
func (a Acknowledge) stray(view entity.View, now time.Time) (entity.Commit, error) {
	if _, err := wire.ParseTicketID(a.Ack.Ticket); err != nil || a.Known {
		return entity.Commit{Answer: []byte("unknown-ticket")}, nil
	}
	var s strays
	key := strayKey(a.Tenant, a.Ack.Ticket)
	version, err := load(view, key, &s)
	if err != nil {
		return entity.Commit{}, err
	}
	kept := strays{Format: Format}
	for _, one := range s.Acks {
		if one.Device == a.Device && one.Ack.Key() == a.Ack.Key() {
			return entity.Commit{Answer: []byte("replayed")}, nil
		}
		if now.Before(one.Until) {
			kept.Acks = append(kept.Acks, one)
		}
	}
	if len(kept.Acks) >= StrayMax {
		return entity.Commit{Answer: []byte("unknown-ticket")}, nil
	}
	until := now.Add(StrayFor)
	kept.Acks = append(kept.Acks, stray{Device: a.Device, Ack: a.Ack, Until: until})
	commit := entity.Commit{Answer: []byte("kept")}
	err = change(&commit, key, version, kept, until)
	return commit, err
}

// Report takes a ticket made on a device, its signature verified: from then on it is a delivery
// that was handed to that device.
type Report struct {
	Tenant, Device string
	Made           wire.Made
	Content        wire.Content // of Made.Data
}

// Identity implements [entity.Command].
func (r Report) Identity() entity.Identity { return entity.Identity{} }

// Name implements desk.Named.
func (r Report) Name() string { return "made" }

// Decide implements [entity.Command]. A repeated report changes nothing; the acks that came before
// it are applied.
func (r Report) Decide(view entity.View, now time.Time) (entity.Commit, error) {
	m := r.Made
	if wire.Digest(m.Data) != m.Digest {
		return entity.Commit{}, fmt.Errorf("%w: made %s says %s", ErrDigest, m.Ticket, m.Digest)
	}
	device, deviceVersion, err := loadDevice(view, r.Tenant, r.Device)
	if err != nil {
		return entity.Commit{}, err
	}
	d := Delivery{Format: Format, Tenant: r.Tenant, Ticket: m.Ticket, Digest: m.Digest, Accepted: now,
		Release: now, Expires: now.Add(ExpiresAfter), State: Leased, Attempt: 1, Number: m.Number,
		Handed: []Handed{{Device: r.Device, Memory: device.Memory, First: 1, Last: 1,
			Place: Place{Station: m.Station}, Printers: []string{m.Printer}, Journal: device.Journal}},
		Lease: &Lease{Device: r.Device, Printer: m.Printer, Session: device.Session,
			Epoch: device.Epoch, Journal: device.Journal, Boot: device.Boot,
			Until: now.Add(LeaseFor), For: LeaseFor, Stored: true},
		Tries: []Try{{Attempt: 1, At: now, Until: now.Add(LeaseFor), Device: r.Device,
			Printer: m.Printer, Session: device.Session, Boot: device.Boot}},
	}
	said, strayVersion, err := r.said(view, device, now)
	if err != nil {
		return entity.Commit{}, err
	}
	commit, err := d.birth(view, r.Content, m.Data, now, said, nil)
	if err != nil {
		return entity.Commit{}, err
	}
	if strayVersion > 0 && !commit.Repeat {
		key := strayKey(r.Tenant, m.Ticket)
		if err := change(&commit, key, strayVersion, strays{Format: Format}, time.Time{}); err != nil {
			return entity.Commit{}, err
		}
	}
	err = seen(&commit, r.Tenant, r.Device, device, deviceVersion, m.Key())
	return commit, err
}

// said is what came before the report: acks of this device that are not over their time.
func (r Report) said(view entity.View, device Device, now time.Time) ([]Say, uint64, error) {
	var s strays
	version, err := load(view, strayKey(r.Tenant, r.Made.Ticket), &s)
	if err != nil {
		return nil, 0, err
	}
	var said []Say
	for _, one := range s.Acks {
		if one.Device == r.Device && now.Before(one.Until) {
			said = append(said, Say{Device: one.Device, Memory: device.Memory, Ack: one.Ack})
		}
	}
	return said, version, nil
}
