package simulate

import (
	"fmt"
	"io"
	"time"

	"chit/simulate/chart"
)

// Plot draws a storm: devices present, tickets waiting and dispatches per second over time, with
// the limit as a line.
func (r StormResult) Plot(w io.Writer) error {
	c := chart.Chart{
		Title: fmt.Sprintf("%d kitchens of %d tenants lose the network for %v and come back, seed %d",
			r.Storm.Devices, r.Storm.Tenants, r.Storm.Away, r.Storm.Seed),
		X: "minutes since the network failed", Left: "devices, tickets", Right: "a second",
		Step:  1.0 / 60,
		Marks: []chart.Mark{{At: 0, Name: "fails"}, {At: r.Storm.Away.Minutes(), Name: "is back"}},
		Curves: []chart.Curve{{Name: "devices present", Color: chart.Blue},
			{Name: "tickets waiting", Color: chart.Orange},
			{Name: "dispatches a second", Color: chart.Green, Right: true},
			{Name: "their limit", Color: chart.Grey, Right: true, Dashed: true}},
	}
	if len(r.Samples) > 0 {
		c.From = r.Samples[0].At.Minutes()
	}
	last := r.Storm.Away + r.Drained + time.Minute
	for _, s := range r.Samples {
		if s.At > last {
			break
		}
		for i, v := range []int{s.Present, s.Waiting, s.Dispatched, r.Limit} {
			c.Curves[i].Values = append(c.Curves[i].Values, float64(v))
		}
	}
	return c.Write(w)
}
