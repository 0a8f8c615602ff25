package desk_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"chit/broker/delivery"
	"chit/broker/desk"
	"chit/broker/store/bolt"
	"chit/device/wire"
)

// BenchmarkAccept takes tickets in through the desk on a real bbolt file, each answered after its
// commit. It reports tickets a second, tickets a commit, and bytes of file a ticket.
func BenchmarkAccept(b *testing.B) {
	for _, producers := range []int{1, 16, 256} {
		b.Run(fmt.Sprint("producers=", producers), func(b *testing.B) { accept(b, producers) })
	}
}

func accept(b *testing.B, producers int) {
	s, err := bolt.Open(filepath.Join(b.TempDir(), "broker.db"), bolt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	d := desk.New(desk.Config{Store: s})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	tickets := make([]delivery.Accept, b.N)
	for i := range tickets {
		tickets[i] = ticket(b, i)
	}
	var next atomic.Int64
	var group sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for range producers {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= b.N {
					return
				}
				if _, err := d.Do(ctx, tickets[i]); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	b.StopTimer()
	c := d.Counters()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tickets/s")
	b.ReportMetric(float64(c.Commits)/float64(c.Batches), "tickets/commit")
	cancel()
	if err := errors.Join(<-ended, s.Close()); err != nil {
		b.Error(err)
	}
}

func ticket(b *testing.B, i int) delivery.Accept {
	c := wire.Content{
		ID: fmt.Sprintf("shop-%08x/1", uint32(i)*2654435761), Kitchen: "main",
		Station: "grill", Kind: wire.KindNew, Order: "41", Type: "take-away",
		Items: []wire.Item{
			{Quantity: 2, Name: "Pizza Margherita", Modifiers: []string{"extra cheese", "no basil"}},
			{Quantity: 1, Name: "Tagliatelle al ragù", Note: "well done", Allergens: []string{"gluten"}},
			{Quantity: 3, Name: "Coca-Cola 0,33 l"},
		},
	}
	data, err := wire.CanonicalContent(c)
	if err != nil {
		b.Fatal(err)
	}
	return delivery.Accept{Tenant: "t1", Content: c, Data: data}
}
