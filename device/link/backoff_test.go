package link

import (
	"slices"
	"testing"
	"time"
)

func TestBackoffDoublesToItsLimitAndStartsAgainAfterAStableLink(t *testing.T) {
	b := backoff{first: 10 * time.Second, max: 120 * time.Second}
	most := func(n time.Duration) time.Duration { return n }
	var got []int
	for range 6 {
		got = append(got, int(b.next(most).Seconds()))
	}
	if want := []int{10, 20, 40, 80, 120, 120}; !slices.Equal(got, want) {
		t.Fatalf("limits %v, want %v", got, want)
	}
	b.stood(4*time.Minute, 5*time.Minute)
	if got := b.next(most); got != 120*time.Second {
		t.Fatalf("after a link of 4 min: %v, want 120 s", got)
	}
	b.stood(5*time.Minute, 5*time.Minute)
	if got := b.next(most); got != 10*time.Second {
		t.Fatalf("after a link of 5 min: %v, want 10 s", got)
	}
	for range 200 {
		b.next(most)
	}
	if got := b.next(most); got != 120*time.Second {
		t.Fatalf("after 200 failures: %v", got)
	}
}

func TestBackoffJitterIsFull(t *testing.T) {
	b := backoff{first: 10 * time.Second, max: 120 * time.Second}
	if got := b.next(func(n time.Duration) time.Duration { return 0 }); got != 0 {
		t.Fatalf("%v, want what the jitter says", got)
	}
	jitter := Config{}.withDefaults().Jitter
	low, high := time.Hour, time.Duration(0)
	for range 1000 {
		d := jitter(10 * time.Second)
		low, high = min(low, d), max(high, d)
	}
	if low > time.Second || high < 9*time.Second || high >= 10*time.Second {
		t.Fatalf("1000 draws lie between %v and %v, want all of [0, 10 s)", low, high)
	}
	if jitter(0) != 0 {
		t.Fatal("jitter of nothing is something")
	}
}
