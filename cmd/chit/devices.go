package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"chit/broker/intake"
)

func newDevices() *cobra.Command {
	var a access
	var asJSON bool
	c := &cobra.Command{
		Use:   "devices",
		Short: "List, pair and revoke kitchen devices",
		Long: `A device is one chitd with its own keys. To add one: make a code here, then give its pairing string
to the device within ten minutes:  chitd pair --url https://BROKER:8443 PAIRING`,
	}
	a.flags(c)
	c.PersistentFlags().BoolVar(&asJSON, "json", false, "JSON, for machines")
	c.AddCommand(devicesList(&a, &asJSON), devicesPair(&a, &asJSON), devicesRevoke(&a))
	return c
}

func devicesList(a *access, asJSON *bool) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List devices and whether they are connected", Args: cobra.NoArgs,
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
			table := tabwriter.NewWriter(c.OutOrStdout(), 0, 8, 2, ' ', 0)
			fmt.Fprintln(table, "DEVICE\tSTATE\tSTATIONS\tVERSION\tPAIRED")
			for _, d := range answer.List {
				state := "away"
				switch {
				case d.Revoked != "":
					state = "revoked: " + d.Revoked
				case d.Online:
					state = "connected"
				}
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", d.ID, state,
					strings.Join(d.Stations, ","), d.Version, d.Paired.Local().Format(time.DateTime))
			}
			return table.Flush()
		},
	}
}

func devicesPair(a *access, asJSON *bool) *cobra.Command {
	return &cobra.Command{
		Use: "pair [STATION...]", Short: "Make a pairing code for stations, all of them by default",
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
			fmt.Fprintf(c.OutOrStdout(), "pairing string: %s\nvalid until:    %s, once\n", code.Pairing,
				code.Expires.Local().Format("15:04:05"))
			return nil
		},
	}
}

func devicesRevoke(a *access) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "revoke DEVICE", Short: "End a device for good", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
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
