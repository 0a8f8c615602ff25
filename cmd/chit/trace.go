package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"chit/broker/intake"
	"chit/device/wire"
	"chit/printer/session"
)

func newTrace() *cobra.Command {
	var a access
	var asJSON bool
	c := &cobra.Command{
		Use:   "trace ID",
		Short: "Show a ticket's whole life",
		Long: `Show a ticket's whole life: accepted, handed over, stored, held, printed, and how
well we know it.

ID is <order>/<seq>, with @<station> where several stations had it.`,
		Example: "  chit trace --data /var/lib/chit 4711/1\n" +
			"  chit trace --data /var/lib/chit 4711/1@bar --json",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			client, err := a.open()
			if err != nil {
				return err
			}
			t, err := client.ticket(c.Context(), args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), t)
			}
			return writeTrace(c.OutOrStdout(), t)
		},
	}
	a.flags(c)
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON object, for machines")
	return c
}

// ticket asks for "<order>/<seq>[/made][@station]".
func (c *client) ticket(ctx context.Context, id string) (intake.Ticket, error) {
	mutation, station, _ := strings.Cut(id, "@")
	parts := strings.Split(mutation, "/")
	if len(parts) < 2 || len(parts) > 3 {
		return intake.Ticket{}, misuse("an id is <order>/<seq>, such as 4711/1 or 4711/1@bar",
			"%q is no ticket id", id)
	}
	if n, err := strconv.Atoi(parts[1]); err != nil || n < 1 {
		return intake.Ticket{}, misuse("an id is <order>/<seq>, such as 4711/1",
			"%q: seq is %q, expected a number from 1", id, parts[1])
	}
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	path := "/v1/tickets/" + strings.Join(parts, "/")
	if station != "" {
		path += "?station=" + url.QueryEscape(station)
	}
	var t intake.Ticket
	status, err := c.call(ctx, "GET", path, nil, &t)
	if status == http.StatusUnprocessableEntity && station == "" {
		return t, hinted{err, "several stations had it: say which, such as " + id + "@STATION"}
	}
	return t, err
}

// writeTrace tells the life with the time since acceptance in front.
func writeTrace(w io.Writer, t intake.Ticket) error {
	w = visible(w)
	line(w, "%s  %s at %s, kitchen %s\n", t.ID, t.Kind, t.Station, t.Kitchen)
	line(w, "%s; %s, %s\n", standing(t), counted(t.Attempts, "attempt"),
		counted(t.Deferrals, "deferral"))
	if hint := remedy(t); hint != "" {
		line(w, "hint: %s\n", hint)
	}
	if v := t.Voided; v != nil {
		line(w, "voided by %s at %s%s\n", v.Ticket, v.At.Local().Format(time.DateTime),
			askedBy(v.Who, v.Why))
	}
	if t.Number != "" {
		previous := "first today"
		switch t.Previous {
		case "":
		case wire.PreviousUnknown:
			previous = "previous unknown (restored)"
		default:
			previous = "previous " + t.Previous
		}
		line(w, "number %s · %s\n", t.Number, previous)
	}
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, m := range t.Timeline {
		attempt := ""
		if m.Attempt > 0 {
			attempt = "attempt " + strconv.Itoa(m.Attempt)
		}
		line(table, "%s\t+%s\t%s\t%s\t%s\t%s\n", m.At.Local().Format("15:04:05.000"),
			m.At.Sub(t.AcceptedAt).Round(time.Millisecond), m.What, attempt, m.Device, m.Detail)
	}
	return table.Flush()
}

// askedBy is the person behind a void, "" where a program sent it.
func askedBy(who, why string) string {
	if who == "" {
		return ""
	}
	return ", by " + who + ": " + why
}

// remedy is what to do about a ticket that a printer refused for what is written on it, "" for any
// other. Trying it again on the same printer gives the same refusal.
func remedy(t intake.Ticket) string {
	if t.State != "dead" {
		return ""
	}
	switch t.Reason {
	case "refused:" + wire.ReasonUnprintable:
		return "the printer has no letters for some of its words and draws none: give its device a " +
			"profile that takes images, or move the station to another printer, then redrive"
	case "refused:" + wire.ReasonTooLong:
		return "it is longer than 1 m of paper: send the order again in parts"
	}
	return ""
}

// standing says where a ticket stands in one line.
func standing(t intake.Ticket) string {
	words, advice := t.State, ""
	if t.Outcome != "" {
		words += ", " + t.Outcome
	}
	switch t.Held {
	case "":
	case "stale": // A reason of the ticket, not of the printer.
		words += " because it grew too old to be cooked without a person saying so"
	default:
		held := session.Hold(t.Held).Words()
		words += " because the printer is " + held.Is
		advice = held.Do
	}
	if t.Evidence != "" {
		words += ", evidence " + t.Evidence
	}
	if t.Reason != "" && t.Reason != t.Held {
		words += ", reason " + t.Reason
	}
	if t.Marked {
		words += ", the paper says POSSIBLE DUPLICATE"
	}
	if advice != "" {
		words += ". " + advice
	}
	return words
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// writeTries tells every attempt with what was known of the device then, and the waits.
func writeTries(w io.Writer, t intake.Ticket) error {
	w = visible(w)
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	if len(t.Tries) > 0 {
		fmt.Fprintln(table, "\nATTEMPT\tAT\tLEASE\tTOOK\tDEVICE\tADDRESS\tPRINTER\tSTATUS\tCAME TO")
	}
	for _, a := range t.Tries {
		took, cameTo := "", a.Error
		if a.EndedAt != nil {
			took = a.EndedAt.Sub(a.At).Round(time.Millisecond).String()
		}
		if !a.Counted {
			cameTo = strings.TrimSpace(cameTo + " (not counted)")
		}
		line(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", a.Attempt,
			a.At.Local().Format("15:04:05.000"), a.LeaseUntil.Sub(a.At), took, a.Device, a.Address,
			a.Printer, a.Status, cameTo)
	}
	for i, wait := range t.Waits {
		if i == 0 {
			fmt.Fprintln(table, "\nWAITED FOR\tTIMES\tFIRST\tLAST")
		}
		line(table, "%s\t%d\t%s\t%s\n", wait.Reason, wait.Count,
			wait.FirstAt.Local().Format(time.TimeOnly), wait.LastAt.Local().Format(time.TimeOnly))
	}
	return table.Flush()
}
