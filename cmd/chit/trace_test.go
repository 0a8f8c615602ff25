package main

import (
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
