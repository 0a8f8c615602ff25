package service

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"chit/device/wire"
	"chit/metrics"
)

// A device that invents printers and reasons must not fill somebody's Prometheus.
func TestADeviceCannotMakeSeriesOfItsOwn(t *testing.T) {
	for _, c := range []struct {
		told wire.PrinterStatus
		want string
	}{
		{wire.PrinterStatus{Name: "grill"}, "low=0 held=0 none"},
		{wire.PrinterStatus{Name: "grill", PaperLow: true}, "low=1 held=0 none"},
		{wire.PrinterStatus{Name: "grill", Held: "paper_out"}, "low=0 held=1 paper_out"},
		{wire.PrinterStatus{Name: "grill", Held: "r4nd0m"}, "low=0 held=1 other"},
		{wire.PrinterStatus{Name: "r4nd0m", Held: "paper_out"}, ""},
	} {
		var got []string
		measurePrinter(func(_ metrics.Kind, name, _ string, value float64, labels ...string) {
			short := strings.TrimPrefix(strings.TrimPrefix(name, "chit_printer_"), "paper_")
			said := fmt.Sprintf("%s=%v", short, value)
			if labels[len(labels)-2] == "reason" {
				said += " " + labels[len(labels)-1]
			}
			got = append(got, said)
		}, []wire.PrinterStatus{c.told}, "grill", []string{"station", "grill"})
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: samples %q, want %q", c.told, got, c.want)
		}
	}
}

func TestWhatADeviceHasNotToldIsNoFigure(t *testing.T) {
	if v := told(nil, number); !math.IsNaN(v) {
		t.Errorf("untold is %v, want NaN: 0 would raise an alarm", v)
	}
	no := false
	if v := told(&no, number); v != 0 {
		t.Errorf("told no is %v, want 0", v)
	}
}
