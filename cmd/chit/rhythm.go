package main

import (
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"chit/broker/intake"
)

func newRhythm() *cobra.Command {
	var a access
	var asJSON bool
	c := &cobra.Command{
		Use:   "rhythm [KITCHEN]",
		Short: "Show how many orders a kitchen usually gets in each hour of the week",
		Long: `With silence_alarm = true under [[kitchens]] the broker learns how many orders each hour of
the week usually has, and warns when a busy hour has none: the website may have lost its way to the
kitchen, and nobody would notice. The alarm is silence/KITCHEN (chit alarms list); the next order
ends it. An hour is judged after three weeks, if it usually has at least three orders. Days without
any order count as closed.

The table shows what was learned, the darker the busier. A "?" is an hour that was not seen in
enough weeks yet, a "-" one that was never seen open. KITCHEN is main where none is named.`,
		Example: `  chit rhythm --data /var/lib/chit
  chit rhythm --data /var/lib/chit main --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			kitchen := "main"
			if len(args) == 1 {
				kitchen = args[0]
			}
			client, err := a.open()
			if err != nil {
				return err
			}
			var r intake.Rhythm
			path := "/v1/kitchens/" + url.PathEscape(kitchen) + "/rhythm"
			if _, err := client.call(c.Context(), "GET", path, nil, &r); err != nil {
				return err
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), r)
			}
			writeRhythm(visible(c.OutOrStdout()), r)
			return nil
		},
	}
	a.flags(c)
	c.PersistentFlags().BoolVar(&asJSON, "json", false, "JSON, for machines")
	return c
}

// rhythmDays are the table's columns: a week begins on Monday for who works in it.
var rhythmDays = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

// shades are from nothing to the busiest hour.
var shades = []rune(" ░▒▓█")

// writeRhythm draws the hours that were seen, darker where there are more orders.
func writeRhythm(w io.Writer, r intake.Rhythm) {
	state := "off: nothing is learned"
	switch {
	case r.Silent:
		state = "on, and it is silent now"
	case r.SilenceAlarm:
		state = "on"
	}
	fmt.Fprintf(w, "kitchen %s, %s, silence alarm %s\n", r.Kitchen, r.Zone, state)
	if len(r.Hours) == 0 {
		fmt.Fprintln(w, "nothing was learned yet: a day is learned when it is over")
		return
	}
	seen := map[string]intake.RhythmHour{}
	hours := map[int]bool{}
	most := 0.0
	for _, h := range r.Hours {
		seen[fmt.Sprint(h.Day, h.Hour)] = h
		hours[h.Hour] = true
		most = max(most, h.Orders)
	}
	fmt.Fprintf(w, "orders per hour\n%5s", "")
	for _, day := range rhythmDays {
		fmt.Fprintf(w, "%9s", day)
	}
	fmt.Fprintln(w)
	for hour := range 24 {
		if !hours[hour] {
			continue
		}
		var line strings.Builder
		fmt.Fprintf(&line, "%02d:00", hour)
		for _, day := range rhythmDays {
			h, ok := seen[fmt.Sprint(day, hour)]
			if !ok {
				fmt.Fprintf(&line, "%7s  ", "-")
				continue
			}
			mark := " "
			if !h.Known {
				mark = "?"
			}
			fmt.Fprintf(&line, "%7.1f%s%s", h.Orders, shade(h.Orders, most), mark)
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// shade is the darkness of a part of the most.
func shade(part, most float64) string {
	if most <= 0 || part <= 0 {
		return " "
	}
	return string(shades[max(1, int(part/most*float64(len(shades)-1)+0.5))])
}
