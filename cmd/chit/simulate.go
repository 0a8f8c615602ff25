package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"chit/simulate"
)

// errPromise is returned where the simulation broke a promise; it has told which.
var errPromise = errors.New("a promise broke")

// simulated is the one object of chit simulate --json.
type simulated struct {
	Accepted           int     `json:"accepted"`
	Printed            int     `json:"printed"`
	MarkedDuplicates   int     `json:"marked_duplicates"`
	UnmarkedDuplicates int     `json:"unmarked_duplicates"`
	Lost               int     `json:"lost"`
	Dead               int     `json:"dead"`
	Unsettled          int     `json:"unsettled"`
	KitchenDays        float64 `json:"kitchen_days"`
	Seconds            float64 `json:"seconds"`
	// Violations are the promises that broke, each with its seed and step.
	Violations []string `json:"violations,omitempty"`
}

// simulation is what chit simulate was asked for.
type simulation struct {
	options simulate.Options
	seeds   int
	bug     string
	faults  string
	json    bool
	tell    bool
}

func newSimulate() *cobra.Command {
	var s simulation
	c := &cobra.Command{
		Use:   "simulate",
		Short: "Run kitchens for days in virtual time, with everything going wrong",
		Long: `Runs broker, MQTT engine, devices, printers and people in one process under virtual
time. The same seed gives the same story. After each step the promises of DESIGN.md
are checked; the paper of the virtual printers is the judge. When the story ends
everything is healed, and every delivery must come to its end.

A broken promise is told with its seed and step, and with a story made as small as
possible. Exit 0 only if no promise broke.`,
		Example: "  chit simulate --seed 7 --hours 24 --kitchens 2 --faults all\n" +
			"  chit simulate --seeds 200 --faults loss,device-crash,power-off --json",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return s.run(c) },
	}
	f := c.Flags()
	f.Uint64Var(&s.options.Seed, "seed", 1, "first seed")
	f.IntVar(&s.seeds, "seeds", 1, "how many seeds, from the first upwards")
	f.Float64Var(&s.options.Hours, "hours", 24, "virtual hours of each story")
	f.IntVar(&s.options.Kitchens, "kitchens", 1, "kitchens, each a tenant with one device")
	f.StringVar(&s.faults, "faults", "all", "all, none, or a comma list of names")
	f.BoolVar(&s.json, "json", false, "one JSON object")
	f.BoolVar(&s.tell, "tell", false, "tell the whole story of a single seed")
	f.StringVar(&s.bug, "bug", "", "plant a fault of ours, to see it found")
	return c
}

func (s *simulation) run(c *cobra.Command) error {
	faults, err := simulate.ParseFaults(s.faults)
	if err == nil && (s.options.Hours <= 0 || s.options.Kitchens < 1 || s.seeds < 1) {
		err = errors.New("hours, kitchens and seeds must be above 0")
	}
	if err == nil {
		s.options.Bug, err = simulate.ParseBug(s.bug)
	}
	if err != nil {
		return misuse("see chit simulate --help", "%w", err)
	}
	s.options.Faults = faults
	s.options.Tell = s.tell && s.seeds == 1
	begin := time.Now()
	total, broken := s.all(c)
	seconds := time.Since(begin).Seconds()
	if s.json {
		return errors.Join(s.printJSON(c, total, seconds), verdict(broken))
	}
	out := c.OutOrStdout()
	fmt.Fprintf(out, "%d tickets accepted, %d printed, %d second papers marked, %d unmarked, "+
		"%d lost,\n%d dead letters, %d cancelled, %d without an end; %.1f kitchen-days in %.1f s, "+
		"%.1f a second\n",
		total.Accepted, total.Printed, total.MarkedDuplicates, total.UnmarkedDuplicates, total.Lost,
		total.Dead, total.Cancelled, total.Unsettled, total.KitchenDays, seconds,
		total.KitchenDays/seconds)
	if broken != nil {
		small := simulate.Shrink(broken.options, broken.result)
		fmt.Fprintf(out, "\nseed %d, told again %d times to make it small:\n%s", broken.options.Seed,
			small.Runs, small)
	}
	return verdict(broken)
}

// failed is a story in which a promise broke.
type failed struct {
	options simulate.Options
	result  simulate.Result
}

func verdict(broken *failed) error {
	if broken == nil {
		return nil
	}
	return fmt.Errorf("%w with seed %d", errPromise, broken.options.Seed)
}

// all runs the seeds, on all processors, and keeps the broken story of the lowest seed.
func (s *simulation) all(c *cobra.Command) (total simulate.Result, broken *failed) {
	var mu sync.Mutex
	var group sync.WaitGroup
	next, done := 0, 0
	reported := time.Now()
	work := func() {
		for {
			mu.Lock()
			n := next
			next++
			mu.Unlock()
			if n >= s.seeds || c.Context().Err() != nil {
				return
			}
			o := s.options
			o.Seed += uint64(n)
			r := simulate.Run(o)
			mu.Lock()
			for _, line := range r.Story {
				fmt.Fprintln(c.OutOrStdout(), line)
			}
			r.Story = nil
			if r.Broken() && (broken == nil || o.Seed < broken.options.Seed) {
				broken = &failed{o, r}
			}
			total = total.Add(r)
			done++
			if !s.json && time.Since(reported) > 2*time.Second {
				reported = time.Now()
				fmt.Fprintf(c.ErrOrStderr(), "%d of %d stories\n", done, s.seeds)
			}
			mu.Unlock()
		}
	}
	for range min(s.seeds, runtime.GOMAXPROCS(0)) {
		group.Go(work)
	}
	group.Wait()
	return total, broken
}

func (s *simulation) printJSON(c *cobra.Command, r simulate.Result, seconds float64) error {
	o := simulated{Accepted: r.Accepted, Printed: r.Printed, MarkedDuplicates: r.MarkedDuplicates,
		UnmarkedDuplicates: r.UnmarkedDuplicates, Lost: r.Lost, Dead: r.Dead, Unsettled: r.Unsettled,
		KitchenDays: r.KitchenDays, Seconds: seconds}
	for _, v := range r.Violations {
		o.Violations = append(o.Violations, v.String())
	}
	return json.NewEncoder(c.OutOrStdout()).Encode(o)
}
