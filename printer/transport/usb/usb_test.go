package usb

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"chit/printer/transport"
	"chit/printer/transport/transporttest"
)

// kitchen is a machine with printers, each behind a node.
type kitchen struct {
	*transporttest.Tree
	conf  Config
	nodes map[string]*transporttest.LP
}

func newKitchen(t *testing.T) *kitchen {
	k := &kitchen{Tree: transporttest.NewTree(t), nodes: map[string]*transporttest.LP{}}
	k.conf = Config{
		Roots: Roots{Sys: k.Root + "/sys", Dev: k.Root + "/dev", Proc: k.Root + "/proc"},
		Open: func(path string) (Node, error) {
			lp, found := k.nodes[path]
			if !found {
				return nil, syscall.ENOENT
			}
			return asNode(lp.Open())
		},
	}
	return k
}

// asNode keeps a nil pointer from becoming a Node.
func asNode(f *transporttest.LPFile, err error) (Node, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

// plug puts a printer in and shows it as node.
func (k *kitchen) plug(d transporttest.Device, node string) *transporttest.LP {
	lp := transporttest.NewLP(d.Protocol == "01")
	k.nodes[k.Plug(d, node)] = lp
	return lp
}

func (k *kitchen) dialer(t *testing.T, url string) *Dialer {
	t.Helper()
	match, err := ParseMatch(strings.TrimPrefix(url, "usb:"))
	if err != nil {
		t.Fatal(err)
	}
	return New(match, k.conf)
}

func (k *kitchen) dial(t *testing.T, url string) transport.Conn {
	t.Helper()
	c, err := k.dialer(t, url).Dial(t.Context())
	if err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

var (
	grill = transporttest.Device{Port: "1-1.2", Vendor: "04b8", Product: "0e15", Serial: "A1",
		Maker: "EPSON", Model: "TM-T20II"}
	bar = transporttest.Device{Port: "1-1.3", Vendor: "04b8", Product: "0e15", Serial: "B2",
		Maker: "EPSON", Model: "TM-T20II"}
	clone = transporttest.Device{Port: "1-1.4", Vendor: "0416", Product: "5011", Protocol: "01"}
)

func TestUSBPassesTheExam(t *testing.T) {
	transporttest.Exercise(t, func(t *testing.T) transporttest.Bench {
		k := newKitchen(t)
		lp := k.plug(grill, "lp0")
		return transporttest.Bench{
			Dialer: k.dialer(t, "usb:04b8:0e15"),
			Peer:   func() transporttest.Peer { return lp },
		}
	})
}

func TestAURLIsReadAndSpeltInOneWay(t *testing.T) {
	for text, want := range map[string]string{
		"04B8:0E15":       "usb:04b8:0e15",
		"04b8:0e15:Ab:1":  "usb:04b8:0e15:Ab:1",
		"port=1-1.2":      "usb:port=1-1.2",
		"port=12-1.10.3":  "usb:port=12-1.10.3",
		"port=1-0":        "",
		"port=1":          "",
		"4b8:0e15":        "",
		"04b8:0e15:":      "",
		"04b8:0e15:a b":   "",
		"04b8:0e15:é":     "",
		"port=../../etc":  "",
		"":                "",
		"04b8:0e15\n:abc": "",
	} {
		match, err := ParseMatch(text)
		if (err == nil) != (want != "") || err == nil && match.String() != want {
			t.Errorf("%q: got %q, %v, want %q", text, match, err, want)
		}
	}
}

// The numbers of nodes swap when printers are plugged in another order (research/escpos.md 2.10).
func TestAPrinterIsFoundByWhatItIsAndNeverByItsNode(t *testing.T) {
	k := newKitchen(t)
	k.plug(bar, "lp0")
	k.plug(grill, "lp1")
	k.plug(clone, "lp2")
	for url, node := range map[string]string{
		"usb:04b8:0e15:A1": "lp1",
		"usb:04b8:0e15:B2": "lp0",
		"usb:port=1-1.2":   "lp1",
		"usb:port=1-1.3":   "lp0",
		"usb:0416:5011":    "lp2",
	} {
		found, err := k.dialer(t, url).find()
		if err != nil || found.Node != k.Root+"/dev/usb/"+node {
			t.Errorf("%s: got %s, %v, want %s", url, found.Node, err, node)
		}
	}
}

func TestTwoPrintersThatFitAreToldApartByTheirPorts(t *testing.T) {
	k := newKitchen(t)
	k.plug(grill, "lp0")
	k.plug(bar, "lp1")
	_, err := k.dialer(t, "usb:04b8:0e15").Dial(t.Context())
	if !errors.Is(err, transport.ErrAmbiguous) ||
		!strings.Contains(err.Error(), "usb:port=1-1.2, usb:port=1-1.3") {
		t.Errorf("got %v, want both ports", err)
	}
}

// Rows 25 and 30 of research/escpos.md section 6.
func TestAnotherProgramThatHasThePrinterIsNamed(t *testing.T) {
	k := newKitchen(t)
	lp := k.plug(grill, "lp0")
	k.Hold("812", "cupsd", k.Root+"/dev/usb/lp0")
	other, err := lp.Open()
	if err != nil {
		t.Fatal(err)
	}
	dialer := k.dialer(t, "usb:port=1-1.2")
	_, err = dialer.Dial(t.Context())
	if !errors.Is(err, transport.ErrBusy) ||
		!strings.Contains(err.Error(), "cupsd (process 812) has it open") {
		t.Errorf("got %v, want cupsd's name", err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	k.dial(t, "usb:port=1-1.2")
}

func TestAPrinterWithoutUsblpSaysWhoHasIt(t *testing.T) {
	for _, c := range []struct {
		driver, want string
		is           error
	}{
		{"usbfs", "the driver usbfs has it", transport.ErrBusy},
		{"-", "modprobe usblp", transport.ErrAbsent},
	} {
		k := newKitchen(t)
		taken := grill
		taken.Driver = c.driver
		k.Plug(taken, "")
		_, err := k.dialer(t, "usb:04b8:0e15:A1").Dial(t.Context())
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("driver %s: got %v, want %q", c.driver, err, c.want)
		}
	}
	k := newKitchen(t)
	_, err := k.dialer(t, "usb:04b8:0e15").Dial(t.Context())
	if !errors.Is(err, transport.ErrAbsent) {
		t.Errorf("nothing plugged in: got %v", err)
	}
}

// Row 31: the node's group comes from the udev rule.
func TestAForbiddenNodeSaysWhichGroupItNeeds(t *testing.T) {
	k := newKitchen(t)
	k.Plug(grill, "lp0")
	k.conf.Open = func(string) (Node, error) { return nil, syscall.EACCES }
	_, err := k.dialer(t, "usb:04b8:0e15").Dial(t.Context())
	if !errors.Is(err, syscall.EACCES) || !strings.Contains(err.Error(), "group lp") {
		t.Errorf("got %v, want the group", err)
	}
}

func TestANodeThatBecameAnotherPrintersIsNotUsed(t *testing.T) {
	// By the second URL the bar's printer would do, but not unseen.
	for _, url := range []string{"usb:04b8:0e15:A1", "usb:04b8:0e15"} {
		k := newKitchen(t)
		lp := k.plug(grill, "lp0")
		inner := k.conf.Open
		k.conf.Open = func(path string) (Node, error) {
			k.Unplug(grill.Port, "lp0") // Between looking and opening.
			k.Plug(bar, "lp0")
			return inner(path)
		}
		if c, err := k.dialer(t, url).Dial(t.Context()); err == nil {
			c.Close()
			t.Fatalf("%s: the bar's printer was opened for the grill", url)
		}
		if _, err := lp.Open(); err != nil {
			t.Errorf("%s: the node was left open: %v", url, err)
		}
	}
}

func TestAPrinterThatIsPluggedInElsewhereIsFoundAgain(t *testing.T) {
	k := newKitchen(t)
	lp := k.plug(grill, "lp0")
	dialer := k.dialer(t, "usb:04b8:0e15:A1")
	c, err := dialer.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lp.Unplug()
	k.Unplug(grill.Port, "lp0")
	if _, err := c.Read(make([]byte, 8)); !errors.Is(err, syscall.ENODEV) ||
		!strings.Contains(err.Error(), "unplugged") {
		t.Errorf("read: got %v, want ENODEV in words", err)
	}
	if _, err := c.Write([]byte("x")); !errors.Is(err, syscall.ENODEV) {
		t.Errorf("write: got %v, want ENODEV", err)
	}
	if _, err := dialer.Dial(t.Context()); !errors.Is(err, transport.ErrAbsent) {
		t.Errorf("dial without a cable: got %v", err)
	}
	moved := grill
	moved.Port = "1-1.1.4"
	again := k.plug(moved, "lp3")
	fresh, err := dialer.Dial(t.Context()) // While the old descriptor is still held.
	if err != nil {
		t.Fatal(err)
	}
	if where, _ := fresh.(transport.Placed).Place(); !strings.Contains(where, "lp3 at port 1-1.1.4") {
		t.Errorf("place %q", where)
	}
	if _, err := fresh.Write([]byte("again")); err != nil || string(again.Receive(5)) != "again" {
		t.Errorf("writing after the plug: %v", err)
	}
	if err := errors.Join(c.Close(), fresh.Close()); err != nil {
		t.Error(err)
	}
}
