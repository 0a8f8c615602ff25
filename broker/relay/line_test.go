package relay

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"chit/device/wire"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// counter hands tickets over as the relay does, with nothing but the rate for a limit.
type counter struct {
	line   *line
	queues map[*station][]*item // due, oldest first
	out    []*item
}

func newCounter(total float64, totalBurst int, rate float64, burst int) *counter {
	return &counter{line: newLine(newBucket(total, totalBurst, noon), rate, burst),
		queues: map[*station][]*item{}}
}

func ticket(s *station, id int, release time.Time) *item {
	return &item{station: s, id: wire.TicketID{Order: fmt.Sprintf("o%06d", id), Seq: 1},
		release: release, accepted: release}
}

func (c *counter) owe(s *station, now time.Time, more ...*item) {
	c.queues[s] = append(c.queues[s], more...)
	slices.SortFunc(c.queues[s], order)
	c.enter(s, now)
}

func (c *counter) enter(s *station, now time.Time) {
	if len(c.queues[s]) == 0 {
		c.line.leave(s)
		return
	}
	c.line.join(s, c.queues[s][0], now)
}

// turn hands over what may go now, and says when more may.
func (c *counter) turn(now time.Time) time.Time {
	for {
		s, at := c.line.next(now)
		if s == nil {
			return at
		}
		c.out = append(c.out, s.head)
		c.line.served(s, now)
		c.queues[s] = c.queues[s][1:]
		c.enter(s, now)
	}
}

// storm owes 20,000 tickets to ten stations of tenant a, and counts them out from noon.
func storm(t *testing.T, rate float64) (c *counter, stations []*station) {
	t.Helper()
	c = newCounter(TotalDefault, TotalBurstDefault, rate, BurstDefault)
	for i := range 10 {
		stations = append(stations, newStation("a", fmt.Sprint("s", i)))
	}
	for i := range 20_000 {
		// The first station has the oldest half of all.
		s := stations[max(0, i-10_000)%10]
		age := time.Duration(30_000-i) * time.Millisecond
		c.queues[s] = append(c.queues[s], ticket(s, i, noon.Add(-age)))
	}
	for _, s := range stations {
		c.enter(s, noon)
	}
	return c, stations
}

func TestATenantsStormDoesNotDelayAnothersTicket(t *testing.T) {
	for _, rate := range []float64{RateDefault, 1e6} { // Its own limit, or only the whole one's.
		c, _ := storm(t, rate)
		c.turn(noon)
		late := newStation("b", "grill")
		at := noon.Add(777 * time.Millisecond)
		c.turn(at)
		before := len(c.out)
		one := ticket(late, 1, at)
		c.owe(late, at, one)
		next := c.turn(at)
		if !slices.Contains(c.out[before:], one) {
			if wait := next.Sub(at); wait > time.Millisecond {
				t.Errorf("rate %v: a token only in %s", rate, wait)
			}
			c.turn(next)
		}
		if got := c.out[before:]; len(got) == 0 || got[0] != one {
			t.Errorf("rate %v: the other tenant's ticket did not go next (%d went)", rate, len(got))
		}
	}
}

func TestEveryStationGetsItsOldestBeforeOneGetsASecond(t *testing.T) {
	c, stations := storm(t, RateDefault)
	oldest := map[*item]bool{}
	for _, s := range stations {
		oldest[c.queues[s][0]] = true
	}
	c.turn(noon)
	if len(c.out) != BurstDefault {
		t.Fatalf("%d went at once, want the burst, %d", len(c.out), BurstDefault)
	}
	first := c.out[:len(stations)]
	for _, i := range first {
		if !oldest[i] {
			t.Errorf("%s went in the first round", i.id)
		}
	}
	if !slices.IsSortedFunc(first, order) {
		t.Error("the first round is not oldest first")
	}
}

func TestANewcomerTakesPartInTheRoundOnce(t *testing.T) {
	c := newCounter(1, 1, 1000, 1000)
	s := []*station{newStation("a", "s0"), newStation("a", "s1"), newStation("a", "s2")}
	for i := range 4 {
		c.owe(s[0], noon, ticket(s[0], i, noon.Add(time.Duration(i)*time.Second)))
		c.owe(s[1], noon, ticket(s[1], 10+i, noon.Add(time.Duration(10+i)*time.Second)))
	}
	now := noon
	c.turn(now) // s0's first.
	c.owe(s[2], now, ticket(s[2], 20, noon.Add(20*time.Second)), ticket(s[2], 21, noon))
	for range 4 {
		now = now.Add(time.Second)
		c.turn(now)
	}
	var got []string
	for _, i := range c.out {
		got = append(got, i.station.id)
	}
	// In round one s2's oldest is older than s1's; in round two it is the youngest.
	if want := []string{"s0", "s2", "s1", "s0", "s1"}; !slices.Equal(got, want) {
		t.Errorf("served %v, want %v", got, want)
	}
}

func TestAStormIsWithinRateAndBurstInEverySecond(t *testing.T) {
	c, _ := storm(t, RateDefault)
	var times []time.Time
	now := noon
	for len(times) < 2_000 {
		next := c.turn(now)
		for range len(c.out) - len(times) {
			times = append(times, now)
		}
		now = next
	}
	peak, from := 0, 0
	for i := range times {
		for times[i].Sub(times[from]) >= time.Second {
			from++
		}
		peak = max(peak, i-from+1)
	}
	if peak > RateDefault+BurstDefault || peak < RateDefault {
		t.Errorf("%d in one second, want at most %d", peak, RateDefault+BurstDefault)
	}
	if took := now.Sub(noon); took > 10*time.Second {
		t.Errorf("2000 tickets took %s: the rate is not used", took)
	}
}

// naive is the rule of fairness without a data structure: it looks at everybody every time.
type naive struct {
	total   *bucket
	buckets map[string]*bucket
	round   map[string]int   // of a tenant's stations
	turns   map[*station]int // round for which a station stands
	turn    map[string]int   // round for which a tenant stands
	now     int              // the tenants' round
	waited  map[string]bool  // a tenant that was out of the running
}

func (n *naive) next(queues map[*station][]*item, tenants []string, now time.Time) *item {
	if ok, _ := n.total.has(now); !ok {
		return nil
	}
	best := ""
	for _, name := range tenants { // In order of their names.
		due := false
		for s, queue := range queues {
			due = due || s.tenant == name && len(queue) > 0
		}
		if ok, _ := n.buckets[name].has(now); !ok || !due {
			n.waited[name] = true
			continue
		}
		if n.waited[name] {
			n.waited[name] = false
			n.turn[name] = max(n.turn[name], n.now)
		}
		if best == "" || n.turn[name] < n.turn[best] {
			best = name
		}
	}
	if best == "" {
		return nil
	}
	var one *item
	for s, queue := range queues {
		if s.tenant != best || len(queue) == 0 {
			continue
		}
		n.turns[s] = max(n.turns[s], n.round[best])
		if head := queue[0]; one == nil || n.turns[s] < n.turns[one.station] ||
			n.turns[s] == n.turns[one.station] && order(head, one) < 0 {
			one = head
		}
	}
	n.total.take(now)
	n.buckets[best].take(now)
	n.round[best] = n.turns[one.station]
	n.turns[one.station]++
	n.now = n.turn[best]
	n.turn[best]++
	return one
}

func TestTheLineIsAsFairAsTheNaiveRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tenants := []string{"a", "b", "c"}
		// Whole rates and eighths of a second, so that both count their tokens without rounding.
		total := float64(rapid.IntRange(1, 20).Draw(t, "total"))
		rate := float64(rapid.IntRange(1, 9).Draw(t, "rate"))
		c := newCounter(total, 3, rate, 2)
		n := &naive{total: newBucket(total, 3, noon), buckets: map[string]*bucket{},
			round: map[string]int{}, turns: map[*station]int{}, turn: map[string]int{},
			waited: map[string]bool{}}
		var stations []*station
		for _, name := range tenants {
			n.buckets[name], n.waited[name] = newBucket(rate, 2, noon), true
			for i := range 3 {
				stations = append(stations, newStation(name, fmt.Sprint("s", i)))
			}
		}
		queues := map[*station][]*item{}
		now := noon
		for step := range rapid.IntRange(1, 40).Draw(t, "steps") {
			s := rapid.SampledFrom(stations).Draw(t, "station")
			for k := range rapid.IntRange(0, 5).Draw(t, "tickets") {
				age := rapid.IntRange(-50, 0).Draw(t, "age")
				i := ticket(s, step*10+k, now.Add(time.Duration(age)*time.Second))
				queues[s] = append(queues[s], i)
				slices.SortFunc(queues[s], order)
				c.owe(s, now, i)
			}
			c.turn(now)
			for k := 0; ; k++ {
				want := n.next(queues, tenants, now)
				if want == nil {
					if len(c.out) != k {
						t.Fatalf("%d went, want %d", len(c.out), k)
					}
					break
				}
				queues[want.station] = queues[want.station][1:]
				if len(c.out) <= k || c.out[k] != want {
					t.Fatalf("ticket %d is not %s of %s %s", k, want.id, want.station.tenant,
						want.station.id)
				}
			}
			c.out = nil
			now = now.Add(time.Duration(rapid.IntRange(0, 8).Draw(t, "pause")) * time.Second / 8)
		}
	})
}
