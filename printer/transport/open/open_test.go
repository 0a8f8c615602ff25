package open

import (
	"errors"
	"strings"
	"testing"

	"chit/printer/transport"
)

func TestAPrinterURLSaysWhatIsOpened(t *testing.T) {
	for _, c := range []struct {
		url, name string
		twoWay    bool
	}{
		{"tcp://192.168.1.20", "tcp://192.168.1.20:9100", true},
		{"tcp://192.168.1.20/", "tcp://192.168.1.20:9100", true},
		{"tcp://printer.local:9101", "tcp://printer.local:9101", true},
		{"tcp://[fe80::1]:9100", "tcp://[fe80::1]:9100", true},
		{"tcp://[2001:db8::7]", "tcp://[2001:db8::7]:9100", true},
		{"tcp://10.0.0.5?mac=00-26-AB-12-34-56&serial=J1", "tcp://10.0.0.5:9100", true},
		{"file:///dev/usb/lp0", "file:///dev/usb/lp0", false},
		{"file:///tmp/with%20space.bin", "file:///tmp/with%20space.bin", false},
		{"file://localhost/tmp/x", "file:///tmp/x", false},
		{"usb:04B8:0E15", "usb:04b8:0e15", true},
		{"usb:04b8:0e15:583355503031", "usb:04b8:0e15:583355503031", true},
		{"usb:port=1-1.2.4", "usb:port=1-1.2.4", true},
		{"serial:///dev/ttyAMA0", "serial:///dev/ttyAMA0", true},
		{"serial:///dev/serial/by-id/usb-FTDI_A1-port0?flow=xonxoff&baud=19200",
			"serial:///dev/serial/by-id/usb-FTDI_A1-port0?baud=19200&flow=xonxoff", true},
		{"serial:///dev/ttyS0?parity=even&stop=2&baud=9600&flow=none",
			"serial:///dev/ttyS0?parity=even&stop=2&flow=none", true},
	} {
		d, err := Parse(c.url, nil)
		if err != nil {
			t.Errorf("%s: %v", c.url, err)
			continue
		}
		if d.Name() != c.name || d.TwoWay() != c.twoWay {
			t.Errorf("%s: name %q, two-way %v, want %q, %v",
				c.url, d.Name(), d.TwoWay(), c.name, c.twoWay)
		}
	}
}

func TestAWrongURLSaysWhatIsWrongAndListsTheForms(t *testing.T) {
	for _, c := range []struct{ url, want string }{
		{"", "no scheme"},
		{"192.168.1.20", "no scheme"},
		{"192.168.1.20:9100", "unknown"},
		{"http://printer/", `scheme "http" is unknown`},
		{"tcp:printer", "host is missing"},
		{"tcp://:9100", "host is missing"},
		{"tcp://printer:0", `port "0"`},
		{"tcp://printer:65536", `port "65536"`},
		{"tcp://printer:ninety", "cannot be read"},
		{"tcp://me:secret@printer", "user and password"},
		{"tcp://printer:9100/queue", "may follow the port"},
		{"tcp://printer?x=1", `setting "x" is unknown, want mac or serial`},
		{"tcp://printer?mac=00:26", "want six pairs of hex digits"},
		{"tcp://printer?serial=", "serial has 0 characters, want 1 to 80"},
		{"tcp://printer?serial=1&serial=2", "2 times"},
		{"file://tmp/x", "three slashes"},
		{"file:tmp/x", "absolute path"},
		{"file:///", "absolute path"},
		{"file:///tmp/", "absolute path"},
		{"file:///tmp/x?y", "%3F"},
		{"usb:", "four hex digits"},
		{"usb:4b8:202", "four hex digits"},
		{"usb:port=", "four hex digits"},
		{"usb:port=1", "four hex digits"},
		{"usb:04b8:0202:", "four hex digits"},
		{"serial:/etc/passwd", "below /dev/"},
		{"serial:///dev/../etc/passwd", "below /dev/"},
		{"serial:///dev/ttyUSB0?baud=9601", `baud is "9601", want 1200, 2400`},
		{"serial:///dev/ttyUSB0?baud=09600", `baud is "09600"`},
		{"serial:///dev/ttyUSB0?parity=mark", `parity is "mark", want none, even, odd`},
		{"serial:///dev/ttyUSB0?stop=3", `stop is "3", want 1, 2`},
		{"serial:///dev/ttyUSB0?flow=dsrdtr", `flow is "dsrdtr", want rtscts, xonxoff, none`},
		{"serial:///dev/ttyUSB0?bits=7", `"bits" is unknown, want baud, parity, stop or flow`},
		{"serial:///dev/ttyUSB0?baud=9600&baud=1200", "2 times"},
		{"virtual:", "no virtual printer"},
	} {
		_, err := Parse(c.url, nil)
		if !errors.Is(err, transport.ErrURL) {
			t.Errorf("%s: got %v, want ErrURL", c.url, err)
			continue
		}
		if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), Forms) {
			t.Errorf("%s: %q lacks %q or the forms", c.url, err, c.want)
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error repeats a secret: %v", c.url, err)
		}
	}
}

func TestAVirtualPrinterIsTheCallersOwn(t *testing.T) {
	asked := ""
	sentinel := errors.New("from the hook")
	_, err := Parse("virtual:paper-out:after=3", func(rest string) (transport.Dialer, error) {
		asked = rest
		return nil, sentinel
	})
	if asked != "paper-out:after=3" || !errors.Is(err, sentinel) {
		t.Errorf("hook got %q, Parse answered %v", asked, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"tcp://a:9100", "file:///x", "usb:04b8:0202", "usb:port=1-1.2", "serial:///dev/x?baud=9600", ":",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Parse(text, nil)
		switch {
		case err == nil && d.Name() == "":
			t.Errorf("%q: opened without a name", text)
		case err != nil && !errors.Is(err, transport.ErrURL):
			t.Errorf("%q: %v is no error of this package", text, err)
		}
	})
}

func TestVirtualIsNamedAsAFormOnlyWhereItIsOne(t *testing.T) {
	if _, err := Parse("virtual:", nil); strings.Count(err.Error(), "virtual") != 2 {
		t.Errorf("%v: virtual: is what was found and refused, not what is wanted", err)
	}
	none := func(string) (transport.Dialer, error) { return nil, nil }
	if _, err := Parse("http://printer/", none); !strings.Contains(err.Error(), ", virtual:)") {
		t.Errorf("%v: want virtual: among the forms", err)
	}
}
