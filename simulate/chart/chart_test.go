package chart_test

import (
	"bytes"
	"image/color"
	"image/png"
	"testing"

	"chit/simulate/chart"
)

// TestACurveIsDrawnWhereItsValuesAre looks for a flat line in the picture.
func TestACurveIsDrawnWhereItsValuesAre(t *testing.T) {
	flat := []float64{50, 50, 50, 50}
	var low, high bytes.Buffer
	for buffer, values := range map[*bytes.Buffer][]float64{&low: flat, &high: {100, 100, 100, 100}} {
		c := chart.Chart{Title: "t", X: "x", Left: "l", Right: "r", Step: 1, Curves: []chart.Curve{
			{Name: "a", Color: chart.Blue, Values: values},
			{Name: "b", Color: chart.Green, Values: []float64{0, 0, 0, 100}},
			{Name: "c", Color: chart.Orange, Right: true, Dashed: true, Values: []float64{1, 2, 3}},
		}, Marks: []chart.Mark{{At: 1, Name: "now"}}}
		if err := c.Write(buffer); err != nil {
			t.Fatal(err)
		}
	}
	if l, h := middle(t, &low, chart.Blue), middle(t, &high, chart.Blue); l <= h || h < 64 {
		t.Errorf("50 is drawn at row %d, 100 at row %d", l, h)
	}
}

// middle is the row of a colour at a third of the picture's width, below the legend.
func middle(t *testing.T, b *bytes.Buffer, c color.RGBA) int {
	img, err := png.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if size := img.Bounds().Size(); size.X != chart.Width || size.Y != chart.Height {
		t.Fatalf("the picture is %v", size)
	}
	for y := 60; y < chart.Height; y++ {
		if color.RGBAModel.Convert(img.At(chart.Width/3, y)) == c {
			return y
		}
	}
	t.Fatal("the curve is not there")
	return 0
}

func TestAnEmptyChartIsDrawn(t *testing.T) {
	var b bytes.Buffer
	if err := (chart.Chart{}).Write(&b); err != nil || b.Len() == 0 {
		t.Errorf("%d bytes, %v", b.Len(), err)
	}
}
