package serve

import (
	"errors"
	"strings"
	"testing"

	"chit/printer/transport"
)

func TestAVirtualURLNamesProfileSpeedAndFaults(t *testing.T) {
	f, err := FromURL("safe-58?speed=50&fault=paper-out:after=20&fault=silent")
	if err != nil {
		t.Fatal(err)
	}
	c, err := f.Config(nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Printer.WidthDots != 384 || c.Printer.LinesPerSecond != 50 || len(c.Printer.Faults) != 2 {
		t.Fatalf("became %+v", c.Printer)
	}
	if _, err := FromURL(""); err != nil {
		t.Fatal(err)
	}
}

func TestABadVirtualURLNamesThePart(t *testing.T) {
	for _, tt := range []struct{ rest, says string }{
		{"teapot", "teapot"}, {"?fault=fire", "fire"}, {"?speed=fast", "speed"},
		{"?speed=-1", "speed"}, {"?colour=red", "colour"}, {"?%zz", "question mark"},
	} {
		_, err := FromURL(tt.rest)
		if !errors.Is(err, transport.ErrURL) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%q: error %v, want one about %q", tt.rest, err, tt.says)
		}
	}
}
