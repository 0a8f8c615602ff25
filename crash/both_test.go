package crash

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestBothAreKilledInOneTicketsLife arms both programs at once: whichever dies first, the other
// meets its own end around the first one's restart.
func TestBothAreKilledInOneTicketsLife(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			k := newKiller(t, kind.can)
			for round := range 4 * *rounds {
				k.killBoth(rand.New(rand.NewPCG(uint64(round), 1)))
			}
			k.judge(kind.clean)
		})
	}
}

// working are the device's failpoints that a few tickets pass in a process that lives on.
func working() []string {
	var names []string
	for _, point := range points("device") {
		switch step, _, _ := strings.Cut(strings.TrimPrefix(point, "device."), "."); step {
		case "received", "print", "result", "ack", "puback":
			names = append(names, point)
		}
	}
	return names
}

// killBoth draws a place for each program, kills both there with tickets in flight, and waits for
// the end.
func (k *killer) killBoth(draw *rand.Rand) {
	k.Helper()
	device, broker := working(), trafficPoints()
	at := [2]string{device[draw.IntN(len(device))], broker[draw.IntN(len(broker))]}
	arm(k.T, k.rig.Device, at[0], 1+draw.IntN(2))
	arm(k.T, k.rig.Broker, at[1], 1+draw.IntN(4))
	posts := k.post()
	for range at {
		select {
		case <-k.rig.Device.Ended():
			k.restart()
		case <-k.rig.Broker.Ended():
			if err := k.rig.Broker.Start(); err != nil {
				k.Fatal(err)
			}
		case <-k.ctx.Done():
			k.Fatalf("waiting for deaths at %v: %v", at, k.ctx.Err())
		}
	}
	posts.Wait()
	k.over(strings.Join(at[:], " and "))
}
