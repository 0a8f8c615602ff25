package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"chit/broker/delivery"
	"chit/broker/intake"
)

// many are the flags of a redrive that is not of one ticket.
type many struct {
	all                                         bool
	station, kitchen, died, order, since, until string
	dryRun, follow                              bool
	rate                                        int
	id, job                                     string
}

// wanted reports whether the flags choose dead letters by what they are.
func (m *many) wanted() bool {
	return m.all || m.station != "" || m.kitchen != "" || m.died != "" || m.order != "" ||
		m.since != "" || m.until != ""
}

func (m *many) flags(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&m.all, "all", false, "every dead letter")
	f.StringVar(&m.station, "station", "", "those of one station")
	f.StringVar(&m.kitchen, "kitchen", "", "those of one kitchen")
	f.StringVar(&m.died, "dead-reason", "", "those that died of this reason, the column REASON of "+
		"chit dead-letters list: "+strings.Join(delivery.Reasons(), ", "))
	f.StringVar(&m.died, "died-of", "", "the same as --dead-reason")
	if err := f.MarkHidden("died-of"); err != nil {
		panic("chit: hiding a flag that is not there: " + err.Error())
	}
	complete(c, "dead-reason", delivery.Reasons())
	f.StringVar(&m.order, "order", "", "those of one order")
	f.StringVar(&m.since, "since", "", "those that died at this instant or later: RFC 3339, or how "+
		"long ago, such as 2h")
	f.StringVar(&m.until, "until", "", "those that died before this instant, given like --since")
	f.BoolVar(&m.dryRun, "dry-run", false, "only say which they are")
	f.IntVar(&m.rate, "rate", 0, fmt.Sprintf("redrives a second, 1 to %d (default %d)",
		intake.PerSecondMax, intake.PerSecondDefault))
	f.StringVar(&m.id, "id", "", "name of the job: asked for again under it, it is the same job")
	f.BoolVar(&m.follow, "follow", false, "wait until the job is done, and tell how far it is")
	f.StringVar(&m.job, "job", "", "look at a job that was begun before")
}

// instant reads RFC 3339, or a duration before now.
func instant(flag, s string) (*time.Time, error) {
	if s == "" {
		return nil, nil
	}
	if ago, err := time.ParseDuration(s); err == nil && ago >= 0 {
		at := time.Now().Add(-ago).UTC().Truncate(time.Millisecond)
		return &at, nil
	}
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return nil, misuse("such as 2026-03-14T18:30:00Z, or 2h for two hours ago",
			"--%s: found %q, expected an instant", flag, s)
	}
	return &at, nil
}

// request is the body of POST /v1/dead-letters/redrive.
func (m *many) request(reason string) ([]byte, error) {
	r := intake.RedriveRequest{DryRun: m.dryRun, PerSecond: m.rate, Reason: reason, ID: m.id,
		Filter: &intake.Filter{Station: m.station, Kitchen: m.kitchen, Reason: m.died, Order: m.order}}
	var err error
	if r.Filter.Since, err = instant("since", m.since); err != nil {
		return nil, err
	}
	if r.Filter.Until, err = instant("until", m.until); err != nil {
		return nil, err
	}
	return json.Marshal(r)
}

func deadRedrive(a *access, asJSON *bool) *cobra.Command {
	var reason string
	var m many
	c := &cobra.Command{
		Use: "redrive [TICKET]", Short: "Go on with one or many: new budget, new window, same id",
		Long: `Go on with a dead letter, or with all that some flags choose: with a new budget and a
new window, under the same id. A ticket that was voided meanwhile is cancelled instead.

Many are driven as a job of the broker, at a rate; it goes on over a restart of the broker, and
takes those that are dead now, not what dies while it runs. --dry-run changes nothing.

Two reasons are not to be confused: --dead-reason chooses by what the tickets died of (at the HTTP
door filter.reason), --reason is yours, for the audit (at the HTTP door reason).`,
		Args: cobra.MaximumNArgs(1),
		Example: `  chit dead-letters redrive --data /var/lib/chit 4711/1@kitchen \
    --reason "printer is mended"
  chit dead-letters redrive --data /var/lib/chit --dead-reason window --dry-run
  chit dead-letters redrive --data /var/lib/chit --all --since 2h --rate 5 --follow`,
		RunE: func(c *cobra.Command, args []string) error {
			given := 0
			for _, one := range []bool{len(args) > 0, m.wanted(), m.job != ""} {
				if one {
					given++
				}
			}
			if given != 1 {
				return misuse("see chit dead-letters redrive --help",
					"say which: a ticket, --job, --all, or some of --station, --kitchen, "+
						"--dead-reason, --order, --since and --until")
			}
			client, err := a.open()
			if err != nil {
				return err
			}
			out := output{w: c.OutOrStdout(), json: *asJSON}
			if len(args) > 0 {
				return redriveOne(c.Context(), client, out, args[0], reason)
			}
			return m.run(c.Context(), client, out, reason)
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "your reason, for the audit; it chooses nothing")
	m.flags(c)
	return c
}

// output is where a command's answer goes, and in which form.
type output struct {
	w    io.Writer
	json bool
}

func redriveOne(ctx context.Context, client *client, out output, id, reason string) error {
	body, err := json.Marshal(map[string]string{"reason": reason})
	if err != nil {
		return err
	}
	// What it is now tells whether this redrive did anything, and which station is meant.
	t, err := client.ticket(ctx, id)
	if err != nil {
		return err
	}
	words := "%s is not dead: it is %s, nothing to do\n"
	if !delivery.State(t.State).Open() {
		words = "%s goes on: it is %s\n"
		path := deadPath(t.Ticket) + "/redrive"
		if _, err := client.call(ctx, "POST", path, body, &t); err != nil {
			return err
		}
		if t.State == string(delivery.Cancelled) {
			words = "%s does not go on: its order was voided meanwhile, so it is %s\n"
		}
	}
	if out.json {
		return printJSON(out.w, t)
	}
	fmt.Fprintf(visible(out.w), words, t.Ticket, t.State)
	return nil
}

// followEvery is the pause between two looks at a job.
const followEvery = 500 * time.Millisecond

// run plans a job or looks at one, and follows it where that is wanted.
func (m *many) run(ctx context.Context, client *client, out output, reason string) error {
	method, path := "GET", "/v1/dead-letters/redrive/"+url.PathEscape(m.job)
	var body []byte
	if m.job == "" {
		var err error
		method, path = "POST", "/v1/dead-letters/redrive"
		if body, err = m.request(reason); err != nil {
			return err
		}
	}
	var job intake.RedriveJob
	if _, err := client.call(ctx, method, path, body, &job); err != nil {
		return err
	}
	said := -1
	for m.follow && job.State == "running" {
		if n := job.Redriven + job.Cancelled + job.Left; n != said && !out.json {
			said = n
			fmt.Fprintf(visible(out.w), "%s: %d of %d\n", job.ID, n, job.Matched)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(followEvery):
		}
		path := "/v1/dead-letters/redrive/" + url.PathEscape(job.ID)
		if _, err := client.call(ctx, "GET", path, nil, &job); err != nil {
			return err
		}
	}
	if out.json {
		return printJSON(out.w, job)
	}
	writeJob(visible(out.w), job)
	return nil
}

func writeJob(w io.Writer, job intake.RedriveJob) {
	if job.State == "dry-run" {
		fmt.Fprintf(w, "would redrive %s\n", counted(job.Matched, "dead letter"))
	} else {
		fmt.Fprintf(w, "%s is %s: %s of %d redriven", job.ID, job.State, strconv.Itoa(job.Redriven),
			job.Matched)
		if job.Cancelled > 0 {
			fmt.Fprintf(w, ", %d voided meanwhile and cancelled", job.Cancelled)
		}
		if job.Left > 0 {
			fmt.Fprintf(w, ", %d left: past their expiry", job.Left)
		}
		fmt.Fprintln(w)
	}
	for _, ticket := range job.Tickets {
		fmt.Fprintln(w, "  "+ticket)
	}
	if more := max(job.Matched, job.Redriven) - len(job.Tickets); more > 0 && len(job.Tickets) > 0 &&
		job.State != "running" && len(job.Tickets) == delivery.JobTicketsMax {
		fmt.Fprintf(w, "  and %d more\n", more)
	}
	if job.State == "running" {
		fmt.Fprintf(w, "see how far it is: chit dead-letters redrive --job %s --follow\n", job.ID)
	}
}

func deadDiscard(a *access, asJSON *bool) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "discard TICKET", Short: "Give one up: it is cancelled and leaves the list",
		Long: `Give a dead letter up: it is cancelled and leaves the list. Who did it and why stays in
the audit. Doing it again changes nothing.`,
		Args: cobra.ExactArgs(1),
		Example: `  chit dead-letters discard --data /var/lib/chit 4711/1@kitchen \
    --reason "guest has left, refunded"`,
		RunE: func(c *cobra.Command, args []string) error {
			if reason == "" {
				return misuse("it goes into the audit", "--reason is missing: say why")
			}
			client, err := a.open()
			if err != nil {
				return err
			}
			t, err := client.ticket(c.Context(), args[0])
			if err != nil {
				return err
			}
			body, err := json.Marshal(map[string]string{"reason": reason})
			if err != nil {
				return err
			}
			path := deadPath(t.Ticket) + "/discard"
			if _, err := client.call(c.Context(), "POST", path, body, &t); err != nil {
				return err
			}
			if *asJSON {
				return printJSON(c.OutOrStdout(), t)
			}
			fmt.Fprintf(visible(c.OutOrStdout()), "%s is discarded\n", t.Ticket)
			return nil
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "why, for the audit: 1 to 200 characters")
	return c
}
