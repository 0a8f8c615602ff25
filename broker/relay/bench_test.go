package relay_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chit/broker/delivery"
	"chit/broker/desk"
	"chit/broker/entity"
	"chit/broker/relay"
	"chit/broker/store/bolt"
	"chit/device/wire"
)

// BenchmarkSettle takes tickets from acceptance to settled on a real bbolt file: three commits, a
// signed ticket and a verified ack each. The devices, 32 with one printer, answer at once.
func BenchmarkSettle(b *testing.B) {
	for _, producers := range []int{1, 16, 256} {
		b.Run(fmt.Sprint("producers=", producers), func(b *testing.B) { settle(b, producers) })
	}
}

// quick is a fleet whose devices print at the speed of light.
type quick struct {
	*world
	settled chan struct{}
	n       atomic.Uint64
}

func (q *quick) Publish(_ context.Context, topic string, payload []byte, _ bool) error {
	parsed, err := wire.ParseTopic(topic)
	if err != nil || parsed.Leaf != wire.LeafTicket {
		return err
	}
	keys, err := wire.NewKeys(q.tenant.Public())
	if err != nil {
		return err
	}
	ticket, err := keys.OpenTicket(payload)
	if err != nil {
		return err
	}
	ack := about(ticket, wire.OutcomePrinted)
	ack.Device, ack.Journal, ack.Boot, ack.N = parsed.Device, "j-"+parsed.Device, 1, q.n.Add(1)
	ack.IssuedAt = 1
	raw, err := q.fleet[parsed.Device].signer.SignAck(ack)
	if err != nil {
		return err
	}
	q.relay.Heard("t1", parsed.Device, "ack", raw, false)
	return nil
}

func settle(b *testing.B, producers int) {
	const stations = 32
	s, err := bolt.Open(filepath.Join(b.TempDir(), "broker.db"), bolt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	q := &quick{world: &world{t: b, tenant: signer(b, "tenant"), fleet: map[string]*device{},
		serves: map[string]relay.Station{}}, settled: make(chan struct{}, b.N)}
	for i := range stations {
		q.add(fmt.Sprint("d", i), fmt.Sprint("s", i))
	}
	q.relay = relay.New(relay.Config{Store: s, Devices: q, Publisher: q, Host: "h", Rate: 1e9,
		Burst: 1e9, Total: 1e9, TotalBurst: 1e9})
	d := desk.New(desk.Config{Store: s, Effects: func(effects []entity.Effect) {
		q.relay.Effects(effects)
		for _, e := range effects {
			if changed, ok := e.(delivery.Changed); ok && changed.Delivery.State == delivery.Settled {
				q.settled <- struct{}{}
			}
		}
	}})
	q.desk = d
	q.relay.Attach(d)
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	errs := make(chan error, 2)
	group.Go(func() { errs <- d.Run(ctx) })
	group.Go(func() { errs <- q.relay.Run(ctx) })
	for _, device := range q.fleet {
		device.session = "s-" + device.id
		device.hello()
	}
	b.ResetTimer()
	produce(b, q.world, producers, stations)
	for range b.N {
		<-q.settled
	}
	b.StopTimer()
	c := d.Counters()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tickets/s")
	b.ReportMetric(float64(c.Commits)/float64(c.Batches), "changes/commit")
	cancel()
	group.Wait()
	if err := errors.Join(<-errs, <-errs, s.Close()); err != nil {
		b.Error(err)
	}
}

func produce(b *testing.B, w *world, producers, stations int) {
	var next atomic.Int64
	var group sync.WaitGroup
	for range producers {
		group.Go(func() {
			for i := int(next.Add(1)); i <= b.N; i = int(next.Add(1)) {
				w.post(wire.Content{ID: fmt.Sprintf("shop-%08x/1", uint32(i)*2654435761),
					Kitchen: "main", Station: fmt.Sprint("s", i%stations), Kind: wire.KindNew,
					Items: []wire.Item{{Quantity: 2, Name: "Pizza Margherita"}}})
			}
		})
	}
	group.Wait()
}

// BenchmarkAcceptBehindParked is the relay's share of one ticket that is accepted at a station
// whose device is away, parked, and cancelled, while others are parked there for long.
func BenchmarkAcceptBehindParked(b *testing.B) {
	for _, parked := range []int{0, 1_000, 50_000} {
		b.Run(fmt.Sprint("parked=", parked), func(b *testing.B) { behind(b, parked) })
	}
}

// parking is a desk that parks what the relay says has left, and nothing else.
type parking struct {
	relay *relay.Relay
	at    map[string]delivery.Delivery
}

func (p *parking) tell(d delivery.Delivery) {
	p.relay.Effects([]entity.Effect{delivery.Changed{Key: delivery.Key(d.Tenant, d.Ticket),
		Delivery: d}})
}

func (p *parking) Submit(c entity.Command, done func(desk.Answer, error)) error {
	advance, ok := c.(delivery.Advance)
	if !ok {
		return fmt.Errorf("asked %T", c)
	}
	d := p.at[advance.Ticket]
	if _, ok := advance.Action.(delivery.Leave); !ok || d.State != delivery.Waiting {
		return fmt.Errorf("%s is %s, asked %T", advance.Ticket, d.State, advance.Action)
	}
	d.State, d.Epoch = delivery.Parked, d.Epoch+1
	p.at[d.Ticket] = d
	p.tell(d)
	done(desk.Answer{}, nil)
	return nil
}

func behind(b *testing.B, parked int) {
	q := &quick{world: &world{t: b, tenant: signer(b, "tenant"), fleet: map[string]*device{},
		serves: map[string]relay.Station{}}}
	q.add("d1", "grill")
	p := &parking{at: map[string]delivery.Delivery{}}
	stepped := relay.NewStepped(relay.Config{Desk: p, Devices: q, Publisher: q})
	p.relay = stepped.Relay()
	now := time.Now().UTC()
	accept := func(i int) delivery.Delivery {
		at := now.Add(time.Duration(i) * time.Microsecond)
		d := delivery.Delivery{Tenant: "t1", Ticket: fmt.Sprintf("o%08d/1@grill", i),
			Station: "grill", State: delivery.Waiting, Accepted: at, Release: at,
			WindowEnd: at.Add(delivery.Window), Expires: at.Add(delivery.ExpiresAfter), Epoch: 1}
		p.at[d.Ticket] = d
		p.tell(d)
		return d
	}
	turn := func(want int) {
		for range 2 { // What the desk answers in a turn is taken in by the next.
			if _, err := stepped.Turn(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		if got := p.relay.Counters().Open; got != want {
			b.Fatalf("%d open, want %d", got, want)
		}
	}
	for i := range parked {
		accept(i)
		if i%100 == 99 {
			turn(i + 1)
		}
	}
	b.ReportAllocs()
	for i := parked; b.Loop(); i++ {
		d := accept(i)
		turn(parked + 1)
		d = p.at[d.Ticket]
		if d.State != delivery.Parked {
			b.Fatalf("%s is %s", d.Ticket, d.State)
		}
		delete(p.at, d.Ticket)
		d.State, d.Epoch = delivery.Cancelled, d.Epoch+1
		p.tell(d)
		turn(parked)
	}
}
