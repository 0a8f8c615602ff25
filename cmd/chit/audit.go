package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"chit/broker/intake"
)

func newAudit() *cobra.Command {
	var a access
	var asJSON bool
	var since uint64
	var last int
	c := &cobra.Command{
		Use:   "audit",
		Short: "See who redrove, discarded, cancelled or acknowledged what, and why",
		Long: `See what people did to tickets, dead letters and alarms: who, what, when and why. The
newest stands last. Tickets that a void or a change of their order ended are here too, with the
ticket that did it.

Each line has a position; --since goes on behind one, which is how a program reads on.`,
		Example: `  chit audit --data /var/lib/chit
  chit audit --data /var/lib/chit --since 4211 --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if last < 1 {
				return misuse("such as --last 20", "--last: found %d, expected 1 or more", last)
			}
			client, err := a.open()
			if err != nil {
				return err
			}
			list := []intake.Entry{}
			for more, next := true, since; more; {
				var page struct {
					Entries []intake.Entry `json:"entries"`
					Next    uint64         `json:"next"`
					More    bool           `json:"more"`
				}
				path := fmt.Sprintf("/v1/audit?since=%d&limit=%d", next, intake.AuditMax)
				if _, err := client.call(c.Context(), "GET", path, nil, &page); err != nil {
					return err
				}
				list = append(list, page.Entries...)
				list = list[max(0, len(list)-last):]
				more, next = page.More && page.Next > next, page.Next
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), list)
			}
			if len(list) == 0 {
				fmt.Fprintln(c.OutOrStdout(), "nothing was done by hand")
				return nil
			}
			return writeAudit(c.OutOrStdout(), list)
		},
	}
	a.flags(c)
	c.Flags().BoolVar(&asJSON, "json", false, "JSON, for machines")
	c.Flags().Uint64Var(&since, "since", 0, "only what stands behind this position")
	c.Flags().IntVar(&last, "last", 50, "at most so many, the newest")
	return c
}

func writeAudit(w io.Writer, list []intake.Entry) error {
	table := tabwriter.NewWriter(visible(w), 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "POSITION\tAT\tWHO\tWHAT\tID\tWHY\tDETAIL")
	for _, e := range list {
		line(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", e.Position,
			e.At.Local().Format(time.DateTime), e.Who, e.What, e.ID, e.Why, e.Detail)
	}
	return table.Flush()
}
