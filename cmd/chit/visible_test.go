package main

import (
	"bytes"
	"io"
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

// A reason that has a line break in it must not look like two lines of the audit.
func TestNoWordForgesARowOfATable(t *testing.T) {
	const forging = "x\n4212\tana\rb\v\fc"
	ticket := intake.Ticket{ID: forging, Station: forging, Reason: forging, Kind: forging,
		Number: forging, Timeline: []intake.Moment{{What: forging, Detail: forging}},
		Voided: &intake.Voided{Ticket: "1/2", Who: forging, Why: forging},
		Tries:  []intake.Try{{Error: forging, Printer: forging}},
		Waits:  []intake.Wait{{Reason: forging}}}
	alarm := intake.Alarm{ID: forging, Text: forging,
		Acknowledged: &intake.Acknowledged{Who: forging, Reason: forging},
		Timeline:     []intake.AlarmMoment{{Who: forging, Reason: forging}},
		Tries:        []intake.AlarmTry{{Destination: forging, Error: forging}}}
	devices := []intake.Device{{ID: forging, Revoked: forging, Version: forging}, {ID: "dev-2",
		States: []intake.Printer{{Name: forging, Unit: forging}}}}
	for name, write := range map[string]func(io.Writer) error{
		"trace":   func(w io.Writer) error { return writeTrace(w, ticket) },
		"tries":   func(w io.Writer) error { return writeTries(w, ticket) },
		"alarm":   func(w io.Writer) error { return writeAlarm(w, alarm) },
		"devices": func(w io.Writer) error { return writeDevices(w, devices) },
		"audit": func(w io.Writer) error {
			return writeAudit(w, []intake.Entry{{Who: forging, Why: forging, ID: forging}})
		},
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), `x\u000a4212\u0009ana\u000db\u000b\u000cc`) {
			t.Errorf("%s does not show the words: %q", name, out.String())
		}
		for row := range strings.Lines(out.String()) {
			if strings.HasPrefix(row, "4212") {
				t.Errorf("%s has a forged row: %q", name, row)
			}
		}
	}
}
