package crash

import (
	"context"
	"fmt"
	"testing"
	"time"

	"chit/printer/virtual"
	"chit/rig"
)

// cuts are the moments at which the cable is cut: each waits for its own.
var cuts = []struct {
	name string
	wait func(k *killer) error
}{
	{"before anything is handed over", func(*killer) error { return nil }},
	{"while tickets are handed over", func(k *killer) error {
		return k.one("leased", func(state, _ string) bool { return state == "leased" })
	}},
	{"while tickets are printed", func(k *killer) error {
		return k.rig.Until(k.ctx, "the printer to work", func(context.Context) bool {
			state, err := k.rig.Printers["grill"].State()
			return err == nil && !state.Idle
		})
	}},
	{"while answers are on their way", func(k *killer) error {
		return k.rig.Until(k.ctx, "paper", func(context.Context) bool {
			found := false
			for _, sheet := range k.rig.Sheets() {
				id := rig.Read(sheet).ID
				for _, c := range k.round {
					found = found || id == c.ID+"@"+c.Station
				}
			}
			return found
		})
	}},
}

// one waits until one ticket of the round is in the state, or all are over.
func (k *killer) one(what string, ok func(state, outcome string) bool) error {
	return k.rig.Until(k.ctx, "a ticket to be "+what, func(ctx context.Context) bool {
		over := 0
		for _, c := range k.round {
			got, err := k.rig.Ticket(ctx, c.ID, c.Station)
			switch {
			case err != nil:
			case ok(got.State, got.Outcome):
				return true
			case got.State == "settled":
				over++
			}
		}
		return over == len(k.round)
	})
}

// TestTheCableIsCutAtEachMoment cuts and mends the network between the programs, which both live.
func TestTheCableIsCutAtEachMoment(t *testing.T) {
	t.Parallel()
	k := newKiller(t, func(*virtual.Config) {})
	for range *rounds {
		for _, cut := range cuts {
			posts := k.post()
			if err := cut.wait(k); err != nil {
				k.Fatal(err)
			}
			k.rig.Cable.Cut()
			posts.Wait() // The door is on the other side of the cut.
			k.rig.Cable.Mend()
			k.over("a cut " + cut.name)
		}
	}
	k.judge(true)
}

// TestAHalfOpenLinkIsNoticed lets the network swallow everything and say nothing: no end of a
// connection, no refusal. Both sides must find out by themselves.
func TestAHalfOpenLinkIsNoticed(t *testing.T) {
	t.Parallel()
	k := newKiller(t, func(*virtual.Config) {})
	for i, wait := range []int{0, 2} {
		posts := k.post()
		if err := cuts[wait].wait(k); err != nil {
			k.Fatal(err)
		}
		k.rig.Cable.Freeze()
		posts.Wait()
		began := time.Now()
		err := k.rig.Until(k.ctx, "the broker to miss the device", func(ctx context.Context) bool {
			online, err := k.rig.Online(ctx)
			return err == nil && !online
		})
		if err != nil {
			k.Fatal(err)
		}
		k.Logf("half-open %d: noticed after %v", i, time.Since(began).Round(time.Second))
		k.rig.Cable.Thaw()
		k.over(fmt.Sprintf("half-open link %d", i))
	}
	k.judge(true)
}
