package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"chit/broker/intake"
)

const steering = "\x1b]0;owned\x07\x1b[2J\r\u009b1m\u202e\xff"

func steers(s string) bool {
	return strings.ContainsAny(s, "\x1b\x07\r\u009b\u202e") || strings.Contains(s, "\xff")
}

// A device says its version and its printer's name itself, and a printer its own; a technician's
// terminal must not obey them.
func TestNoWordOfADeviceSteersATerminal(t *testing.T) {
	var out bytes.Buffer
	devices := []intake.Device{{ID: "dev-1", Version: steering, Revoked: steering}}
	if err := writeDevices(&out, devices); err != nil || steers(out.String()) {
		t.Errorf("devices: %q, %v", out.String(), err)
	}
	out.Reset()
	ticket := intake.Ticket{ID: "1/1", Station: "grill", Reason: steering, Held: steering,
		AcceptedAt: time.Now(), Timeline: []intake.Moment{{What: "held", Detail: steering}}}
	if err := writeTrace(&out, ticket); err != nil || steers(out.String()) {
		t.Errorf("trace: %q, %v", out.String(), err)
	}
	if e := (&apiError{Status: 422, Title: "x", Detail: steering}); steers(e.Error()) {
		t.Errorf("problem: %q", e.Error())
	}
}

func TestVisibleTextLeavesWordsAlone(t *testing.T) {
	const words = "Käse ü 花 €\n\tnext · line"
	if got := visibleText(words); got != words {
		t.Errorf("got %q", got)
	}
}
