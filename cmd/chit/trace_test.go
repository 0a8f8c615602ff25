package main

import (
	"strings"
	"testing"

	"chit/broker/intake"
)

func TestWhatHoldsATicketIsSaidOfThePrinterOrOfTheTicketItself(t *testing.T) {
	for held, want := range map[string]string{
		"": "leased",
		"paper_out": "leased, held because the printer is out of paper. Put in a new roll and " +
			"close the cover: it goes on by itself. Do not send the order again.",
		"stale": "leased, held because it grew too old to be cooked without a person " +
			"saying so",
	} {
		ticket := intake.Ticket{State: "leased", Held: held}
		if held != "" {
			ticket.Outcome = "held"
		}
		if got := standing(ticket); got != want {
			t.Errorf("held %q: got %q, want %q", held, got, want)
		}
	}
}

func TestATicketRefusedForItsWordsComesWithARemedy(t *testing.T) {
	for _, c := range []struct{ state, reason, want string }{
		{"dead", "refused:unprintable", "profile that takes images"},
		{"dead", "refused:too_long", "in parts"},
		{"dead", "refused:poison", ""},
		{"cancelled", "refused:unprintable", ""},
	} {
		var out strings.Builder
		if err := writeTrace(&out, intake.Ticket{State: c.state, Reason: c.reason}); err != nil {
			t.Fatal(err)
		}
		_, hint, found := strings.Cut(out.String(), "\nhint: ")
		if found != (c.want != "") || !strings.Contains(hint, c.want) {
			t.Errorf("%s, %s: %q", c.state, c.reason, out.String())
		}
	}
}
