package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"chit/broker/desk"
	"chit/broker/entity"
	"chit/broker/ledger"
	"chit/broker/store/bolt"
)

// BenchmarkTransfer moves money through the desk on a real bbolt file, each transfer from the first
// command to the durable capture, seven commits. All clients pay from their own account to one hot
// one, or all from one hot account to their own.
func BenchmarkTransfer(b *testing.B) {
	for _, clients := range []int{1, 16, 256} {
		b.Run(fmt.Sprint("clients=", clients), func(b *testing.B) { transfers(b, clients, false) })
	}
	b.Run("hot/clients=256", func(b *testing.B) { transfers(b, 256, true) })
}

// ends tells the client of a transfer that it is over.
type ends struct {
	sync.Mutex
	waiting map[string]chan ledger.Phase
}

func (e *ends) wait(key string) chan ledger.Phase {
	e.Lock()
	defer e.Unlock()
	over := make(chan ledger.Phase, 1)
	e.waiting[key] = over
	return over
}

func (e *ends) end(t ledger.Transfer) {
	e.Lock()
	defer e.Unlock()
	if over := e.waiting[t.Key]; over != nil && t.Phase.Final() {
		over <- t.Phase
		delete(e.waiting, t.Key)
	}
}

func transfers(b *testing.B, clients int, hot bool) {
	s, err := bolt.Open(filepath.Join(b.TempDir(), "broker.db"), bolt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	over := &ends{waiting: map[string]chan ledger.Phase{}}
	var d *desk.Desk
	submit := func(c entity.Command) {
		if err := d.Submit(c, func(_ desk.Answer, err error) {
			if err != nil && !errors.Is(err, desk.ErrStopped) {
				b.Error(err)
			}
		}); err != nil {
			b.Error(err)
		}
	}
	d = desk.New(desk.Config{Store: s, Effects: func(effects []entity.Effect) {
		for _, effect := range effects {
			switch e := effect.(type) {
			case ledger.Send:
				submit(e.Step)
			case ledger.Tell:
				submit(e.Answer)
			case ledger.Changed:
				over.end(e.Transfer)
			}
		}
	}})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	do := func(c entity.Command) {
		if _, err := d.Do(ctx, c); err != nil {
			b.Error(err)
		}
	}
	do(ledger.Open{Tenant: "t", Account: "hot", Currency: "EUR", Limit: 1 << 40})
	for n := range clients {
		do(ledger.Open{Tenant: "t", Account: fmt.Sprint("c", n), Currency: "EUR", Limit: 1 << 40})
	}
	var next atomic.Int64
	var group sync.WaitGroup
	b.ResetTimer()
	for n := range clients {
		group.Go(func() {
			from, to := fmt.Sprint("c", n), "hot"
			if hot {
				from, to = to, from
			}
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				key := fmt.Sprintf("%08x-%d", uint32(i)*2654435761, i) // As random as a client's.
				captured := over.wait(key)
				do(ledger.Begin{Tenant: "t", Key: key, From: from, To: to, Amount: 1, Currency: "EUR"})
				if phase := <-captured; phase != ledger.Captured {
					b.Errorf("transfer %s is %s", key, phase)
				}
			}
		})
	}
	group.Wait()
	b.StopTimer()
	c := d.Counters()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "transfers/s")
	b.ReportMetric(float64(c.Commits)/float64(c.Batches), "commands/commit")
	cancel()
	if err := errors.Join(<-ended, s.Close()); err != nil {
		b.Error(err)
	}
}
