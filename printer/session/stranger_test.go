package session_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"chit/printer/profile"
	"chit/printer/session"
	"chit/printer/transport/neighbour"
	"chit/printer/transport/network"
	"chit/printer/virtual"
	"chit/printer/virtual/serve"
)

// Another printer got the address: tickets of the grill must not come out at the bar.
func TestAStrangerAtTheAddressPrintsNothingAndTheRightPrinterIsFound(t *testing.T) {
	port := ":0"
	open := func(host, serial string) *serve.Server {
		conf := virtual.ConfigFor(profile.Safe80())
		conf.Identity = virtual.Identity{Maker: "EPSON", Model: "TM", Firmware: "1", Serial: serial}
		printer, err := serve.Start(t.Context(), serve.Config{Printer: conf, Listen: host + port})
		if err != nil {
			t.Fatal(err)
		}
		_, digits, _ := strings.Cut(printer.Addr(), ":")
		port = ":" + digits
		return printer
	}
	bar := open("127.0.11.2", "B2")
	grill := open("127.0.11.4", "A1")
	t.Cleanup(func() { bar.Close() })
	k := &kitchen{t: t, printer: grill, facts: profile.Safe80(), changed: make(chan struct{})}
	number := int(netip.MustParseAddrPort(grill.Addr()).Port())
	k.run(network.NewUnit("127.0.11.2", number, network.Unit{Serial: "A1"}, network.Config{
		Proc: t.TempDir(), Gap: time.Millisecond, IPP: -1,
		Networks: func() ([]neighbour.Network, error) {
			return []neighbour.Network{{Prefix: netip.MustParsePrefix("127.0.11.0/29")}}, nil
		},
	}))
	state := k.until(session.HoldNone)
	if !strings.Contains(state.Unit.Fingerprint, "/A1#") {
		t.Errorf("the session is on %s", state.Unit.Fingerprint)
	}
	if result := k.print(k.ticket("41", 2)); result.Err != nil || len(grill.Sheets()) != 1 {
		t.Errorf("printing: %+v, %d sheets at the grill", result, len(grill.Sheets()))
	}
	sheet, err := bar.Pending()
	if err != nil || len(bar.Sheets()) != 0 || len(sheet.Lines) != 0 {
		t.Errorf("the bar printed %+v, %v", sheet, err)
	}
}
