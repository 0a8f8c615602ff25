package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"chit/simulate"
)

// errPromise is returned where the simulation broke a promise; it has told which.
var errPromise = errors.New("a promise broke")

// simulated is the one object of chit simulate --json.
type simulated struct {
	Accepted           int `json:"accepted"`
	Printed            int `json:"printed"`
	MarkedDuplicates   int `json:"marked_duplicates"`
	UnmarkedDuplicates int `json:"unmarked_duplicates"`
	Lost               int `json:"lost"`
	Dead               int `json:"dead"`
	Unsettled          int `json:"unsettled"`
	Cancelled          int `json:"cancelled"`
	// CopiedDuplicates are unmarked second papers that came out of a copied card, which nobody can
	// mark: it is promised that an alarm tells of the copy.
	CopiedDuplicates int     `json:"copied_duplicates"`
	Seeds            int     `json:"seeds"`
	KitchenDays      float64 `json:"kitchen_days"`
	Seconds          float64 `json:"seconds"`
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
	storm   storm
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
possible. Exit 0 only if no promise broke.

With --storm all devices of many kitchens lose their network in one instant, orders
go on, and they come back: told are the busiest second against the limit, the
attempts spent at absent devices, and how long it takes until every kitchen has its
oldest ticket and until all is drained. --plot draws it.

` + names("Faults: ", simulate.All()) + `.

` + names("Bugs: ", simulate.Bugs()) + `.`,
		Example: "  chit simulate --seed 7 --hours 24 --kitchens 2 --faults all\n" +
			"  chit simulate --seeds 200 --faults loss,device-crash,power-off --json\n" +
			"  chit simulate --storm --devices 5000 --minutes 10 --plot storm.png",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return s.run(c) },
	}
	f := c.Flags()
	f.Uint64Var(&s.options.Seed, "seed", 1, "first seed")
	f.IntVar(&s.seeds, "seeds", 1, "how many seeds, from the first upwards")
	f.Float64Var(&s.options.Hours, "hours", 24, "virtual hours of each story, at most a year's 8760")
	f.IntVar(&s.options.Kitchens, "kitchens", 1, "kitchens, each a tenant with one device")
	f.StringVar(&s.faults, "faults", "all", "all, none, or a comma list of names")
	f.BoolVar(&s.json, "json", false, "one JSON object")
	f.BoolVar(&s.tell, "tell", false, "tell the whole story of a single seed")
	f.StringVar(&s.bug, "bug", "", "plant a fault of ours, to see it found: one of the bugs above")
	s.storm.flags(c)
	return c
}

// names joins the names after a word, broken into lines for the help.
func names[T ~string](word string, all []T) string {
	var b strings.Builder
	b.WriteString(word)
	width := len(word)
	for i, f := range all {
		if i > 0 {
			b.WriteByte(',')
			if width += 1; width+len(f) > 80 {
				b.WriteByte('\n')
				width = 0
			} else {
				b.WriteByte(' ')
				width++
			}
		}
		b.WriteString(string(f))
		width += len(f)
	}
	return b.String()
}

func (s *simulation) run(c *cobra.Command) error {
	faults, err := simulate.ParseFaults(s.faults)
	if err == nil {
		s.options.Bug, err = simulate.ParseBug(s.bug)
	}
	if err == nil {
		err = s.check()
	}
	if err != nil {
		return misuse("see chit simulate --help", "%w", err)
	}
	// Stories are short and make much that dies with them: collecting it rarely saves a tenth.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	if s.storm.wanted || s.storm.plot != "" {
		return s.runStorm(c)
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
	fmt.Fprintf(out, "%d seeds from %d: %d tickets accepted, %d printed, %d second papers marked, "+
		"%d unmarked,\n%d lost, %d dead letters, %d cancelled, %d without an end; %d second papers out "+
		"of copied cards;\n%.1f kitchen-days in %.1f s, %.1f a second on %d processors\n",
		s.seeds, s.options.Seed, total.Accepted, total.Printed, total.MarkedDuplicates,
		total.UnmarkedDuplicates, total.Lost, total.Dead, total.Cancelled, total.Unsettled,
		total.CopiedDuplicates, total.KitchenDays, seconds, total.KitchenDays/seconds,
		runtime.GOMAXPROCS(0))
	if broken != nil {
		// Said first: a long story takes many minutes to make small.
		fmt.Fprintf(out, "\nseed %d breaks a promise; it is told again to make it small\n",
			broken.options.Seed)
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
			if time.Since(reported) > 500*time.Millisecond {
				reported = time.Now()
				progress(c, "%d of %d stories, %.0f kitchen-days", done, s.seeds, total.KitchenDays)
			}
			mu.Unlock()
		}
	}
	for range min(s.seeds, runtime.GOMAXPROCS(0)) {
		group.Go(work)
	}
	group.Wait()
	progress(c, "")
	return total, broken
}

func (s *simulation) printJSON(c *cobra.Command, r simulate.Result, seconds float64) error {
	return json.NewEncoder(c.OutOrStdout()).Encode(simulatedOf(r, s.seeds, seconds))
}

func simulatedOf(r simulate.Result, seeds int, seconds float64) simulated {
	o := simulated{Accepted: r.Accepted, Printed: r.Printed, MarkedDuplicates: r.MarkedDuplicates,
		UnmarkedDuplicates: r.UnmarkedDuplicates, Lost: r.Lost, Dead: r.Dead, Unsettled: r.Unsettled,
		Cancelled: r.Cancelled, CopiedDuplicates: r.CopiedDuplicates, Seeds: seeds,
		KitchenDays: r.KitchenDays, Seconds: seconds}
	for _, v := range r.Violations {
		o.Violations = append(o.Violations, v.String())
	}
	return o
}

// progress rewrites one line, on a terminal alone.
func progress(c *cobra.Command, format string, args ...any) {
	f, ok := c.ErrOrStderr().(*os.File)
	if !ok {
		return
	}
	if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		fmt.Fprintf(f, "\r\x1b[K"+format, args...)
	}
}
