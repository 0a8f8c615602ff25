package demo

import (
	"bytes"
	"context"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"chit/device/wire"
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func TestTheSameSeedSendsTheSameOrders(t *testing.T) {
	make := func(seed uint64) []order { return ordersFor(80, rand.New(rand.NewPCG(seed, 0)), noon) }
	if !reflect.DeepEqual(make(7), make(7)) {
		t.Error("seed 7 is not always the same")
	}
	if reflect.DeepEqual(make(7), make(8)) {
		t.Error("seeds 7 and 8 are the same")
	}
}

func TestEveryOrderIsOneThatTheDoorTakes(t *testing.T) {
	for seed := range uint64(50) {
		last := map[string]int{}
		for _, o := range ordersFor(200, rand.New(rand.NewPCG(seed, 0)), noon) {
			data, err := wire.CanonicalContent(o.content)
			if err != nil {
				t.Fatalf("seed %d, %s: %v", seed, o.content.ID, err)
			}
			if _, _, err := wire.Canonical(data); err != nil {
				t.Fatalf("seed %d, %s: %v", seed, o.content.ID, err)
			}
			id, seq, err := wire.ParseContentID(o.content.ID)
			if err != nil || seq != last[id]+1 {
				t.Fatalf("seed %d: %s follows seq %d, %v", seed, o.content.ID, last[id], err)
			}
			last[id] = seq
		}
	}
}

func TestADozenOrdersShowEveryKindAndBothStations(t *testing.T) {
	for seed := range uint64(50) {
		seen := map[string]bool{}
		for _, o := range ordersFor(12, rand.New(rand.NewPCG(seed, 0)), noon) {
			seen[string(o.content.Kind)], seen[o.content.Station] = true, true
		}
		for _, want := range []string{"new", "change", "void", "notice", "grill", "bar"} {
			if !seen[want] {
				t.Errorf("seed %d shows no %s", seed, want)
			}
		}
	}
}

// pulled counts the acts of a demo where each uses as many orders as it may, and at most use.
func pulled(orders, use int) (played int) {
	p := schedule(orders)
	for i := 0; i < orders; {
		used := 1
		if _, until, due := p.due(i); due {
			used = min(use, until-i)
			played++
		}
		i += used
	}
	return played
}

func TestEveryPlugIsPulledWhereThereAreOrdersEnough(t *testing.T) {
	for orders := 1; orders <= 400; orders++ {
		want := min(orders, len(acts)*(1+orders/50))
		if got := pulled(orders, 2); got != want {
			t.Errorf("%d orders: %d plugs, want %d", orders, got, want)
		}
	}
}

func TestAStoryForAFileHasNoProgressLineAndNoColour(t *testing.T) {
	var out bytes.Buffer
	teller := newTeller(&out, 3)
	teller.say("PLUG  pulled")
	teller.progress(1, 1)
	teller.end()
	s := out.String()
	if strings.ContainsAny(s, "\x1b\r#") || !strings.HasSuffix(s, "PLUG  pulled\n") {
		t.Errorf("%q", s)
	}
}

func TestAProgramThatDiesEndsTheDemo(t *testing.T) {
	var story bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	_, err := Run(ctx, Config{Orders: 1, Seed: 1, Dir: t.TempDir(), Broker: []string{"false"},
		Device: []string{"false"}, Story: &story})
	if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "ended by itself") {
		t.Errorf("got %v, want that a program ended by itself", err)
	}
}
