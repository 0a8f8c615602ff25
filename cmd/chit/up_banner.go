package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"chit/broker/intake"
	broker "chit/broker/service"
	"chit/printer/session"
)

// Bounds of the look at the printers before the banner.
const (
	lookEvery = 50 * time.Millisecond
	lookMax   = 3 * time.Second // a printer that is not there by then is told as such
)

// announce waits until tickets are taken, then says on standard output where the door is and how to
// try it. Under systemd the log says enough.
func (u *up) announce(ctx context.Context, b *broker.Service) error {
	if os.Getenv("JOURNAL_STREAM") != "" {
		return nil
	}
	printers, err := u.look(ctx, b)
	if err != nil || ctx.Err() != nil {
		return nil // The end of the program is told by whoever ended it.
	}
	at := b.Addresses()
	door, curl := at.HTTP, "curl"
	if door == "" {
		door, curl = at.HTTPS, "curl --cacert "+filepath.Join(u.dir, "broker", "ca.pem")
	}
	station := u.conf.Kitchens[0].Stations[0].ID
	var text strings.Builder
	fmt.Fprintf(&text, "\nTickets are taken at %s\n\n", door)
	for _, p := range printers {
		fmt.Fprintf(&text, "  printer    %s (%s): %s\n", p.Name, u.urlOf(p.Name), printerWords(p))
	}
	if paper := u.virtual.folders(); paper != "" {
		fmt.Fprintf(&text, "  paper      %s\n", paper)
	}
	fmt.Fprintf(&text, "  token      %s\n  schema     %s/schemas/ticket.json\n",
		filepath.Join(u.dir, "token"), door)
	fmt.Fprintf(&text, "\nTry it in another terminal:\n\n  %s %s/v1/tickets "+
		"-H \"Authorization: Bearer $(cat %s)\" -d '{\n    %q: %q, %q: %q, %q: %q, %q: \"new\", "+
		"%q: \"41\",\n    \"items\": [{\"quantity\": 2, \"name\": \"Margherita\"}]}'\n\n"+
		"  chit trace --data %s 4711/1\n\n",
		curl, door, filepath.Join(u.dir, "token"), "id", "4711/1", "kitchen", u.conf.Kitchens[0].ID,
		"station", station, "kind", "order", u.dir)
	if u.keys {
		text.WriteString("Enter says that the printed tickets are seen.\n\n")
	}
	_, err = fmt.Fprint(visible(u.out), text.String())
	return err
}

// look waits until the daemon has reached its broker and its printers answer, or not longer than
// lookMax for them.
func (u *up) look(ctx context.Context, b *broker.Service) ([]intake.Printer, error) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	var online time.Time
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-ticker.C:
		}
		if !b.Online(upTenant) {
			continue
		}
		if online.IsZero() {
			online = time.Now()
		}
		devices, err := b.Devices(ctx, upTenant)
		if err != nil {
			return nil, err
		}
		var printers []intake.Printer
		held := false
		for _, d := range devices {
			if d.Online {
				printers = append(printers, d.States...)
			}
		}
		for _, p := range printers {
			held = held || p.Held != ""
		}
		if len(printers) > 0 && !held || time.Since(online) > lookMax {
			return printers, nil
		}
	}
}

func (u *up) urlOf(printer string) string {
	for _, p := range u.conf.Printers {
		if p.Name == printer {
			return p.URL
		}
	}
	return "not configured"
}

// printerWords is a printer's state for people.
func printerWords(p intake.Printer) string {
	words := "ready"
	if p.Held != "" {
		words = session.Hold(p.Held).Words().Is + ", tickets are kept"
	}
	if p.PaperLow {
		words += ", paper is low"
	}
	return words
}
