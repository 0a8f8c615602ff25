package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"chit/broker/intake"
)

// cancelled says in words what a cancellation came to.
var cancelled = map[string]string{
	"cancelled": "cancelled, no printer has it",
	"recalled": "cancelled, and its device is told not to print it; if it does, a void " +
		"follows",
	"void-sent":          "cancelled, and a void follows, for a device has it",
	"on-paper-void-sent": "on paper already, a void follows",
	"on-paper":           "on paper already; a notice cannot be voided",
}

func newCancel() *cobra.Command {
	var a access
	var asJSON bool
	var reason string
	c := &cobra.Command{
		Use:   "cancel ORDER/SEQ[@STATION]",
		Short: "Cancel a ticket; where paper may be, a void follows",
		Long: `Cancel a ticket at all its stations, or at one. What no printer has is cancelled; what a
device has is taken back, and a void follows to every printer that may have paper of it.

Name the newest seq of the order: what it changed is cancelled with it. Doing it again changes
nothing and says how it stands.`,
		Example: `  chit cancel --data /var/lib/chit 4711/1 --reason "guest has left"
  chit cancel --data /var/lib/chit 4711/2@bar --reason "out of gin" --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			id, station, _ := strings.Cut(args[0], "@")
			order, digits, ok := strings.Cut(id, "/")
			if seq, err := strconv.Atoi(digits); !ok || err != nil || seq < 1 {
				return misuse("an id is <order>/<seq>, such as 4711/1 or 4711/1@bar",
					"%q is no ticket that was posted", args[0])
			}
			if reason == "" {
				return misuse("it goes into the audit", "--reason is missing: say why")
			}
			client, err := a.open()
			if err != nil {
				return err
			}
			body, err := json.Marshal(map[string]string{"reason": reason, "station": station})
			if err != nil {
				return err
			}
			path := "/v1/tickets/" + url.PathEscape(order) + "/" + digits + "/cancel"
			var done intake.Cancellation
			if _, err := client.call(c.Context(), "POST", path, body, &done); err != nil {
				return err
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), done)
			}
			w := visible(c.OutOrStdout())
			for _, at := range done.Stations {
				words := cancelled[at.Outcome]
				if words == "" {
					words = at.Outcome
				}
				fmt.Fprintf(w, "%s: %s\n", at.Ticket, words)
				for _, void := range at.Voids {
					fmt.Fprintf(w, "  %s\n", void)
				}
			}
			if !done.Changed {
				fmt.Fprintln(w, "nothing was left to do")
			}
			return nil
		},
	}
	a.flags(c)
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object, for machines")
	c.Flags().StringVar(&reason, "reason", "", "why, for the audit: 1 to 200 characters")
	return c
}
