package crash

import (
	"net/http"
	"sync"
	"testing"

	"chit/device/wire"
	"chit/rig"
)

// repeats is how often the same ticket is sent.
const repeats = 1000

func TestTheSameTicketPostedAThousandTimesIsOnePaper(t *testing.T) {
	t.Parallel()
	ctx := bounded(t)
	r := install(ctx, t, rig.Config{Device: withDevice, Stations: []string{"grill"}})
	c := order("same", 1, "grill", wire.KindNew)
	statuses := map[int]int{}
	var mu sync.Mutex
	var posts sync.WaitGroup
	const producers = 20
	for range producers {
		posts.Go(func() {
			for range repeats / producers {
				status, err := r.Post(ctx, c)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				statuses[status]++
				mu.Unlock()
			}
		})
	}
	posts.Wait()
	if statuses[http.StatusAccepted] != 1 || statuses[http.StatusOK] != repeats-1 {
		t.Errorf("answers %v, want one 202 and %d times 200", statuses, repeats-1)
	}
	other := c
	other.Note = "with chips"
	if status, err := r.Post(ctx, other); err != nil || status != http.StatusConflict {
		t.Errorf("the same id with other content: status %d, %v, want 409", status, err)
	}
	v, err := r.Judge(ctx)
	if err != nil || !v.Held() || len(r.Sheets()) != 1 {
		t.Errorf("%d sheets, broken %v, %v, want one sheet", len(r.Sheets()), v.Broken, err)
	}
}

func TestTheSameTicketDeliveredAThousandTimesIsOnePaper(t *testing.T) {
	t.Parallel()
	p := prompt(bounded(t), t)
	c := order("again", 1, "grill", wire.KindNew)
	id := c.ID + "@grill"
	answered := func() int {
		return p.said(id, wire.OutcomeStored, wire.OutcomeHeld, wire.OutcomePrinted,
			wire.OutcomeDuplicate)
	}
	const together = 20 // at once, and then as many answers are awaited
	for sent := 0; sent < repeats; sent += together {
		if sent == repeats/2 {
			// A device that starts anew remembers, whatever it was doing.
			p.must(p.device.Kill())
			p.again()
			p.await("paper", func() bool { return p.said(id, wire.OutcomePrinted) > 0 })
		}
		p.mu.Lock()
		before := answered()
		p.mu.Unlock()
		for i := range together {
			p.publish(wire.LeafTicket, p.message(c, 1+(sent+i)/100, nil))
		}
		p.await("answers", func() bool { return answered() >= before+together })
	}
	p.only(id)
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := p.said(id, wire.OutcomeDuplicate); n < repeats/2 {
		t.Errorf("%d times duplicate of %d deliveries", n, repeats)
	}
}
