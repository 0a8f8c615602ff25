package crashdisk_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"

	"chit/broker/delivery"
	"chit/broker/desk"
	"chit/broker/entity"
	"chit/broker/store/bolt"
	"chit/device/wire"
)

const (
	storeName = "broker.db"
	tenant    = "t1"
)

var kitchens = []string{"pi-1", "pi-2"}

// broker is the real store and the real desk between doors and devices that are played.
type broker struct {
	told  *told
	life  string
	store *bolt.Store
	desk  *desk.Desk
	hasty bool // promises before it has committed: a control

	mu     sync.Mutex
	random *rand.Rand
	days   map[string]string // by ticket: the business day of its number
	hands  []delivery.Send   // what left and is not answered yet
	heard  uint64            // the last n of the devices
}

type brokerOptions struct {
	n      uint64 // below the devices' next
	noSync bool
	hasty  bool
}

func newBroker(t *told, path, life string, seed uint64, o brokerOptions) (*broker, error) {
	s, err := bolt.Open(path, bolt.Options{NoSync: o.noSync})
	if err != nil {
		return nil, err
	}
	b := &broker{told: t, life: life, store: s, random: rand.New(rand.NewPCG(seed, 2)),
		days: map[string]string{}, heard: o.n, hasty: o.hasty}
	b.desk = desk.New(desk.Config{Store: s, Effects: b.effects})
	return b, nil
}

// effects is called with what may leave, before the answers of the same batch are given.
func (b *broker) effects(effects []entity.Effect) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var facts []fact
	for _, effect := range effects {
		switch e := effect.(type) {
		case delivery.Changed:
			b.days[e.Delivery.Ticket] = e.Delivery.Day
			if e.Delivery.State == delivery.Dead {
				facts = append(facts, fact{Dead: e.Delivery.Ticket})
			}
		case delivery.Send:
			b.hands = append(b.hands, e)
			facts = append(facts, fact{Sent: &sent{
				Ticket: e.Message.ID, Device: e.Message.Device, Day: b.days[e.Message.ID],
				Number: e.Message.Number, Attempt: e.Message.Attempt,
			}})
		case delivery.Greeted:
			facts = append(facts, fact{Welcomed: &welcomed{
				Device: e.ID, Session: e.Device.Session, Epoch: e.Device.Epoch,
			}})
		}
	}
	if err := b.told.say(facts...); err != nil {
		panic(fmt.Sprintf("crashdisk: telling: %v", err)) // The disk is gone, and so is this test.
	}
}

func (b *broker) do(ctx context.Context, c entity.Command) (desk.Answer, error) {
	return b.desk.Do(ctx, c)
}

func (b *broker) intN(n int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.random.IntN(n)
}

// accept is what a door asks for; the content of an id is always the same.
func accept(id string) (delivery.Accept, error) {
	mutation, station, _ := strings.Cut(id, "@")
	c := wire.Content{
		ID: mutation, Kitchen: "main", Station: station, Kind: wire.KindNew, Order: "41",
		Type: "take-away", Items: []wire.Item{
			{Quantity: 2, Name: "Pizza Margherita", Modifiers: []string{"extra cheese", "no basil"}},
			{Quantity: 1 + len(id)%5, Name: "Tagliatelle al ragù", Note: strings.Repeat("hot ", len(id))},
		},
	}
	data, err := wire.CanonicalContent(c)
	return delivery.Accept{Tenant: tenant, Content: c, Data: data}, err
}

// door takes orders in, one after the other, each sometimes twice and for two stations. It tells
// what was answered, so a commit of many orders makes many promises.
func (b *broker) door(ctx context.Context, name string) error {
	for i := 1; ; i++ {
		for _, station := range []string{"grill", "bar"}[:1+b.intN(2)] {
			id := fmt.Sprintf("%s-%s-%d/1@%s", b.life, name, i, station)
			for range 1 + b.intN(8)/7 {
				if err := b.take(ctx, id); err != nil {
					return err
				}
			}
		}
	}
}

func (b *broker) take(ctx context.Context, id string) error {
	a, err := accept(id)
	if err != nil {
		return err
	}
	promise := fact{Ticket: id, Digest: wire.Digest(a.Data)}
	if b.hasty {
		if err := b.told.say(promise); err != nil {
			return err
		}
	}
	if _, err := b.do(ctx, a); err != nil || b.hasty {
		return err
	}
	return b.told.say(promise)
}

// kitchen is the relay for one device, and the device: it says hello, is given what is open, and
// answers.
func (b *broker) kitchen(ctx context.Context, device string) error {
	for session := 1; ; session++ {
		name := fmt.Sprintf("%s-%s-%d", device, b.life, session)
		_, err := b.do(ctx, delivery.Greet{Tenant: tenant, Hello: wire.Hello{
			Device: device, Session: name, Boot: 1, Journal: "j-" + device, N: b.number(),
			Version: "test", Format: 1,
		}})
		if err != nil {
			return err
		}
		if err := b.wake(ctx, device); err != nil {
			return err
		}
		for range 2 + b.intN(8) {
			if err := errors.Join(b.dispatch(ctx, device, name), b.answer(ctx, device)); err != nil {
				return err
			}
		}
	}
}

// wake ends what the device's sessions before this one left unanswered.
func (b *broker) wake(ctx context.Context, device string) error {
	rows, err := b.store.Rows(delivery.ListOpen, tenant, entity.Row{}, everything)
	if err != nil {
		return err
	}
	for _, row := range rows {
		d, _, err := delivery.Load(b.store, tenant, row.Key.ID)
		if err != nil {
			return err
		}
		if d.Lease == nil || d.Lease.Device != device {
			continue
		}
		_, err = b.do(ctx, delivery.Advance{Tenant: tenant, Ticket: d.Ticket, Action: delivery.Birth{
			Device: device, Journal: "j-" + device, Boot: 1, Chance: 0,
		}})
		if err != nil {
			return err
		}
	}
	return nil
}

// dispatch hands over some of what is open. A refusal is an answer, too: the other device was
// quicker, or the lease of the last one is not over.
func (b *broker) dispatch(ctx context.Context, device, session string) error {
	rows, err := b.store.Rows(delivery.ListOpen, tenant, entity.Row{}, 40)
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	for _, row := range rows {
		d, version, err := delivery.Load(b.store, tenant, row.Key.ID)
		if err != nil {
			return err
		}
		if version == 0 || d.State != delivery.Waiting {
			continue
		}
		group.Go(func() {
			_, _ = b.do(ctx, delivery.Dispatch{Tenant: tenant, Ticket: d.Ticket, Epoch: d.Epoch,
				Device: device, Printer: "hot", Session: session})
		})
	}
	group.Wait()
	return ctx.Err()
}

// answer is the device's acks for what was handed to it: mostly printed, now and then refused for
// good, which makes a dead letter, and that is sometimes sent again.
func (b *broker) answer(ctx context.Context, device string) error {
	for _, h := range b.takeHands(device) {
		a := wire.Ack{
			Device: device, Ticket: h.Message.ID, Attempt: h.Message.Attempt,
			Outcome: wire.OutcomePrinted, Evidence: wire.EvidenceConfirmed,
			Digest: wire.Digest(h.Message.Data), Journal: h.Lease.Journal, Boot: h.Lease.Boot,
			N: b.number(),
		}
		switch b.intN(10) {
		case 0:
			a.Outcome, a.Evidence, a.Reason, a.Permanent = wire.OutcomeRefused, "", "poison", true
		case 1:
			a.Outcome, a.Evidence = wire.OutcomeStored, wire.EvidenceStored
		}
		answer, err := b.do(ctx, delivery.Acknowledge{Tenant: tenant, Device: device, Ack: a})
		if err != nil {
			return err
		}
		switch {
		case len(answer.Data) > 0: // Ignored, with a word why.
		case a.Outcome == wire.OutcomePrinted:
			err = b.told.say(fact{Settled: &settled{Ticket: a.Ticket, Evidence: a.Evidence}})
		case a.Outcome == wire.OutcomeRefused && b.intN(2) == 0:
			_, err = b.do(ctx, delivery.Redrive{Tenant: tenant, Ticket: a.Ticket, Who: "ana",
				Why: "fixed", Request: "again-" + a.Ticket})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *broker) takeHands(device string) (mine []delivery.Send) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var others []delivery.Send
	for _, h := range b.hands {
		if h.Message.Device == device {
			mine = append(mine, h)
		} else {
			others = append(others, h)
		}
	}
	b.hands = others
	return mine
}

func (b *broker) number() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.heard++
	return b.heard
}

// work runs doors and kitchens until the first of them fails, or for ever.
func (b *broker) work(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	run := func(f func() error) { group.Go(func() { cancel(f()) }) }
	run(func() error { return b.desk.Run(ctx) })
	for _, name := range []string{"web", "till", "phone"} {
		run(func() error { return b.door(ctx, name) })
	}
	for _, device := range kitchens {
		run(func() error { return b.kitchen(ctx, device) })
	}
	group.Wait()
	return context.Cause(ctx)
}
