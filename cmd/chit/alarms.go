package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"chit/broker/intake"
)

func newAlarms() *cobra.Command {
	var a access
	var asJSON bool
	c := &cobra.Command{
		Use:   "alarms",
		Short: "See what is wrong, say that you have it, try the ways to reach you",
		Long: `An alarm has one cause, such as tickets without paper at a station (late/STATION), dead
letters (dead/STATION) or a device that cannot remember (memory/DEVICE). It is told at level 1 at
once; a P1 that nobody acknowledges is told at level 2 after 5 minutes and at level 3 after 5 more.
Acknowledging it ends that. It is over when its cause is.

Where alarms go is written in broker.toml: one [[alarms]] table for each webhook, mailbox or push.`,
		Example: `  chit alarms list --data /var/lib/chit
  chit alarms ack --data /var/lib/chit late/grill --reason "changing the roll"
  chit alarms test --data /var/lib/chit`,
	}
	a.flags(c)
	c.PersistentFlags().BoolVar(&asJSON, "json", false, "JSON, for machines")
	c.AddCommand(alarmsList(&a, &asJSON), alarmsShow(&a, &asJSON), alarmsAck(&a, &asJSON),
		alarmsTest(&a, &asJSON))
	return c
}

func alarmsList(a *access, asJSON *bool) *cobra.Command {
	var state string
	c := &cobra.Command{
		Use: "list", Short: "List alarms, newest first", Args: cobra.NoArgs,
		Example: "  chit alarms list --data /var/lib/chit --state all",
		RunE: func(c *cobra.Command, _ []string) error {
			if !slices.Contains(intake.AlarmStates, state) {
				return misuse("", "--state: found %q, expected one of %s", state,
					strings.Join(intake.AlarmStates, ", "))
			}
			client, err := a.open()
			if err != nil {
				return err
			}
			var answer struct {
				List []intake.Alarm `json:"alarms"`
			}
			path := "/v1/alarms?state=" + url.QueryEscape(state)
			if _, err := client.call(c.Context(), "GET", path, nil, &answer); err != nil {
				return err
			}
			if *asJSON {
				return printJSON(c.OutOrStdout(), answer.List)
			}
			if len(answer.List) == 0 {
				fmt.Fprintln(c.OutOrStdout(), "no alarms")
				return nil
			}
			table := tabwriter.NewWriter(visible(c.OutOrStdout()), 0, 8, 2, ' ', 0)
			fmt.Fprintln(table, "ALARM\tSEVERITY\tSTATE\tLEVEL\tSINCE\tWHAT")
			for _, one := range answer.List {
				line(table, "%s\t%s\t%s\t%d\t%s\t%s\n", one.ID, one.Severity, one.State,
					one.Level, one.RaisedAt.Local().Format(time.DateTime), one.Text)
			}
			return table.Flush()
		},
	}
	c.Flags().StringVar(&state, "state", "open", strings.Join(intake.AlarmStates, ", "))
	complete(c, "state", intake.AlarmStates)
	return c
}

// complete lets the shell complete a flag from a fixed list.
func complete(c *cobra.Command, flag string, words []string) {
	if err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words,
		cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic("chit: completing a flag that is not there: " + err.Error())
	}
}

func alarmPath(id string) string { return "/v1/alarms/" + url.PathEscape(id) }

func alarmsShow(a *access, asJSON *bool) *cobra.Command {
	return &cobra.Command{
		Use: "show ALARM", Short: "Show one with every try to tell somebody",
		Args: cobra.ExactArgs(1), Example: "  chit alarms show --data /var/lib/chit late/grill",
		RunE: func(c *cobra.Command, args []string) error {
			client, err := a.open()
			if err != nil {
				return err
			}
			var one intake.Alarm
			if _, err := client.call(c.Context(), "GET", alarmPath(args[0]), nil, &one); err != nil {
				return err
			}
			if *asJSON {
				return printJSON(c.OutOrStdout(), one)
			}
			return writeAlarm(c.OutOrStdout(), one)
		},
	}
}

// writeAlarm tells an alarm's life and whom it reached.
func writeAlarm(w io.Writer, a intake.Alarm) error {
	w = visible(w)
	line(w, "%s  %s, %s, level %d\n%s\n", a.ID, a.Severity, a.State, a.Level, a.Text)
	if k := a.Acknowledged; k != nil {
		line(w, "acknowledged by %s at %s", k.Who, k.At.Local().Format(time.DateTime))
		if k.Reason != "" {
			line(w, ": %s", k.Reason)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, m := range a.Timeline {
		detail := strings.TrimSpace(m.Who + " " + m.Reason)
		line(table, "%s\t%s\t%s\tlevel %d\tcount %d\t%s\n",
			m.At.Local().Format(time.DateTime), m.What, m.Severity, m.Level, m.Count, detail)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, t := range a.Tries {
		line(table, "%s\t%s\tlevel %d\t%s\t%s\n", t.At.Local().Format(time.DateTime), t.Outcome,
			t.Level, t.Destination, t.Error)
	}
	return table.Flush()
}

func alarmsAck(a *access, asJSON *bool) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "ack ALARM", Short: "Say that you have it: nobody else is told",
		Args:    cobra.ExactArgs(1),
		Example: `  chit alarms ack --data /var/lib/chit late/grill --reason "changing the roll"`,
		RunE: func(c *cobra.Command, args []string) error {
			client, err := a.open()
			if err != nil {
				return err
			}
			body, err := json.Marshal(map[string]string{"reason": reason})
			if err != nil {
				return err
			}
			var one intake.Alarm
			path := alarmPath(args[0]) + "/acknowledge"
			if _, err := client.call(c.Context(), "POST", path, body, &one); err != nil {
				return err
			}
			if *asJSON {
				return printJSON(c.OutOrStdout(), one)
			}
			words := one.State
			if one.Acknowledged != nil {
				words += " by " + one.Acknowledged.Who
			}
			line(visible(c.OutOrStdout()), "%s is %s\n", one.ID, words)
			return nil
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "what you do about it, for the others")
	return c
}

func alarmsTest(a *access, asJSON *bool) *cobra.Command {
	var level int
	c := &cobra.Command{
		Use: "test", Short: "Send a test to every destination and say what each answered",
		Args:    cobra.NoArgs,
		Example: "  chit alarms test --data /var/lib/chit --level 1",
		RunE: func(c *cobra.Command, _ []string) error {
			if level < 0 || level > 3 {
				return misuse("", "--level: found %d, expected 1 to 3, or 0 for all", level)
			}
			client, err := a.open()
			if err != nil {
				return err
			}
			var answer struct {
				Tests []intake.AlarmTest `json:"tests"`
			}
			body := []byte(`{"level":` + strconv.Itoa(level) + `}`)
			if _, err := client.call(c.Context(), "POST", "/v1/alarms/test", body,
				&answer); err != nil {
				return err
			}
			if *asJSON {
				if err := printJSON(c.OutOrStdout(), answer.Tests); err != nil {
					return err
				}
			} else if err := writeTests(c.OutOrStdout(), answer.Tests); err != nil {
				return err
			}
			return testsFailed(answer.Tests)
		},
	}
	c.Flags().IntVar(&level, "level", 0, "1 to 3; 0: all")
	return c
}

func writeTests(w io.Writer, tests []intake.AlarmTest) error {
	table := tabwriter.NewWriter(visible(w), 0, 8, 2, ' ', 0)
	for _, t := range tests {
		words := "taken"
		if !t.OK {
			words = "FAILED"
		}
		line(table, "level %d\t%s\t%s\t%d ms\t%s\n", t.Level, t.Destination, words, t.TookMS,
			t.Error)
	}
	return table.Flush()
}

// testsFailed is an error where somebody would not be told.
func testsFailed(tests []intake.AlarmTest) error {
	failed := 0
	for _, t := range tests {
		if !t.OK {
			failed++
		}
	}
	switch {
	case len(tests) == 0:
		return hinted{fmt.Errorf("no destination is configured: nobody would be told"),
			"add an [[alarms]] table to broker.toml; chit-broker sample shows it"}
	case failed > 0:
		return fmt.Errorf("%d of %d destinations did not take the test", failed, len(tests))
	}
	return nil
}
