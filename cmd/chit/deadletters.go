package main

import (
	"fmt"
	"net/url"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"chit/broker/intake"
)

func newDeadLetters() *cobra.Command {
	var a access
	var asJSON bool
	c := &cobra.Command{
		Use:   "dead-letters",
		Short: "See what could not be delivered, send it again or give it up",
		Long: `A dead letter is a ticket that spent its attempts or its window, or was refused for
good. It keeps every attempt. Redriving goes on with the same ticket under the same id; it is safe
to repeat.

TICKET is <order>/<seq>@<station>; @<station> may be left out where only one station had it.`,
		Example: `  chit dead-letters list --data /var/lib/chit
  chit dead-letters show --data /var/lib/chit 4711/1@kitchen
  chit dead-letters redrive --data /var/lib/chit 4711/1@kitchen --reason "printer is mended"
  chit dead-letters redrive --data /var/lib/chit --station kitchen --dry-run
  chit dead-letters discard --data /var/lib/chit 4711/1@kitchen --reason "guest has left"`,
	}
	a.flags(c)
	c.PersistentFlags().BoolVar(&asJSON, "json", false, "JSON, for machines")
	c.AddCommand(deadList(&a, &asJSON), deadShow(&a, &asJSON), deadRedrive(&a, &asJSON),
		deadDiscard(&a, &asJSON))
	return c
}

func deadList(a *access, asJSON *bool) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List dead letters, oldest first", Args: cobra.NoArgs,
		Example: "  chit dead-letters list --data /var/lib/chit --json",
		RunE: func(c *cobra.Command, _ []string) error {
			client, err := a.open()
			if err != nil {
				return err
			}
			list, err := client.tickets(c.Context(), "/v1/dead-letters", "dead_letters")
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(c.OutOrStdout(), list)
			}
			if len(list) == 0 {
				fmt.Fprintln(c.OutOrStdout(), "no dead letters")
				return nil
			}
			table := tabwriter.NewWriter(visible(c.OutOrStdout()), 0, 8, 2, ' ', 0)
			fmt.Fprintln(table, "TICKET\tKIND\tREASON\tATTEMPTS\tDEFERRALS\tACCEPTED")
			for _, t := range list {
				line(table, "%s\t%s\t%s\t%d\t%d\t%s\n", t.Ticket, t.Kind, t.Reason, t.Attempts,
					t.Deferrals, t.AcceptedAt.Local().Format("2006-01-02 15:04:05"))
			}
			return table.Flush()
		},
	}
}

func deadPath(id string) string { return "/v1/dead-letters/" + url.PathEscape(id) }

func deadShow(a *access, asJSON *bool) *cobra.Command {
	return &cobra.Command{
		Use: "show TICKET", Short: "Show one with all that happened to it", Args: cobra.ExactArgs(1),
		Example: "  chit dead-letters show --data /var/lib/chit 4711/1@kitchen",
		RunE: func(c *cobra.Command, args []string) error {
			client, err := a.open()
			if err != nil {
				return err
			}
			id := args[0]
			if !strings.Contains(id, "@") {
				found, err := client.ticket(c.Context(), id)
				if err != nil {
					return err
				}
				id = found.Ticket
			}
			var t intake.Ticket
			if _, err := client.call(c.Context(), "GET", deadPath(id), nil, &t); err != nil {
				return err
			}
			if *asJSON {
				return printJSON(c.OutOrStdout(), t)
			}
			if err := writeTrace(c.OutOrStdout(), t); err != nil {
				return err
			}
			return writeTries(c.OutOrStdout(), t)
		},
	}
}
