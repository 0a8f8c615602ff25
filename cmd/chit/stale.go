package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"chit/broker/intake"
)

func newStale() *cobra.Command {
	var a access
	var asJSON bool
	c := &cobra.Command{
		Use:   "stale",
		Short: "Say what becomes of tickets that are too old to be cooked blindly",
		Long: `A ticket that could not be printed for longer than its kitchen's stale_after (30 minutes
unless set) is not cooked without a person saying so: the guest may have left. The printer lists
such tickets on one slip; the cook prints them all by holding the button for two seconds. You can
print or drop all of a station or some of them here. A dropped one is a dead letter, not-wanted: a
paid order to refund or to make anew. Repeating an answer changes nothing.

With stale = "print" a kitchen prints them marked LATE and nobody is asked, with
stale = "drop-to-dead-letter" they become dead letters by themselves.`,
		Example: `  chit stale list --data /var/lib/chit
  chit stale print --data /var/lib/chit 4711/1@kitchen --reason "they still wait"
  chit stale drop --data /var/lib/chit --station bar --reason "the bar has closed"`,
	}
	a.flags(c)
	c.PersistentFlags().BoolVar(&asJSON, "json", false, "JSON, for machines")
	c.AddCommand(staleList(&a, &asJSON),
		staleAnswer(&a, &asJSON, "print", "Print them after all, marked LATE",
			"%s will be printed: it is %s\n"),
		staleAnswer(&a, &asJSON, "drop", "Do not print them: they become dead letters, not-wanted",
			"%s will not be printed: it is %s\n"))
	return c
}

func staleList(a *access, asJSON *bool) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the tickets that wait for an answer, oldest first",
		Args:    cobra.NoArgs,
		Example: "  chit stale list --data /var/lib/chit --json",
		RunE: func(c *cobra.Command, _ []string) error {
			client, err := a.open()
			if err != nil {
				return err
			}
			list, err := client.tickets(c.Context(), "/v1/stale", "stale")
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(c.OutOrStdout(), list)
			}
			if len(list) == 0 {
				fmt.Fprintln(c.OutOrStdout(), "no stale tickets")
				return nil
			}
			table := tabwriter.NewWriter(visible(c.OutOrStdout()), 0, 8, 2, ' ', 0)
			fmt.Fprintln(table, "TICKET\tSTATION\tNUMBER\tSTATE\tAGE")
			for _, t := range list {
				number := t.Number
				if number == "" {
					number = "-"
				}
				line(table, "%s\t%s\t%s\t%s\t%s\n", t.Ticket, t.Station, number, t.State,
					(time.Duration(t.AgeMS) * time.Millisecond).Round(time.Second))
			}
			return table.Flush()
		},
	}
}

func staleAnswer(a *access, asJSON *bool, word, short, done string) *cobra.Command {
	var station, reason string
	c := &cobra.Command{
		Use: word + " [TICKET]...", Short: short, Args: cobra.ArbitraryArgs,
		Example: "  chit stale " + word + " --data /var/lib/chit --station kitchen",
		RunE: func(c *cobra.Command, args []string) error {
			if (station == "") == (len(args) == 0) {
				return misuse("chit stale list shows what waits for an answer",
					"expected tickets or --station, one of them")
			}
			client, err := a.open()
			if err != nil {
				return err
			}
			for i, id := range args {
				if strings.Contains(id, "@") {
					continue
				}
				t, err := client.ticket(c.Context(), id)
				if err != nil {
					return err
				}
				args[i] = t.Ticket
			}
			body, err := json.Marshal(intake.StaleAnswer{Station: station, Tickets: args, Answer: word,
				Reason: reason})
			if err != nil {
				return err
			}
			var answer struct {
				List []intake.Ticket `json:"changed"`
			}
			if _, err := client.call(c.Context(), "POST", "/v1/stale/answer", body, &answer); err != nil {
				return err
			}
			if *asJSON {
				return printJSON(c.OutOrStdout(), answer.List)
			}
			out := visible(c.OutOrStdout())
			for _, t := range answer.List {
				line(out, done, t.Ticket, t.State)
			}
			if len(answer.List) == 0 && station != "" {
				fmt.Fprintln(out, "nothing to do: no ticket of the station waits for an answer; "+
					"chit audit says who gave one")
			}
			return tellAnswered(c.Context(), out, client, args, answer.List)
		},
	}
	c.Flags().StringVar(&station, "station", "", "all stale tickets of this station")
	c.Flags().StringVar(&reason, "reason", "", "why, for the audit")
	return c
}

// tellAnswered says of each ticket that was asked for and did not change who answered before, so
// that of two people with two answers the later one knows which of them holds.
func tellAnswered(ctx context.Context, out io.Writer, client *client, asked []string,
	changed []intake.Ticket) error {
	for _, id := range asked {
		if slices.ContainsFunc(changed, func(t intake.Ticket) bool { return t.Ticket == id }) {
			continue
		}
		t, err := client.ticket(ctx, id)
		if err != nil {
			return err
		}
		words := fmt.Sprintf("nothing to do: %s does not wait for an answer, it is %s", id, t.State)
		for _, m := range slices.Backward(t.Timeline) {
			if m.Who != "" {
				words += fmt.Sprintf("; %s said so at %s", m.Who, m.At.Local().Format("15:04:05"))
				if m.Why != "" {
					words += ": " + m.Why
				}
				break
			}
		}
		line(out, "%s\n", words)
	}
	return nil
}
