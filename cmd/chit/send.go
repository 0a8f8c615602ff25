package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"chit/broker/intake"
	"chit/device/wire"
)

func newSend() *cobra.Command {
	var a access
	var asJSON bool
	c := &cobra.Command{
		Use:   "send FILE",
		Short: "Post a ticket from a JSON file, - for standard input",
		Long: `Post a ticket. The file is the body of POST /v1/tickets; its schema is at
/schemas/ticket.json. Sending the same id and content again is safe: it is answered with what
became of the first.`,
		Example: `  echo '{"id":"4711/1","kitchen":"main","station":"kitchen","kind":"new","order":"41",
         "items":[{"quantity":2,"name":"Margherita"}]}' | chit send --data /var/lib/chit -
  chit send --data /var/lib/chit ticket.json --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			raw, err := readTicket(c.InOrStdin(), args[0])
			if err != nil {
				return err
			}
			client, err := a.open()
			if err != nil {
				return err
			}
			if _, _, err := wire.Canonical(raw); err != nil {
				return hinted{fmt.Errorf("%s: %w", args[0], err), "the schema is at /schemas/ticket.json"}
			}
			var t intake.Ticket
			status, err := client.call(c.Context(), "POST", "/v1/tickets", raw, &t)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), t)
			}
			word := "accepted"
			if status == 200 {
				word = "known already"
			}
			fmt.Fprintf(c.OutOrStdout(), "%s %s: %s\n", t.Ticket, word, standing(t))
			return nil
		},
	}
	a.flags(c)
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object, for machines")
	return c
}

func readTicket(in io.Reader, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(io.LimitReader(in, wire.ContentMax+1))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, wire.ContentMax+1))
}
