package relay_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"chit/broker/delivery"
	"chit/device/wire"
)

// TestUnderFaultsNothingIsLostAndNothingDoubledUnmarked lets a device that remembers lose its link,
// its process, its memory, its answers and its broker, in random order, and then heals everything.
func TestUnderFaultsNothingIsLostAndNothingDoubledUnmarked(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			build(t, func(w *world) { chaos(t, w, rand.New(rand.NewPCG(seed, 7))) })
		})
	}
}

func chaos(t *testing.T, w *world, random *rand.Rand) {
	d := w.fleet["d1"]
	luck := rand.New(rand.NewPCG(random.Uint64(), 1)) // The device's own, under its lock.
	flaky := func(t wire.Ticket) []wire.Ack {
		switch luck.IntN(6) {
		case 0:
			return nil // Lost on the way.
		case 1:
			d.prints(t)
			return nil // Printed, and the answer is lost.
		case 2:
			refused := about(t, wire.OutcomeRefused)
			refused.Reason = "storage"
			return []wire.Ack{refused}
		}
		return d.prints(t)
	}
	d.answer = flaky
	d.connect()
	var ids []string
	for i := range 40 {
		id := fmt.Sprintf("o%d/%d", random.IntN(12), i+1)
		w.accept(id)
		ids = append(ids, id)
		switch random.IntN(10) {
		case 0:
			d.drop()
			w.advance(time.Duration(random.IntN(90)) * time.Second)
			d.connect()
		case 1:
			d.crash()
			w.advance(time.Duration(random.IntN(90)) * time.Second)
			d.connect()
		case 2:
			w.restart()
			d.connect()
		case 3:
			d.forget()
			d.connect()
		case 4:
			w.fail(errors.New("engine gone"))
			w.advance(time.Second)
			w.fail(nil)
		default:
			w.advance(time.Duration(random.IntN(20)) * time.Second)
		}
	}
	d.mu.Lock()
	d.answer = d.prints
	d.mu.Unlock()
	d.connect()
	w.advance(2 * time.Hour)
	for _, id := range ids {
		got := w.delivery(id)
		if got.State != delivery.Settled {
			t.Errorf("%s is %s (%s)", id, got.State, got.Reason)
		}
		papers := d.papers[id+"@grill"]
		if len(papers) == 0 {
			t.Errorf("%s has no paper", id)
		}
		for i, marked := range papers {
			if i > 0 && !marked {
				t.Errorf("%s has %d papers: %v", id, len(papers), papers)
			}
		}
	}
	if c := w.relay.Counters(); c.Open != 0 || c.Leased != 0 {
		t.Errorf("%d open, %d leased", c.Open, c.Leased)
	}
	order(t, d)
}

// order checks I6 on what was handed over first: within an order, the first handing-over of a
// mutation comes after that of every lower one that had been accepted by then.
func order(t *testing.T, d *device) {
	newest := map[string]int{}
	seen := map[string]bool{}
	for _, ticket := range d.got {
		id, err := wire.ParseTicketID(ticket.ID)
		if err != nil {
			t.Fatal(err)
		}
		if seen[ticket.ID] {
			continue
		}
		seen[ticket.ID] = true
		if id.Seq < newest[id.Order] {
			t.Errorf("%s was first handed over after seq %d", ticket.ID, newest[id.Order])
		}
		newest[id.Order] = id.Seq
	}
}
