package link

import (
	"testing"
	"time"
)

func TestPaceLetsASecondsWorthInAtOnceAndThenItsRate(t *testing.T) {
	p := pace{rate: 10}
	now := time.Unix(1000, 0)
	for i := range 10 {
		if wait := p.take(now); wait != 0 {
			t.Fatalf("connection %d waits %v", i, wait)
		}
	}
	if wait := p.take(now); wait != 100*time.Millisecond {
		t.Fatalf("the eleventh waits %v, want 100ms", wait)
	}
	now = now.Add(100 * time.Millisecond)
	if wait := p.take(now); wait != 100*time.Millisecond {
		t.Fatalf("one more after its turn waits %v, want 100ms", wait)
	}
	now = now.Add(time.Hour)
	for i := range 10 {
		if wait := p.take(now); wait != 0 {
			t.Fatalf("after a quiet hour connection %d waits %v", i, wait)
		}
	}
	if p.take(now) == 0 {
		t.Fatal("a quiet hour saved up more than a second's worth")
	}
}
