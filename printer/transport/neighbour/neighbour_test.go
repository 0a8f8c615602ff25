package neighbour

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"chit/printer/profile"
	"chit/printer/virtual"
	"chit/printer/virtual/serve"
)

// shop is a piece of loopback with hosts on one port.
type shop struct {
	t    *testing.T
	port int
}

// open starts a virtual printer; the first one chooses the port.
func (s *shop) open(host string, conf virtual.Config) *serve.Server {
	s.t.Helper()
	printer, err := serve.Start(s.t.Context(), serve.Config{Printer: conf,
		Listen: net.JoinHostPort(host, strconv.Itoa(s.port))})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { printer.Close() })
	s.port = int(netip.MustParseAddrPort(printer.Addr()).Port())
	return printer
}

func model(serial string) virtual.Config {
	conf := virtual.ConfigFor(profile.Safe80())
	conf.Identity = virtual.Identity{Maker: "EPSON", Model: "TM-T20", Firmware: "1.0", Serial: serial}
	return conf
}

// quick is a sweep for a fast machine; nothing on loopback speaks IPP at port 1.
func (s *shop) quick() Sweep {
	return Sweep{Port: s.port, Wait: 2 * time.Second, Gap: time.Millisecond, IPP: -1}
}

func TestListenersAreAskedWhatTheyAre(t *testing.T) {
	s := &shop{t: t}
	grill := s.open("127.0.9.2", model("A1"))
	bar := s.open("127.0.9.5", model("B2"))
	blank, err := grill.Pending()
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	sweep := s.quick()
	sweep.Progress = func(done, total int) {
		if steps++; done != steps || total != 14 {
			t.Errorf("progress %d of %d at step %d", done, total, steps)
		}
	}
	found := sweep.Run(t.Context(), Hosts(netip.MustParsePrefix("127.0.9.0/28")))
	if len(found) != 2 || found[0].Address.Addr().String() != "127.0.9.2" ||
		found[0].Answer.Serial != "A1" || found[1].Answer.Serial != "B2" {
		t.Fatalf("found %+v", found)
	}
	want := Answer{Speaks: true, Maker: "EPSON", Model: "TM-T20", Firmware: "1.0", Serial: "A1"}
	if got := found[0].Answer; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, printer := range []*serve.Server{grill, bar} {
		sheet, err := printer.Pending()
		if err != nil || len(printer.Sheets()) != 0 || len(sheet.Lines) != 0 ||
			sheet.HeightDots != blank.HeightDots {
			t.Errorf("being found moved paper: %+v, %v", sheet, err)
		}
	}
	if steps != 14 {
		t.Errorf("%d steps", steps)
	}
}

// silent is a listener that takes what comes and says nothing.
func (s *shop) silent(host string) func() []byte {
	s.t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(s.port)))
	if err != nil {
		s.t.Fatal(err)
	}
	s.port = listener.Addr().(*net.TCPAddr).Port
	var mu sync.Mutex
	var got []byte
	var tasks sync.WaitGroup
	tasks.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			p := make([]byte, 64)
			for err == nil {
				var n int
				n, err = c.Read(p)
				mu.Lock()
				got = append(got, p[:n]...)
				mu.Unlock()
			}
			c.Close()
		}
	})
	s.t.Cleanup(func() { listener.Close(); tasks.Wait() })
	return func() []byte {
		listener.Close()
		tasks.Wait()
		return got
	}
}

func TestWhatDoesNotAnswerAsAPrinterIsAskedNothingMore(t *testing.T) {
	s := &shop{t: t}
	heard := s.silent("127.0.9.3")
	sweep := s.quick()
	sweep.Wait = 50 * time.Millisecond
	found := sweep.Run(t.Context(), []netip.Addr{netip.MustParseAddr("127.0.9.3")})
	if len(found) != 1 || found[0].Answer.Speaks {
		t.Fatalf("found %+v", found)
	}
	if got := heard(); string(got) != "\x10\x04\x01" {
		t.Errorf("it was sent % x, want DLE EOT 1 and nothing more", got)
	}
}

// An office printer may print a page of what it does not understand.
func TestAnOfficePrinterIsNotAskedAndNoPrinterOfOurOwn(t *testing.T) {
	s := &shop{t: t}
	heard := s.silent("127.0.9.4")
	ipp, err := net.Listen("tcp", "127.0.9.4:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ipp.Close()
	at := netip.AddrPortFrom(netip.MustParseAddr("127.0.9.4"), uint16(s.port))
	sweep := s.quick()
	sweep.IPP = ipp.Addr().(*net.TCPAddr).Port
	found := sweep.Run(t.Context(), []netip.Addr{at.Addr()})
	if len(found) != 1 || found[0].Unasked != Office {
		t.Errorf("found %+v, want an office printer", found)
	}
	sweep.Skip = map[netip.AddrPort]bool{at: true}
	found = sweep.Run(t.Context(), []netip.Addr{at.Addr()})
	if len(found) != 1 || found[0].Unasked != InUse {
		t.Errorf("found %+v, want one in use", found)
	}
	if got := heard(); len(got) != 0 {
		t.Errorf("it was sent % x", got)
	}
}

func TestASweepEndsWithItsContext(t *testing.T) {
	s := &shop{t: t}
	s.open("127.0.9.2", model("A1"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	found := s.quick().Run(ctx, Hosts(netip.MustParsePrefix("127.0.0.0/16")))
	if len(found) != 0 {
		t.Errorf("found %+v", found)
	}
}

func TestOpenConnectionsOfThisMachineAreKnown(t *testing.T) {
	s := &shop{t: t}
	printer := s.open("127.0.9.2", model("A1"))
	c, err := net.Dial("tcp", printer.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if at := netip.MustParseAddrPort(printer.Addr()); !Connected("/proc")[at] {
		t.Errorf("%s is not among %v", at, Connected("/proc"))
	}
}

const arp = `IP address       HW type     Flags       HW address            Mask     Device
192.0.2.1        0x1         0x2         02:FC:00:00:00:05     *        eth0
192.0.2.7        0x1         0x0         00:00:00:00:00:00     *        eth0
192.0.2.9        0x1         0x6         00:26:ab:12:34:56     *        eth0
nonsense
192.0.2.300      0x1         0x2         00:26:ab:12:34:57     *        eth0
`

func proc(t *testing.T, table string) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "net"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "net", "arp"), []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestOnlyCompleteNeighboursCount(t *testing.T) {
	got := Table(proc(t, arp))
	if len(got) != 2 || got[netip.MustParseAddr("192.0.2.1")] != "02:fc:00:00:00:05" ||
		got[netip.MustParseAddr("192.0.2.9")] != "00:26:ab:12:34:56" {
		t.Errorf("got %v", got)
	}
}

func TestAHardwareAddressIsSoughtAmongTheHosts(t *testing.T) {
	folder := proc(t, "x\n127.0.9.6 0x1 0x2 00:26:ab:12:34:56 * lo\n")
	hosts := Hosts(netip.MustParsePrefix("127.0.9.0/29"))
	at, found := Seek(t.Context(), folder, "00:26:ab:12:34:56", hosts, 0)
	if !found || at.String() != "127.0.9.6" {
		t.Errorf("got %s, %v", at, found)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("enough"))
	defer cancel()
	if at, found := Seek(ctx, folder, "00:26:ab:12:34:99", hosts, 0); found {
		t.Errorf("found one that is not there at %s", at)
	}
}

func TestNetworksAreNarrowed(t *testing.T) {
	for _, c := range []struct {
		network, around, want string
		hosts                 int
	}{
		{"192.168.1.0/24", "192.168.1.50", "192.168.1.0/24", 254},
		{"10.0.0.0/8", "10.3.2.1", "10.3.2.0/24", 254},
		{"10.0.0.0/30", "10.0.0.1", "10.0.0.0/30", 2},
		{"10.0.0.4/31", "10.0.0.4", "10.0.0.4/31", 2},
		{"10.0.0.4/32", "10.0.0.4", "10.0.0.4/32", 1},
	} {
		got := Around(netip.MustParsePrefix(c.network), netip.MustParseAddr(c.around))
		hosts := Hosts(got)
		if got.String() != c.want || len(hosts) != c.hosts || !slices.IsSortedFunc(hosts,
			netip.Addr.Compare) {
			t.Errorf("%s around %s: %s with %d hosts", c.network, c.around, got, len(hosts))
		}
	}
}

func TestAHardwareAddressIsSpeltInOneWay(t *testing.T) {
	for text, want := range map[string]string{
		"00:26:AB:12:34:56": "00:26:ab:12:34:56", "00-26-ab-12-34-56": "00:26:ab:12:34:56",
		"0026.ab12.3456": "00:26:ab:12:34:56", "": "", "00:26:ab:12:34": "",
		"02:00:5e:10:00:00:00:01": "",
	} {
		if got, err := ParseMAC(text); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}
