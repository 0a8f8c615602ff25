package simulate_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"chit/simulate"
)

func env(name string, def int) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		return def
	}
	return n
}

func TestQuick(t *testing.T) {
	faults, err := simulate.ParseFaults(os.Getenv("F"))
	if err != nil {
		t.Fatal(err)
	}
	var total simulate.Result
	begin := time.Now()
	first, n := env("S", 1), env("N", 20)
	for seed := first; seed < first+n; seed++ {
		r := simulate.Run(simulate.Options{Seed: uint64(seed), Hours: float64(env("H", 24)), Kitchens: env("K", 1),
			Faults: faults, Bug: simulate.Bug(os.Getenv("B")), Tell: n == 1})
		for _, line := range r.Story {
			t.Log(line)
		}
		r.Story = nil
		for _, v := range r.Violations {
			t.Logf("seed %d: %v", seed, v)
		}
		total = total.Add(r)
	}
	total.Violations = nil
	t.Logf("%+v in %v", total, time.Since(begin))
}
