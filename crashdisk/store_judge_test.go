package crashdisk_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"chit/broker/delivery"
	"chit/broker/entity"
	"chit/broker/store/bolt"
	"chit/device/wire"
)

// afterwards is the first n of the devices that the judge plays: above all that lives gave.
const afterwards = 1 << 40

// judgeStore opens the store that a power cut left, holds it against what was told to the world
// before, and then runs the desk on it: a repeated order is known, and new numbers are new.
func judgeStore(dir string, facts []fact, seed uint64) (err error) {
	path := filepath.Join(dir, storeName)
	if _, err := os.Stat(path); err != nil && len(facts) > 0 {
		return fmt.Errorf("%d promises were made: %w", len(facts), err)
	}
	b, err := newBroker(&told{}, path, fmt.Sprintf("after-%x", seed), seed, brokerOptions{
		n: afterwards, noSync: true, // No power cut follows this one.
	})
	if err != nil {
		return fmt.Errorf("start-up: %w", err)
	}
	defer func() { err = errors.Join(err, b.store.Close()) }()
	if err := b.store.Check(); err != nil {
		return err
	}
	for _, f := range facts {
		if err := keepsFact(b.store, f); err != nil {
			return err
		}
	}
	if err := judgeRows(b.store); err != nil {
		return err
	}
	if err := b.again(facts); err != nil {
		return err
	}
	if err := b.store.Check(); err != nil {
		return fmt.Errorf("after the start: %w", err)
	}
	return judgeTickets(append(slices.Clone(facts), b.told.all...))
}

// keepsFact holds the store to one promise (I1, I2, I5).
func keepsFact(s *bolt.Store, f fact) error {
	switch {
	case f.Ticket != "":
		d, content, err := loadTicket(s, f.Ticket)
		if err != nil {
			return fmt.Errorf("accepted: %w", err)
		}
		if got := wire.Digest(content.Data); d.Digest != f.Digest || got != f.Digest {
			return fmt.Errorf("%s was accepted as %s, is %s with content %s", f.Ticket, f.Digest,
				d.Digest, got)
		}
	case f.Sent != nil:
		d, _, err := loadTicket(s, f.Sent.Ticket)
		if err != nil {
			return fmt.Errorf("sent: %w", err)
		}
		if d.Attempt < f.Sent.Attempt || d.Number != f.Sent.Number || d.Day != f.Sent.Day {
			return fmt.Errorf("sent %+v, recorded attempt %d, number %s of %s", *f.Sent, d.Attempt,
				d.Number, d.Day)
		}
	case f.Settled != nil:
		d, _, err := loadTicket(s, f.Settled.Ticket)
		if err != nil {
			return fmt.Errorf("settled: %w", err)
		}
		if d.State != delivery.Settled || d.Evidence.Rank() < f.Settled.Evidence.Rank() {
			return fmt.Errorf("settled %+v, is %s with %s", *f.Settled, d.State, d.Evidence)
		}
	case f.Dead != "":
		d, _, err := loadTicket(s, f.Dead)
		if err != nil {
			return fmt.Errorf("dead: %w", err)
		}
		// A redrive or a late answer takes it back.
		if d.State != delivery.Dead && d.State != delivery.Settled && len(d.Redrives) == 0 {
			return fmt.Errorf("%s was shown as dead, is %s and was not sent again", f.Dead, d.State)
		}
	case f.Welcomed != nil:
		d, version, err := delivery.LoadDevice(s, tenant, f.Welcomed.Device)
		if err != nil {
			return err
		}
		if version == 0 || d.Epoch < f.Welcomed.Epoch {
			return fmt.Errorf("welcomed %+v, is at epoch %d", *f.Welcomed, d.Epoch)
		}
	}
	return nil
}

func loadTicket(s *bolt.Store, id string) (delivery.Delivery, delivery.Content, error) {
	d, version, err := delivery.Load(s, tenant, id)
	if err != nil {
		return d, delivery.Content{}, err
	}
	content, ok, err := delivery.LoadContent(s, tenant, id)
	if err == nil && (version == 0 || !ok) {
		err = fmt.Errorf("%s is forgotten: version %d, content %v", id, version, ok)
	}
	return d, content, err
}

const everything = 1 << 20

// judgeRows: the lists name exactly the deliveries that are in them, so that none dangles (I5), and
// every open one has a timer.
func judgeRows(s *bolt.Store) error {
	listed := map[string]map[string]bool{}
	for _, list := range []string{delivery.ListOpen, delivery.ListDead} {
		rows, err := s.Rows(list, tenant, entity.Row{}, everything)
		if err != nil {
			return err
		}
		listed[list] = map[string]bool{}
		for _, row := range rows {
			if listed[list][row.Key.ID] {
				return fmt.Errorf("%s is twice in list %s", row.Key.ID, list)
			}
			listed[list][row.Key.ID] = true
		}
	}
	all, err := s.Scan(tenant, delivery.KindDelivery, entity.Key{}, everything)
	if err != nil {
		return err
	}
	for _, stored := range all {
		d, _, err := loadTicket(s, stored.Key.ID)
		if err != nil {
			return err
		}
		open, dead := listed[delivery.ListOpen][d.Ticket], listed[delivery.ListDead][d.Ticket]
		if open != d.State.Open() || dead != (d.State == delivery.Dead) {
			return fmt.Errorf("%s is %s, listed as open %v, dead %v", d.Ticket, d.State, open, dead)
		}
		if d.State.Open() && stored.Timer.IsZero() {
			return fmt.Errorf("%s is %s and has no timer", d.Ticket, d.State)
		}
		delete(listed[delivery.ListOpen], d.Ticket)
		delete(listed[delivery.ListDead], d.Ticket)
	}
	if left := len(listed[delivery.ListOpen]) + len(listed[delivery.ListDead]); left > 0 {
		return fmt.Errorf("%d rows have no delivery: %v", left, listed)
	}
	return nil
}

// repeatsMax bounds the orders that are posted again after a start.
const repeatsMax = 12

// again runs the desk on what was left: the newest orders are posted once more, devices say hello
// and are given what is open.
func (b *broker) again(facts []fact) (err error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.desk.Run(ctx) }()
	defer func() {
		cancel()
		err = errors.Join(err, <-ended)
	}()
	repeats := 0
	for _, f := range slices.Backward(facts) {
		if f.Ticket == "" {
			continue
		}
		if repeats++; repeats > repeatsMax {
			break
		}
		if err := b.known(ctx, f.Ticket); err != nil {
			return err
		}
	}
	fresh := b.life + "-new/1@grill"
	if err := b.take(ctx, fresh); err != nil {
		return err
	}
	for _, device := range kitchens {
		session := device + "-" + b.life
		_, err := b.do(ctx, delivery.Greet{Tenant: tenant, Hello: wire.Hello{Device: device,
			Session: session, Boot: 2, Journal: "j-" + device, N: b.number(), Version: "test", Format: 1}})
		if err == nil {
			err = errors.Join(b.dispatch(ctx, device, session), b.answer(ctx, device))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// known: the same order again is answered from memory, the same id with other content is refused
// (I2).
func (b *broker) known(ctx context.Context, id string) error {
	a, err := accept(id)
	if err != nil {
		return err
	}
	answer, err := b.do(ctx, a)
	if err != nil || !answer.Repeat {
		return fmt.Errorf("%s again is no repetition: %s, %w", id, answer.Data, err)
	}
	a.Content.Items[0].Name = "Calzone"
	if a.Data, err = wire.CanonicalContent(a.Content); err != nil {
		return err
	}
	if _, err := b.do(ctx, a); !errors.Is(err, delivery.ErrConflict) {
		return fmt.Errorf("%s with other content: %w", id, cmp.Or(err, errors.New("taken")))
	}
	return nil
}

// judgeTickets: a number belongs to one ticket, and no attempt is made twice.
func judgeTickets(facts []fact) error {
	numbers, attempts := map[string]string{}, map[string]sent{}
	epochs := map[string]welcomed{}
	for _, f := range facts {
		if w := f.Welcomed; w != nil {
			key := w.Device + " " + strconv.FormatUint(w.Epoch, 10)
			if was, ok := epochs[key]; ok && was != *w {
				return fmt.Errorf("epoch was given to %+v and to %+v", was, *w)
			}
			epochs[key] = *w
		}
		if f.Sent == nil {
			continue
		}
		_, station, _ := strings.Cut(f.Sent.Ticket, "@")
		number := station + " " + f.Sent.Day + " " + f.Sent.Number
		if was, ok := numbers[number]; ok && was != f.Sent.Ticket {
			return fmt.Errorf("number %s is of %s and of %s", number, was, f.Sent.Ticket)
		}
		numbers[number] = f.Sent.Ticket
		attempt := f.Sent.Ticket + " " + strconv.Itoa(f.Sent.Attempt)
		if was, ok := attempts[attempt]; ok {
			return fmt.Errorf("attempt %s left twice, as %+v and %+v", attempt, was, *f.Sent)
		}
		attempts[attempt] = *f.Sent
	}
	return nil
}
