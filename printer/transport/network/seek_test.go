package network

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"chit/printer/profile"
	"chit/printer/transport"
	"chit/printer/transport/neighbour"
	"chit/printer/virtual"
	"chit/printer/virtual/serve"
)

const (
	grillMAC = "00:26:ab:00:00:01"
	barMAC   = "00:26:ab:00:00:02"
)

// shop is a small network on loopback: printers on one port, and what the kernel would know of
// their hardware addresses.
type shop struct {
	t        *testing.T
	conf     Config
	port     int
	searches atomic.Int32
	now      time.Time
	table    map[string]string
	printers map[string]*serve.Server
}

func newShop(t *testing.T) *shop {
	s := &shop{t: t, now: time.Date(2026, 12, 1, 18, 0, 0, 0, time.UTC), table: map[string]string{},
		printers: map[string]*serve.Server{}}
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "net"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.conf = Config{Proc: folder, Gap: time.Millisecond, Wait: 2 * time.Second, IPP: -1,
		Now: func() time.Time { return s.now },
		Networks: func() ([]neighbour.Network, error) {
			s.searches.Add(1)
			return []neighbour.Network{{Prefix: netip.MustParsePrefix("127.0.10.0/29"),
				Own: netip.MustParseAddr("127.0.10.1")}}, nil
		}}
	return s
}

// place puts a printer at an address of the shop and takes it from where it was.
func (s *shop) place(host, mac, serial string) {
	s.t.Helper()
	conf := virtual.ConfigFor(profile.Safe80())
	conf.Identity = virtual.Identity{Maker: "EPSON", Model: "TM-T20", Firmware: "1", Serial: serial}
	printer, err := serve.Start(s.t.Context(), serve.Config{Printer: conf,
		Listen: net.JoinHostPort(host, strconv.Itoa(s.port))})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { printer.Close() })
	s.port = int(netip.MustParseAddrPort(printer.Addr()).Port())
	s.printers[host] = printer
	s.table[host] = mac
	s.know()
}

// leave takes the printer at an address off the network.
func (s *shop) leave(host string) {
	s.t.Helper()
	if err := s.printers[host].Close(); err != nil {
		s.t.Fatal(err)
	}
	delete(s.table, host)
	s.know()
}

func (s *shop) know() {
	s.t.Helper()
	var text strings.Builder
	text.WriteString("IP address HW type Flags HW address Mask Device\n")
	for host, mac := range s.table {
		fmt.Fprintf(&text, "%s 0x1 0x2 %s * lo\n", host, mac)
	}
	path := filepath.Join(s.conf.Proc, "net", "arp")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// at dials and says where the printer was found.
func (s *shop) at(d *Dialer) (string, bool, error) {
	s.t.Helper()
	c, err := d.Dial(s.t.Context())
	if err != nil {
		return "", false, err
	}
	s.t.Cleanup(func() { c.Close() })
	where, moved := c.(transport.Placed).Place()
	host, _, err := net.SplitHostPort(where)
	if err != nil {
		s.t.Fatal(err)
	}
	return host, moved, c.Close()
}

func TestAPrinterThatMovedIsFoundByItsHardwareAddress(t *testing.T) {
	s := newShop(t)
	s.place("127.0.10.2", grillMAC, "A1")
	d := NewUnit("127.0.10.2", s.port, Unit{MAC: grillMAC}, s.conf)
	if where, moved, err := s.at(d); where != "127.0.10.2" || moved || err != nil {
		t.Fatalf("at home: %s, %v, %v", where, moved, err)
	}
	s.leave("127.0.10.2")
	s.place("127.0.10.5", grillMAC, "A1")
	name := d.Name()
	for range 2 { // The second time it goes there at once.
		if where, moved, err := s.at(d); where != "127.0.10.5" || !moved || err != nil {
			t.Fatalf("moved: %s, %v, %v", where, moved, err)
		}
	}
	if got := s.searches.Load(); got != 1 || d.Name() != name {
		t.Errorf("%d searches, name %s", got, d.Name())
	}
	s.leave("127.0.10.5")
	s.place("127.0.10.2", grillMAC, "A1")
	if where, moved, err := s.at(d); where != "127.0.10.2" || moved || err != nil {
		t.Errorf("home again: %s, %v, %v", where, moved, err)
	}
}

// The worst that DHCP can do: each has the other's address, and the bar gets the grill's tickets.
func TestPrintersThatSwappedTheirAddressesAreToldApart(t *testing.T) {
	s := newShop(t)
	s.place("127.0.10.2", barMAC, "B2")
	s.place("127.0.10.3", grillMAC, "A1")
	for mac, want := range map[string]string{grillMAC: "127.0.10.3", barMAC: "127.0.10.2"} {
		home := map[string]string{grillMAC: "127.0.10.2", barMAC: "127.0.10.3"}[mac]
		d := NewUnit(home, s.port, Unit{MAC: mac}, s.conf)
		if where, moved, err := s.at(d); where != want || !moved || err != nil {
			t.Errorf("%s: at %s, %v, %v, want %s", mac, where, moved, err, want)
		}
	}
}

func TestSearchesThatFindNothingBecomeRare(t *testing.T) {
	s := newShop(t)
	s.place("127.0.10.2", barMAC, "B2")
	d := NewUnit("127.0.10.2", s.port, Unit{MAC: grillMAC}, s.conf)
	var at []time.Duration
	begin := s.now
	for s.now.Sub(begin) < time.Hour {
		before := s.searches.Load()
		_, _, err := s.at(d)
		if !errors.Is(err, ErrMoved) || !errors.Is(err, transport.ErrStranger) {
			t.Fatalf("got %v, want ErrMoved and ErrStranger", err)
		}
		if s.searches.Load() != before {
			at = append(at, s.now.Sub(begin))
		}
		s.now = s.now.Add(10 * time.Second)
	}
	want := []time.Duration{0, 30 * time.Second, 90 * time.Second, 210 * time.Second,
		450 * time.Second, 930 * time.Second, 1530 * time.Second}
	if len(at) < len(want) || fmt.Sprint(at[:len(want)]) != fmt.Sprint(want) {
		t.Errorf("searched at %v, want %v and then every 10 min", at, want)
	}
	if len(at) != 10 {
		t.Errorf("%d searches in an hour, want 10", len(at))
	}
}

func TestAPrinterThatIsThereAndRefusesIsNotSoughtElsewhere(t *testing.T) {
	s := newShop(t)
	s.place("127.0.10.2", grillMAC, "A1")
	if err := s.printers["127.0.10.2"].Close(); err != nil { // The kernel still knows it there.
		t.Fatal(err)
	}
	d := NewUnit("127.0.10.2", s.port, Unit{MAC: grillMAC}, s.conf)
	if _, _, err := s.at(d); err == nil || errors.Is(err, ErrMoved) {
		t.Errorf("got %v, want only the refusal", err)
	}
	if got := s.searches.Load(); got != 0 {
		t.Errorf("%d searches", got)
	}
}

func TestAPrinterIsFoundByTheSerialNumberThatItSays(t *testing.T) {
	s := newShop(t)
	s.place("127.0.10.2", barMAC, "B 2")
	s.place("127.0.10.4", grillMAC, "A 1")
	d := NewUnit("127.0.10.2", s.port, Unit{Serial: "A 1"}, s.conf)
	c, err := d.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// Only the session can ask; this is what it says.
	if err := c.(transport.Recogniser).Recognise("B_2"); !errors.Is(err, transport.ErrStranger) {
		t.Errorf("got %v, want ErrStranger", err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	c, err = d.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	where, moved := c.(transport.Placed).Place()
	if !strings.HasPrefix(where, "127.0.10.4:") || !moved {
		t.Errorf("found at %s, %v", where, moved)
	}
	for _, serial := range []string{"A_1", ""} {
		if err := c.(transport.Recogniser).Recognise(serial); err != nil {
			t.Errorf("serial %q: %v", serial, err)
		}
	}
}

func TestAPrinterBehindARouterIsNotSought(t *testing.T) {
	s := newShop(t)
	d := NewUnit("127.0.77.1", 1, Unit{MAC: grillMAC}, s.conf)
	_, err := d.Dial(t.Context())
	if !errors.Is(err, ErrMoved) || !strings.Contains(err.Error(), "in no network of this machine") {
		t.Errorf("got %v", err)
	}
}

func TestAnyPrinterWillDoWhereNoneIsNamed(t *testing.T) {
	s := newShop(t)
	s.place("127.0.10.2", barMAC, "B2")
	d := NewUnit("127.0.10.2", s.port, Unit{}, s.conf)
	c, err := d.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.(transport.Recogniser).Recognise("whatever"); err != nil {
		t.Error(err)
	}
}

var _ transport.Placed = (*conn)(nil)
