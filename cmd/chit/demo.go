package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"chit/cmd/chit/demo"
	"chit/rig"
)

// errBroken is the exit of a demo in which a promise did not hold.
var errBroken = errors.New("a promise did not hold")

func newDemo() *cobra.Command {
	var conf demo.Config
	var asJSON bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "Watch a whole installation work, fail, and lose nothing",
		Long: `Starts a broker, a device and two virtual printers as real processes on this
machine, sends lifelike orders, and pulls plugs: the device is killed between paper and
acknowledgement, the printer runs out of paper, the network is cut, the broker is killed. The
paper is kept as pictures. What came out is counted from the paper, never from the programs.

Exit 0 only if nothing was lost and nothing doubled without a mark. --out takes a new folder or
that of an earlier demo, which is replaced.`,
		Example: "  chit demo\n  chit demo --orders 100 --seed 7 --json --out /tmp/demo",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if conf.Orders < 1 || conf.Orders > ordersMax {
				return misuse("see chit demo --help", "--orders: found %d, expected 1 to %d", conf.Orders,
					ordersMax)
			}
			return runDemo(c, conf, asJSON)
		},
	}
	c.Flags().IntVar(&conf.Orders, "orders", 12, "how many tickets to send")
	c.Flags().Uint64Var(&conf.Seed, "seed", 1, "the same seed sends the same orders")
	c.Flags().BoolVar(&asJSON, "json", false,
		"one JSON object on standard output; the story on standard error")
	c.Flags().StringVar(&conf.Dir, "out", "", "folder for paper, logs and stores (default: a new one)")
	return c
}

// ordersMax bounds a demo: some hours of paper.
const ordersMax = 10000

func runDemo(c *cobra.Command, conf demo.Config, asJSON bool) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	conf.Broker, conf.Device = []string{self, "broker"}, []string{self, "daemon"}
	unlock, err := demoFolder(&conf.Dir)
	if err != nil {
		return err
	}
	defer unlock()
	conf.Story = c.OutOrStdout()
	if asJSON {
		conf.Story = c.ErrOrStderr()
	}
	v, err := demo.Run(c.Context(), conf)
	if err != nil && c.Context().Err() != nil {
		return hinted{fmt.Errorf("the demo was interrupted: %w", context.Canceled),
			"paper and logs so far are in " + conf.Dir}
	}
	if err != nil {
		return hinted{fmt.Errorf("the demo could not be played: %w", err),
			"the programs' logs are in " + conf.Dir}
	}
	if asJSON {
		err = writeVerdictJSON(c, v)
	} else {
		err = writeVerdict(c.OutOrStdout(), v, demo.Paper(conf.Dir))
	}
	if err == nil && !v.Held() {
		err = errBroken
	}
	return err
}

// writeVerdictJSON writes the one object, whose fields are fixed; what was broken is told beside
// it.
func writeVerdictJSON(c *cobra.Command, v rig.Verdict) error {
	for _, b := range v.Broken {
		fmt.Fprintln(c.ErrOrStderr(), "broken:", b)
	}
	v.Broken = nil
	return printJSON(c.OutOrStdout(), v)
}

func writeVerdict(w io.Writer, v rig.Verdict, paper string) error {
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	for _, row := range []struct {
		label string
		value any
	}{
		{"accepted", v.Accepted}, {"printed", v.Printed},
		{"duplicates, marked", v.MarkedDuplicates}, {"duplicates, unmarked", v.UnmarkedDuplicates},
		{"lost", v.Lost}, {"dead", v.Dead}, {"cancelled", v.Cancelled}, {"refused", v.Refused},
		{"time to paper p50, ms", fmt.Sprintf("%.0f", v.TimeToPaper.P50)},
		{"time to paper p99, ms", fmt.Sprintf("%.0f", v.TimeToPaper.P99)},
	} {
		fmt.Fprintf(table, "%s\t%v\t\n", row.label, row.value)
	}
	var names []string
	for name := range v.Faults {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(table, "plug: %s\t%d\t\n", strings.ReplaceAll(name, "_", " "), v.Faults[name])
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if v.Held() {
		fmt.Fprintln(w, "\nNothing was lost, and nothing was doubled without saying so.")
	} else {
		fmt.Fprintln(w, "\nBroken promises:")
		for _, b := range v.Broken {
			fmt.Fprintln(w, "  "+b)
		}
	}
	_, err := fmt.Fprintf(w, "The paper, one PNG and one text file a ticket: %s\n", paper)
	return err
}
