package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"chit/simulate"
)

// storm is what chit simulate --storm was asked for.
type storm struct {
	wanted  bool
	devices int
	tenants int
	minutes float64
	orders  float64
	rate    float64
	total   float64
	plot    string
}

func (s *storm) flags(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&s.wanted, "storm", false, "all devices drop together and come back, orders go on")
	f.IntVar(&s.devices, "devices", 5000, "of a storm, each in a kitchen of its own")
	f.IntVar(&s.tenants, "tenants", 50, "of a storm; the first has a fifth of the devices")
	f.Float64Var(&s.minutes, "minutes", 10, "that a storm's network is gone")
	f.Float64Var(&s.orders, "orders", 12, "that each kitchen of a storm gets in an hour")
	f.Float64Var(&s.rate, "rate", 0, "dispatches per second and tenant in a storm, 0 as the broker's")
	f.Float64Var(&s.total, "total", 0, "dispatches per second of all in a storm, 0 as the broker's")
	f.StringVar(&s.plot, "plot", "", "draw the storm into this PNG file (implies --storm)")
}

// stormed is the one object of chit simulate --storm --json. Times are seconds from when the
// network is back.
type stormed struct {
	simulated
	Seed              uint64  `json:"seed"`
	Devices           int     `json:"devices"`
	Tenants           int     `json:"tenants"`
	Backlog           int     `json:"backlog"`
	Peak              int     `json:"peak_dispatches_per_second"`
	Limit             int     `json:"limit_per_second"`
	TenantPeak        int     `json:"tenant_peak_dispatches_per_second"`
	TenantLimit       int     `json:"tenant_limit_per_second"`
	AttemptsAway      int     `json:"attempts_while_absent"`
	Known             float64 `json:"all_present_seconds"`
	Oldest            float64 `json:"all_oldest_dispatched_seconds"`
	Drained           float64 `json:"all_drained_seconds"`
	WaitWorst         float64 `json:"wait_for_oldest_worst_seconds"`
	WaitMedian        float64 `json:"wait_for_oldest_median_seconds"`
	TenantSlowest     string  `json:"slowest_tenant"`
	TenantWorst       float64 `json:"tenant_drain_worst_seconds"`
	TenantMedian      float64 `json:"tenant_drain_median_seconds"`
	OldestFirstBroken bool    `json:"oldest_first_broken"`
}

func (s *simulation) runStorm(c *cobra.Command) error {
	o := &s.storm
	begin := time.Now()
	r := simulate.RunStorm(simulate.Storm{Seed: s.options.Seed, Devices: o.devices,
		Tenants: o.tenants, Away: time.Duration(o.minutes * float64(time.Minute)), Orders: o.orders,
		Rate: o.rate, Total: o.total})
	seconds := time.Since(begin).Seconds()
	var err error
	if r.Broken() {
		err = fmt.Errorf("%w with seed %d", errPromise, s.options.Seed)
	}
	if o.plot != "" {
		err = errors.Join(plot(r, o.plot), err)
	}
	if s.json {
		return errors.Join(json.NewEncoder(c.OutOrStdout()).Encode(stormOf(r, seconds)), err)
	}
	tellStorm(c, r, seconds)
	return err
}

func plot(r simulate.StormResult, path string) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("the plot cannot be written: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return r.Plot(f)
}

func stormOf(r simulate.StormResult, seconds float64) stormed {
	oldest := false
	for _, v := range r.Violations {
		oldest = oldest || v.Rule == "oldest"
	}
	return stormed{simulated: simulatedOf(r.Result, 1, seconds), Seed: r.Storm.Seed,
		Devices: r.Storm.Devices, Tenants: r.Storm.Tenants, Backlog: r.Backlog, Peak: r.Peak,
		Limit: r.Limit, TenantPeak: r.TenantPeak, TenantLimit: r.TenantLimit,
		AttemptsAway: r.AttemptsAway, Known: r.Known.Seconds(), Oldest: r.Oldest.Seconds(),
		Drained: r.Drained.Seconds(), WaitWorst: r.WaitWorst.Seconds(),
		WaitMedian: r.WaitMedian.Seconds(), TenantSlowest: r.TenantSlowest,
		TenantWorst: r.TenantWorst.Seconds(), TenantMedian: r.TenantMedian.Seconds(),
		OldestFirstBroken: oldest}
}

func tellStorm(c *cobra.Command, r simulate.StormResult, seconds float64) {
	out := c.OutOrStdout()
	short := func(d time.Duration) time.Duration { return d.Round(10 * time.Millisecond) }
	fmt.Fprintf(out, "%d devices of %d tenants, seed %d: the network was gone for %v, and %d tickets "+
		"were waiting.\n", r.Storm.Devices, r.Storm.Tenants, r.Storm.Seed, r.Storm.Away, r.Backlog)
	fmt.Fprintf(out, "  dispatches in the busiest second   %d, at most %d are promised\n", r.Peak,
		r.Limit)
	fmt.Fprintf(out, "  of one tenant                      %d, at most %d are promised\n",
		r.TenantPeak, r.TenantLimit)
	fmt.Fprintf(out, "  attempts spent while absent        %d\n", r.AttemptsAway)
	fmt.Fprintf(out, "  every device known again           after %v\n", short(r.Known))
	fmt.Fprintf(out, "  every kitchen has its oldest       after %v, each before its others; once "+
		"its\n                                     device was known it waited %v, the median %v\n",
		short(r.Oldest), short(r.WaitWorst), short(r.WaitMedian))
	fmt.Fprintf(out, "  all drained                        after %v; tenants: worst %v (%s), "+
		"median %v\n", short(r.Drained), short(r.TenantWorst), r.TenantSlowest, short(r.TenantMedian))
	fmt.Fprintf(out, "  tickets                            %d accepted: %d printed, %d cancelled or "+
		"replaced before paper,\n                                     %d dead, %d lost, %d without an "+
		"end; second papers: %d marked,\n                                     %d unmarked; told in "+
		"%.1f s\n", r.Accepted, r.Printed, r.Cancelled, r.Dead, r.Lost, r.Unsettled,
		r.MarkedDuplicates, r.UnmarkedDuplicates, seconds)
	for _, v := range r.Violations {
		fmt.Fprintf(out, "%v\n", v)
	}
}
