package find

import (
	"errors"
	"net/netip"
	"testing"

	"chit/printer/transport/neighbour"
	"chit/printer/transport/open"
	"chit/printer/transport/transporttest"
	"chit/printer/transport/usb"
)

func machine(t *testing.T) (*transporttest.Tree, Options) {
	tree := transporttest.NewTree(t)
	return tree, Options{
		Roots: usb.Roots{Sys: tree.Root + "/sys", Dev: tree.Root + "/dev", Proc: tree.Root + "/proc"},
		Networks: func() ([]neighbour.Network, error) {
			return []neighbour.Network{
				{Prefix: netip.MustParsePrefix("127.0.13.0/30"), Own: netip.MustParseAddr("127.0.13.1")},
				{Prefix: netip.MustParsePrefix("10.0.0.0/8"), Own: netip.MustParseAddr("10.1.2.3")},
			}, nil
		},
		Sweep: neighbour.Sweep{Port: 1},
	}
}

// Clones have no serial number, or all the same one, or one that no URL can hold.
func TestAPrinterIsNamedByItsSerialNumberOnlyWhereThatTellsItApart(t *testing.T) {
	tree, o := machine(t)
	o.NoNetwork = true
	for i, d := range []struct{ port, serial, want string }{
		{"1-1.1", "J1", "usb:04b8:0e15:J1"},
		{"1-1.2", "same", "usb:port=1-1.2"},
		{"1-1.3", "same", "usb:port=1-1.3"},
		{"1-1.4", "", "usb:port=1-1.4"},
		{"1-1.5", "a b", "usb:port=1-1.5"},
	} {
		tree.Plug(transporttest.Device{Port: d.port, Vendor: "04B8", Product: "0e15",
			Serial: d.serial}, "lp"+string(rune('0'+i)))
		result, err := Run(t.Context(), o)
		if err != nil || len(result.USB) != i+1 {
			t.Fatalf("found %+v, %v", result.USB, err)
		}
	}
	result, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"usb:04b8:0e15:J1", "usb:port=1-1.2", "usb:port=1-1.3",
		"usb:port=1-1.4", "usb:port=1-1.5"} {
		got := result.USB[i].URL
		if _, err := open.Parse(got, nil); got != want || err != nil {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
}

func TestLargeNetworksAreSearchedOnlyWhereTheyAreNamed(t *testing.T) {
	_, o := machine(t)
	result, err := Run(t.Context(), o)
	if err != nil || len(result.Searched) != 1 || result.Searched[0].String() != "127.0.13.0/30" ||
		len(result.Skipped) != 1 || result.Skipped[0].String() != "10.0.0.0/8" {
		t.Errorf("searched %v, skipped %v, %v", result.Searched, result.Skipped, err)
	}
	var again Result
	o.Subnets = []netip.Prefix{netip.MustParsePrefix("127.0.13.9/22")}
	hosts, err := again.choose(o)
	if err != nil || len(hosts) != 1<<10-3 || len(again.Skipped) != 0 {
		t.Errorf("%d hosts, skipped %v, %v, want all of the /22 but our own", len(hosts),
			again.Skipped, err)
	}
	o.Subnets = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/15")}
	if _, err := Run(t.Context(), o); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v, want ErrTooLarge", err)
	}
}

func TestAURLNamesTheUnitAsWellAsItCanBeKnown(t *testing.T) {
	at := netip.MustParseAddrPort("192.168.1.50:9100")
	for _, c := range []struct{ mac, serial, want string }{
		{"00:26:ab:12:34:56", "J1", "tcp://192.168.1.50:9100?mac=00:26:ab:12:34:56"},
		{"", "J 1&x", "tcp://192.168.1.50:9100?serial=J+1%26x"},
		{"", "", "tcp://192.168.1.50:9100"},
	} {
		got := describe(neighbour.Listener{Address: at,
			Answer: neighbour.Answer{Speaks: true, Serial: c.serial}}, c.mac)
		if _, err := open.Parse(got.URL, nil); got.URL != c.want || err != nil {
			t.Errorf("got %s, %v, want %s", got.URL, err, c.want)
		}
	}
}
