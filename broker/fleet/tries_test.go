package fleet

import (
	"net/netip"
	"testing"
	"time"
)

func TestStrangersTakeBoundedMemory(t *testing.T) {
	s := newTries()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	first := netip.MustParseAddr("10.0.0.0")
	address := first
	for range addressesMax + 100 {
		if !s.allow(address, now) {
			t.Fatal("a first try was refused")
		}
		address, now = address.Next(), now.Add(time.Millisecond)
	}
	if len(s.by) != addressesMax {
		t.Errorf("%d addresses are remembered, want %d", len(s.by), addressesMax)
	}
	if _, known := s.by[netip.PrefixFrom(first, 32)]; known {
		t.Error("the quietest address is still remembered")
	}
	s.allow(address, now.Add(addressWindow))
	if len(s.by) != 1 {
		t.Errorf("%d addresses are remembered after an hour, want 1", len(s.by))
	}
}
