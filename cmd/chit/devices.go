package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"chit/broker/intake"
	"chit/printer/session"
)

func newDevices() *cobra.Command {
	var a access
	var asJSON bool
	c := &cobra.Command{
		Use:   "devices",
		Short: "List, pair and revoke kitchen devices",
		Long: `A device is one chitd with its own keys. To add one, make a pairing string here and
give it to the device within ten minutes.`,
		Example: `  chit devices list --data /var/lib/chit
  chit devices pair grill bar --url http://127.0.0.1:8080 --token-file /etc/chit/token
  chitd pair --config /etc/chit/device.toml --url https://broker.example:8443 PAIRING   # there`,
	}
	a.flags(c)
	c.PersistentFlags().BoolVar(&asJSON, "json", false, "JSON, for machines")
	c.AddCommand(devicesList(&a, &asJSON), devicesPair(&a, &asJSON), devicesBind(&a),
		devicesRevoke(&a))
	return c
}

func devicesList(a *access, asJSON *bool) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List devices, whether they are connected and how their printers are",
		Args: cobra.NoArgs, Example: "  chit devices list --data /var/lib/chit",
		RunE: func(c *cobra.Command, _ []string) error {
			client, err := a.open()
			if err != nil {
				return err
			}
			var answer struct {
				List []intake.Device `json:"devices"`
			}
			if _, err := client.call(c.Context(), "GET", "/v1/devices", nil, &answer); err != nil {
				return err
			}
			if *asJSON {
				return printJSON(c.OutOrStdout(), answer.List)
			}
			return writeDevices(c.OutOrStdout(), answer.List)
		},
	}
}

// writeDevices shows one line a device, and below one line for each printer of those connected.
func writeDevices(w io.Writer, list []intake.Device) error {
	if len(list) == 0 {
		fmt.Fprintln(w, "no devices; make a pairing string with: chit devices pair")
		return nil
	}
	w = visible(w)
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "DEVICE\tSTATE\tSTATIONS\tVERSION\tPAIRED")
	for _, d := range list {
		state := "away"
		switch {
		case d.Revoked != "":
			state = "revoked: " + d.Revoked
		case d.Online:
			state = "connected"
		}
		line(table, "%s\t%s\t%s\t%s\t%s\n", d.ID, state,
			strings.Join(d.Stations, ","), d.Version, d.Paired.Local().Format(time.DateTime))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	writeCopies(w, list)
	return writePrinters(w, list)
}

// writeCopies says which devices are two.
func writeCopies(w io.Writer, list []intake.Device) {
	for _, d := range list {
		if d.Copies == nil || d.Revoked != "" {
			continue
		}
		line(w, "\n%s: TWO DEVICES USE THIS IDENTITY (seen %d times, last at %s).\n"+
			"Stop one of them: it runs from a copied card or folder. Pair it anew from an empty one.\n",
			d.ID, d.Copies.Count, d.Copies.LastAt.Local().Format(time.DateTime))
	}
}

func writePrinters(w io.Writer, list []intake.Device) error {
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	first := true
	for _, d := range list {
		if !d.Online {
			continue // What it told last may be long ago.
		}
		for _, p := range d.States {
			if first {
				fmt.Fprintln(table, "\nPRINTER\tDEVICE\tSTATE\tWAITING\tUNIT")
				first = false
			}
			line(table, "%s\t%s\t%s\t%d\t%s\n", p.Name, d.ID, printerWords(p), p.Waiting,
				p.Unit)
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	writeAdvice(w, list)
	return nil
}

// writeAdvice says what to do about each printer that cannot print.
func writeAdvice(w io.Writer, list []intake.Device) {
	for _, d := range list {
		for _, p := range d.States {
			if do := session.Hold(p.Held).Words().Do; d.Online && do != "" {
				line(w, "\n%s is %s. %s\n", p.Name, session.Hold(p.Held).Words().Is, do)
			}
		}
	}
}

func devicesPair(a *access, asJSON *bool) *cobra.Command {
	return &cobra.Command{
		Use: "pair [STATION...]", Short: "Make a pairing string for stations, all of them by default",
		Long: `Make a pairing string. It holds a code that lives ten minutes and works once, and
the fingerprint of the installation's CA, so that the device's first contact is not blind.`,
		Example: "  chit devices pair --url http://127.0.0.1:8080 --token-file /etc/chit/token\n" +
			"  chit devices pair bar --data /var/lib/chit",
		RunE: func(c *cobra.Command, stations []string) error {
			client, err := a.open()
			if err != nil {
				return err
			}
			body, err := json.Marshal(map[string][]string{"stations": stations})
			if err != nil {
				return err
			}
			var code intake.Code
			if _, err := client.call(c.Context(), "POST", "/v1/devices/codes", body, &code); err != nil {
				return err
			}
			if *asJSON {
				return printJSON(c.OutOrStdout(), code)
			}
			fmt.Fprintf(c.OutOrStdout(), "pairing string: %s\nvalid until:    %s, once\n\n"+
				"On the device:  chitd pair --config /etc/chit/device.toml --url https://BROKER:8443 %s\n",
				code.Pairing, code.Expires.Local().Format("15:04:05"), code.Pairing)
			return nil
		},
	}
}

func devicesBind(a *access) *cobra.Command {
	return &cobra.Command{
		Use: "bind DEVICE [STATION...]", Short: "Give a device stations, all of them by default",
		Long: `Give a device the named stations, in place of those it has: after a new station was
configured, or when a spare device takes over. Which printer a station prints on is the
configuration's to say.`,
		Example: "  chit devices bind dev-2xmj7idsbeje2vjq grill bar --data /var/lib/chit",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			client, err := a.open()
			if err != nil {
				return err
			}
			body, err := json.Marshal(map[string][]string{"stations": args[1:]})
			if err != nil {
				return err
			}
			path := "/v1/devices/" + url.PathEscape(args[0]) + "/bind"
			if _, err = client.call(c.Context(), "POST", path, body, nil); err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "%s is bound\n", args[0])
			return nil
		},
	}
}

func devicesRevoke(a *access) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "revoke DEVICE", Short: "End a device for good", Args: cobra.ExactArgs(1),
		Long: `End a device for good: its certificate is refused from now on and its connection is
closed. Tickets for its stations wait until another device is paired for them.`,
		Example: "  chit devices revoke dev-6aiv46nsroaaamqo --reason stolen --data /var/lib/chit",
		RunE: func(c *cobra.Command, args []string) error {
			if reason == "" {
				return misuse("such as --reason stolen", "--reason is missing: it is kept for the audit")
			}
			client, err := a.open()
			if err != nil {
				return err
			}
			body, err := json.Marshal(map[string]string{"reason": reason})
			if err != nil {
				return err
			}
			path := "/v1/devices/" + url.PathEscape(args[0]) + "/revoke"
			if _, err = client.call(c.Context(), "POST", path, body, nil); err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "%s is revoked and disconnected\n", args[0])
			return nil
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "why, for the audit (required)")
	return c
}
