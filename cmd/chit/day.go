package main

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"chit/broker/intake"
)

func newDay() *cobra.Command {
	var a access
	var asJSON, paper bool
	var station string
	c := &cobra.Command{
		Use:   "day [DATE]",
		Short: "See what became of a day's running numbers",
		Long: `DATE is a date such as 2026-12-01, yesterday, or today, which is also meant where it is
left out: a business day by the kitchen's own clock.

The numbers of one business day at each station: first and last, those without paper and
what became of their tickets, voided ones, possible duplicates. A day that runs is told as it
stands now; one that is over is kept for 30 days.

With day_slip = true a kitchen prints it by itself when its day ends. With --print each station
prints its own now.`,
		Example: `  chit day --data /var/lib/chit
  chit day --data /var/lib/chit yesterday
  chit day --data /var/lib/chit 2026-12-01 --station kitchen --json
  chit day --data /var/lib/chit --print`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			day := intake.Today
			if len(args) > 0 {
				day = args[0]
			}
			if !intake.CheckDay(day) {
				return misuse("such as chit day 2026-12-01",
					"DATE: found %q, expected a date, today or yesterday", day)
			}
			client, err := a.open()
			if err != nil {
				return err
			}
			path := "/v1/days/" + url.PathEscape(day)
			if paper {
				path += "/print"
			}
			if station != "" {
				path += "?station=" + url.QueryEscape(station)
			}
			if paper {
				return printDay(c, client, path, asJSON)
			}
			var answer struct {
				Days []intake.Day `json:"days"`
			}
			if _, err := client.call(c.Context(), http.MethodGet, path, nil, &answer); err != nil {
				return err
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), answer.Days)
			}
			out := visible(c.OutOrStdout())
			for _, d := range answer.Days {
				fmt.Fprintln(out, d.Slip)
			}
			return nil
		},
	}
	a.flags(c)
	c.Flags().BoolVar(&asJSON, "json", false, "JSON, for machines")
	c.Flags().BoolVar(&paper, "print", false, "print it, each station's at its own printer")
	c.Flags().StringVar(&station, "station", "", "one station only")
	return c
}

// printDay asks for the slips and tells where they can be followed.
func printDay(c *cobra.Command, client *client, path string, asJSON bool) error {
	var answer struct {
		Slips []intake.Slip `json:"slips"`
	}
	if _, err := client.call(c.Context(), http.MethodPost, path, nil, &answer); err != nil {
		return err
	}
	if asJSON {
		return printJSON(c.OutOrStdout(), answer.Slips)
	}
	out := visible(c.OutOrStdout())
	for _, s := range answer.Slips {
		fmt.Fprintf(out, "day %s of %s will be printed: chit trace %s\n", s.Day, s.Station, s.ID)
	}
	return nil
}
