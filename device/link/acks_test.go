package link

import (
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func TestAcksLeaveInOrderOfArrivalWhateverTheOrderOfTheCalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "messages")
		order := rapid.Permutation(indices(n)).Draw(t, "order")
		kept := rapid.IntRange(0, n).Draw(t, "acknowledged")
		a := newAcks()
		var sent []int
		calls := make([]func(), n)
		for i := range n {
			calls[i] = a.add(func() { sent = append(sent, i) })
		}
		done := map[int]bool{}
		for _, i := range order[:kept] {
			calls[i]()
			calls[i]() // A second call changes nothing.
			done[i] = true
			for _, p := range a.ready() {
				p.send()
			}
		}
		var want []int
		for i := 0; i < n && done[i]; i++ {
			want = append(want, i)
		}
		if !slices.Equal(sent, want) {
			t.Fatalf("after acknowledging %v: PUBACKs for %v, want %v", order[:kept], sent, want)
		}
	})
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func TestAckOnADeadConnectionDoesNothingAndNeverBlocks(t *testing.T) {
	a := newAcks()
	var wg sync.WaitGroup
	wg.Go(a.run)
	block, started := make(chan struct{}), make(chan struct{})
	first := a.add(func() { close(started); <-block }) // A network that takes nothing.
	late := a.add(func() { t.Error("sent after the end") })
	first()
	<-started
	for range 1000 {
		a.add(func() { t.Error("sent out of order") })() // None of these waits for the network.
	}
	a.end()
	late()
	close(block)
	wg.Wait()
	late()
	if len(a.ready()) != 0 {
		t.Fatal("a dead connection has PUBACKs to send")
	}
}
